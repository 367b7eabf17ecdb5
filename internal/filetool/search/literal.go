package search

import (
	"math"
	"slices"
	"strings"
)

// A literal is a text to look for. The zero literal stands everywhere.
type literal struct {
	text  string
	fold  bool // text is in lower case and stands for every case of its ASCII letters
	loose bool // it also stands where the part of the pattern that it is for does not match
}

func (l literal) hasLetter() bool {
	return strings.ContainsFunc(l.text, func(r rune) bool { return r < 0x80 && isLetter(byte(r)) })
}

func isLetter(c byte) bool { return 'a' <= toLower(c) && toLower(c) <= 'z' }

// followed returns l with m behind it. Where only one folds, the whole does, which is
// loose.
func (l literal) followed(m literal) literal {
	fold := l.fold || m.fold
	mixed := l.fold != m.fold && (!l.fold && l.hasLetter() || !m.fold && m.hasLetter())
	text := l.text + m.text
	if fold {
		text = string(lowered(text))
	}
	return literal{text: text, fold: fold, loose: l.loose || m.loose || mixed}
}

func lowered(s string) []byte {
	b := []byte(s)
	for i, c := range b {
		b[i] = toLower(c)
	}
	return b
}

// within reports whether l stands wherever m does.
func (l literal) within(m literal) bool {
	switch {
	case l.fold:
		return strings.Contains(string(lowered(m.text)), l.text)
	case m.fold:
		return !l.hasLetter() && strings.Contains(m.text, l.text)
	}
	return strings.Contains(m.text, l.text)
}

// weighed is how many bytes of a literal are looked at to weigh it: it may be as long as
// a pattern, which has as many parts.
const weighed = 64

func (l literal) head() string { return l.text[:min(len(l.text), weighed)] }

// aim returns the index of the byte to look for first, -1 if there is none: the rarest, but
// with fold no letter with a case of another length.
func (l literal) aim() int {
	best, at := 2.0, -1
	for i, c := range []byte(l.head()) {
		if share := share(c); share < best && !(l.fold && (c == 'k' || c == 's')) {
			best, at = share, i
		}
	}
	return at
}

// common lists letters of source text, the commonest first.
const common = " etaoinrsldcumpfg_.(),hbyvwx=0123456789jqz"

// share guesses how much of all text is c.
func share(c byte) float64 {
	rank := strings.IndexByte(common, c)
	if rank < 0 {
		rank = len(common)
	}
	return 0.08 * math.Pow(0.9, float64(rank))
}

// What it takes to look for a literal, in nanoseconds: once a byte to read on, and once a
// hit to match the line. With fold each hit of the rare byte is looked at.
const (
	costOfByte = 0.3
	costOfLook = 20
	costOfLine = 400
)

// cost guesses what it takes to look for l in one byte of text. Letters depend on each
// other, so that a word is commoner than the product of their shares.
func (l literal) cost() float64 {
	rare := l.aim()
	if rare < 0 {
		return math.Inf(1)
	}
	product := 1.0
	for _, c := range []byte(l.head()) {
		product *= share(c)
	}
	least := share(l.text[rare])
	cost := costOfByte + costOfLine*math.Min(least, math.Sqrt(least*product))
	if l.fold {
		cost += costOfLook * least
	}
	return cost
}

// A texts is literals, of which one stands in something.
type texts []literal

func (t texts) cost() float64 {
	sum := 0.0
	for _, l := range t {
		sum += l.cost()
	}
	return sum
}

// needles returns what to look for: those that do not contain another.
func (t texts) needles() []needle {
	var kept []needle
	for i, m := range t {
		covered := slices.ContainsFunc(t[:i], func(l literal) bool { return l.within(m) }) ||
			slices.ContainsFunc(t[i+1:], func(l literal) bool { return l.within(m) && !m.within(l) })
		if !covered {
			kept = append(kept, needle{[]byte(m.text), m.fold, m.aim()})
		}
	}
	return kept
}
