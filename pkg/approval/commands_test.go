package approval_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/approval/command"
)

// shellRules are those that the vectors of package command are about.
const shellRules = `
version: 1
default: ask
rules:
  - {id: no-net, effect: deny, tools: [shell], command: {argv: [curl]}}
  - {id: no-rm-rf, effect: deny, tools: [shell], command: {argv: [rm], flags_all: [[-r, -R, --recursive], [-f, --force]]}}
  - {id: no-push, effect: deny, tools: [shell], command: {argv: [git, push]}}
  - {id: git-read, effect: allow, tools: [shell], command: {argv: [git, [status, diff]], flags_none: [--ext-diff, --textconv, --output, --no-index]}}
  - {id: look, effect: allow, tools: [shell], command: {argv: [[ls, cat]]}}
  - {id: test, effect: allow, tools: [shell], command: {argv: [go, test], flags_none: [-exec, -toolexec, -o, -C, -overlay, -modfile]}}
`

func shell(commands ...string) approval.Action {
	return approval.Action{Tool: "shell", Shell: &approval.Shell{Commands: commands, Dialect: "bash", Dir: "/data"}}
}

func TestCommandVectors(t *testing.T) {
	text, err := os.ReadFile("command/testdata/shell_policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			ID                     int
			Command, Decision, Why string
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors.Cases) != 61 {
		t.Fatalf("%d cases, %v", len(vectors.Cases), err)
	}
	p := parse(t, shellRules)
	for _, c := range vectors.Cases {
		v := p.Evaluate(t.Context(), approval.Caller{}, shell(c.Command))
		if v.Decision.String() != c.Decision {
			t.Errorf("%d %q: got %s, want %s (%s): %s", c.ID, c.Command, v.Decision, c.Decision, c.Why, v.Reason)
		}
	}
	if v := p.Evaluate(t.Context(), approval.Caller{}, shell(strings.Repeat(":;", 50_000)+"curl x")); v.Decision != approval.Deny {
		t.Errorf("got %+v", v)
	}
}

