package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
)

// A literal is text that every match contains, so that lines without it need no regular
// expression. The zero literal is none.
type literal struct {
	text []byte // in lower case with fold
	fold bool   // ASCII letters match in either case
	rare int    // with fold, the index in text to look for first
}

// minLiteral is the length from which a literal saves more than it costs.
const minLiteral = 3

// required finds the longest literal of a simplified pattern. It is pure if the pattern is
// nothing else.
func required(re *syntax.Regexp) (lit literal, pure bool) {
	text, fold := longest(re)
	whole := re.Op == syntax.OpLiteral && len(text) == len(string(re.Rune))
	if text == "" || len(text) < minLiteral && !whole {
		return literal{}, false
	}
	lit = literal{text: []byte(text), fold: fold}
	if fold {
		lit.rare = rarest(text)
	}
	return lit, whole
}

func longest(re *syntax.Regexp) (text string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune), false
		}
		return foldable(re.Rune), true
	case syntax.OpCapture, syntax.OpPlus:
		return longest(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return longest(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if t, f := longest(sub); len(t) > len(text) {
				text, fold = t, f
			}
		}
	}
	return text, fold
}

// foldable returns the longest part whose letters have no case outside ASCII: K has the
// Kelvin sign, S the long s.
func foldable(runes []rune) string {
	best := ""
	parts := strings.FieldsFunc(string(runes), func(r rune) bool { return r >= 0x80 || strings.ContainsRune("kKsS", r) })
	for _, p := range parts {
		if len(p) > len(best) {
			best = p
		}
	}
	return strings.ToLower(best)
}

// common lists letters of source text, the commonest first.
const common = " etaoinrsldcumpfg_.(),hbyvwx=0123456789jqz"

// rarest returns the index of the byte that is worth looking for first.
func rarest(text string) int {
	best, at := -1, 0
	for i := range len(text) {
		rank := strings.IndexByte(common, text[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > best {
			best, at = rank, i
		}
	}
	return at
}

// find returns the index of the first occurrence in b at or after pos, or -1.
func (l *literal) find(b []byte, pos int) int {
	if l.fold {
		return l.findFold(b, pos)
	}
	i := bytes.Index(b[pos:], l.text)
	if i < 0 {
		return -1
	}
	return pos + i
}

// foldWindow bounds how far one case of a letter is looked for while the other is near.
const foldWindow = 1 << 10

func (l *literal) findFold(b []byte, pos int) int {
	for p := pos + l.rare; p < len(b); p += foldWindow {
		w := b[p:min(p+foldWindow, len(b))]
		for off := 0; off < len(w); off++ {
			i := indexFold(w[off:], l.text[l.rare])
			if i < 0 {
				break
			}
			off += i
			if start := p + off - l.rare; equalFold(b[start:], l.text) {
				return start
			}
		}
	}
	return -1
}

// indexFold finds c, which is in lower case, or its capital.
func indexFold(b []byte, c byte) int {
	i := bytes.IndexByte(b, c)
	if c < 'a' || c > 'z' {
		return i
	}
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, c-'a'+'A'); j >= 0 {
		return j
	}
	return i
}

func equalFold(b, lower []byte) bool {
	if len(b) < len(lower) {
		return false
	}
	for i, c := range lower {
		if toLower(b[i]) != c {
			return false
		}
	}
	return true
}

func toLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
