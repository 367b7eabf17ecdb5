package toolkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// A stated call says itself what it would do: its arguments are the facts of its action.
type stated struct {
	Args     json.RawMessage     `json:"args"`
	Paths    map[string][]string `json:"paths"`
	Commands []string            `json:"commands"`
	Count    int                 `json:"count"`
	Fail     bool                `json:"fail"`
}

// addStated adds a tool that does what its arguments say, which is nothing.
func addStated(s *toolkit.Server, name string) error {
	return toolkit.Add(s, toolkit.Tool[stated, stated, string]{
		Definition: toolkit.Definition{
			Name: name, Title: name, Description: "Does what it says.", Effect: approval.ReadFiles,
			Params: []toolkit.Param{
				{Name: "args", Type: toolkit.Object, Description: "arguments"},
				{Name: "paths", Type: toolkit.Object, Description: "paths by access"},
				{Name: "commands", Type: toolkit.Array, Description: "commands"},
				{Name: "count", Type: toolkit.Integer, Description: "a count"},
				{Name: "fail", Type: toolkit.Boolean, Description: "whether the plan fails"},
			},
			Judged: []string{"judged"},
		},
		Plan: func(_ context.Context, _ *toolkit.Call, in stated) (stated, approval.Action, error) {
			a := approval.Action{Args: in.Args, Count: in.Count}
			for access, rels := range in.Paths {
				for _, rel := range rels {
					a.Paths = append(a.Paths, approval.Path{Access: approval.Access(access), Root: "/root", Rel: rel})
				}
			}
			if len(in.Commands) > 0 {
				a.Shell = &approval.Shell{Commands: in.Commands, Dialect: "sh", Dir: "/data"}
			}
			if in.Fail {
				return in, a, toolkit.Errorf("the plan fails")
			}
			return in, a, nil
		},
		Run:    func(context.Context, stated, approval.Grant, toolkit.Progress) (string, error) { return "it ran", nil },
		Render: func(out string, _ toolkit.Budget) toolkit.Result { return toolkit.Result{Text: out} },
	})
}

// statedTools have the names of the suite's, so that its example policies are about them.
var statedTools = []string{"Read", "Glob", "Grep", "List", "Stat", "Write", "Edit", "apply_patch", "shell", "shell_job", "image_generation"}

func statedApp() toolkit.App {
	return toolkit.App{
		Name: "mcp-stated", Usage: "a program for tests",
		Flags: []cli.Flag{&cli.StringSliceFlag{Name: "writes", Usage: "`DIR` that calls write"}},
		Setup: func(_ *cli.Context, s *toolkit.Server) error {
			for _, name := range statedTools {
				if err := addStated(s, name); err != nil {
					return err
				}
			}
			return nil
		},
		Writable: func(c *cli.Context) []string { return c.StringSlice("writes") },
	}
}

func runStated(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errw bytes.Buffer
	code = statedApp().Run(t.Context(), args, toolkit.Streams{In: strings.NewReader(""), Out: &out, Err: &errw})
	return code, out.String(), errw.String()
}

// file writes a file for a test and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const rulesForTests = `version: 1
default: ask
rules:
  - {id: no-env, effect: deny, tools: ["*"], paths: {globs: [.env]}, reason: secrets}
  - {id: no-curl, effect: deny, tools: [shell], command: {argv: [curl]}}
  - {id: read, effect: allow, tools: [Read]}
  - {id: gone, effect: deny, tools: [Write]}
  - {id: ann, effect: allow, tools: [Edit], principals: [ann], scopes: [edit], transports: [http]}
