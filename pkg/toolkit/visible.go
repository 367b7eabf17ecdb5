package toolkit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBlanks is how many spaces may stand in a row, and maxIndent how many at the beginning of a
// line, behind the mark of a diff at most. More could push what follows out of a dialog.
const (
	maxBlanks = 8
	maxIndent = 40
)

// visibly returns s with all that a person cannot see, or could take for something else, written
// as \u{202E}, tabs as \t, bytes that are not UTF-8 as \x{80}, and many spaces in a row as
// \u{20 x1500}; and of how many characters that was done. Ends of lines stay. What is left are
// visible characters and ASCII spaces.
//
// Letters that are written from right to left are written so, too: a renderer puts what stands
// between them in another order (Unicode Standard Annex 9). And a word has all its letters beyond
// ASCII written so that come from scripts which look alike, such as Latin and Cyrillic, or that all
// look like ASCII letters (Unicode Technical Standard 39, sections 4 and 5.1).
func visibly(s string) (out string, escapes int) {
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := blanks(s[i:]); n > 0 {
			if n <= maxBlanks || n <= maxIndent && indents(s[:i]) {
				b.WriteString(s[i : i+n])
			} else {
				fmt.Fprintf(&b, `\u{20 x%d}`, n)
				escapes += n
			}
			i += n
			continue
		}
		n := wordLen(s[i:])
		word := s[i : i+max(n, 1)]
		posing := n > 0 && (mixesScripts(word) || looksASCII(word))
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s[i:])
			word = s[i : i+n]
		}
		escapes += writeVisibly(&b, word, posing)
		i += n
	}
	return b.String(), escapes
}

// indents reports whether what follows before begins a line, the mark of a diff aside.
func indents(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return line == "" || line == "+" || line == "-"
}

// blanks is how many spaces s starts with.
func blanks(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// wordLen is the length of the letters, digits and marks at the start of s.
func wordLen(s string) int {
	for i, r := range s {
		if r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.N, unicode.M) && r != '_' {
			return i
		}
	}
	return len(s)
}

func writeVisibly(b *strings.Builder, s string, posing bool) (escapes int) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(b, `\x{%02X}`, s[i])
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n' || r >= ' ' && r <= '~':
			b.WriteByte(s[i])
			i += n
			continue
		case misleads(r) || posing:
			fmt.Fprintf(b, `\u{%X}`, r)
		default:
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		escapes++
		i += n
	}
	return escapes
}

// misleads reports whether r, which is beyond ASCII or a control, has no shape of its own or
// that of another character.
func misleads(r rune) bool {
	return !unicode.IsGraphic(r) || // controls, formats, surrogates, private and unassigned ones
		unicode.In(r, unicode.Zs, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		unicode.In(r, unicode.M) && unicode.In(r, unicode.Inherited, unicode.Common) || // accents set on whatever stands before
		unicode.Is(lookalikes, r) || unicode.Is(rightToLeft, r) || strings.ContainsRune(likePunctuation, r)
}

// together are scripts that are written in one word, and look like no other.
var together = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul}

// mixesScripts reports whether the letters of a word are of more than one script, those aside that
// are commonly written together.
func mixesScripts(word string) bool {
	var first *unicode.RangeTable
	for _, r := range word {
		if r <= '~' && !unicode.IsLetter(r) || unicode.In(r, unicode.Common, unicode.Inherited) || unicode.In(r, together...) {
			continue
		}
		if first == nil {
			first = scriptOf(r)
		} else if !unicode.Is(first, r) {
			return true
		}
	}
	return false
}

// scriptOf returns the script of r; a rune of none is alone in its own.
func scriptOf(r rune) *unicode.RangeTable {
	if unicode.Is(unicode.Latin, r) { // most often
		return unicode.Latin
	}
	for _, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return table
		}
	}
	return &unicode.RangeTable{R32: []unicode.Range32{{uint32(r), uint32(r), 1}}}
}
