package approval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
)

func onlyReads(tool string) bool { return slices.Contains([]string{"Read", "Grep"}, tool) }

func TestFromOpenAI(t *testing.T) {
	all := []string{"Read", "Grep", "Write", "shell"}
	tests := []struct {
		json string
		want string // the tools that ask
	}{
		{``, "Read Grep Write shell"},
		{`null`, "Read Grep Write shell"},
		{`"always"`, "Read Grep Write shell"},
		{`"never"`, ""},
		{`{}`, "Read Grep Write shell"},
		{`{"always": null, "never": null}`, "Read Grep Write shell"},
		{`{"never": {"tool_names": ["Read", "Write"]}}`, "Grep shell"},
		{`{"always": {"tool_names": ["Read"]}}`, "Read Grep Write shell"},
		{`{"always": {"tool_names": ["Read"]}, "never": {"tool_names": ["Read", "Grep"]}}`, "Read Write shell"},
		{`{"never": {"read_only": true}}`, "Write shell"},
		{`{"never": {"read_only": false}}`, "Read Grep"},
		{`{"never": {"read_only": true, "tool_names": ["Read", "Write"]}}`, "Grep Write shell"},
		{`{"never": {}}`, "Read Grep Write shell"},
		{`{"never": {"tool_names": []}}`, "Read Grep Write shell"},
		{`{"always": {"read_only": false}, "never": {"tool_names": ["Read", "Write"]}}`, "Grep Write shell"},
		{`{"always": {"read_only": true}, "never": {"tool_names": ["Read", "Write"]}}`, "Read Grep shell"},
		{`{"always": {"read_only": true, "tool_names": ["shell"]}, "never": {"read_only": false}}`, "Read Grep shell"},
		{`{"always": {}, "never": {"tool_names": ["Read"]}}`, "Read Grep Write shell"},
		{`{"always": {"tool_names": []}, "never": {"tool_names": ["Read"]}}`, "Grep Write shell"},
	}
	for _, tt := range tests {
		t.Run(tt.json, func(t *testing.T) {
			r, err := approval.FromOpenAI([]byte(tt.json), onlyReads)
			if err != nil {
				t.Fatal(err)
			}
			var asking []string
			for _, tool := range all {
				if r.Asks(tool) {
					asking = append(asking, tool)
				}
			}
			if got := strings.Join(asking, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for json, want := range map[string]string{
		`"Always"`:                             `want "always", "never"`,
		`""`:                                   `want "always", "never"`,
		`1`:                                    `want "always", "never"`,
		`[]`:                                   `want "always", "never"`,
		`{"Never": {}}`:                        `member "Never" is unknown`,
		`{"never": {}, "never": {}}`:           "given twice",
		`{"never": "Read"}`:                    "never: want an object",
		`{"never": {"tools": ["Read"]}}`:       `member "tools" is unknown`,
		`{"never": {"tool_names": "Read"}}`:    "tool_names: want a list of names",
		`{"never": {"read_only": "yes"}}`:      "read_only: want true or false",
		`{"never": {}} {}`:                     "more follows",
		`{"never": {`:                          "no valid JSON",
		`{"always": {"tool_names": ["a"]}, 1}`: "no valid JSON",
	} {
		if _, err := approval.FromOpenAI([]byte(json), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", json, err, want)
		}
	}
}

// Every combination of mode, lists and what the server's own policy says.
func TestRequestsOverPolicies(t *testing.T) {
	policies := map[string]string{ // for the tool x
		"deny rule": "default: allow\nrules: [{id: r, effect: deny, tools: [x]}]", "deny default": "default: deny",
		"ask rule": "default: allow\nrules: [{id: r, effect: ask, tools: [x]}]", "ask default": "default: ask",
		"ask limit":  "default: ask\nlimits: [{id: l, tools: [x], max: 0, per: 1h, over: ask}]",
		"allow rule": "default: deny\nrules: [{id: r, effect: allow, tools: [x]}]", "allow default": "default: allow",
	}
	want := func(policy string, asks bool) approval.Decision {
		switch {
		case strings.HasPrefix(policy, "deny"):
			return approval.Deny
		case policy == "ask rule" || policy == "ask limit" || asks:
			return approval.Ask
		}
		return approval.Allow
	}
	for _, mode := range []string{"", "always", "never"} {
		for _, always := range [][]string{nil, {"x"}, {"y"}} {
			for _, never := range [][]string{nil, {"x"}, {"y"}} {
				asks := mode != "never"
				if slices.Contains(never, "x") {
					asks = false
				}
				if slices.Contains(always, "x") {
					asks = true
				}
				req, err := approval.FromLists(mode, always, never)
				if err != nil {
					t.Fatal(err)
				}
				for name, text := range policies {
					ev := approval.Combine(parse(t, "version: 1\n"+text), req)
					v := ev.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x"})
					if v.Decision != want(name, asks) {
						t.Errorf("mode %q, always %v, never %v, policy %s: got %+v", mode, always, never, name, v)
					}
					if v.Decision != approval.Deny && v.Rule == "request" != slices.Contains(v.Rules, "request") {
						t.Errorf("policy %s: got rules %v, decided by %s", name, v.Rules, v.Rule)
					}
				}
			}
		}
	}
	if _, err := approval.FromLists("Never", nil, nil); err == nil || !strings.Contains(err.Error(), `not "Never"`) {
		t.Errorf("got %v", err)
	}
}

// A request changes neither what is hidden nor what is found.
func TestRequestsKeepFilters(t *testing.T) {
	p := parse(t, "version: 1\ndefault: allow\nrules: [{id: r, effect: deny, tools: ['*'], paths: {globs: [x]}}, {id: s, effect: deny, tools: [Gone]}]")
	req, err := approval.FromOpenAI([]byte(`"never"`), nil)
	if err != nil {
		t.Fatal(err)
	}
	ev := approval.Combine(p, req)
	v := ev.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "Grep", Effect: approval.ReadFiles})
	got := fmt.Sprint(v.Visible(paths("read:x")[0]), v.Visible(paths("read:y")[0]), ev.Hides(approval.Caller{}, "Gone"), ev.Hides(approval.Caller{}, "Grep"))
	if diff := cmp.Diff("deny allow true false", got); diff != "" {
		t.Error(diff)
	}
}

// Where nobody says which tools only read, none does.
func TestFromOpenAIKnowsNoReaders(t *testing.T) {
	if r, err := approval.FromOpenAI([]byte(`{"never": {"read_only": true}}`), nil); err != nil || !r.Asks("Read") {
		t.Errorf("a tool that nobody knows to read only is not asked about: %v", err)
	}
}
