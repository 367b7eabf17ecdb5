package fsroot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// A person learns of journals that were of no use, and of a state directory within reach.
func TestTrouble(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	trouble := func(state string) string {
		t.Helper()
		tx, err := fsroot.Begin(t.Context(), state, fsroot.NewSet(dir).Roots()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer tx.End()
		return strings.Join(tx.Trouble(), "\n")
	}
	if got := trouble(state); got != "" {
		t.Errorf("trouble where there is none: %s", got)
	}
	if got := trouble(filepath.Join(dir, "state")); !strings.Contains(got, "lies below the root") {
		t.Errorf("below the root: %q", got)
	}
	locks, err := filepath.Glob(filepath.Join(state, "*"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	if err := os.WriteFile(filepath.Join(locks[0], "bad-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := trouble(state); !strings.Contains(got, "1 changes stayed half done") || !strings.Contains(got, "bad-1") {
		t.Errorf("a journal that was set aside: %q", got)
	}
}
