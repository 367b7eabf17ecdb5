package filetool_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// A hider allows everything and shows all but some names.
type hider []string

func (h hider) Evaluate(context.Context, approval.Caller, approval.Action) approval.Verdict {
	return approval.Verdict{Decision: approval.Allow, Visible: func(p approval.Path) approval.Decision {
		if slices.Contains(h, p.Rel) || (p.Access == approval.List) != (p.Rel == "sub") {
			return approval.Deny
		}
		return approval.Allow
	}}
}

func (hider) Hides(approval.Caller, string) bool { return false }

// under returns another server of the harness's root, with rules.
func (h *harness) under(t *testing.T, rules approval.Evaluator) *harness {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	must(t, (&cli.StringSliceFlag{Name: "root"}).Apply(set))
	must(t, (&cli.StringFlag{Name: "names", Value: "pascal"}).Apply(set))
	must(t, set.Set("root", h.root))
	s, err := toolkit.NewServer(toolkit.Options{Name: "test", Evaluator: rules})
	must(t, err)
	must(t, filetool.App().Setup(cli.NewContext(cli.NewApp(), set, nil), s))
	client, end, err := s.Connect(t.Context(), nil)
	must(t, err)
	t.Cleanup(end)
	return &harness{top: h.top, root: h.root, client: client}
}

// offering returns another server, without roots of its own, for a client that offers one.
func (h *harness) offering(t *testing.T, rules approval.Evaluator, root string) *harness {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	must(t, (&cli.StringSliceFlag{Name: "root"}).Apply(set))
	must(t, (&cli.StringFlag{Name: "names", Value: "pascal"}).Apply(set))
	s, err := toolkit.NewServer(toolkit.Options{Name: "test", Evaluator: rules})
	must(t, err)
	must(t, filetool.App().Setup(cli.NewContext(cli.NewApp(), set, nil), s))
	near, far := mcp.NewInMemoryTransports()
	ss, err := s.MCP().Connect(t.Context(), far, nil)
	must(t, err)
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	//lint:ignore SA1019 as above
	client.AddRoots(&mcp.Root{URI: "file://" + root})
	cs, err := client.Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	must(t, err)
	t.Cleanup(func() { cs.Close(); ss.Wait() })
	return &harness{top: h.top, root: root, client: cs}
}

// TestHidden: what a policy hides is neither shown nor searched, and counted.
func TestHidden(t *testing.T) {
	d := newHarness(t, map[string]string{".env": "KEY=hit\n", "a.txt": "hit\n", "sub/.env": "hit\n"})
	hidden := d.under(t, hider{".env", "sub/.env"})
	const note = "\n[skipped: 2 hidden by the policy]"
	hidden.holds(t, "Grep", []want{
		{"content", args{"pattern": "hit", "output_mode": "content"}, "a.txt:1:hit" + note},
		{
			"in a directory",
			args{"pattern": "KEY", "path": "sub"},
			"No matches found in 0 files searched (0 ignored, 0 binary, 0 unreadable skipped)\n" +
				"[skipped: 1 hidden by the policy]",
		},
	})
	hidden.holds(t, "Glob", []want{{"names", args{"pattern": "**"}, "a.txt" + note}})
	hidden.holds(t, "List", []want{{"tree", args{"depth": 2}, "./\n  a.txt\n  sub/" + note}})
}

// TestHiddenDirectories: Read shows in a directory the directories that List shows.
func TestHiddenDirectories(t *testing.T) {
	d := newHarness(t, map[string]string{"a.txt": "", "sub/b": "", "other/c": ""}).under(t, hider{})
	d.holds(t, "List", []want{{"entries", nil, "./\n  a.txt\n  sub/\n[skipped: 1 hidden by the policy]"}})
	d.holds(t, "Read", []want{{
		"entries",
		args{"file_path": "."},
		"[. is a directory: read one of its files, or list it for more]\na.txt\nsub/\n[1 entry hidden by the policy]",
	}})
}