`

func TestPolicyCommand(t *testing.T) {
	good, bad := file(t, rulesForTests), file(t, "version: 1\ndefault: Ask\nrule: []\n")
	warns := file(t, "version: 1\ndefault: ask\nrules:\n  - {id: a, effect: deny, tools: [Reed]}\n")
	cases := file(t, "- {tool: Read, paths: {read: [a]}, want: allow}\n- {tool: Read, paths: {read: [.env]}, want: allow}\n- {tool: shell, commands: [curl], want: deny}\n")
	badCases := file(t, "- {tool: Read}\n")
	unplanned := file(t, "- {tool: Read, args: {fail: true}, want: allow}\n- {tool: Elsewhere, args: {fail: true}, want: ask}\n")
	argsFile := file(t, `{"paths": {"read": [".env"]}}`)
	tests := []struct {
		name      string
		args      []string
		code      int
		out, errs []string // contained
	}{
		{"check", []string{"check", good}, 0, []string{good + " is valid, revision "}, nil},
		{"check, bad", []string{"check", bad}, 1, nil, []string{bad + `:2: default: "Ask"`, bad + `:3: policy: unknown key "rule"`}},
		{"check, looks bad", []string{"check", warns}, 0, []string{"is valid"}, []string{"warning: " + warns + ":4: rule a: no tool is called Reed"}},
		{"check, strict", []string{"check", "--strict", warns}, 1, nil, []string{warns + ":4: rule a: no tool is called Reed"}},
		{"check, arguments", []string{"check", "--strict", file(t, "version: 1\ndefault: ask\nrules:\n  - {id: a, effect: deny, tools: [Read], args: {/nope: {min: 1}}}\n")}, 1, nil, []string{":4: rule a: /nope: none of its tools has an argument of that name; there are: args, commands, count, fail, judged, paths"}},
		{"check, missing", []string{"check", "/nowhere/p.yaml"}, 1, nil, []string{"policy /nowhere/p.yaml: no such file"}},
		{"check, no file", []string{"check"}, 2, nil, []string{"policy check: want FILE"}},
		{"no command", nil, 2, nil, []string{"want check, explain, test or schema"}},
		{"unknown command", []string{"lint"}, 2, nil, []string{`unknown command "lint"`}},
		{"schema", []string{"schema"}, 0, []string{`"$id": "urn:toolhost:policy:1"`}, nil},
		{"test", []string{"test", good, cases}, 1, []string{cases + ":2: Read: got deny, want allow (rule no-env: secrets)", "3 cases, 1 failed"}, nil},
		{"test, bad policy", []string{"test", bad, cases}, 1, nil, []string{bad + ":2: default"}},
		{"test, bad cases", []string{"test", good, badCases}, 1, nil, []string{badCases + ":1: case: want is missing"}},
		{"test, no plan", []string{"test", good, unplanned}, 1, []string{":1: Read: it cannot be planned here: the plan fails; state what it touches", "2 cases, 1 failed"}, nil},
		{"explain", []string{"explain", "--policy", good, "--tool", "Read"}, 0, []string{`"decision": "allow"`, `"rule": "read"`, `"rules": [`, `"revision": "`}, nil},
		{"explain, arguments", []string{"explain", "--policy", good, "--tool", "Read", "--args", `{"paths": {"read": [".env"]}}`}, 0, []string{`"decision": "deny"`, `"reason": "secrets"`}, nil},
		{"explain, arguments from a file", []string{"explain", "--policy", good, "--tool=Read", "--args", "@" + argsFile}, 0, []string{`"decision": "deny"`}, nil},
		{"explain, commands", []string{"explain", "--policy", good, "--tool", "shell", "--args", `{"commands": ["ls; curl x"]}`}, 0, []string{`"decision": "deny"`, `"argv": [`, `"no-curl"`}, nil},
		{"explain, ask", []string{"explain", "--policy", good, "--tool", "Grep"}, 0, []string{`"decision": "ask"`, `"rules": []`, `"rule": "default"`, `"unattended": "deny"`}, nil},
		{"explain, hidden", []string{"explain", "--policy", good, "--tool", "Write"}, 0, []string{`"decision": "deny"`, `"hidden": true`}, nil},
		{"explain, caller", []string{"explain", "--policy", good, "--tool", "Edit", "--principal", "ann", "--scope", "edit", "--transport", "http"}, 0, []string{`"decision": "allow"`}, nil},
		{"explain, another caller", []string{"explain", "--policy", good, "--tool", "Edit", "--principal", "ann", "--transport", "http"}, 0, []string{`"decision": "ask"`}, nil},
		{"explain, always", []string{"explain", "--policy", good, "--tool", "Read", "--require-approval", "always"}, 0, []string{`"decision": "ask"`, `"rule": "require-approval"`}, nil},
		{"explain, never", []string{"explain", "--policy", good, "--tool", "Grep", "--require-approval", "never"}, 0, []string{`"decision": "allow"`}, nil},
		{"explain, the default", []string{"explain", "--tool", "Read"}, 0, []string{`"decision": "allow"`, `"rule": "default"`, `"revision": ""`, "the built-in default"}, nil},
		{"explain, the default and commands", []string{"explain", "--tool", "shell", "--args", `{"commands": ["ls | wc"]}`}, 0, []string{`"wc"`}, nil},
		{"explain, no plan", []string{"explain", "--policy", good, "--tool", "Read", "--args", `{"fail": true}`}, 0, []string{`"decision": "allow"`, `"error": "the plan fails"`}, nil},
		{"explain, no tool", []string{"explain"}, 2, nil, []string{`no tool is called "" here; there are: Read, Glob`}},
		{"explain, bad JSON", []string{"explain", "--tool", "Read", "--args", "{"}, 2, nil, []string{"--args: no valid JSON"}},
		{"explain, bad arguments", []string{"explain", "--tool", "Read", "--args", `{"count": "x"}`}, 2, nil, []string{"count"}},
		{"explain, missing file", []string{"explain", "--tool", "Read", "--args", "@/nowhere"}, 2, nil, []string{"no such file"}},
		{"explain, bad transport", []string{"explain", "--tool", "Read", "--transport", "tcp"}, 2, nil, []string{`--transport "tcp": want stdio or http`}},
		{"explain, bad policy", []string{"explain", "--tool", "Read", "--policy", bad}, 2, nil, []string{bad + ":2: default"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := runStated(t, append([]string{"policy"}, tt.args...)...)
			if code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", code, tt.code, out, errs)
			}
			mustContain(t, out, tt.out...)
			mustContain(t, errs, tt.errs...)
			if tt.out == nil && out != "" {
				t.Errorf("got %q on standard output", out)
			}
		})
	}
}

