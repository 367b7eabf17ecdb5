package approval_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// paths returns paths from "access:rel".
func paths(list ...string) (out []approval.Path) {
	for _, one := range list {
		access, rel, _ := strings.Cut(one, ":")
		out = append(out, approval.Path{Access: approval.Access(access), Root: "/srv", Rel: rel})
	}
	return out
}

func TestRules(t *testing.T) {
	// A policy with one rule r; the default is what the rule does not say.
	policy := func(effect, more string) string {
		fallback := map[string]string{"allow": "deny", "deny": "allow", "ask": "allow"}[effect]
		return fmt.Sprintf("version: 1\ndefault: %s\nrules: [{id: r, effect: %s, %s}]", fallback, effect, more)
	}
	ann := approval.Caller{Principal: "team:design/ann", Scopes: []string{"images.read", "images.write"}, Transport: approval.HTTP}
	tests := []struct {
		name, effect, rule string
		who                approval.Caller
		action             approval.Action
		want               bool // the rule matches
	}{
		{"tool", "deny", "tools: [Read]", ann, approval.Action{Tool: "Read"}, true},
		{"another tool", "deny", "tools: [Read]", ann, approval.Action{Tool: "ReadMore"}, false},
		{"glob of tools", "deny", "tools: ['image_*']", ann, approval.Action{Tool: "image_generation"}, true},
		{"one character", "deny", "tools: ['R?ad']", ann, approval.Action{Tool: "Read"}, true},
		{"every tool", "deny", "tools: ['*']", ann, approval.Action{Tool: "x"}, true},
		{"tools are told apart by case", "deny", "tools: [read]", ann, approval.Action{Tool: "Read"}, false},

		{"principal", "deny", "tools: ['*'], principals: ['team:design/*']", ann, approval.Action{Tool: "x"}, true},
		{"star goes over slashes", "deny", "tools: ['*'], principals: ['*']", approval.Caller{Principal: "https://issuer/sub/ject"}, approval.Action{Tool: "x"}, true},
		{"another principal", "deny", "tools: ['*'], principals: ['team:ops/*']", ann, approval.Action{Tool: "x"}, false},
		{"scope", "allow", "tools: ['*'], scopes: [images.write]", ann, approval.Action{Tool: "x"}, true},
		{"no such scope", "allow", "tools: ['*'], scopes: [admin]", ann, approval.Action{Tool: "x"}, false},
		{"no scopes", "allow", "tools: ['*'], scopes: ['*']", approval.Caller{}, approval.Action{Tool: "x"}, false},
		{"transport", "deny", "tools: ['*'], transports: [http]", ann, approval.Action{Tool: "x"}, true},
		{"another transport", "deny", "tools: ['*'], transports: [stdio]", ann, approval.Action{Tool: "x"}, false},
		{"all conditions must hold", "deny", "tools: ['*'], transports: [http], principals: [bob]", ann, approval.Action{Tool: "x"}, false},

		{"a path of several, deny", "deny", "tools: ['*'], paths: {globs: [b]}", ann, approval.Action{Paths: paths("read:a", "read:b")}, true},
		{"a path of several, ask", "ask", "tools: ['*'], paths: {globs: [b]}", ann, approval.Action{Paths: paths("read:a", "read:b")}, true},
		{"a path of several, allow", "allow", "tools: ['*'], paths: {globs: [b]}", ann, approval.Action{Paths: paths("read:a", "read:b")}, false},
		{"every path, allow", "allow", "tools: ['*'], paths: {globs: [a, b]}", ann, approval.Action{Paths: paths("read:a", "read:b")}, true},
		{"any, allow", "allow", "tools: ['*'], paths: {globs: [b], match: any}", ann, approval.Action{Paths: paths("read:a", "read:b")}, true},
		{"all, deny", "deny", "tools: ['*'], paths: {globs: [b], match: all}", ann, approval.Action{Paths: paths("read:a", "read:b")}, false},
		{"no paths, allow", "allow", "tools: ['*'], paths: {globs: ['**']}", ann, approval.Action{}, false},
		{"no paths, deny", "deny", "tools: ['*'], paths: {globs: ['**'], match: all}", ann, approval.Action{}, false},
		{"op", "deny", "tools: ['*'], paths: {ops: [update], globs: ['**']}", ann, approval.Action{Paths: paths("read:a", "update:a")}, true},
		{"another op", "deny", "tools: ['*'], paths: {ops: [update], globs: ['**']}", ann, approval.Action{Paths: paths("create:a")}, false},
		{"an op and a glob of two paths", "deny", "tools: ['*'], paths: {ops: [update], globs: [a]}", ann, approval.Action{Paths: paths("update:b", "read:a")}, false},
		{"an op that is not allowed", "allow", "tools: ['*'], paths: {ops: [create, update], globs: ['**']}", ann, approval.Action{Paths: paths("update:a", "delete:b")}, false},
		{"a move has two paths", "deny", "tools: ['*'], paths: {ops: [create], globs: [b]}", ann, approval.Action{Paths: paths("move:a", "create:b")}, true},
		{"delete denies moves", "deny", "tools: ['*'], paths: {ops: [delete], globs: [a]}", ann, approval.Action{Paths: paths("move:a", "create:b")}, true},
		{"delete asks for moves", "ask", "tools: ['*'], paths: {ops: [delete], globs: [a]}", ann, approval.Action{Paths: paths("move:a", "create:b")}, true},
		{"delete allows no moves", "allow", "tools: ['*'], paths: {ops: [delete, create], globs: ['**']}", ann, approval.Action{Paths: paths("move:a", "create:b")}, false},
		{"move", "allow", "tools: ['*'], paths: {ops: [move, create], globs: ['**']}", ann, approval.Action{Paths: paths("move:a", "create:b")}, true},
		{"an access without a name", "deny", "tools: ['*'], paths: {ops: [read], globs: [a]}", ann, approval.Action{Paths: paths("burn:a")}, true},
		{"an access without a name, allow", "allow", "tools: ['*'], paths: {ops: [read], globs: [a]}", ann, approval.Action{Paths: paths("burn:a")}, false},

		{"command and no shell", "deny", "tools: ['*'], command: {argv: [ls]}", ann, approval.Action{Tool: "x"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, policy(tt.effect, tt.rule))
			v := p.Evaluate(t.Context(), tt.who, tt.action)
			if got := v.Rule == "r"; got != tt.want {
				t.Errorf("got rule %q, want a match: %v", v.Rule, tt.want)
			}
			if tt.want && (v.Decision.String() != tt.effect || cmp.Diff([]string{"r"}, v.Rules) != "" || v.Revision != p.Revision()) {
				t.Errorf("got %+v", v)
			}
			if !tt.want && (v.Rule != "default" || v.Rules != nil) {
				t.Errorf("got %+v", v)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	const args = `{"n": 5, "f": 5.0, "big": 9007199254740993, "huge": 1e400, "s": "a/b.txt", "num": "5", "t": true, "z": null,
		"l": [1, {"x": "y"}], "o": {"k": 1, "a/b": 2, "m~n": 3, "": 4, "m/n": 5}, "u": "aéb"}`
	tests := []struct {
		condition string
		want      bool
	}{
		{"/n: {equals: 5}", true},
		{"/n: {equals: 5.0}", true},
		{"/f: {equals: 5}", true},
		{"/n: {equals: '5'}", false},
		{"/num: {equals: 5}", false},
		{"/n: {equals: 6}", false},
		{"/big: {equals: 9007199254740993}", true},
		{"/big: {equals: 9007199254740992}", false},
		{"/t: {equals: true}", true},
		{"/t: {equals: 1}", false},
		{"/t: {equals: 'true'}", false},
		{"/s: {equals: a/b.txt}", true},
		{"/l: {equals: [1.0, {x: y}]}", true},
		{"/l: {equals: [1]}", false},
		{"/l: {equals: {}}", false},
		{"/o: {equals: {k: 1, a/b: 2, m~n: 3, '': 4, m/n: 5}}", true},
		{"/o: {equals: {k: 1, a/b: 2, m~n: 3, '': 4, m/n: 5, more: 6}}", false},
		{"/o/m~01n: {present: true}", false},
		{"/l/2: {present: false}", true},
		{"/u: {glob: 'a?b'}", true},
		{"/o: {equals: {k: 1}}", false},
		{"/l/0: {equals: 1}", true},
		{"/l/1/x: {equals: y}", true},
		{"/l/2: {present: true}", false},
		{"/l/-: {present: true}", false},
		{"/l/00: {present: true}", false},
		{"/o/a~1b: {equals: 2}", true},
		{"/o/m~0n: {equals: 3}", true},
		{"/o/: {equals: 4}", true},
		{"/n: {in: [4, 5]}", true},
		{"/n: {in: ['5']}", false},
		{"/l: {in: [[1, {x: y}]]}", true},
		{"/s: {glob: 'a*.txt'}", true},
		{"/s: {glob: 'a?b.txt'}", true},
		{"/s: {glob: 'b*'}", false},
		{"/n: {glob: '*'}", false},
		{"/l: {glob: '*'}", false},
		{"/n: {min: 5}", true},
		{"/n: {min: 5.1}", false},
		{"/n: {max: 5}", true},
		{"/n: {max: 4.9}", false},
		{"/huge: {min: 1}", true},
		{"/huge: {max: 1}", false},
		{"/num: {min: 1}", false},
		{"/missing: {max: 1}", false},
		{"/z: {max: 1}", false},
		{"/n: {present: true}", true},
		{"/n: {present: false}", false},
		{"/z: {present: true}", false},
		{"/z: {present: false}", true},
		{"/n/x: {present: false}", true},
		{"/n: {min: 1}, /f: {max: 9}", true},
		{"/n: {min: 1}, /f: {max: 1}", false},
	}
	for _, tt := range tests {
		t.Run(tt.condition, func(t *testing.T) {
			p := parse(t, "version: 1\ndefault: deny\nrules: [{id: r, effect: allow, tools: [x], args: {"+tt.condition+"}}]")
			v := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x", Args: []byte(args)})
			if got := v.Decision == approval.Allow; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	p := parse(t, "version: 1\ndefault: allow\nrules: [{id: r, effect: allow, tools: [x], args: {/n: {present: false}}}]")
	for args, want := range map[string]approval.Decision{"": approval.Allow, "{}": approval.Allow, "[]": approval.Deny, "{": approval.Deny} {
		if v := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x", Args: []byte(args)}); v.Decision != want {
			t.Errorf("arguments %q: got %+v, want %s", args, v, want)
		}
	}
}

// Path globs are doublestar's, but for the root itself.
func TestPathGlobs(t *testing.T) {
	globs := []string{
		"**", "*", "a", "a/b", "a/**", "a/b/**", "**/a", "**/a/**", "**/*.b", "**/a*", "**/a*a", "**/a*b", "**/*", "**/.*", "*.b", "a/*", "a/**/b", "{a,b}/**",
		"**/{a,b}", "**/[ab]", "a?", "**/a?", `\*`, `**/\*`, "a*/**", "**/a/b", "**/a/b/**", "**/**", "**/a/**/b", "a/**b", "ä/**", "**/ä*",
	}
	parts := []string{"a", "b", "ab", "a.b", ".a", "aab", "*", "ä", "äb", "B", "a b"}
	random := rand.New(rand.NewPCG(1, 2))
	for _, glob := range globs {
		p := parse(t, fmt.Sprintf("version: 1\ndefault: deny\nrules: [{id: r, effect: allow, tools: [x], paths: {globs: ['%s']}}]", glob))
		for range 500 {
			rel := parts[random.IntN(len(parts))]
			for range random.IntN(4) {
				rel += "/" + parts[random.IntN(len(parts))]
			}
			v := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x", Paths: paths("read:" + rel)})
			if got, want := v.Decision == approval.Allow, doublestar.MatchUnvalidated(glob, rel); got != want {
				t.Errorf("glob %q, path %q: got %v, doublestar says %v", glob, rel, got, want)
			}
		}
	}
	for glob, want := range map[string]bool{
		"**": true, ".": true, "**/*": true,
		"*": false, "**/.*": false, ".*": false, "a/**": false, "**/a": false, "?": false, // "." is no name
	} {
		p := parse(t, fmt.Sprintf("version: 1\ndefault: deny\nrules: [{id: r, effect: allow, tools: [x], paths: {globs: ['%s']}}]", glob))
		v := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x", Paths: paths("list:.")})
		if got := v.Decision == approval.Allow; got != want {
			t.Errorf("glob %q, the root: got %v, want %v", glob, got, want)
		}
	}
}

// What people write who know .gitignore.
func TestSecretsAnywhere(t *testing.T) {
	p := parse(t, `{version: 1, default: allow, rules: [{id: r, effect: deny, tools: [x], paths: {globs: ["**/.env*", "**/*.pem", "**/.git/**", "build/**"]}}]}`)
	for rel, want := range map[string]bool{
		".env": true, "a/.env": true, "a/b/.env.local": true, ".environment/a": false, "x.env": false,
		"k.pem": true, "a/.pem": true, "k.pem.txt": false, "pem": false,
		".git": true, ".git/config": true, "sub/.git/hooks/x": true, ".gitignore": false, "a.git/x": false,
		"build": true, "build/x/y": true, "sub/build/x": false, "builds/x": false, ".": false,
	} {
		v := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x", Paths: paths("read:" + rel)})
		if got := v.Decision == approval.Deny; got != want {
			t.Errorf("%s: denied %v, want %v", rel, got, want)
		}
	}
}

func TestPrecedence(t *testing.T) {
	p := parse(t, `
version: 1
default: allow
rules:
  - {id: z-allow, effect: allow, tools: [a, b, c]}
  - {id: y-ask, effect: ask, tools: [a, b], reason: because}
  - {id: b-deny, effect: deny, tools: [a], reason: second}
  - {id: a-deny, effect: deny, tools: [a], reason: first}
`)
	for tool, want := range map[string]approval.Verdict{
		"a": {Decision: approval.Deny, Rule: "a-deny", Rules: []string{"a-deny", "b-deny", "y-ask", "z-allow"}, Reason: "first"},
		"b": {Decision: approval.Ask, Rule: "y-ask", Rules: []string{"y-ask", "z-allow"}, Reason: "because"},
		"c": {Decision: approval.Allow, Rule: "z-allow", Rules: []string{"z-allow"}, Reason: "the policy says allow"},
		"d": {Decision: approval.Allow, Rule: "default", Reason: "no rule matches, and the policy's default is allow"},
	} {
		want.Revision = p.Revision()
		if diff := cmp.Diff(want, p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: tool})); diff != "" {
			t.Errorf("%s: %s", tool, diff)
		}
	}
}

func TestAsking(t *testing.T) {
	p := parse(t, "version: 1\ndefault: ask\nunattended: allow\nask: {timeout: 90s, remember: [once, session], session_ttl: 10m, max_pending: 7}")
	want := approval.Asking{Timeout: 90e9, Unattended: approval.Allow, Session: 600e9, MaxPending: 7}
	if diff := cmp.Diff(want, p.Evaluate(t.Context(), approval.Caller{}, approval.Action{}).Asking); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]approval.Asking{
		"":                           {},
		"ask: {remember: [session]}": {Session: approval.DefaultSessionTTL},
		"ask: {remember: [once]}":    {},
	} {
		p := parse(t, "version: 1\ndefault: ask\n"+text)
		if diff := cmp.Diff(want, p.Evaluate(t.Context(), approval.Caller{}, approval.Action{}).Asking); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// Rules in any order decide the same, and give the same reasons.
func TestOrderMeansNothing(t *testing.T) {
	rules := []string{
		"{id: a, effect: deny, tools: ['*'], paths: {globs: ['**/.env*']}}",
		"{id: b, effect: allow, tools: [Read, Grep], paths: {globs: ['**']}}",
		"{id: c, effect: ask, tools: [Write], paths: {ops: [create], globs: ['**']}}",
		"{id: d, effect: allow, tools: [Write], paths: {globs: [src/**]}}",
		"{id: e, effect: deny, tools: [Write], principals: [guest*]}",
		"{id: f, effect: ask, tools: [Grep], args: {/limit: {min: 100}}}",
		"{id: g, effect: allow, tools: [Write], transports: [stdio], paths: {globs: [docs/**]}}",
		"{id: h, effect: deny, tools: [Write], paths: {ops: [delete], globs: ['**']}, reason: never}",
	}
	var actions []approval.Action
	for _, tool := range []string{"Grep", "Write", "Other"} {
		for _, touched := range [][]string{{"read:.env"}, {"create:src/a"}, {"update:src/a", "move:docs/b"}, {"update:docs/a"}} {
			for _, args := range []string{`{}`, `{"limit": 200}`} {
				actions = append(actions, approval.Action{Tool: tool, Effect: approval.ReadFiles, Paths: paths(touched...), Args: []byte(args)})
			}
		}
	}
	callers := []approval.Caller{{Principal: "local", Transport: "stdio"}, {Principal: "guest1", Transport: "http"}}
	random := rand.New(rand.NewPCG(3, 4))
	decide := func() (out []string) {
		text := "version: 1\ndefault: ask\nrules:\n"
		for _, i := range random.Perm(len(rules)) {
			text += "  - " + rules[i] + "\n"
		}
		p := parse(t, text)
		for _, who := range callers {
			for _, a := range actions {
				v := p.Evaluate(t.Context(), who, a)
				shown := ""
				for _, rel := range []string{".env", "src/a", "docs/b"} {
					if v.Visible != nil {
						shown += " " + v.Visible(approval.Path{Access: approval.Read, Rel: rel}).String()
					}
				}
				out = append(out, fmt.Sprint(v.Decision, v.Rule, v.Rules, v.Reason, shown, p.Hides(who, a.Tool)))
			}
		}
		return out
	}
	first := decide()
	for range 1000 {
		if diff := cmp.Diff(first, decide()); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestHides(t *testing.T) {
	tests := []struct {
		name, text string
		want       bool // of the tool x for ann over HTTP
	}{
		{"nothing", "default: allow", false},
		{"a deny", "default: allow\nrules: [{id: a, effect: deny, tools: [x]}]", true},
		{"a deny of another tool", "default: allow\nrules: [{id: a, effect: deny, tools: [y]}]", false},
		{"a deny of this caller", "default: allow\nrules: [{id: a, effect: deny, tools: ['*'], principals: [a*], transports: [http], scopes: [s]}]", true},
		{"a deny of another caller", "default: allow\nrules: [{id: a, effect: deny, tools: ['*'], principals: [bob]}]", false},
		{"a deny of some paths", "default: allow\nrules: [{id: a, effect: deny, tools: [x], paths: {globs: ['**']}}]", false},
		{"a deny of some arguments", "default: allow\nrules: [{id: a, effect: deny, tools: [x], args: {/n: {min: 1}}}]", false},
		{"a deny of a command", "default: allow\nrules: [{id: a, effect: deny, tools: [x], command: {argv: [ls]}}]", false},
		{"a deny beside an allow", "default: allow\nrules: [{id: a, effect: deny, tools: [x]}, {id: b, effect: allow, tools: [x]}]", true},
		{"the default", "default: deny", true},
		{"the default, asking", "default: ask", false},
		{"the default beside an allow", "default: deny\nrules: [{id: a, effect: allow, tools: [x], paths: {globs: [a]}}]", false},
		{"the default beside an ask", "default: deny\nrules: [{id: a, effect: ask, tools: [x]}]", false},
		{"the default beside an allow of another", "default: deny\nrules: [{id: a, effect: allow, tools: [x], principals: [bob]}]", true},
	}
	ann := approval.Caller{Principal: "ann", Scopes: []string{"s"}, Transport: approval.HTTP}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, "version: 1\n"+tt.text)
			never := approval.WithMode(p, approval.Never)
			if got := p.Hides(ann, "x"); got != tt.want || never.Hides(ann, "x") != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if tt.want && p.Evaluate(t.Context(), ann, approval.Action{Tool: "x", Paths: paths("read:a"), Args: []byte(`{"n": 2}`)}).Decision != approval.Deny {
				t.Error("a hidden tool is not refused")
			}
		})
	}
}

func TestModesOverPolicies(t *testing.T) {
	p := parse(t, `
version: 1
default: ask
unattended: deny
rules:
  - {id: ask-env, effect: ask, tools: ['*'], paths: {globs: [.env]}}
  - {id: no-key, effect: deny, tools: ['*'], paths: {globs: [key]}}
  - {id: grep, effect: allow, tools: [Grep, Buy]}
limits:
  - {id: none, tools: [Buy], max: 0, per: 1h, over: ask}
  - {id: shut, tools: [Shut], max: 0, per: 1h}
`)
	ev := approval.WithMode(p, approval.Never)
	for _, tt := range []struct {
		a    approval.Action
		want approval.Decision
	}{
		{approval.Action{Tool: "Read", Paths: paths("read:.env")}, approval.Allow},
		{approval.Action{Tool: "Read", Paths: paths("read:key")}, approval.Deny},
		{approval.Action{Tool: "Read", Paths: paths("read:.env", "read:key")}, approval.Deny},
		{approval.Action{Tool: "Other"}, approval.Allow},
		{approval.Action{Tool: "Buy"}, approval.Allow},
		{approval.Action{Tool: "Shut"}, approval.Deny},
	} {
		v := ev.Evaluate(t.Context(), approval.Caller{}, tt.a)
		if v.Decision != tt.want {
			t.Errorf("%+v: got %+v, want %s", tt.a, v, tt.want)
		}
		if tt.want == approval.Allow && v.Spend != nil && !v.Spend() {
			t.Errorf("%+v: an ask that is not asked is never permitted", tt.a)
		}
	}
	v := ev.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "Grep", Effect: approval.ReadFiles, Paths: paths("list:.")})
	for rel, want := range map[string]approval.Decision{".env": approval.Allow, "key": approval.Deny, "a": approval.Allow} {
		if got := v.Visible(approval.Path{Access: approval.Read, Rel: rel}); got != want {
			t.Errorf("%s: got %s, want %s", rel, got, want)
		}
	}
	if v := approval.WithMode(p, approval.Always).Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "Grep"}); v.Decision != approval.Ask || v.Asking.Unattended != approval.Deny {
		t.Errorf("got %+v", v)
	}
}

