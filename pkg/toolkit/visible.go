package toolkit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visibly returns s with all that a person cannot see, or could take for something else, written
// as \u{202E}, tabs as \t, and bytes that are not UTF-8 as \x{80}; and how often that was done.
// Ends of lines stay. What is left are visible characters and ASCII spaces.
//
// A word whose letters come from scripts that look alike, such as Latin and Cyrillic, has all its
// letters beyond ASCII written so (Unicode Technical Standard 39, section 5.1).
func visibly(s string) (out string, escapes int) {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := wordLen(s[i:])
		word := s[i : i+max(n, 1)]
		mixed := n > 0 && mixesScripts(word)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s[i:])
			word = s[i : i+n]
		}
		escapes += writeVisibly(&b, word, mixed)
		i += n
	}
	return b.String(), escapes
}

// wordLen is the length of the letters, digits and marks at the start of s.
func wordLen(s string) int {
	for i, r := range s {
		if r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.N, unicode.M) && r != '_' {
			return i
		}
	}
	return len(s)
}

func writeVisibly(b *strings.Builder, s string, mixed bool) (escapes int) {
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
		case misleads(r) || mixed:
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
		unicode.Is(lookalikes, r)
}

// lookalikes are characters that stand for others in another form or size, and one that is
// drawn as nothing (see the compatibility mappings of the Unicode Character Database).
var lookalikes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00b4, 0x00b4, 1}, // acute accent, as an apostrophe
		{0x02b0, 0x02ff, 1}, // modifier letters
		{0x1d2c, 0x1d6a, 1}, // phonetic modifiers
		{0x2010, 0x2015, 1}, // dashes that are none to a program
		{0x2018, 0x201f, 1}, // quotes that are none to a shell
		{0x2024, 0x2024, 1}, // one dot
		{0x2032, 0x2037, 1}, // primes
		{0x2039, 0x203a, 1}, // angle quotes
		{0x2044, 0x2044, 1}, // fraction slash
		{0x2070, 0x209c, 1}, // superscripts, subscripts
		{0x2100, 0x218b, 1}, // letterlike symbols, number forms
		{0x2212, 0x2212, 1}, // minus
		{0x2215, 0x2217, 1}, // division slash, set minus, asterisk
		{0x2223, 0x2223, 1}, // divides, as a pipe
		{0x2236, 0x2236, 1}, // ratio, as a colon
		{0x2460, 0x24ff, 1}, // enclosed alphanumerics
		{0x2800, 0x2800, 1}, // blank Braille pattern
		{0xa4f8, 0xa4ff, 1}, // Lisu punctuation
		{0xfe30, 0xfe6f, 1}, // vertical and small forms
		{0xff00, 0xffef, 1}, // half width and full width
	},
	R32: []unicode.Range32{
		{0x1d400, 0x1d7ff, 1}, // mathematical letters
		{0x1f100, 0x1f1ff, 1}, // enclosed letters
		{0x1fbf0, 0x1fbf9, 1}, // segmented digits
	},
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