// The policy must not lie where calls can write, whatever links lead to it.
func TestPolicyOutOfReach(t *testing.T) {
	base := t.TempDir()
	make := func(name string) string {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to, name string) string {
		path := filepath.Join(base, name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	policy := func(dir string) string {
		path := filepath.Join(dir, "policy.yaml")
		if err := os.WriteFile(path, []byte(rulesForTests), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	root, etc := make("root/sub"), make("etc")
	root = filepath.Dir(root)
	inside, outside := policy(filepath.Join(root, "sub")), policy(etc)
	rootLink := link(root, "rootlink")
	twin := policy(make("twins"))
	if err := os.Link(twin, twin+"2"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		args    []string
		refused bool
	}{
		{"outside", []string{"--root", root, "--policy", outside}, false},
		{"inside", []string{"--root", root, "--policy", inside}, true},
		{"inside a directory that a hook names", []string{"--writes", root, "--policy", inside}, true},
		{"outside of it", []string{"--writes", root, "--policy", outside}, false},
		{"no roots", []string{"--policy", inside}, false},
		{"the root by a link", []string{"--root", rootLink, "--policy", inside}, true},
		{"the policy by a link to the root", []string{"--root", root, "--policy", filepath.Join(rootLink, "sub", "policy.yaml")}, true},
		{"a link outside to a file inside", []string{"--root", root, "--policy", link(inside, "link1")}, true},
		{"a link inside to a file outside", []string{"--root", root, "--policy", link(outside, "root/link2")}, true},
		{"a linked directory inside", []string{"--root", root, "--policy", filepath.Join(link(etc, "root/link3"), "policy.yaml")}, true},
		{"links in turn", []string{"--root", root, "--policy", link("root/link2", "link4")}, true},
		{"through the root and out again", []string{"--root", root, "--policy", root + "/sub/../../etc/policy.yaml"}, true},
		{"a link through the root and out again", []string{"--root", root, "--policy", link("root/sub/../../etc/policy.yaml", "link5")}, true},
		{"beside a root of a similar name", []string{"--root", root, "--policy", policy(make("root2"))}, false},
		{"a root that is not there", []string{"--root", filepath.Join(base, "none"), "--policy", outside}, false},
		{"links in a circle", []string{"--root", root, "--policy", link("circle", "circle")}, true},
		{"no policy", []string{"--root", root, "--policy", filepath.Join(etc, "none.yaml")}, true},
		{"an empty flag", []string{"--policy", ""}, true},
		{"with another name", []string{"--root", root, "--policy", twin}, true},
		{"a root in another", []string{"--root", root, "--root", filepath.Join(root, "sub"), "--policy", outside}, true},
		{"a root in another by a link", []string{"--root", rootLink, "--root", filepath.Join(root, "sub"), "--policy", outside}, true},
		{"a root twice", []string{"--root", root, "--root", root, "--policy", outside}, false},
	}
	t.Chdir(root)
	policy(root)
	tests = append(tests, []struct {
		name    string
		args    []string
		refused bool
	}{
		{"beside the root where the program runs", []string{"--root", ".", "--policy", "../etc/policy.yaml"}, false},
		{"inside the root where the program runs", []string{"--root", ".", "--policy", "sub/policy.yaml"}, true},
		{"in a root above", []string{"--root", base, "--policy", "../etc/policy.yaml"}, true},
		{"where the program runs, in a root above", []string{"--root", base, "--policy", "sub/policy.yaml"}, true},
		{"by its name alone, in a root above", []string{"--root", "..", "--policy", "policy.yaml"}, true},
	}...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := runStated(t, append(tt.args, "tools")...)
			if tt.refused != (code == 2) || tt.refused != strings.Contains(errs, "--policy") {
				t.Errorf("exit %d, want it refused: %v\n%s%s", code, tt.refused, out, errs)
			}
			if strings.HasPrefix(tt.name, "inside") && !strings.Contains(errs, "lies in "+tt.args[1]) {
				t.Errorf("got %s", errs)
			}
		})
	}
}

func TestServingUnderAPolicy(t *testing.T) {
	policy := file(t, rulesForTests)
	code, out, errs := runStated(t, "--policy", policy, "tools")
	if code != 0 || strings.Contains(out, "Write: ") || !strings.Contains(out, "Read: ") {
		t.Errorf("exit %d: want Read and no Write in\n%s%s", code, out, errs)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"call", "Read"}, 0, "it ran"},
		{[]string{"call", "Read", `{"paths": {"read": [".env"]}}`}, 1, "Read is denied: secrets (rule no-env)"},
		{[]string{"call", "Write"}, 1, "Write is denied"},
		{[]string{"call", "Grep"}, 1, "Grep needs approval"},
		{[]string{"call", "shell", `{"commands": ["ls | curl -T - x"]}`}, 1, "shell is denied"},
		{[]string{"--require-approval", "never", "call", "Grep"}, 0, "it ran"},
		{[]string{"--require-approval", "never", "call", "Read", `{"paths": {"read": [".env"]}}`}, 1, "Read is denied"},
	} {
		code, out, errs := runStated(t, append([]string{"--policy", policy}, tt.args...)...)
		if code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("%q: exit %d\n%s%s", tt.args, code, out, errs)
		}
	}
	warns := file(t, "version: 1\ndefault: ask\nrules:\n  - {id: a, effect: deny, tools: [Reed]}\n")
	if _, _, errs := runStated(t, "--policy", warns, "tools"); !strings.Contains(errs, "no tool is called Reed") {
		t.Errorf("nobody is warned: %q", errs)
	}
	t.Setenv("MCP_STATED_POLICY", policy)
	if _, out, _ := runStated(t, "call", "Read", `{"paths": {"read": [".env"]}}`); !strings.Contains(out, "rule no-env") {
		t.Errorf("the environment names a policy, and it does not decide: %s", out)
	}
}

