package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple reads a simple command: assignments in front, then words.
func (r *reading) simple(c *syntax.CallExpr, p place) {
	for _, a := range c.Assigns {
		lasts := len(c.Args) == 0 || a.Name == nil || a.Index != nil || a.Array != nil || a.Append
		switch {
		case lasts:
			r.bar(p)
			r.within(a, p.searched())
		case r.text(a.Value, p).computed:
			r.bar(p)
			fallthrough
		default:
			value := r.text(a.Value, p)
			r.holds(a.Name.Value, value, p)
			r.assignedValue(value, p)
			p.env = append(p.env[:len(p.env):len(p.env)], a.Name.Value)
		}
	}
	if len(c.Args) == 0 {
		return
	}
	if len(c.Args) > maxWords {
		r.stop("a command has more than %d words", maxWords)
		return
	}
	words := make([]text, len(c.Args))
	for i, w := range c.Args {
		words[i] = r.text(w, p)
	}
	r.call(words, p)
}

// call judges one program with its words, then what it would run in turn.
func (r *reading) call(words []text, p place) {
	if len(words) == 0 || !r.enter(&p) {
		return
	}
	if !r.counted(words) {
		return
	}
	r.pairs(words, p)
	if words[0].computed || words[0].value == "" {
		r.unnamed(words, p)
		return
	}
	allowed := r.match(words, p)
	inner, names, passes := passing(words)
	switch {
	case p.search:
	case len(allowed) > 0:
		r.allowed = append(r.allowed, allowed...)
	case passes:
		p.env = append(p.env[:len(p.env):len(p.env)], names...)
		r.call(inner, p.inside(words[0].value))
		return
	default:
		r.bar(p)
	}
	r.variables(p, allowed)
	r.lasting(words, p)
	r.runs(words, p.searched())
}

// counted takes a call from what may be judged.
func (r *reading) counted(words []text) bool {
	r.parts++
	r.words += len(words)
	switch {
	case r.parts > maxParts:
		r.stop("there are more than %d commands", maxParts)
	case r.words > maxTotal:
		r.stop("the commands have more than %d words together", maxTotal)
	}
	return r.limit == ""
}

// unnamed is a command whose program is computed. Where that is nothing, the next word is the program.
func (r *reading) unnamed(words []text, p place) {
	r.note(words, p, nil)
	r.unclear(p, "the name of a program is computed: %s", line(words))
	p.search, p.again = true, true
	r.call(words[1:], p.inside("…"))
	if named := alternatives(words[0]); len(named) > 0 {
		r.call(append(named, words[1:]...), p.inside("…"))
	}
}

// alternatives returns the words that a computed one names: those in its braces, behind = in zsh, or itself where only the kind of
// its quotes makes it computed.
func alternatives(w text) (words []text) {
	for _, name := range strings.FieldsFunc(w.value, func(c rune) bool { return strings.ContainsRune("{,}=", c) }) {
		words = append(words, text{value: name, computed: strings.ContainsAny(name, "$*?[")})
	}
	if len(words) > 0 && words[0].computed {
		return nil
	}
	return words
}

// note records a part; of what is read once more, in another way, only what matters.
func (r *reading) note(words []text, p place, rules []string) {
	if p.again && len(rules) == 0 {
		return
	}
	r.found = append(r.found, Part{Argv: shown(words), Within: p.within, Rules: rules})
}

// variables notes what the environment says about what runs, unless the rules that allow the call
// let it be set.
func (r *reading) variables(p place, allowed []string) {
	if len(allowed) > 0 {
		return
	}
	for _, name := range p.env {
		r.changes(name, p.searched())
	}
}

// sets notes a variable that is set to what is not known.
func (r *reading) sets(name string, p place) {
	r.locale(name, computedText, p)
	r.changes(name, p)
}

// changes notes a variable that is set: some change what later words mean.
func (r *reading) changes(name string, p place) {
	if choosesPrograms(name) || choosesHelpers(name) {
		r.unclear(p, "the variable %s changes what runs", name)
	}
}

// declares is sets for a word of `export` and its like: NAME, NAME=VALUE, or something computed.
func (r *reading) declares(w text, p place) {
	name, value, given := strings.Cut(w.value, "=")
	if strings.Contains(name, computedPart) {
		r.unclear(p, "the name of a variable is computed")
		return
	}
	if name = strings.TrimSuffix(name, "+"); given {
		r.holds(name, text{value: value, computed: w.computed}, p)
		r.changes(name, p)
	} else {
		r.sets(name, p)
	}
}

// lasting notes what a builtin changes for all that follows in the same shell.
func (r *reading) lasting(words []text, p place) {
	name, args := words[0].value, words[1:]
	switch name {
	case "cd", "pushd", "popd", "chdir":
		r.moved = true
	case "exec":
		r.handed = r.handed.with(p.in).with(p.kept)
	case "alias", "enable", "hash", "shopt", "setopt", "emulate", "zmodload", "autoload":
		r.unclear(p, "%s changes what later words mean", name)
	case "export", "readonly", "declare", "typeset", "local", "read", "mapfile", "readarray", "getopts", "unset", "let", "vared":
		for _, w := range args {
			r.declares(w, p)
			r.attribute(name, w, p)
			r.evaluates(w, p)
		}
	case "integer", "float", "nameref":
		r.unclear(p, "%s has values evaluated", name)
	case "printf", "test", "[", "wait", "set":
		for _, w := range args {
			r.evaluates(w, p)
		}
		if name == "printf" && len(args) > 1 && strings.HasPrefix(args[0].value, "-v") {
			r.declares(args[1], p)
		}
	case "compgen", "complete", "bind", "fc":
		for _, w := range args {
			r.rough(w.value, p.inside(name))
		}
		r.unclear(p, "%s runs what its words say", name)
	}
}

// attribute notes an option with which values that are assigned later are evaluated, or are names of variables.
func (r *reading) attribute(builtin string, option text, p place) {
	if !slices.Contains([]string{"declare", "typeset", "local", "nameref"}, builtin) {
		return
	}
	if option.computed && mayBeOption(option) || isOption(option.value) && strings.ContainsAny(option.value, "inEF") {
		r.unclear(p, "%s may have values evaluated", builtin)
	}
}

// evaluates searches a word that a builtin takes for a variable: bash runs what stands in
// its subscript.
func (r *reading) evaluates(w text, p place) {
	if _, subscript, ok := strings.Cut(w.value, "["); ok && strings.ContainsAny(subscript, "$`") {
		r.unclear(p, "a subscript runs a command")
		r.rough(subscript, p.inside("a subscript"))
	}
}

// assignedValue looks at a value of a variable in the same way, since another command may evaluate it.
func (r *reading) assignedValue(w text, p place) {
	if hasCommand(w.value) {
		r.evaluates(w, p)
	}
}

// hasCommand reports whether a text, once expanded, runs a command.
func hasCommand(s string) bool {
	return slices.ContainsFunc([]string{"$(", "`", "${ ", "${|", "${\t", "${\n"}, func(c string) bool { return strings.Contains(s, c) })
}

// base returns the name of a program without its directory.
func base(w text) string {
	if strings.IndexByte(w.value, '/') < 0 {
		return w.value
	}
	return path.Base(w.value)
}