// TestHiddenTarget: a link does not name what the policy hides.
func TestHiddenTarget(t *testing.T) {
	d := newHarness(t, map[string]string{".env": "KEY=hit\n", "link": "-> .env"}).under(t, hider{".env"})
	text, res := d.call(t, "List", nil)
	if !strings.Contains(text, "link -> (hidden by the policy)") {
		t.Errorf("text: %s", text)
	}
	want := []any{map[string]any{"path": "link", "type": "link", "link_state": "ok"}}
	if diff := cmp.Diff(want, structured(t, res)["entries"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A denier denies what reads or changes one path.
type denier string

func (d denier) Evaluate(_ context.Context, _ approval.Caller, a approval.Action) approval.Verdict {
	for _, p := range a.Paths {
		if p.Rel == string(d) {
			return approval.Verdict{Reason: "test"}
		}
	}
	return approval.Verdict{Decision: approval.Allow}
}

func (denier) Hides(approval.Caller, string) bool { return false }

// TestDeniedNames: of a name that the policy denies nothing is told, not even whether it is
// there.
func TestDeniedNames(t *testing.T) {
	h := newHarness(t, map[string]string{"there": "x\n"})
	for _, name := range []string{"there", "missing", "there/below"} {
		d := h.under(t, denier(name))
		for tool, more := range map[string]args{
			"Read": {"path": name}, "Stat": {"path": name}, "List": {"path": name},
			"Glob": {"path": name, "pattern": "*"}, "Grep": {"path": name, "pattern": "x"},
		} {
			if text, res := d.call(t, tool, more); !res.IsError || !strings.HasPrefix(text, tool+" is denied: test") {
				t.Errorf("%s of %s: %q", tool, name, text)
			}
		}
	}
}

// TestNearNames: an error names only what the policy shows.
func TestNearNames(t *testing.T) {
	d := newHarness(t, map[string]string{"secret1.txt": "", "secret2.txt": ""}).under(t, hider{"secret1.txt"})
	for _, tool := range []string{"Read", "Stat", "List"} {
		text, res := d.call(t, tool, args{"path": "secret.txt"})
		if !res.IsError || strings.Contains(text, "secret1.txt") || !strings.Contains(text, "secret2.txt") {
			t.Errorf("%s: %q", tool, text)
		}
	}
	_, err := d.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "file://" + d.root + "/secret.txt"})
	if err == nil || strings.Contains(err.Error(), "secret1.txt") {
		t.Errorf("the resource: %v", err)
	}
}

// TestDeniedFile: of a file that a policy denies, or would ask about, no way shows or changes
// anything.
func TestDeniedFile(t *testing.T) {
	h := newHarness(t, map[string]string{".env": "KEY=hit\n", "link": "-> .env", "sub/.env": "KEY=hit\n", "a.txt": "hit\n", "dir": "-> sub"})
	for name, c := range map[string]struct{ rule, of string }{
		"deny":               {"{id: env, effect: deny, tools: ['*'], paths: {globs: ['**/.env']}}", "(rule env)"},
		"ask":                {"{id: env, effect: ask, tools: ['*'], paths: {globs: ['**/.env']}}", "(rule env)"},
		"deny of Read alone": {"{id: env, effect: deny, tools: [Read], paths: {globs: ['**/.env']}}", ""},
	} {
		p, _, err := approval.Parse([]byte("version: 1\ndefault: allow\nrules: ["+c.rule+"]"), approval.ParseOptions{})
		must(t, err)
		d := h.under(t, p)
		for _, call := range []struct {
			tool string
			args args
			want string // "": refused
		}{
			{"Read", args{"path": ".env"}, ""},
			{"Read", args{"path": "link"}, ""},
			{"Stat", args{"path": ".env"}, ""},
			{"Stat", args{"path": "link"}, ""},
			{"Grep", args{"pattern": "KEY", "path": ".env", "output_mode": "content"}, ""},
			{"Grep", args{"pattern": "KEY", "path": "link"}, ""},
			{"Grep", args{"pattern": "hit"}, "2 hidden by the policy"},
			{"Glob", args{"pattern": "**"}, "2 hidden by the policy"},
			{"List", args{"depth": 2}, "2 hidden by the policy"},
			{"Read", args{"path": "."}, "1 entry hidden by the policy"},
		} {
			text, res := d.call(t, call.tool, call.args)
			if res.IsError != (call.want == "") || !strings.Contains(text, call.want) || !res.IsError && strings.Contains(text, ".env") || strings.Contains(text, "KEY=") {
				t.Errorf("%s: %s %v: %s", name, call.tool, call.args, text)
			}
		}
		for file, shown := range map[string]bool{".env": false, "link": false, "sub/.env": false, "a.txt": true} {
			_, err := d.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "file://" + h.root + "/" + file})
			if shown != (err == nil) || err != nil && !strings.Contains(err.Error(), "(rule env)") {
				t.Errorf("%s: resource %s: %v", name, file, err)
			}
		}
		w := h.judged(t, p)
		text, res := w.call(t, "Edit", args{"path": "link", "old_string": "hit", "new_string": "x"})
		if c.of != "" && (!res.IsError || !strings.Contains(text, c.of) || strings.Contains(text, "KEY=")) {
			t.Errorf("%s: Edit: %s", name, text)
		}
		must(t, os.WriteFile(filepath.Join(h.root, ".env"), []byte("KEY=hit\n"), 0o644))
	}
}

// TestHiddenLinkToDirectory: Stat does not name a directory that the policy hides.
func TestHiddenLinkToDirectory(t *testing.T) {
	h := newHarness(t, map[string]string{"private/x": "", "link": "-> private"})
	p, _, err := approval.Parse([]byte("version: 1\ndefault: allow\nrules: [{id: a, effect: deny, tools: [Read, Stat], paths: {globs: ['private/**']}}]"), approval.ParseOptions{})
	must(t, err)
	if text, res := h.under(t, p).call(t, "Stat", args{"path": "link"}); res.IsError || strings.Contains(text, "private") || !strings.Contains(text, "hidden") {
		t.Errorf("got %s", text)
	}
}

// TestRootsOfClients: where the client chose the root, rules hear the whole path.
func TestRootsOfClients(t *testing.T) {
	h := newHarness(t, map[string]string{".ssh/id": "KEY\n", "open/a": "hit\n"})
	p, _, err := approval.Parse([]byte("version: 1\ndefault: allow\nrules: [{id: a, effect: deny, tools: ['*'], paths: {globs: ['**/.ssh/**']}}]"), approval.ParseOptions{})
	must(t, err)
	for root, refused := range map[string]bool{".ssh": true, "open": false, "": true} {
		d := h.offering(t, p, filepath.Join(h.root, root))
		name := map[string]string{".ssh": "id", "open": "a", "": ".ssh/id"}[root]
		if text, res := d.call(t, "Read", args{"path": name}); res.IsError != refused || strings.Contains(text, "KEY") {
			t.Errorf("%q: %s", root, text)
		}
	}
}
