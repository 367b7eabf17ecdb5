package search

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxTexts is how many literals are looked for at once. Each takes a pass of its own.
const maxTexts = 8

// A part is what is known of the matches of a part of a pattern. Where nothing is, the
// texts are the empty one.
type part struct {
	exact bool  // each match is one of first, and last and best are the same
	first texts // each match begins with one of these
	last  texts // ends with one of these
	best  texts // and contains one of these, which are the cheapest to look for
}

func exactly(t ...literal) part { return part{true, t, t, t} }

// unknown is a part that can match anything.
func unknown() part {
	p := exactly(literal{})
	p.exact = false
	return p
}

// required returns literals of which one stands in every match of a simplified pattern,
// none if there are no such. If they are pure, the pattern matches wherever one stands.
func required(re *syntax.Regexp) (needles []needle, pure bool) {
	p := analyse(re)
	if slices.ContainsFunc(p.best, func(l literal) bool { return l.aim() < 0 }) {
		return nil, false
	}
	return p.best.needles(), p.exact && !slices.ContainsFunc(p.best, func(l literal) bool { return l.loose })
}

func analyse(re *syntax.Regexp) part {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return exactly(literal{})
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly(literal{loose: true})
	case syntax.OpLiteral:
		return spelled(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return oneOf(re.Rune)
	case syntax.OpCapture:
		return analyse(re.Sub[0])
	case syntax.OpPlus:
		p := analyse(re.Sub[0])
		p.exact = false
		return p
	case syntax.OpQuest:
		return analyse(re.Sub[0]).or(exactly(literal{}))
	case syntax.OpConcat:
		p := exactly(literal{})
		for _, sub := range re.Sub {
			p = p.then(analyse(sub))
		}
		return p
	case syntax.OpAlternate:
		p := analyse(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			p = p.or(analyse(sub))
		}
		return p
	}
	return unknown()
}

// spelled is for runes that follow each other.
func spelled(runes []rune, fold bool) part {
	p := exactly(literal{})
	for len(runes) > 0 {
		n := slices.IndexFunc(runes, func(r rune) bool { return !plain(r, fold) })
		if n < 0 {
			n = len(runes)
		}
		l := literal{text: string(runes[:n])}
		if l.fold = fold && l.hasLetter(); l.fold {
			l.text = string(lowered(l.text))
		}
		p, runes = p.then(exactly(l)), runes[n:]
		if len(runes) > 0 {
			p, runes = p.then(oneOf(cases(runes[0]))), runes[1:]
		}
	}
	return p
}

// plain reports whether a literal can say what r matches.
func plain(r rune, fold bool) bool {
	return r != utf8.RuneError && (!fold || r < 0x80 || unicode.SimpleFold(r) == r)
}

// cases returns the cases of r as the ranges of a character class.
func cases(r rune) []rune {
	ranges := []rune{r, r}
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		ranges = append(ranges, c, c)
	}
	return ranges
}

// oneOf is for a character class, given by its ranges. U+FFFD stands for any byte that is
// no UTF-8, which has no text; a \r at the end of a line is not seen by every pattern.
func oneOf(ranges []rune) part {
	var t texts
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if int(hi-lo)+1+len(t) > maxTexts || lo <= utf8.RuneError && utf8.RuneError <= hi {
			return unknown()
		}
		for r := lo; r <= hi; r++ {
			t = append(t, literal{text: string(r), loose: r == '\r'})
		}
	}
	if len(t) == 0 {
		return unknown()
	}
	return exactly(t...)
}

// then is for a match of p with one of q behind it.
func (p part) then(q part) part {
	seam := product(p.last, q.first)
	switch {
	case seam == nil:
		return part{false, p.first, q.last, cheapest(p.best, q.best)}
	case p.exact && q.exact:
		return exactly(seam...)
	}
	both := part{false, p.first, q.last, cheapest(p.best, q.best, seam)}
	if p.exact {
		both.first = seam
	}
	if q.exact {
		both.last = seam
	}
	return both
}

// or is for a match of either.
func (p part) or(q part) part {
	first := union(p.first, q.first)
	if p.exact && q.exact && first != nil {
		return exactly(first...)
	}
	either := part{false, first, union(p.last, q.last), union(p.best, q.best)}
	for _, t := range []*texts{&either.first, &either.last, &either.best} {
		if *t == nil {
			*t = texts{{}}
		}
	}
	return either
}

// product returns each of a with each of b behind it, nil if those are too many.
func product(a, b texts) texts {
	if len(a)*len(b) > maxTexts {
		return nil
	}
	var t texts
	for _, l := range a {
		for _, m := range b {
			t = append(t, l.followed(m))
		}
	}
	return t
}

// union returns all of a and b, nil if those are too many.
func union(a, b texts) texts {
	t := slices.Clone(a)
	for _, l := range b {
		if !slices.Contains(t, l) {
			t = append(t, l)
		}
	}
	if len(t) > maxTexts {
		return nil
	}
	return t
}

func cheapest(sets ...texts) texts {
	return slices.MinFunc(sets, func(a, b texts) int {
		switch x, y := a.cost(), b.cost(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}
