package toolkit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inline makes s safe to print within one line of a result: control characters, line and
// paragraph separators, invisible format characters and bytes that are not UTF-8 are
// escaped as Go would write them, so that a file name cannot forge lines or hide text.
// Most strings come back as they are.
func Inline(s string) string { return escape(s, forges) }

// ValidText returns s with the bytes that are not UTF-8 written as \xNN. The wire is
// UTF-8: the encoder would turn each of them into U+FFFD, and nobody could tell what it was.
func ValidText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return escape(s, func(rune) bool { return false })
}

// terminal keeps s from steering a terminal: all that [Inline] escapes, but for the ends of
// lines and tabs.
func terminal(s string) string {
	return escape(s, func(r rune) bool { return r != '\n' && r != '\t' && forges(r) })
}

// forges reports whether r could be taken for something else on a line.
func forges(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

func escape(s string, special func(rune) bool) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, special) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case special(r):
			q := fmt.Sprintf("%+q", r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}
