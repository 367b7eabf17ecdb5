package approval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// A followed is a policy file, and what its File reported.
type followed struct {
	t    *testing.T
	path string
	file *approval.File
	mu   sync.Mutex
	said []string
}

const (
	allows  = "version: 1\ndefault: allow\nlimits: [{id: l, tools: [limited], max: 1, per: 10h}]\n"
	denies  = "version: 1\ndefault: deny\n"
	asks    = "version: 1\ndefault: ask\nlimits: [{id: l, tools: [limited], max: 1, per: 10h}]\n"
	refused = "version: 1\ndefault: Deny\n"
)

// follow looks at the file at every call.
func follow(t *testing.T, text string) *followed {
	t.Helper()
	f := &followed{t: t, path: filepath.Join(t.TempDir(), "policy.yaml")}
	f.write(text)
	file, _, err := approval.OpenFile(f.path, approval.FileOptions{Every: time.Nanosecond, Report: f.report})
	if err != nil {
		t.Fatal(err)
	}
	f.file = file
	return f
}

func (f *followed) report(rev string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.said = append(f.said, "good")
		return
	}
	f.said = append(f.said, err.Error())
}

func (f *followed) write(text string) {
	f.t.Helper()
	tmp := f.path + ".new"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(tmp, f.path); err != nil {
		f.t.Fatal(err)
	}
}

func (f *followed) decides(tool string, want approval.Decision) {
	f.t.Helper()
	v := f.file.Evaluate(f.t.Context(), approval.Caller{}, approval.Action{Tool: tool})
	if v.Decision != want || v.Revision != f.file.Revision() {
		f.t.Errorf("got %+v, want %s", v, want)
	}
}

func TestReload(t *testing.T) {
	f := follow(t, allows)
	first := f.file.Revision()
	f.decides("x", approval.Allow)
	f.write(denies)
	f.decides("x", approval.Deny)
	if f.file.Revision() == first || !f.file.Hides(approval.Caller{}, "x") {
		t.Error("the new version does not hold")
	}
	last := f.file.Revision()
	f.write(refused)
	for range 3 {
		f.decides("x", approval.Deny)
	}
	if err := f.file.Reload(); err == nil || !strings.Contains(err.Error(), "line 2: default") {
		t.Errorf("got %v, want why the new version does not hold", err)
	}
	if f.file.Revision() != last {
		t.Error("a bad version replaced the last good one")
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f.decides("x", approval.Deny)
	}
	f.write(refused)
	f.decides("x", approval.Deny)
	f.write(asks)
	f.decides("x", approval.Ask)
	f.write(denies)
	f.decides("x", approval.Deny)
	f.write(refused)
	f.decides("x", approval.Deny)
	f.write(denies)
	f.decides("x", approval.Deny)
	bad := `line 2: default: "Deny": write it in small letters: deny`
	gone := "policy " + f.path + ": no such file or directory"
	if diff := cmp.Diff([]string{"good", bad, gone, bad, "good", "good", bad, "good"}, f.said); diff != "" {
		t.Errorf("reports: %s", diff)
	}
}

// A file that is written in place, within one tick of its clock and with the same size, is a new version too.
func TestReloadWithinATick(t *testing.T) {
	f := follow(t, "version: 1\ndefault: deny \n")
	info, err := os.Stat(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path, []byte("version: 1\ndefault: allow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(f.path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	f.decides("x", approval.Allow)
}

// A file that does not change is not read again, and reports nothing.
func TestNoChange(t *testing.T) {
	f := follow(t, allows)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(f.path, old, old); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f.decides("x", approval.Allow)
	}
	if err := f.file.Reload(); err != nil || f.said != nil {
		t.Errorf("got %v, reports %q", err, f.said)
	}
}

func TestUseSurvivesReload(t *testing.T) {
	f := follow(t, allows)
	limited := approval.Action{Tool: "limited"}
	if v := run(t, f.file, "ann", limited); v.Decision != approval.Allow {
		t.Fatalf("got %+v", v)
	}
	f.write(asks) // with the same limit
	f.decides("x", approval.Ask)
	if v := f.file.Evaluate(t.Context(), approval.Caller{Principal: "ann"}, limited); v.Rule != "l" {
		t.Errorf("got %+v, want the limit to be used up still", v)
	}
	f.write(strings.Replace(allows, "max: 1", "max: 2", 1))
	if v := f.file.Evaluate(t.Context(), approval.Caller{Principal: "ann"}, limited); v.Decision != approval.Allow {
		t.Errorf("got %+v, want a limit that has changed to begin anew", v)
	}
}

func TestBadFileAtTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if _, _, err := approval.OpenFile(path, approval.FileOptions{}); err == nil || !strings.Contains(err.Error(), path+": no such file") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte(refused), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := approval.OpenFile(path, approval.FileOptions{}); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}

func TestWatch(t *testing.T) {
	f := follow(t, allows)
	told := make(chan struct{}, 1)
	file, _, err := approval.OpenFile(f.path, approval.FileOptions{Every: time.Millisecond, Report: func(string, error) { told <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { file.Watch(ctx); close(ended) }()
	f.write(denies)
	<-told
	stop()
	<-ended
	if !file.Hides(approval.Caller{}, "x") {
		t.Error("the new version does not hold")
	}
}

// Calls meet one whole version, whatever is written meanwhile.
func TestReloadUnderLoad(t *testing.T) {
	text := func(i int) string {
		effect := []string{"allow", "deny"}[i%2]
		return fmt.Sprintf("version: 1\ndefault: ask\nrules: [{id: r%d, effect: %s, tools: [x]}]\n", i%2, effect)
	}
	f := follow(t, text(0))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				v := f.file.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x"})
				if want := map[string]approval.Decision{"r0": approval.Allow, "r1": approval.Deny}[v.Rule]; v.Decision != want || v.Rule == "default" {
					t.Errorf("got %+v", v)
					return
				}
			}
		})
	}
	for i := range 20 {
		f.write(text(i + 1))
		if err := f.file.Reload(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
}

// A version that was written just now may be half of one: it counts once it is the same at two looks.
func TestReloadOfHalfAVersion(t *testing.T) {
	f := follow(t, "version: 1\ndefault: deny\n")
	f.write("version: 1\ndefault: allow\n")
	soon := time.Now().Add(time.Hour) // so that it is new however long this takes
	if err := os.Chtimes(f.path, soon, soon); err != nil {
		t.Fatal(err)
	}
	f.decides("x", approval.Deny)
	f.decides("x", approval.Allow)
	if err := os.WriteFile(f.path, []byte("version: 1\ndefault: deny\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.file.Reload(); err != nil {
		t.Fatal(err)
	}
	f.decides("x", approval.Deny)
}
