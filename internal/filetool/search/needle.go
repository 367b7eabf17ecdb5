package search

import (
	"bytes"
	"strings"
)

// A needle is a literal that is looked for in text.
type needle struct {
	text []byte
	fold bool // text is in lower case and stands for every case of its ASCII letters
	rare int  // with fold, the index in text to look for first
}

// minNeedle is the length from which a needle is better looked for here than by package
// regexp, which looks for what a pattern begins with, and is not asked about each line.
const minNeedle = 3

// leftTo reports whether n is better left to package regexp, in a pattern that begins
// with prefix.
func (n *needle) leftTo(prefix string) bool {
	return len(n.text) < minNeedle && !n.fold && strings.Contains(prefix, string(n.text))
}

// find returns the index of a byte of the first occurrence in b at or after pos, or len(b).
func (n *needle) find(b []byte, pos int) int {
	if n.fold {
		return n.findFold(b, pos)
	}
	i := bytes.Index(b[pos:], n.text)
	if i < 0 {
		return len(b)
	}
	return pos + i
}

// foldWindow bounds how far one case of a letter is looked for while the other is near.
const foldWindow = 1 << 10

func (n *needle) findFold(b []byte, pos int) int {
	for p := pos; p < len(b); p += foldWindow {
		w := b[p:min(p+foldWindow, len(b))]
		for off := 0; off < len(w); off++ {
			i := indexFold(w[off:], n.text[n.rare])
			if i < 0 {
				break
			}
			off += i
			if n.stands(b, p+off) {
				return p + off
			}
		}
	}
	return len(b)
}

// indexFold finds c, which is in lower case, or its capitan.
func indexFold(b []byte, c byte) int {
	i := bytes.IndexByte(b, c)
	if !isLetter(c) {
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

// stands reports whether n stands in b with its rare byte at i.
func (n *needle) stands(b []byte, i int) bool {
	start, end := i, i+1
	for _, c := range n.text[n.rare+1:] {
		size := caseAfter(b[end:], c)
		if size == 0 {
			return false
		}
		end += size
	}
	for j := n.rare - 1; j >= 0; j-- {
		size := caseBefore(b[:start], n.text[j])
		if size == 0 {
			return false
		}
		start -= size
	}
	return true
}

// otherCase returns the case outside ASCII that a letter in lower case has: k the Kelvin
// sign, s the long s.
func otherCase(c byte) string {
	switch c {
	case 'k':
		return "\u212a"
	case 's':
		return "\u017f"
	}
	return ""
}

// caseAfter returns the length of the case of c that b begins with, 0 if it has none.
func caseAfter(b []byte, c byte) int {
	if len(b) > 0 && toLower(b[0]) == c {
		return 1
	}
	if other := otherCase(c); len(b) >= len(other) && string(b[:len(other)]) == other {
		return len(other)
	}
	return 0
}

// caseBefore is caseAfter for the end of b.
func caseBefore(b []byte, c byte) int {
	if len(b) > 0 && toLower(b[len(b)-1]) == c {
		return 1
	}
	if other := otherCase(c); len(b) >= len(other) && string(b[len(b)-len(other):]) == other {
		return len(other)
	}
	return 0
}

func toLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
