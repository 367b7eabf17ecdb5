package edit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Typographic marks that come and go unnoticed.
var plainMarks = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`, "«", `"`, "»", `"`, "–", "-", "—", "-",
	"‐", "-", "−", "-", "…", "...", "\u00a0", " ")

// bare is s without white space.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// fold leaves out what is easily got wrong: white space, case, typographic marks.
func fold(s string) string { return strings.ToLower(plainMarks.Replace(bare(s))) }

// unaccented leaves out Latin letters that have an accent, composed or not: those look alike.
func unaccented(s string) string {
	var kept []rune
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
			if n := len(kept); n > 0 && unicode.IsLetter(kept[n-1]) {
				kept = kept[:n-1]
			}
		case r < utf8.RuneSelf || !unicode.Is(unicode.Latin, r):
			kept = append(kept, r)
		}
	}
	return string(kept)
}

// lookalike names the characters that two texts begin with, if they may look the same.
func lookalike(file, old string) string {
	a, b := codePoints(file), codePoints(old)
	if a == b || !strings.ContainsFunc(firstTwo(file)+firstTwo(old), func(r rune) bool { return r >= utf8.RuneSelf }) {
		return ""
	}
	return fmt.Sprintf("\nthere the file has %s, old_string %s: letters that look alike can be composed or not", a, b)
}

// firstTwo returns the first two characters of a text.
func firstTwo(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	_, m := utf8.DecodeRuneInString(text[n:])
	return text[:n+m]
}

// codePoints names the first two characters of a text by their numbers.
func codePoints(text string) string {
	var names []string
	for _, r := range firstTwo(text) {
		names = append(names, fmt.Sprintf("U+%04X", r))
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, " ")
}
