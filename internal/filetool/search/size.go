package search

import "regexp/syntax"

// What a regular expression may be at most. A match takes up to all instructions for each
// character of the text.
const (
	maxExpression = 16 << 10 // bytes
	maxProgram    = 50_000   // instructions
)

func checkLength(pattern string) error {
	switch {
	case pattern == "":
		return queryError("", "pattern is empty")
	case len(pattern) > maxExpression:
		return queryError("search for a part of it", "pattern has %d bytes; at most %d can be used", len(pattern), maxExpression)
	}
	return nil
}

// programSize guesses how many instructions a parsed pattern takes, before repetitions are
// multiplied out in memory. Above maxProgram it says no more than that.
func programSize(re *syntax.Regexp) int {
	n := 2
	for _, sub := range re.Sub {
		n = min(n+programSize(sub), maxProgram+1)
	}
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass:
		n = 1 + len(re.Rune)/16 // a range is less than an instruction, but not nothing
	case syntax.OpEndLine, syntax.OpEndText:
		n = 4 // as rewritten
	case syntax.OpRepeat:
		n *= max(1, re.Min, re.Max)
	}
	return min(n, maxProgram+1)
}