func TestCommandsAmongRules(t *testing.T) {
	const undecidable = "X=a; $X"
	tests := []struct {
		name, rules string // and a default in front
		commands    []string
		want        approval.Decision
		rule        string
		all         []string
	}{
		{"no command rule", "allow", []string{undecidable}, approval.Allow, "default", nil},
		{"only allows", "allow\nrules: [{id: a, effect: allow, tools: [shell], command: {argv: [ls]}}]", []string{undecidable}, approval.Allow, "default", nil},
		{"undecided beside a deny", "allow\nrules: [{id: a, effect: deny, tools: [shell], command: {argv: [curl]}}]", []string{undecidable}, approval.Ask, "undecided", nil},
		{"undecided beside an ask", "allow\nrules: [{id: a, effect: ask, tools: [shell], command: {argv: [curl]}}]", []string{undecidable}, approval.Ask, "undecided", nil},
		{"undecided and asked by default", "ask\nrules: [{id: a, effect: deny, tools: [shell], command: {argv: [curl]}}]", []string{undecidable}, approval.Ask, "undecided", nil},
		{"undecided where the default denies", "deny\nrules: [{id: a, effect: deny, tools: [shell], command: {argv: [curl]}}]", []string{undecidable}, approval.Deny, "default", nil},
		{"undecided where a rule allows all", "deny\nrules: [{id: a, effect: deny, tools: [shell], command: {argv: [curl]}}, {id: b, effect: allow, tools: [shell]}]", []string{undecidable}, approval.Ask, "undecided", []string{"b"}},
		{"undecided beside a deny for others", "allow\nrules: [{id: a, effect: deny, tools: [shell], principals: [bob], command: {argv: [curl]}}]", []string{undecidable}, approval.Allow, "default", nil},
		{"several rules allow together", "deny\nrules: [{id: a, effect: allow, tools: [shell], command: {argv: [ls]}}, {id: b, effect: allow, tools: [shell], command: {argv: [cat]}}]", []string{"ls", "cat x"}, approval.Allow, "a", []string{"a", "b"}},
		{"one of two is not allowed", "deny\nrules: [{id: a, effect: allow, tools: [shell], command: {argv: [ls]}}]", []string{"ls", "cat x"}, approval.Deny, "default", nil},
		{"ask before allow", "deny\nrules: [{id: a, effect: allow, tools: [shell], command: {argv: [ls]}}, {id: b, effect: ask, tools: [shell], command: {argv: [ls]}}]", []string{"ls"}, approval.Ask, "b", []string{"a", "b"}},
		{"deny before ask", "deny\nrules: [{id: a, effect: ask, tools: [shell], command: {argv: [ls]}}, {id: b, effect: deny, tools: ['*'], command: {argv: [ls]}}]", []string{"ls"}, approval.Deny, "b", []string{"a", "b"}},
		{"an allow of all beside an ask for a command", "deny\nrules: [{id: a, effect: allow, tools: [shell]}, {id: b, effect: ask, tools: [shell], command: {argv: [rm]}}]", []string{"ls; rm x"}, approval.Ask, "b", []string{"a", "b"}},
		{"too much", "allow\nrules: [{id: a, effect: deny, tools: [shell], command: {argv: [curl]}}]", []string{strings.Repeat("x", 1<<20)}, approval.Deny, "undecided", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, "version: 1\ndefault: "+tt.rules)
			v := p.Evaluate(t.Context(), approval.Caller{Principal: "ann"}, shell(tt.commands...))
			if v.Decision != tt.want || v.Rule != tt.rule {
				t.Errorf("got %+v, want %s by %s", v, tt.want, tt.rule)
			}
			if diff := cmp.Diff(tt.all, v.Rules); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReasonShowsTheCommand(t *testing.T) {
	v := parse(t, shellRules).Evaluate(t.Context(), approval.Caller{}, shell("ls; curl http://x\n"))
	if v.Rule != "no-net" || v.Reason != `the policy says deny: "curl http://x"` {
		t.Errorf("got %+v", v)
	}
	want := []command.Part{{Argv: []string{"ls"}, Rules: []string{"look"}}, {Argv: []string{"curl", "http://x"}, Rules: []string{"no-net"}}}
	if diff := cmp.Diff(want, v.Commands); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedCommandRules(t *testing.T) {
	for pattern, want := range map[string]string{
		"argv: []":                            "line 3: rule a: command: argv: the list is empty",
		"argv: [[]]":                          "the list is empty",
		"argv: [1]":                           "want text, not 1",
		"argv: [bash]":                        "bash",
		"argv: [ls], flag: [-a]":              `unknown key "flag": there are argv, exact`,
		"argv: [ls], exact: yes please":       "want true or false",
		"argv: [ls], write: ['[']":            "write",
		"argv: [ls], flags_all: [[]]":         "the list is empty",
		"argv: ['l*']":                        "globs are not known here",
		"argv: [ls], flags_none: [all]":       "is no option",
		"argv: [ls], write: ['a['], env: [=]": "env",
	} {
		text := "version: 1\ndefault: ask\nrules: [{id: a, effect: allow, tools: [shell], command: {" + pattern + "}}]"
		if _, _, err := approval.Parse([]byte(text), approval.ParseOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", pattern, err, want)
		}
	}
	const failing = `version: 1
default: ask
rules:
  - id: a
    effect: allow
    tools: [shell]
    command: {argv: [ls]}
    examples:
      match: ["ls -l", "ls > x"]
      not_match: ["ls; rm x", "ls"]
`
	_, _, err := approval.Parse([]byte(failing), approval.ParseOptions{})
	if err == nil || !strings.Contains(err.Error(), "line 9: rule a: the example does not match") || !strings.Contains(err.Error(), "line 10: rule a: the example matches") {
		t.Errorf("got %v", err)
	}
}
