package command

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An input is what may be read from a descriptor.
type input struct {
	texts []text         // here-documents and strings
	left  []*syntax.Stmt // what writes into it: the left of a pipe, what is inside of <( )
	piped bool           // it comes from what cannot be known
}

func (i input) with(other input) input {
	return input{
		texts: slices.Concat(i.texts, other.texts),
		left:  slices.Concat(i.left, other.left),
		piped: i.piped || other.piped,
	}
}

// given returns the place where an input is on descriptor 0, or on another one.
func (p place) given(first bool, in input) place {
	if first {
		p.in = p.in.with(in)
	} else {
		p.kept = p.kept.with(in)
	}
	return p
}

// joined returns the place where any input may be on descriptor 0.
func (p place) joined() place {
	p.in, p.kept = p.in.with(p.kept), input{}
	return p
}

// anywhere returns the place inside of a function, a coprocess or >( ): any part of the text may write to its input.
func (p place) anywhere() place {
	p.around = append(slices.Clip(p.around), p.source)
	return p
}

// fedBy returns the place inside of a process substitution.
func (p place) fedBy(s *syntax.ProcSubst) place {
	if s.Op == syntax.CmdOut {
		return p.anywhere()
	}
	return p
}

// fed reports whether something may be on the input.
func (p place) fed() bool { return p.in.piped || len(p.in.texts) > 0 || len(p.around) > 0 }

// descriptor is a path below which the system shows what is open.
var descriptor = regexp.MustCompile(`(^|/)(fd/\d+|std(in|out|err))$`)

// isInput reports whether a file is the input of the process, or another descriptor.
func isInput(file text) bool {
	return !file.computed && (file.value == "-" || descriptor.MatchString(path.Clean(file.value)))
}

// stdin reads all that may be on the input: here-documents, what `echo` and `cat` left of a pipe write. A text
// that is being read already has no more than its rest left.
func (r *reading) stdin(name string, langs []syntax.LangVariant, p place) {
	given, known := r.given(p)
	p.in = input{piped: true}
	for _, t := range given {
		if slices.Contains(p.heard, t.value) {
			known = false
			continue
		}
		inner := p
		inner.heard = append(slices.Clip(p.heard), t.value)
		r.handOver(t, name+" <<", langs, inner)
	}
	if !known {
		r.unclear(p, "%s runs what it reads from its input", name)
	}
}

// given returns all texts that may be on the input, and whether there is nothing else.
func (r *reading) given(p place) (given []text, known bool) {
	in := p.in.with(r.handed)
	given = in.texts
	for _, st := range in.left {
		given = append(given, r.spoken(st, p)...)
	}
	for _, source := range p.around {
		given = append(given, r.spokenIn(source, p)...)
	}
	return given, !in.piped && len(p.around) == 0
}

// crontab searches the lines that crontab is given: a time of one word or of five, then a command.
func (r *reading) crontab(p place) {
	given, known := r.given(p)
	if !known {
		r.unclear(p, "crontab runs what it reads from its input")
	}
	for _, t := range given {
		for line := range strings.SplitSeq(t.value, "\n") {
			for n, at := 0, 0; n < 5 && at >= 0; n++ {
				line = strings.TrimLeft(line, " \t")
				at = strings.IndexAny(line, " \t")
				line = line[max(at, 0):]
				if n == 0 || n == 4 {
					r.rough(line, p.inside("crontab"))
				}
			}
		}
	}
}

// spokenIn returns what any statement of a text may write.
func (r *reading) spokenIn(source string, p place) (out []text) {
	if !r.fits(source) {
		return nil
	}
	for st, err := range syntax.NewParser(syntax.Variant(p.lang)).StmtsSeq(strings.NewReader(source)) {
		if err == nil && r.limit == "" {
			out = append(out, r.spoken(st, p)...)
		}
	}
	return out
}

// spoken returns the texts that a statement may write: its here-documents, and the words of echo and printf.
func (r *reading) spoken(st *syntax.Stmt, p place) (out []text) {
	quiet := &reading{work: r.work, dialect: r.dialect} // what is found was found before
	syntax.Walk(st, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Hdoc != nil {
				out = append(out, quiet.heredoc(n, p))
			} else if n.Op == syntax.WordHdoc {
				out = append(out, quiet.text(n.Word, p))
			}
		case *syntax.CallExpr:
			if len(n.Args) > 1 && slices.Contains([]string{"echo", "printf"}, n.Args[0].Lit()) {
				words := make([]text, len(n.Args)-1)
				for i, w := range n.Args[1:] {
					words[i] = quiet.text(w, p)
				}
				for len(words) > 1 && isOption(words[0].value) {
					words = words[1:]
				}
				out = append(out, joined(words))
			}
		}
		return r.limit == ""
	})
	return out
}
