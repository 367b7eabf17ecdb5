package patchtool_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// A recorder answers all with one decision, and keeps what it was asked.
type recorder struct {
	decision approval.Decision
	visible  approval.PathFilter
	do       func() // between judging and running; may be nil
	asked    []approval.Action
}

func (r *recorder) Evaluate(_ context.Context, _ approval.Caller, a approval.Action) approval.Verdict {
	r.asked = append(r.asked, a)
	if r.do != nil {
		r.do()
	}
	return approval.Verdict{Decision: r.decision, Reason: "test", Visible: r.visible, Asking: approval.Asking{Unattended: approval.Allow}}
}

func (*recorder) Hides(approval.Caller, string) bool { return false }

func TestThePolicySeesEveryPath(t *testing.T) {
	rules := &recorder{decision: approval.Deny}
	h := newHarness(t, map[string]string{"a": "one\n", "b": "one\n", "c": "one\n", "e": "x\n"}, rules)
	before := h.tree(t)
	text, refused := h.call(t, args{"patch": "*** Begin Patch\n*** Update File: a\n" + hunk +
		"*** Add File: d/n\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: f\n*** Update File: e\n@@\n x\n*** End Patch"})
	if !refused || !strings.HasPrefix(text, "apply_patch is denied") {
		t.Errorf("got %q", text)
	}
	path := func(access approval.Access, rel, before string) approval.Path {
		p := approval.Path{Access: access, Root: h.root, Rel: rel}
		if before != "" {
			p.SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte(before)))
		}
		return p
	}
	want := []approval.Action{{
		Tool: "apply_patch", Effect: approval.WriteFiles,
		Paths: []approval.Path{
			path(approval.Update, "a", "one\n"), path(approval.Create, "d/n", ""), path(approval.Delete, "b", "one\n"),
			path(approval.Move, "c", "one\n"), path(approval.Create, "f", ""), path(approval.Update, "e", "x\n"),
		},
		Summary: "apply a patch: update a, create d/n, delete b, move c to f, leave e" +
			"\n--- a\n@@ -1 +1 @@\n-one\n+two\n--- d/n\n@@ -0,0 +1 @@\n+x",
	}}
	rules.asked[0].Args = nil // the patch
	if diff := cmp.Diff(want, rules.asked); diff != "" {
		t.Errorf("asked (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(before, h.tree(t)); diff != "" {
		t.Error(diff)
	}
}

// What an error shows of a file is a read, which the policy judges before it is told.
func TestErrorsAreToldToThoseWhoMayRead(t *testing.T) {
	rules := &recorder{decision: approval.Deny}
	h := newHarness(t, map[string]string{".env": "KEY=secret\n"}, rules)
	text, _ := h.call(t, args{"patch": "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=guess\n+x\n*** End Patch"})
	if strings.Contains(text, "secret") || !strings.HasPrefix(text, "apply_patch is denied") {
		t.Errorf("got %q", text)
	}
	read := approval.Path{Access: approval.Read, Root: h.root, Rel: ".env"}
	if len(rules.asked) != 1 || !slices.Contains(rules.asked[0].Paths, read) {
		t.Errorf("asked %+v", rules.asked)
	}
}

// An error names what lies near a missing file only to those who may see that.
func TestErrorsNameWhatIsShown(t *testing.T) {
	missing := args{"patch": "*** Begin Patch\n*** Update File: secret.tx\n@@\n-x\n+y\n*** End Patch"}
	for name, c := range map[string]struct {
		visible approval.PathFilter
		want    string
	}{
		"all":  {nil, "file_not_found: secret.tx does not exist; similar: secret.txt (patch"},
		"part": {func(approval.Path) approval.Decision { return approval.Allow }, "file_not_found: secret.tx does not exist (patch"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, map[string]string{"secret.txt": "x\n"}, &recorder{decision: approval.Allow, visible: c.visible})
			if text, refused := h.call(t, missing); !refused || !strings.HasPrefix(text, c.want) {
				t.Errorf("got %q", text)
			}
		})
	}
}

// The summary of a small change to a large file shows all of it. Where it does not, counts and a
// hash stand for the patch.
func TestSummaryOfLargeFiles(t *testing.T) {
	rules := &recorder{decision: approval.Deny}
	old := strings.Repeat("a line of text\n", 100_000) + "one\n" + strings.Repeat("a line of text\n", 100_000)
	h := newHarness(t, map[string]string{"a": old}, rules)
	h.call(t, args{"patch": envelope})
	want := "apply a patch: update a\n--- a\n@@ -99998,7 +99998,7 @@\n" + strings.Repeat(" a line of text\n", 3) +
		"-one\n+two\n" + strings.TrimSuffix(strings.Repeat(" a line of text\n", 3), "\n")
	if diff := cmp.Diff(want, rules.asked[0].Summary); diff != "" || rules.asked[0].Unshown != "" {
		t.Error(diff, rules.asked[0].Unshown)
	}
	for name, patch := range map[string]string{
		"far apart":     "*** Begin Patch\n*** Update File: b\n@@\n-first\n+1\n@@\n-last\n+2\n*** End Patch",
		"long":          "*** Begin Patch\n*** Add File: c\n" + strings.Repeat("+a line of text\n", 1000) + "*** End Patch",
		"one long line": "*** Begin Patch\n*** Add File: c\n+" + strings.Repeat("x", 10_000) + "\n*** End Patch",
	} {
		rules := &recorder{decision: approval.Deny}
		h := newHarness(t, map[string]string{"b": "first\n" + strings.Repeat("a line of text\n", 10_000) + "last\n"}, rules)
		h.call(t, args{"patch": patch})
		if got, want := rules.asked[0].Unshown, fmt.Sprintf("%d bytes with SHA-256 %x", len(patch), sha256.Sum256([]byte(patch))); !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, want %q at its end", name, got, want)
		}
	}
}

