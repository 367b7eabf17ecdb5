package command

import (
	"fmt"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// A language is a way in which a command is read.
type language struct {
	variant syntax.LangVariant
	foreign bool // the shell's own is not known: only plain words mean the same in every one
}

// languages returns those in which commands of a shell are read: its own or the nearest one,
// and that of bash.
func languages(dialect string) []language {
	bash := language{variant: syntax.LangBash}
	switch dialect {
	case "bash", "rbash":
		return []language{bash}
	case "", "sh", "dash", "ash", "busybox", "toybox", "posh", "yash":
		return []language{{variant: syntax.LangPOSIX}, bash}
	case "zsh":
		return []language{{variant: syntax.LangZsh}, bash}
	case "ksh", "ksh93", "mksh", "lksh", "oksh", "pdksh", "rksh":
		return []language{{variant: syntax.LangMirBSDKorn}, bash}
	}
	return []language{{variant: syntax.LangPOSIX, foreign: true}, bash}
}

// plain reports whether s holds nothing but words without quotes and expansions, semicolons and newlines.
func plain(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte(" \n;_-./,:+@", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// continued returns what the parser reads in another way than shells do: for it a backslash continues a
// comment, and vanishes at the end of the text (mvdan.cc/sh v3.14.1). It returns "" where there is nothing of that kind.
func continued(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return ""
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, "\\") && mayComment(line) {
			return "a comment may end in a backslash"
		}
	}
	if tail := strings.TrimRight(s, "\\"); (len(s)-len(tail))%2 == 1 {
		return "the command ends in a backslash"
	}
	return ""
}

// mayComment reports whether a # stands where a comment may begin.
func mayComment(line string) bool {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || strings.IndexByte(" \t;&|()<>`", line[i-1]) >= 0) {
			return true
		}
	}
	return false
}

// unusual returns the first character of s that a shell and a person may read in two ways:
// control and format characters, blanks beyond ASCII, what is no UTF-8. The parser drops carriage returns, which
// for bash are part of a word. It returns "" where there is none.
func unusual(s string) string {
	for _, c := range s {
		switch {
		case c == '\n', c == '\t', c >= ' ' && c < 0x7f:
		case c == unicode.ReplacementChar:
			return "text that is no UTF-8"
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs):
			return fmt.Sprintf("the character %U", c)
		}
	}
	return ""
}
