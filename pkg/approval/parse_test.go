package approval_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/toolhost/toolhost/pkg/approval"
)

// parse returns the policy of a text without problems.
func parse(t testing.TB, text string) *approval.Policy {
	t.Helper()
	p, _, err := approval.Parse([]byte(text), approval.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	return p
}

// The tools that the tests know.
var tools = []string{"Read", "Glob", "Grep", "List", "Stat", "Write", "Edit", "apply_patch", "shell", "shell_job", "image_generation"}

func TestRefusedFiles(t *testing.T) {
	const head = "version: 1\ndefault: ask\n"
	rule := func(more string) string {
		return head + "rules:\n  - {id: a, effect: deny, tools: [Read], " + more + "}\n"
	}
	tests := []struct {
		name, text string
		want       []string // parts of the problems, by line
	}{
		{"empty", "", []string{"the file is empty"}},
		{"only a comment", "# nothing\n", []string{"the file is empty"}},
		{"no YAML", "version: [1\n", []string{"no valid YAML"}},
		{"no mapping", "- a\n", []string{"line 1: policy: want a mapping with version, default"}},
		{"nothing in it", "{}\n", []string{"line 1: policy: default is missing: add default: ask, deny or allow", "line 1: policy: version is missing: add version: 1"}},
		{"another version", "version: 2\ndefault: ask\n", []string{"line 1: version: this program reads version 1 only"}},
		{"version in quotes", "version: '1'\ndefault: ask\n", []string{"line 1: version: this program reads version 1 only"}},
		{"unknown key", head + "rulez: []\n", []string{`line 3: policy: unknown key "rulez": there are version`}},
		{"key in capitals", head + "Rules: []\n", []string{`line 3: policy: unknown key "Rules": write rules, in small letters`}},
		{"key twice", head + "default: deny\n", []string{`line 3: key "default" is given twice, first in line 2: keep one`}},
		{"key twice, deep", rule("args: {/a: {max: 1}, /a: {max: 2}}"), []string{`line 4: key "/a" is given twice`}},
		{"second document", head + "---\nversion: 1\n", []string{"line 3: a second document begins here"}},
		{"second document, empty", head + "---\n", []string{"a second document begins here"}},
		{"anchor and alias", head + "rules:\n  - &x {id: a, effect: deny, tools: [Read]}\n  - *x\n", []string{"line 4: anchor &x: leave it out", "line 5: alias *x: write out"}},
		{"merge key", head + "rules:\n  - {<<: {effect: deny}, id: a, tools: [Read]}\n", []string{"line 4: merge key <<: write out"}},
		{"tag", head + "rules: !!binary aGk=\n", []string{"line 3: tag !!binary: leave it out"}},
		{"own tag", head + "rules: !include x\n", []string{"line 3: tag !include: leave it out"}},
		{"null rule", head + "rules:\n  -\n  - {id: a, effect: deny, tools: [Read]}\n", []string{"line 4: rules: an entry without a value"}},
		{"null section", head + "rules:\n", []string{"line 3: policy: rules has no value"}},
		{"null default", "version: 1\ndefault:\n", []string{"line 2: policy: default has no value"}},
		{"audit", head + "audit: {path: /var/log/a}\n", []string{"line 3: audit: there is no audit log yet"}},
		{"effect in capitals", head + "rules:\n  - {id: a, effect: Deny, tools: [Read]}\n", []string{`line 4: rule a: effect: "Deny": write it in small letters: deny`}},
		{"unknown effect", head + "rules:\n  - {id: a, effect: forbid, tools: [Read]}\n", []string{`line 4: rule a: effect: "forbid": want deny, ask, allow`}},
		{"effect that is no text", head + "rules:\n  - {id: a, effect: 1, tools: [Read]}\n", []string{"line 4: rule a: effect: want text, not 1: write it in quotes"}},
		{"rule without all", head + "rules:\n  - {reason: x}\n", []string{
			"line 4: rule without an id: effect is missing: add effect: deny, ask or allow; nothing is assumed",
			"line 4: rule without an id: id is missing", "line 4: rule without an id: tools is missing",
		}},
		{"id twice", head + "rules:\n  - {id: a, effect: deny, tools: [Read]}\n  - {id: a, effect: ask, tools: [Read]}\n", []string{"line 5: id a is used twice, first in line 4"}},
		{"id of a rule and a limit", rule("reason: x") + "limits:\n  - {id: a, tools: [Read], max: 1, per: 1h}\n", []string{"line 6: id a is used twice, first in line 4"}},
		{"bad id", head + "rules:\n  - {id: A b, effect: deny, tools: [Read]}\n", []string{`id "A b": want at most 64 of a-z`}},
		{"another reserved id", head + "rules:\n  - {id: undecided, effect: deny, tools: [Read]}\n", []string{`id "undecided" is what decisions without a rule are called`}},
		{"tool that excepts", head + "rules:\n  - {id: a, effect: deny, tools: ['!Read']}\n", []string{"names are matched by * and ? only"}},
		{"no YAML behind the end", head + "...\n[\n", []string{"no valid YAML"}},
		{"reserved id", head + "rules:\n  - {id: default, effect: deny, tools: [Read]}\n", []string{`id "default" is what decisions without a rule are called`}},
		{"no tools", head + "rules:\n  - {id: a, effect: deny, tools: []}\n", []string{"line 4: rule a: tools: the list is empty"}},
		{"empty tool", head + "rules:\n  - {id: a, effect: deny, tools: ['']}\n", []string{"line 4: rule a: tools: an empty text matches nothing"}},
		{"tools as text", head + "rules:\n  - {id: a, effect: deny, tools: Read}\n", []string{"line 4: rule a: tools: want a list, such as [a, b]"}},
		{"braces in a tool", head + "rules:\n  - {id: a, effect: deny, tools: ['{Read,List}']}\n", []string{"names are matched by * and ? only"}},
		{"transport", rule("transports: [tcp]"), []string{`line 4: rule a: transports: "tcp": want stdio, http`}},
		{"long reason", rule("reason: " + strings.Repeat("x", 301)), []string{"longer than 300 characters"}},
		{"paths without globs", rule("paths: {ops: [read]}"), []string{"line 4: rule a: paths: globs is missing"}},
		{"malformed glob", rule("paths: {globs: ['a[']}"), []string{`line 4: rule a: paths: glob "a[" is malformed`}},
		{"absolute glob", rule("paths: {globs: ['/etc/**']}"), []string{`begins with a slash: paths are those below the root, write "etc/**"`}},
		{"glob that climbs", rule("paths: {globs: ['a/../b']}"), []string{`glob "a/../b" matches nothing`}},
		{"glob from here", rule("paths: {globs: ['./a']}"), []string{`glob "./a" matches nothing`}},
		{"glob with a slash at its end", rule("paths: {globs: ['a/']}"), []string{`for all that is below write "a/**"`}},
		{"glob that excepts", rule("paths: {globs: ['!a']}"), []string{"nothing is excepted by !"}},
		{"unknown op", rule("paths: {ops: [write], globs: ['**']}"), []string{`rule a: paths: ops: "write": want read, list, create`}},
		{"unknown match", rule("paths: {match: some, globs: ['**']}"), []string{`rule a: paths: match: "some": want any, all`}},
		{"pointer without a slash", rule("args: {n: {max: 1}}"), []string{`rule a: args: JSON pointer "n": begin with a slash, such as "/n"`}},
		{"pointer with a bad escape", rule("args: {/a~b: {max: 1}}"), []string{"write ~ as ~0"}},
		{"two conditions", rule("args: {/n: {min: 1, max: 2}}"), []string{"want one of equals, in, glob, min, max and present"}},
		{"unknown condition", rule("args: {/n: {above: 1}}"), []string{"want one of equals, in, glob"}},
		{"bound that is no number", rule("args: {/n: {max: many}}"), []string{"rule a: args: /n: max: want a number"}},
		{"bound without end", rule("args: {/n: {max: .inf}}"), []string{"finite numbers only"}},
		{"equals null", rule("args: {/n: {equals: null}}"), []string{"null counts as absent: write present: false"}},
		{"in nothing", rule("args: {/n: {in: []}}"), []string{"rule a: args: /n: in: the list is empty"}},
		{"present maybe", rule("args: {/n: {present: maybe}}"), []string{"want true or false"}},
		{"command without argv", rule("command: {exact: true}"), []string{"rule a: command: argv is missing"}},
		{"command with two mistakes", rule("command: {argv: ['l*'], flags_none: [all]}"), []string{"rule a: command: argv", "rule a: command: flags_none"}},
		{"duration without unit", head + "ask: {timeout: '5'}\n", []string{"line 3: ask: timeout: \"5\": want a time greater than 0"}},
		{"duration of two units", head + "ask: {timeout: 1h30m}\n", []string{"want a time greater than 0"}},
		{"no duration at all", head + "ask: {timeout: 0s}\n", []string{"want a time greater than 0"}},
		{"endless duration", head + "ask: {timeout: 99999999999999h}\n", []string{"want a time greater than 0"}},
		{"remembering twice", head + "ask: {remember: [once, once]}\n", []string{"once is given twice"}},
		{"remembering for ever", head + "ask: {remember: [always]}\n", []string{`"always": want once, session`}},
		{"session_ttl for nothing", head + "ask: {session_ttl: 5m}\n", []string{"line 3: ask: session_ttl counts only where answers are remembered"}},
		{"no pending questions", head + "ask: {max_pending: 0}\n", []string{"want a whole number from 1 to 100"}},
		{"unattended asks", head + "unattended: ask\n", []string{`unattended: "ask": want deny, allow`}},
		{"limit without all", head + "limits:\n  - {key: server}\n", []string{"id is missing", "max is missing", "per is missing", "tools is missing"}},
		{"limit below 0", head + "limits:\n  - {id: l, tools: [Read], max: -1, per: 1h}\n", []string{"line 4: limit l: max: want a whole number from 0"}},
		{"limit over allow", head + "limits:\n  - {id: l, tools: [Read], max: 1, per: 1h, over: allow}\n", []string{`limit l: over: "allow": want deny, ask`}},
		{"example that fails", head + "rules:\n  - id: a\n    effect: deny\n    tools: [Read]\n    paths: {globs: [a]}\n    examples:\n      match:\n        - {tool: Read, paths: {read: [b]}}\n      not_match:\n        - {tool: Read, paths: {read: [a]}}\n", []string{
			"line 10: rule a: the example does not match, and should", "line 12: rule a: the example matches, and should not",
		}},
		{"command as an example of another rule", rule("examples: {match: [ls]}"), []string{"text is a command, and the rule has none"}},
		{"example without a tool", rule("examples: {match: [{args: {}}]}"), []string{"tool is missing"}},
		{"all at once", "version: 3\ndefault: Ask\nrules:\n  - {id: a, effect: deny, tool: [Read]}\n", []string{
			"line 1: version", "line 2: default", "line 4: rule a: tools is missing", `line 4: rule a: unknown key "tool"`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := approval.Parse([]byte(tt.text), approval.ParseOptions{})
			var problems approval.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want problems", err)
			}
			if len(problems) != len(tt.want) {
				t.Fatalf("got %d problems, want %d:\n%v", len(problems), len(tt.want), err)
			}
			for i, want := range tt.want {
				if got := problems[i].String(); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	known := map[string]approval.Facts{
		"Read": {Arguments: []string{"offset", "limit"}, Effect: approval.ReadFiles}, "Glob": {Arguments: []string{"pattern"}, Effect: approval.ReadFiles},
		"shell": {Arguments: []string{"commands"}, Effect: approval.RunContained}, "shell_job": {Arguments: []string{"action"}, Effect: approval.SeeCommands},
	}
	const head = "version: 1\ndefault: ask\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing to say", head + "rules: [{id: a, effect: allow, tools: [Read, 'image_*']}]\n", nil},
		{"unknown tool", head + "rules:\n  - {id: a, effect: allow, tools: [read_file, Read]}\n", []string{"line 4: rule a: no tool is called read_file; there are: Read, Glob"}},
		{"unknown tool of a limit", head + "limits:\n  - {id: a, tools: [reed], max: 1, per: 1s}\n", []string{"line 4: limit a: no tool is called reed"}},
		{"shadowed", head + "rules:\n  - {id: b, effect: allow, tools: [Read], paths: {globs: [a]}}\n  - {id: a, effect: deny, tools: ['R*']}\n", []string{"line 4: rule b never allows anything: rule a in line 5 denies all that it matches"}},
		{"shadowed by the same paths", head + "rules:\n  - {id: b, effect: allow, tools: [Read], paths: {globs: [a/**, b]}}\n  - {id: a, effect: deny, tools: [Read], paths: {globs: [b, a/**]}}\n", []string{"rule b never allows anything"}},
		{"shadowed in part", head + "rules:\n  - {id: b, effect: allow, tools: [Read, Write]}\n  - {id: a, effect: deny, tools: [Read]}\n", nil},
		{"shadowed for some", head + "rules:\n  - {id: b, effect: allow, tools: [Read]}\n  - {id: a, effect: deny, tools: [Read], principals: [x]}\n", nil},
		{"a wider glob", head + "rules:\n  - {id: b, effect: allow, tools: ['R*']}\n  - {id: a, effect: deny, tools: ['R???']}\n", nil},
		{"shadowed for other paths", head + "rules:\n  - {id: b, effect: allow, tools: [Read], paths: {globs: ['**']}}\n  - {id: a, effect: deny, tools: [Read], paths: {globs: [x]}}\n", nil},
		{"shadowed with other arguments", head + "rules:\n  - {id: b, effect: allow, tools: [Read], args: {/limit: {max: 5}}}\n  - {id: a, effect: deny, tools: [Read], args: {/limit: {max: 4}}}\n", nil},
		{"unknown argument", head + "rules:\n  - {id: a, effect: deny, tools: [Read], args: {/offset/x: {min: 1}, /lines: {min: 1}}}\n", []string{"line 4: rule a: /lines: none of its tools has an argument of that name; there are: limit, offset"}},
		{"argument of one of them", head + "rules: [{id: a, effect: deny, tools: [Read, Glob], args: {/pattern: {present: true}}}]\n", nil},
		{"argument of a tool that is not known", head + "rules: [{id: a, effect: deny, tools: [Read, Write], args: {/lines: {min: 1}}}]\n", nil},
		{"commands of files", head + "rules: [{id: a, effect: deny, tools: [Read, Glob, shell_job], command: {argv: [rm]}}]\n", []string{"rule a: command: none of its tools runs commands"}},
		{"commands of some", head + "rules: [{id: a, effect: deny, tools: [Read, shell], command: {argv: [rm]}}]\n", nil},
		{"files of commands", head + "rules: [{id: a, effect: deny, tools: ['shell*'], paths: {globs: [x]}}]\n", []string{"rule a: paths: none of its tools says which files it touches"}},
		{"files of all", head + "rules: [{id: a, effect: deny, tools: ['*'], paths: {globs: [x]}}]\n", nil},
		{"everything", "version: 1\ndefault: allow\n", []string{"default: allow without a rule that denies"}},
		{"everything but", "version: 1\ndefault: allow\nrules: [{id: a, effect: deny, tools: [Write]}]\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, warnings, err := approval.Parse([]byte(tt.text), approval.ParseOptions{Tools: tools, Known: known})
			if err != nil || len(warnings) != len(tt.want) {
				t.Fatalf("got %v, %v, want %d warnings", warnings, err, len(tt.want))
			}
			for i, want := range tt.want {
				if got := warnings[i].String(); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
			_, _, err = approval.Parse([]byte(tt.text), approval.ParseOptions{Tools: tools, Known: known, Strict: true})
			if (err != nil) != (len(tt.want) > 0) {
				t.Errorf("strict: got %v", err)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const text = "version: 1\ndefault: ask\n"
	good := write("good.yaml", text)
	p, _, err := approval.Load(good, approval.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:12]; p.Revision() != want {
		t.Errorf("got revision %s, want %s", p.Revision(), want)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing"): "no such file",
		dir:                           "it is no regular file",
		write("large.yaml", text+strings.Repeat("#", 1<<20)): "larger than 1048576 bytes",
	} {
		if _, _, err := approval.Load(path, approval.ParseOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// Dates are text in JSON, and so they are here.
func TestDatesAreText(t *testing.T) {
	p := parse(t, "version: 1\ndefault: deny\nrules: [{id: a, effect: allow, tools: [x], args: {/day: {equals: 2026-01-01}}}]")
	got := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x", Args: []byte(`{"day": "2026-01-01"}`)})
	if got.Decision != approval.Allow {
		t.Errorf("got %+v", got)
	}
}

func TestCases(t *testing.T) {
	got, err := approval.ParseCases([]byte(`
- {tool: Read, args: {path: a, n: 1.50}, want: allow}
- tool: apply_patch
  paths: {update: [a, b], delete: [c]}
  principal: ann
  scopes: [x]
  transport: http
  want: deny
- {tool: shell, commands: ["ls"], count: 2, want: ask}
`))
	if err != nil {
		t.Fatal(err)
	}
	local := approval.Caller{Principal: "local", Transport: "stdio"}
	want := []approval.Case{
		{Line: 2, Tool: "Read", Args: []byte(`{"n":1.5,"path":"a"}`), Caller: local, Want: approval.Allow},
		{Line: 3, Tool: "apply_patch", Paths: []approval.Path{
			{Access: "update", Root: "/root", Rel: "a"}, {Access: "update", Root: "/root", Rel: "b"}, {Access: "delete", Root: "/root", Rel: "c"},
		}, Caller: approval.Caller{Principal: "ann", Scopes: []string{"x"}, Transport: "http"}},
		{Line: 9, Tool: "shell", Commands: []string{"ls"}, Count: 2, Caller: local, Want: approval.Ask},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"":                             "the file is empty",
		"{}":                           "cases: want a list",
		"- {tool: Read}":               "want is missing: add want: allow, ask or deny",
		"- {tool: Read, want: Allow}":  "write it in small letters: allow",
		"- {want: deny, args: [1]}":    "args: want a mapping",
		"- {want: deny, paths: {a: b}": "no valid YAML",
		"- {want: deny, tool: x, paths: {write: [b]}}": `unknown key "write": there are read`,
	} {
		if _, err := approval.ParseCases([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// FuzzParse wants no text to end the program, and none to be accepted that the schema refuses
// or that decides differently when it is read again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"version: 1\ndefault: ask\n",
		"version: 1\ndefault: deny\nunattended: allow\nask: {timeout: 2m, remember: [once, session], session_ttl: 30m, max_pending: 5}\n",
		"version: 1\ndefault: ask\nrules: [{id: a, effect: deny, tools: ['*'], paths: {ops: [delete], globs: ['**/a*b', a/**, '{a,b}']}, args: {/a: {in: [1, x, {b: [2]}]}}}]\n",
		"version: 1\ndefault: ask\nrules: [{id: a, effect: allow, tools: [x], principals: ['*'], scopes: [s], transports: [http], reason: r, args: {/a/0: {glob: a*}, /b: {present: true}, /c: {min: 1.5}}}]\n",
		"version: 1\ndefault: ask\nlimits: [{id: l, tools: [x], max: 1, per: 1s, key: server, over: ask}]\n",
		"version: 1\ndefault: ask\nrules: [{id: a, effect: deny, tools: [x], command: {argv: [git, [push, pull]], flags_all: [[-f]]}}]\n",
		"a: &x [*x]\n", "? [a]\n: b\n", "<<: {}\n", "- \n- null\n", "\xff\xfe", "a: !!float .nan\n",
	} {
		f.Add(seed)
	}
	var s jsonschema.Schema
	if err := s.UnmarshalJSON(approval.Schema()); err != nil {
		f.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, _, err := approval.Parse([]byte(text), approval.ParseOptions{Tools: tools})
		if err != nil {
			if strings.Contains(err.Error(), "the policy cannot be read") || strings.Contains(err.Error(), "schema: ") {
				t.Fatal(err) // a panic, or a mistake that has no line
			}
			return
		}
		if err := schema.Validate(readYAML(t, text)); err != nil {
			t.Fatalf("accepted, and not valid: %v", err)
		}
		a := approval.Action{Tool: "x", Effect: approval.ReadFiles, Args: []byte(`{"a": [1]}`), Paths: []approval.Path{{Access: "read", Rel: "a"}}}
		if diff := cmp.Diff(verdict(p, a), verdict(parse(t, text), a)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// verdict returns what can be compared of a verdict.
func verdict(ev approval.Evaluator, a approval.Action) string {
	v := ev.Evaluate(context.Background(), approval.Caller{Principal: "local", Transport: "stdio"}, a)
	return fmt.Sprintln(v.Decision, v.Rule, v.Rules, v.Reason, v.Revision, v.Asking, v.Visible == nil, v.Spend == nil)
}