// A patch that is planned again, since files were changed after it was judged, shows what
// they hold then only to those who may see all.
func TestErrorsOfAnotherPlan(t *testing.T) {
	for name, c := range map[string]struct {
		visible approval.PathFilter
		want    string
	}{
		"all":  {nil, "context_not_found: a: hunk 1 of 1"},
		"part": {func(approval.Path) approval.Decision { return approval.Allow }, "stale_file: files were changed meanwhile"},
	} {
		t.Run(name, func(t *testing.T) {
			rules := &recorder{decision: approval.Allow, visible: c.visible}
			h := newHarness(t, map[string]string{"a": "one\n"}, rules)
			rules.do = func() { must(t, os.WriteFile(filepath.Join(h.root, "a"), []byte("one secret\n"), 0o644)) }
			text, refused := h.call(t, args{"patch": envelope})
			if !refused || !strings.HasPrefix(text, c.want) || c.visible != nil && strings.Contains(text, "hunk") {
				t.Errorf("got %q", text)
			}
			if got := h.tree(t)["a"]; got != "one secret\n" {
				t.Errorf("the file holds %q", got)
			}
		})
	}
}

// What a person approved is made on what was shown, or not at all.
func TestApprovedPatches(t *testing.T) {
	for _, decision := range []approval.Decision{approval.Allow, approval.Ask} {
		rules := &recorder{decision: decision}
		h := newHarness(t, map[string]string{"a": "one\n"}, rules)
		rules.do = func() { must(t, os.WriteFile(filepath.Join(h.root, "a"), []byte("one\nmore\n"), 0o644)) }
		text, refused := h.call(t, args{"patch": envelope})
		want := map[approval.Decision]string{approval.Allow: "two\nmore\n", approval.Ask: "one\nmore\n"}[decision]
		if got := h.tree(t)["a"]; got != want || refused != (decision == approval.Ask) || refused && !strings.HasPrefix(text, "stale_file: ") {
			t.Errorf("%s: %q; %s", decision, got, text)
		}
	}
}

// What a move takes the place of is changed too, and a person is told.
func TestReplacedByAMove(t *testing.T) {
	rules := &recorder{decision: approval.Deny}
	h := newHarness(t, map[string]string{"a": "one\n", "b": "frozen\n"}, rules)
	h.call(t, args{"patch": "*** Begin Patch\n*** Delete File: b\n*** Update File: a\n*** Move to: b\n@@\n-one\n+two\n*** End Patch"})
	var got []string
	for _, p := range rules.asked[0].Paths {
		got = append(got, fmt.Sprintf("%s %s %.8s", p.Access, p.Rel, p.SHA256))
	}
	want := []string{"move a " + fmt.Sprintf("%x", sha256.Sum256([]byte("one\n")))[:8], "update b " + fmt.Sprintf("%x", sha256.Sum256([]byte("frozen\n")))[:8]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if first, _, _ := strings.Cut(rules.asked[0].Summary, "\n"); first != "apply a patch: move a to b in the place of what is there" {
		t.Errorf("got %q", first)
	}
}

// A change that shows in no line is said.
func TestSummaryOfWhatIsNotText(t *testing.T) {
	rules := &recorder{decision: approval.Deny}
	h := newHarness(t, map[string]string{"a": "one\n"}, rules)
	h.call(t, args{"patch": "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+one\r\n\\ No newline at end of file\n"})
	want := "apply a patch: update a (mode 0644 to 0755)\n--- a\n@@ -1 +1 @@\n-one\n+one\\r\n\\ No newline at end of file"
	if diff := cmp.Diff(want, rules.asked[0].Summary); diff != "" {
		t.Error(diff)
	}
}

// Where a patch does not fit, where a file would move to is judged as well.
func TestErrorsOfMoves(t *testing.T) {
	rules := &recorder{decision: approval.Deny}
	h := newHarness(t, map[string]string{"a": "one\n", ".env": "KEY=secret\n"}, rules)
	text, _ := h.call(t, args{"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: .env\n" + hunk + "*** End Patch"})
	to := approval.Path{Access: approval.Create, Root: h.root, Rel: ".env"}
	if !strings.HasPrefix(text, "apply_patch is denied") || len(rules.asked) != 1 || !slices.Contains(rules.asked[0].Paths, to) {
		t.Errorf("asked %+v, got %q", rules.asked, text)
	}
}
