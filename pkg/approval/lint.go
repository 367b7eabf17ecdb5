package approval

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// lint returns what is no mistake and looks like one.
func (p *Policy) lint(o ParseOptions) (out Problems) {
	tools := o.Tools
	warn := func(line int, format string, args ...any) {
		out = append(out, Problem{line, fmt.Sprintf(format, args...)})
	}
	for _, r := range p.rules {
		for _, glob := range unmatched(r.tools, tools) {
			warn(r.line, "rule %s: no tool is called %s; there are: %s", r.id, glob, strings.Join(tools, ", "))
		}
		for _, text := range o.unmet(r) {
			warn(r.line, "rule %s: %s", r.id, text)
		}
		if d := p.shadow(r); d != nil {
			warn(r.line, "rule %s never allows anything: rule %s in line %d denies all that it matches", r.id, d.id, d.line)
		}
	}
	for _, l := range p.limits {
		for _, glob := range unmatched(l.tools, tools) {
			warn(l.line, "limit %s: no tool is called %s; there are: %s", l.id, glob, strings.Join(tools, ", "))
		}
	}
	if p.fallback == Allow && !slices.ContainsFunc(p.rules, func(r *rule) bool { return r.effect == Deny }) {
		warn(0, "default: allow without a rule that denies allows everything that no rule asks for: is that meant?")
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return out
}

// unmatched returns the globs that match none of the tools.
func unmatched(globs names, tools []string) (out []string) {
	if tools == nil {
		return nil
	}
	for _, g := range globs {
		if !slices.ContainsFunc(tools, func(t string) bool { return matchText(g, t) }) {
			out = append(out, g)
		}
	}
	return out
}

// unmet says which conditions of r none of its tools can meet, where all are known.
func (o ParseOptions) unmet(r *rule) (out []string) {
	var arguments []string
	runs, touches := false, false
	for _, tool := range o.Tools {
		if !r.tools.match(tool) {
			continue
		}
		f, known := o.Known[tool]
		if !known {
			return nil
		}
		arguments = append(arguments, f.Arguments...)
		commands := f.Effect == RunContained || f.Effect == RunCommands
		runs = runs || commands
		touches = touches || !commands && f.Effect != SeeCommands
	}
	if arguments == nil {
		return nil // no tool, which is said already, or nothing to say
	}
	slices.Sort(arguments)
	arguments = slices.Compact(arguments)
	for _, c := range r.args {
		if !slices.Contains(arguments, c.path[0]) {
			out = append(out, fmt.Sprintf("%s: none of its tools has an argument of that name; there are: %s", c.pointer, strings.Join(arguments, ", ")))
		}
	}
	if r.command != nil && !runs {
		out = append(out, "command: none of its tools runs commands")
	}
	if r.paths != nil && !touches {
		out = append(out, "paths: none of its tools says which files it touches; what commands touch is not known")
	}
	return out
}

// shadow returns a deny that matches all that the allow r matches, or nil. It does not find every
// one: only those whose conditions are plainly wider.
func (p *Policy) shadow(r *rule) *rule {
	if r.effect != Allow {
		return nil
	}
	for _, d := range p.rules {
		if d.effect == Deny && d.covers(r) {
			return d
		}
	}
	return nil
}

func (r *rule) covers(o *rule) bool {
	return r.tools.cover(o.tools) && r.principals.cover(o.principals) && r.scopes.cover(o.scopes) &&
		coverList(r.transports, o.transports) && r.coversArgs(o) &&
		(r.command == nil || o.command != nil && reflect.DeepEqual(r.command.Pattern, o.command.Pattern)) &&
		(r.paths == nil || o.paths != nil && r.paths.cover(o.paths))
}

// cover reports whether g matches all that o matches.
func (g names) cover(o names) bool {
	if g == nil || slices.Contains(g, "*") {
		return true
	}
	return o != nil && !slices.ContainsFunc(o, func(one string) bool { return !g.coversOne(one) })
}

// coversOne takes what one's * stands for to be matched by a * of g, and by nothing else.
func (g names) coversOne(one string) bool {
	if !strings.ContainsAny(one, "*?") {
		return g.match(one)
	}
	return slices.ContainsFunc(g, func(mine string) bool {
		return mine == one || !strings.Contains(mine, "?") && matchText(mine, one)
	})
}

func coverList(list, o []string) bool {
	return list == nil || o != nil && !slices.ContainsFunc(o, func(one string) bool { return !slices.Contains(list, one) })
}

func (r *rule) coversArgs(o *rule) bool {
	for _, c := range r.args {
		if !slices.ContainsFunc(o.args, func(d argCondition) bool { return reflect.DeepEqual(c, d) }) {
			return false
		}
	}
	return true
}

// cover reports whether every set of paths that fits o fits c.
func (c *pathCondition) cover(o *pathCondition) bool {
	if c.every && !o.every || c.ops != 0 && (o.ops == 0 || c.ops&o.ops != o.ops) {
		return false
	}
	return !slices.ContainsFunc(o.globs, func(g pathGlob) bool {
		return !slices.ContainsFunc(c.globs, func(d pathGlob) bool { return d.form == all || d.glob == g.glob })
	})
}
