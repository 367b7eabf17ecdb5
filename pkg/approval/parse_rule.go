package approval

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/approval/command"
	"go.yaml.in/yaml/v3"
)

// A rule is one of a policy, compiled.
type rule struct {
	id         string
	effect     Decision
	tools      names
	principals names
	scopes     names
	transports []string // nil: every one
	reason     string
	command    *command.Rule
	paths      *pathCondition
	args       []argCondition
	examples   []example
	line       int
}

// An example is a call that a rule must match, or must not.
type example struct {
	line    int
	want    bool
	command string // of a rule with a command, where call is nil
	call    *Case
}

func (r *reader) rules(n *yaml.Node) (out []*rule) {
	items := r.items(n, "rules", 0)
	if len(items) > maxRules {
		r.addf(n, "rules: %d of them, at most %d", len(items), maxRules)
		return nil
	}
	for _, item := range items {
		out = append(out, r.rule(item))
	}
	return out
}

func (r *reader) rule(n *yaml.Node) *rule {
	one := &rule{line: n.Line}
	what := "rule " + nameOf(n)
	m, ok := r.mapping(n, what, "id", "effect", "tools", "principals", "scopes", "transports", "reason", "command", "paths", "args", "examples")
	if !ok {
		return one
	}
	r.require(m, map[string]string{
		"id": "id: and a name", "effect": "effect: deny, ask or allow; nothing is assumed",
		"tools": `tools: the canonical names it is about, or ["*"]`,
	})
	if n := m.values["id"]; n != nil {
		one.id = r.id(n, what)
	}
	if n := m.values["effect"]; n != nil {
		one.effect = r.decision(n, what+": effect", "deny", "ask", "allow")
	}
	r.callers(m, one)
	if n := m.values["reason"]; n != nil {
		if one.reason, _ = r.text(n, what+": reason"); utf8.RuneCountInString(one.reason) > 300 {
			r.addf(n, "%s: reason: longer than 300 characters: the model and the person read it", what)
		}
	}
	if n := m.values["command"]; n != nil {
		one.command = r.command(n, one, what+": command")
	}
	if n := m.values["paths"]; n != nil {
		one.paths = r.paths(n, one.effect, what+": paths")
	}
	if n := m.values["args"]; n != nil {
		one.args = r.args(n, what+": args")
	}
	if n := m.values["examples"]; n != nil {
		one.examples = r.examples(n, one, what+": examples")
	}
	return one
}

// callers reads the conditions on tool and caller.
func (r *reader) callers(m mapping, one *rule) {
	if n := m.values["tools"]; n != nil {
		one.tools = r.tools(n, m.what)
	}
	if n := m.values["principals"]; n != nil {
		one.principals = r.texts(n, m.what+": principals")
	}
	if n := m.values["scopes"]; n != nil {
		one.scopes = r.texts(n, m.what+": scopes")
	}
	if n := m.values["transports"]; n != nil {
		for _, c := range r.items(n, m.what+": transports", 1) {
			one.transports = append(one.transports, r.choice(c, m.what+": transports", Stdio, HTTP))
		}
	}
}

func (r *reader) command(n *yaml.Node, one *rule, what string) *command.Rule {
	m, ok := r.mapping(n, what, "argv", "exact", "flags_all", "flags_none", "env", "write")
	if !ok {
		return nil
	}
	r.require(m, map[string]string{"argv": "argv: the words from the program's name on, such as [git, [status, diff]]"})
	c := &command.Rule{ID: one.id, Effect: command.Effect(one.effect)}
	if n := m.values["argv"]; n != nil {
		c.Pattern.Argv = r.alternatives(n, what+": argv")
	}
	if n := m.values["exact"]; n != nil {
		c.Pattern.Exact = r.boolean(n, what+": exact")
	}
	if n := m.values["flags_all"]; n != nil {
		for _, group := range r.items(n, what+": flags_all", 0) {
			c.Pattern.FlagsAll = append(c.Pattern.FlagsAll, r.texts(group, what+": flags_all"))
		}
	}
	for name, list := range map[string]*[]string{"flags_none": &c.Pattern.FlagsNone, "env": &c.Pattern.Env, "write": &c.Pattern.Write} {
		if n := m.values[name]; n != nil {
			*list = r.texts(n, what+": "+name)
		}
	}
	if len(r.problems) == 0 {
		if err := c.Check(); err != nil {
			for line := range strings.Lines(err.Error()) {
				r.addf(n, "%s: %s", what, strings.TrimSpace(line))
			}
		}
	}
	return c
}

