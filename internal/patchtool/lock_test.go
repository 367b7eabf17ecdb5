package patchtool_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// A patch that does not fit what another has half done is not refused for that.
func TestHalfOfAnotherCommit(t *testing.T) {
	h := newHarness(t, map[string]string{"a": "one\n"}, nil)
	tx, err := fsroot.Begin(t.Context(), filepath.Join(filepath.Dir(h.root), "state"), fsroot.NewSet(h.root).Roots()[0])
	must(t, err)
	defer tx.End()
	file := filepath.Join(h.root, "a")
	must(t, os.WriteFile(file, []byte("half\n"), 0o644))
	answer := make(chan string)
	go func() {
		text, _ := h.call(t, args{"patch": envelope})
		answer <- text
	}()
	select {
	case text := <-answer:
		t.Fatalf("it did not wait: %q", text)
	case <-time.After(100 * time.Millisecond):
	}
	must(t, os.WriteFile(file, []byte("one\n"), 0o644))
	must(t, tx.End())
	if text := <-answer; text != "completed\nUpdated file: a (4 -> 4 bytes)" {
		t.Errorf("got %q", text)
	}
}

// Whoever is shown a dry run, or a refusal by its arguments, waits for nobody.
func TestDryRunsDoNotWait(t *testing.T) {
	h := newHarness(t, map[string]string{"a": "one\n"}, nil)
	tx, err := fsroot.Begin(t.Context(), filepath.Join(filepath.Dir(h.root), "state"), fsroot.NewSet(h.root).Roots()[0])
	must(t, err)
	defer tx.End()
	if text, refused := h.call(t, args{"patch": envelope, "dry_run": true}); refused {
		t.Errorf("got %q", text)
	}
	if _, refused := h.call(t, args{"patch": "*** Begin Patch"}); !refused {
		t.Error("half of a patch was taken")
	}
}
