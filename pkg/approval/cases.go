package approval

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolhost/toolhost/pkg/approval/command"
	"go.yaml.in/yaml/v3"
)

// Calls as they are written down: the examples of a rule, and the cases of a file that tests a policy.

// A Case is a call, and what a policy should make of it.
type Case struct {
	Line     int             // where it is written
	Tool     string          // canonical name
	Args     json.RawMessage // an object; nil where none are given
	Paths    []Path
	Commands []string // what it would run
	Count    int
	Caller   Caller
	Want     Decision // of a case; an example has none
}

// Stated reports whether the case itself says what the call would touch, run or count. If not, that
// is for the tool's plan to find out.
func (c *Case) Stated() bool { return len(c.Paths) > 0 || len(c.Commands) > 0 || c.Count > 0 }

// Action returns what the case says as an action. Its commands are for sh, in /data.
func (c *Case) Action() Action {
	a := Action{Tool: c.Tool, Args: c.Args, Paths: c.Paths, Count: c.Count}
	if len(c.Commands) > 0 {
		a.Shell = &Shell{Commands: c.Commands, Dialect: "sh", Dir: "/data"}
	}
	return a
}

// ParseCases reads cases for a policy: a YAML or JSON list of mappings, at most 1 MiB. Each has tool
// and want (allow, ask or deny), and may have args, paths (from an access to paths below the
// root, such as {update: [a.txt]}), commands, count, principal, scopes and transport. Errors are [Problems].
func ParseCases(data []byte) ([]Case, error) {
	r := &reader{}
	if len(data) > maxPolicy {
		r.addf(nil, "the cases are larger than %d bytes", maxPolicy)
		return nil, r.err()
	}
	doc := r.document(data)
	if doc == nil {
		return nil, r.err()
	}
	var out []Case
	for _, n := range r.items(doc, "cases", 1) {
		if c := r.call(n, "case", "want"); c != nil {
			out = append(out, *c)
		}
	}
	return out, r.err()
}

// LoadCases reads the cases in the file at path, as [ParseCases] does.
func LoadCases(path string) ([]Case, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return ParseCases(data)
}

// call reads a case; more are the keys that it must have beside tool.
func (r *reader) call(n *yaml.Node, what string, more ...string) *Case {
	known := append([]string{"tool", "args", "paths", "commands", "count", "principal", "scopes", "transport"}, more...)
	m, ok := r.mapping(n, what, known...)
	if !ok {
		return nil
	}
	missing := map[string]string{"tool": "tool: the canonical name"}
	for _, name := range more {
		missing[name] = name + ": allow, ask or deny"
	}
	r.require(m, missing)
	c := &Case{Line: n.Line, Caller: Caller{Principal: Local, Transport: Stdio}}
	r.facts(m, c)
	r.caller(m, c)
	if n := m.values["tool"]; n != nil {
		c.Tool, _ = r.text(n, what+": tool")
	}
	if n := m.values["want"]; n != nil {
		c.Want = r.decision(n, what+": want", "deny", "ask", "allow")
	}
	return c
}

func (r *reader) facts(m mapping, c *Case) {
	if n := m.values["args"]; n != nil {
		if n.Kind != yaml.MappingNode {
			r.addf(n, "%s: args: want a mapping, such as {path: a.txt}", m.what)
		}
		c.Args, _ = json.Marshal(r.value(n, m.what+": args")) // of what value returns nothing can fail
	}
	if n := m.values["paths"]; n != nil {
		c.Paths = r.touched(n, m.what+": paths")
	}
	if n := m.values["commands"]; n != nil {
		c.Commands = r.texts(n, m.what+": commands")
	}
	if n := m.values["count"]; n != nil {
		c.Count = r.integer(n, m.what+": count", 1, 1_000_000)
	}
}

// touched reads the paths of a case, by access.
func (r *reader) touched(n *yaml.Node, what string) (out []Path) {
	m, ok := r.mapping(n, what, accessNames...)
	if !ok {
		return nil
	}
	for _, access := range accessNames {
		if m.values[access] == nil {
			continue
		}
		for _, rel := range r.texts(m.values[access], what+": "+access) {
			out = append(out, Path{Access: Access(access), Root: "/root", Rel: rel})
		}
	}
	return out
}

func (r *reader) caller(m mapping, c *Case) {
	if n := m.values["principal"]; n != nil {
		c.Caller.Principal, _ = r.text(n, m.what+": principal")
	}
	if n := m.values["scopes"]; n != nil {
		c.Caller.Scopes = r.texts(n, m.what+": scopes")
	}
	if n := m.values["transport"]; n != nil {
		c.Caller.Transport = r.choice(n, m.what+": transport", Stdio, HTTP)
	}
}

// examples reads the examples of a rule: calls, or texts that are commands.
func (r *reader) examples(n *yaml.Node, one *rule, what string) (out []example) {
	m, ok := r.mapping(n, what, "match", "not_match")
	if !ok {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(m.values)) {
		for _, c := range r.items(m.values[key], what+": "+key, 0) {
			if e, ok := r.example(c, one, what+": "+key); ok {
				e.want = key == "match"
				out = append(out, e)
			}
		}
	}
	return out
}

func (r *reader) example(n *yaml.Node, one *rule, what string) (e example, ok bool) {
	e.line = n.Line
	if n.Kind != yaml.ScalarNode {
		e.call = r.call(n, what)
		return e, e.call != nil
	}
	if one.command == nil {
		r.addf(n, "%s: text is a command, and the rule has none: write a call, such as {tool: Read, paths: {read: [a.txt]}}", what)
		return e, false
	}
	e.command, ok = r.text(n, what)
	return e, ok
}

// runExamples holds each rule, alone, against its examples.
func (p *Policy) runExamples(r *reader) {
	for _, one := range p.rules {
		for _, e := range one.examples {
			if e.holds(one) == e.want {
				continue
			}
			at := &yaml.Node{Line: e.line}
			if e.want {
				r.addf(at, "rule %s: the example does not match, and should: mend the rule or the example%s", one.id, why(one, e))
			} else {
				r.addf(at, "rule %s: the example matches, and should not: mend the rule or the example", one.id)
			}
		}
	}
}

// why says what a rule saw in an example that it does not match.
func why(one *rule, e example) string {
	if one.command == nil {
		return ""
	}
	if j := one.judge(e); j.Undecided != "" {
		return " (" + j.Undecided + ")"
	}
	return ""
}

func (e *example) holds(one *rule) bool {
	if e.call == nil {
		return decides(one.judge(*e), one.id)
	}
	a := e.call.Action()
	ev := evaluation{who: e.call.Caller, action: &a}
	switch {
	case !one.tools.match(a.Tool) || !ev.candidate(one):
		return false
	case one.command != nil:
		return a.Shell != nil && decides(one.judge(*e), one.id)
	}
	return true
}

// judge holds the commands of an example against the rule alone.
func (r *rule) judge(e example) command.Judgement {
	in := command.Input{Commands: []string{e.command}, Dialect: "sh", Dir: "/data"}
	if e.call != nil {
		in.Commands = e.call.Commands
	}
	return command.Judge(in, []command.Rule{*r.command})
}

// decides reports whether a rule is among those that a judgement names.
func decides(j command.Judgement, id string) bool {
	is := func(m command.Match) bool { return m.Rule == id }
	return slices.ContainsFunc(j.Denied, is) || slices.ContainsFunc(j.Asked, is) || slices.Contains(j.Allowed, id)
}
