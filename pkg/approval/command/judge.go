package command

import (
	"fmt"
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// Limits. Whoever reaches one is denied, not asked: a person cannot judge such a text, and a
// question in place of a denial would be a way round it.
const (
	maxText  = 16 << 10  // bytes of one command, or of one text that is handed to a shell in it
	maxRead  = 256 << 10 // bytes parsed for one input, texts inside of texts counted each time
	maxDepth = 48        // constructs inside of each other
	maxParts = 1000      // simple commands of one input, counted in each dialect
	maxWords = 2000      // words of one simple command, and redirections of one statement
	maxTotal = 100_000   // words of all simple commands together
	maxOpen  = 500       // parentheses that are open at once
	maxTests = 4 << 20   // words held against rules for their program, for one input
)

// Judge holds what would be run against rules, which are those whose other conditions hold. Each
// command is read in the dialect of its shell and in that of bash, and the stricter reading counts.
// It never panics: a fault in reading is a limit.
func Judge(in Input, rules []Rule) Judgement {
	return caught(func() Judgement { return (&work{in: in, rules: rules}).judge() })
}

// caught makes a limit of a panic.
func caught(judge func() Judgement) (j Judgement) {
	defer func() {
		if p := recover(); p != nil {
			j = Judgement{Limit: fmt.Sprintf("the command could not be read: %v", p)}
		}
	}()
	return judge()
}

func (w *work) judge() (j Judgement) {
	in := w.in
	all := len(in.Commands) > 0
	for _, text := range in.Commands {
		for _, lang := range languages(in.Dialect) {
			r := w.read(text, lang)
			if w.limit != "" {
				return Judgement{Limit: w.limit}
			}
			all = all && !r.barred
			j.add(r)
		}
	}
	slices.Sort(j.Allowed)
	j.Allowed = slices.Compact(j.Allowed)
	if !all {
		j.Allowed = nil
	}
	return j
}

// add takes over what a reading found.
func (j *Judgement) add(r *reading) {
	j.Denied = union(j.Denied, r.denied)
	j.Asked = union(j.Asked, r.asked)
	j.Allowed = append(j.Allowed, r.allowed...)
	if j.Undecided == "" {
		j.Undecided = r.undecided
	}
	for _, part := range r.found {
		if !slices.ContainsFunc(j.Parts, part.same) {
			j.Parts = append(j.Parts, part)
		}
	}
}

func (part Part) same(other Part) bool {
	return part.Within == other.Within && slices.Equal(part.Argv, other.Argv)
}

func union(to, from []Match) []Match {
	for _, m := range from {
		if !slices.Contains(to, m) {
			to = append(to, m)
		}
	}
	return to
}

// A work is one call of Judge: its input, and what is used up of the limits.
type work struct {
	in    Input
	rules []Rule

	bytes, parts, words, tests int
	limit                      string
}

// stop notes that a limit is reached: nothing more is read.
func (w *work) stop(format string, args ...any) {
	if w.limit == "" {
		w.limit = fmt.Sprintf(format, args...)
	}
}

// A reading is one command in one language, and what was found in it.
type reading struct {
	*work
	dialect string // of the shell that runs the command
	whole   string // the command, and what is given on its input
	moved   bool   // the working directory is another one from here on
	handed  input  // what `exec` put on the input of all that follows

	denied, asked []Match
	undecided     string
	barred        bool // something in it is not allowed
	allowed       []string
	found         []Part
	searched      []string // texts that were searched roughly, and where
}

// A place is where in a command something stands; it is passed by value.
type place struct {
	lang   syntax.LangVariant
	depth  int
	within string
	source string   // the text that it stands in
	search bool     // only denies and asks are looked for, since what it is inside of is barred
	again  bool     // it is read once more, in a way that is less likely
	env    []string // names that are set for it
	writes []string // what its output goes to, absolute; "" where that cannot be known
	in     input    // what may be on descriptor 0
	kept   input    // and on others, or was on 0 before
	around []string // texts of which any part may write to its input
	heard  []string // texts from an input that are being read
}

// inside returns the place inside of a construct.
func (p place) inside(what string) place {
	if p.within != "" {
		what = p.within + " > " + what
	}
	p.within = what
	return p
}

// searched returns the place where nothing is allowed any more.
func (p place) searched() place {
	p.search = true
	return p
}

// enter goes one construct deeper. It is false where a limit is reached.
func (r *reading) enter(p *place) bool {
	p.depth++
	if p.depth > maxDepth {
		r.stop("constructs lie more than %d deep inside of each other", maxDepth)
	}
	return r.limit == ""
}

// bar notes that what stands at p is not allowed by any rule.
func (r *reading) bar(p place) {
	if !p.search {
		r.barred = true
	}
}

// unclear notes that it cannot be said what would run, and so that it is not allowed.
func (r *reading) unclear(p place, format string, args ...any) {
	r.bar(p)
	if r.undecided == "" {
		r.undecided = fmt.Sprintf(format, args...)
	}
}

// read reads one command of the input.
func (w *work) read(s string, lang language) *reading {
	r := &reading{work: w, dialect: w.in.Dialect, whole: s}
	p := place{lang: lang.variant}
	if w.in.Stdin != nil {
		p.in.texts = []text{{value: *w.in.Stdin}}
		r.whole += "\n" + *w.in.Stdin
	}
	p.env = slices.Sorted(maps.Keys(w.in.Env))
	for _, name := range p.env {
		r.holds(name, text{value: w.in.Env[name]}, p)
	}
	if lang.foreign && !plain(s) {
		r.unclear(p, "the language of %s is not known", w.in.Dialect)
	}
	if r.script(s, p) == 0 {
		r.bar(p) // nothing runs, and no rule allows nothing
	}
	return r
}
