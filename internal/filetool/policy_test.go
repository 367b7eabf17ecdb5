package filetool_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"

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
}
