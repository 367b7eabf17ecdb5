package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A compiled is a pattern ready for matching. It is shared by all workers.
type compiled struct {
	re        *regexp.Regexp
	behind    *regexp.Regexp // any character and re as a group; nil unless needed to see what stands before a match
	prefix    string         // every match begins with it, whatever stands before
	needles   []needle       // one of them stands in every match; nil if there are no such
	pure      bool           // a line with a needle matches, without asking re
	size      int            // guess of the instructions of re
	multiline bool
	seesCR    bool // the pattern names \r
	seesStart bool // the pattern has \A, and is multiline
	wide      bool // the pattern tells letters beyond ASCII apart
}

// compile checks the pattern of q. Unless the query is multiline, the result can match no
// newline, so that matching a whole buffer is matching each of its lines.
func compile(q GrepQuery) (*compiled, error) {
	if err := checkLength(q.Pattern); err != nil {
		return nil, err
	}
	pattern := q.Pattern
	if q.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if q.IgnoreCase {
		flags |= syntax.FoldCase
	}
	if q.Multiline {
		flags |= syntax.DotNL
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, explain(q.Pattern, err)
	}
	size := programSize(tree)
	if size > maxProgram {
		return nil, queryError("use fewer or smaller repetitions", "pattern is too large: with its repetitions it would take more than %d instructions", maxProgram)
	}
	c := &compiled{
		size:      size,
		multiline: q.Multiline,
		seesCR:    q.Multiline || has(tree, func(re *syntax.Regexp) bool { return re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\r') }),
		seesStart: q.Multiline && has(tree, func(re *syntax.Regexp) bool { return re.Op == syntax.OpBeginText }),
		wide:      has(tree, isWide),
	}
	if err := rewrite(tree, q.Multiline); err != nil {
		return nil, err
	}
	if c.re, err = regexp.Compile(tree.String()); err != nil {
		return nil, explain(q.Pattern, err)
	}
	if c.seesStart || q.OnlyMatching && has(tree, looksBehind) {
		c.behind = regexp.MustCompile("(?s:.)(" + tree.String() + ")")
	}
	prefix, _ := c.re.LiteralPrefix()
	if !c.seesStart {
		c.prefix = prefix
	}
	c.needles, c.pure = required(tree.Simplify())
	if !c.pure && len(c.needles) == 1 && c.needles[0].leftTo(prefix) {
		c.needles = nil
	}
	return c, nil
}

// rewrite fits a parsed pattern to files: $ also matches before \r\n, and, unless
// multiline, nothing matches a newline and the ends of the text are those of the line.
func rewrite(re *syntax.Regexp, multiline bool) error {
	switch {
	case re.Op == syntax.OpEndLine, re.Op == syntax.OpEndText && !multiline:
		*re = *lineEnd()
		return nil
	case multiline:
	case re.Op == syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case re.Op == syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case re.Op == syntax.OpCharClass:
		re.Rune = without(re.Rune, '\n')
	case re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n'):
		return queryError("multiline=true lets a pattern span lines", `pattern contains a newline, and lines are matched one at a time`)
	}
	for _, sub := range re.Sub {
		if err := rewrite(sub, multiline); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether a part of the pattern is what is looked for.
func has(re *syntax.Regexp, is func(*syntax.Regexp) bool) bool {
	return is(re) || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return has(sub, is) })
}

// isWide reports whether re tells letters beyond ASCII apart. What takes them all takes a
// byte that is no UTF-8, too.
func isWide(re *syntax.Regexp) bool {
	n := len(re.Rune)
	switch {
	case re.Op == syntax.OpLiteral:
		return slices.ContainsFunc(re.Rune, func(r rune) bool { return r >= utf8.RuneSelf })
	case re.Op != syntax.OpCharClass || n == 0:
		return false
	}
	lo, hi := re.Rune[n-2], re.Rune[n-1]
	return hi >= utf8.RuneSelf && (lo > utf8.RuneSelf || hi < utf8.MaxRune)
}

// looksBehind reports whether re depends on what stands before it.
func looksBehind(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return false
}

// lineEnd is \r?(?m:$), preferring not to take the \r.
func lineEnd() *syntax.Regexp {
	cr := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\r'}}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{
		{Op: syntax.OpQuest, Flags: syntax.NonGreedy, Sub: []*syntax.Regexp{cr}},
		{Op: syntax.OpEndLine},
	}}
}

// without removes r from the ranges of a character class.
func without(ranges []rune, r rune) []rune {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if r < lo || r > hi {
			out = append(out, lo, hi)
			continue
		}
		if lo < r {
			out = append(out, lo, r-1)
		}
		if r < hi {
			out = append(out, r+1, hi)
		}
	}
	return out
}

// explain says where a pattern is wrong and what to do about it.
func explain(pattern string, err error) error {
	var syn *syntax.Error
	if !errors.As(err, &syn) {
		return queryError("", "pattern cannot be used: %v", err)
	}
	where := ""
	if i := strings.Index(pattern, syn.Expr); i >= 0 && syn.Expr != "" && syn.Expr != pattern {
		where = fmt.Sprintf(" at character %d", utf8.RuneCountInString(pattern[:i])+1)
	}
	return queryError(advice(pattern, syn), "pattern is no valid regular expression: %s: %q%s", syn.Code, syn.Expr, where)
}

func advice(pattern string, err *syntax.Error) string {
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(pattern, look) {
			return "lookaround such as " + look + "...) is not supported by RE2 syntax; search for the rest and filter the lines"
		}
	}
	switch err.Code {
	case syntax.ErrInvalidEscape:
		if len(err.Expr) == 2 && '1' <= err.Expr[1] && err.Expr[1] <= '9' {
			return "backreferences are not supported by RE2 syntax"
		}
		return `literal=true searches for the text as it is; in a regular expression \\ is a backslash`
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket:
		return `literal=true searches for the text as it is; in a regular expression \( and \[ are brackets`
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return "literal=true searches for the text as it is; possessive repetition is not supported by RE2 syntax"
	case syntax.ErrLarge, syntax.ErrInvalidRepeatSize, syntax.ErrNestingDepth:
		return "repetition is limited to 1000"
	}
	return "literal=true searches for the text as it is"
}