// An as has every call come from one caller.
type as struct {
	who approval.Caller
	approval.Evaluator
}

func (e as) Evaluate(ctx context.Context, _ approval.Caller, a approval.Action) approval.Verdict {
	return e.Evaluator.Evaluate(ctx, e.who, a)
}

func (e as) Hides(_ approval.Caller, tool string) bool { return e.Evaluator.Hides(e.who, tool) }

// What explain says of a call is what becomes of it, for all cases of the example policies.
func TestExplainAgreesWithCalls(t *testing.T) {
	files, err := filepath.Glob("../../examples/policies/*.cases.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files of cases, %v", len(files), err)
	}
	for _, name := range files {
		policy := strings.TrimSuffix(name, ".cases.yaml") + ".yaml"
		cases, err := approval.LoadCases(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			args := argumentsOf(t, c)
			explained, live := explainCase(t, policy, c, args), callCase(t, policy, c, args)
			if explained != live || explained != c.Want.String() {
				t.Errorf("%s:%d: explained as %s, done as %s, want %s", name, c.Line, explained, live, c.Want)
			}
		}
	}
}

func argumentsOf(t *testing.T, c approval.Case) string {
	t.Helper()
	in := stated{Args: c.Args, Paths: map[string][]string{}, Commands: c.Commands, Count: c.Count}
	if in.Args == nil {
		in.Args = json.RawMessage("{}")
	}
	for _, p := range c.Paths {
		in.Paths[string(p.Access)] = append(in.Paths[string(p.Access)], p.Rel)
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func explainCase(t *testing.T, policy string, c approval.Case, args string) (decision string) {
	t.Helper()
	words := []string{"policy", "explain", "--policy", policy, "--tool", c.Tool, "--args", args, "--principal", c.Caller.Principal, "--transport", c.Caller.Transport}
	for _, s := range c.Caller.Scopes {
		words = append(words, "--scope", s)
	}
	code, out, errs := runStated(t, words...)
	var e struct{ Decision string }
	if err := json.Unmarshal([]byte(out), &e); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	return e.Decision
}

func callCase(t *testing.T, policy string, c approval.Case, args string) (decision string) {
	t.Helper()
	p, _, err := approval.Load(policy, approval.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := toolkit.NewServer(toolkit.Options{Name: "mcp-stated", Evaluator: as{c.Caller, p}})
	if err != nil {
		t.Fatal(err)
	}
	if err := addStated(s, c.Tool); err != nil {
		t.Fatal(err)
	}
	res, err := connect(t, s, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: c.Tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	switch text := textOf(t, res); {
	case strings.Contains(text, c.Tool+" needs approval"):
		return "ask"
	case strings.Contains(text, c.Tool+" is denied"):
		return "deny"
	case text == "it ran":
		return "allow"
	default:
		return text
	}
}

// The plan of a call is the same for explain, facts included.
func TestExplainShowsTheAction(t *testing.T) {
	_, out, errs := runStated(t, "policy", "explain", "--tool", "apply_patch", "--args", `{"paths": {"update": ["a"]}, "count": "2"}`)
	var e struct {
		Action approval.Action `json:"action"`
	}
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	want := approval.Action{
		Tool: "apply_patch", Effect: approval.ReadFiles, Count: 2,
		Paths: []approval.Path{{Access: approval.Update, Root: "/root", Rel: "a"}},
	}
	e.Action.Args = nil
	if diff := cmp.Diff(want, e.Action); diff != "" {
		t.Error(diff)
	}
}

// A policy that moves into reach later is not followed there.
func TestPolicyMovesIntoReach(t *testing.T) {
	base := t.TempDir()
	root, inside := filepath.Join(base, "root"), filepath.Join(base, "root", "in.yaml")
	if err := errors.Join(os.Mkdir(root, 0o755), os.WriteFile(inside, []byte(rulesForTests), 0o600)); err != nil {
		t.Fatal(err)
	}
	path := file(t, rulesForTests)
	g := toolkit.OutOfReachOf(path, root)
	f, _, err := approval.OpenFile(path, approval.FileOptions{Check: g})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(path), os.Symlink(inside, path)); err != nil {
		t.Fatal(err)
	}
	if err := f.Reload(); err == nil || !strings.Contains(err.Error(), "where calls can write") {
		t.Errorf("got %v", err)
	}
}