// alternatives reads a list of words, each one text or a list of texts.
func (r *reader) alternatives(n *yaml.Node, what string) (out [][]string) {
	for _, c := range r.items(n, what, 1) {
		if c.Kind == yaml.SequenceNode {
			out = append(out, r.texts(c, what))
		} else if s, ok := r.text(c, what); ok {
			out = append(out, []string{s})
		}
	}
	return out
}

func (r *reader) paths(n *yaml.Node, effect Decision, what string) *pathCondition {
	m, ok := r.mapping(n, what, "ops", "globs", "match")
	if !ok {
		return nil
	}
	r.require(m, map[string]string{"globs": `globs: of paths below the root, such as ["src/**"]`})
	c := &pathCondition{every: effect == Allow, wary: effect != Allow}
	if n := m.values["ops"]; n != nil {
		for _, op := range r.items(n, what+": ops", 1) {
			c.ops |= accessBits[Access(r.choice(op, what+": ops", accessNames...))]
		}
	}
	if c.ops&accessBits[Delete] != 0 && effect != Allow {
		c.ops |= accessBits[Move] // what is moved away is gone from where it was
	}
	if n := m.values["globs"]; n != nil {
		for _, text := range r.texts(n, what+": globs") {
			g, err := compilePathGlob(text)
			if err != nil {
				r.addf(n, "%s: %s", what, err)
			}
			c.globs = append(c.globs, g)
		}
	}
	if n := m.values["match"]; n != nil {
		c.every = r.choice(n, what+": match", "any", "all") == "all"
	}
	return c
}

var accessNames = []string{string(Read), string(List), string(Create), string(Update), string(Delete), string(Move)}

var testNames = []string{"equals", "in", "glob", "min", "max", "present"}

func (r *reader) args(n *yaml.Node, what string) (out []argCondition) {
	if n.Kind != yaml.MappingNode {
		r.addf(n, `%s: want a mapping of JSON pointers, such as {"/n": {max: 4}}`, what)
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		path, err := parsePointer(k.Value)
		if err != nil {
			r.addf(k, "%s: %s", what, err)
			continue
		}
		out = append(out, argCondition{k.Value, path, r.valueTest(v, what+": "+k.Value)})
	}
	return out
}

func (r *reader) valueTest(n *yaml.Node, what string) (t valueTest) {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 || !slices.Contains(testNames, n.Content[0].Value) {
		r.addf(n, "%s: want one of equals, in, glob, min, max and present, such as {max: 4}; a second condition needs a rule of its own", what)
		return t
	}
	name, v := n.Content[0].Value, n.Content[1]
	what += ": " + name
	switch name {
	case "equals":
		t.equals = r.value(v, what)
		if isNull(v) {
			r.addf(v, "%s: null counts as absent: write present: false", what)
		}
	case "in":
		t.in = []any{}
		for _, c := range r.items(v, what, 1) {
			t.in = append(t.in, r.value(c, what))
		}
	case "glob":
		s, _ := r.text(v, what)
		t.glob = &s
	case "min":
		t.min = r.bound(v, what)
	case "max":
		t.max = r.bound(v, what)
	case "present":
		b := r.boolean(v, what)
		t.present = &b
	}
	return t
}

func (r *reader) bound(n *yaml.Node, what string) *number {
	before := len(r.problems)
	v, ok := r.value(n, what).(json.Number)
	if !ok && len(r.problems) == before {
		r.addf(n, "%s: want a number", what)
	}
	bound := parseNumber(v)
	return &bound
}