// Evaluating must not end the program, whatever comes.
func TestPanicDenies(t *testing.T) {
	var broken *approval.Policy
	if v := broken.Evaluate(t.Context(), approval.Caller{}, approval.Action{}); v.Decision != approval.Deny {
		t.Errorf("got %+v", v)
	}
}

func BenchmarkEvaluate(b *testing.B) {
	var text strings.Builder
	text.WriteString("version: 1\ndefault: ask\nrules:\n")
	for i := range 25 {
		fmt.Fprintf(&text, "  - {id: s%d, effect: deny, tools: ['*'], paths: {globs: ['**/.secret%d*', '**/*.key%d', 'private%d/**']}}\n", i, i, i, i)
		fmt.Fprintf(&text, "  - {id: p%d, effect: allow, tools: [Read, Grep], principals: ['team%d:*']}\n", i, i)
		fmt.Fprintf(&text, "  - {id: a%d, effect: ask, tools: [Read], args: {/limit: {min: %d}}}\n", i, i+5000)
		fmt.Fprintf(&text, "  - {id: w%d, effect: allow, tools: [Write], paths: {globs: ['src%d/**']}}\n", i, i)
	}
	text.WriteString("  - {id: read, effect: allow, tools: [Read], paths: {globs: ['**']}}\n")
	p := parse(b, text.String())
	who := approval.Caller{Principal: "local", Transport: approval.Stdio}
	a := approval.Action{Tool: "Read", Effect: approval.ReadFiles, Args: []byte(`{"file_path": "src/main.go", "limit": 2000}`), Paths: paths("read:src/pkg/main.go")}
	b.Run("action", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if p.Evaluate(context.Background(), who, a).Decision != approval.Allow {
				b.Fatal("not allowed")
			}
		}
	})
	b.Run("path", func(b *testing.B) {
		b.ReportAllocs()
		visible := p.Evaluate(context.Background(), who, a).Visible
		for b.Loop() {
			if visible(a.Paths[0]) != approval.Allow {
				b.Fatal("hidden")
			}
		}
	})
}
