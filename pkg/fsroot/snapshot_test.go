package fsroot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// What is loaded without the right to change can be committed, unless it has changed.
func TestLoadWithoutTheRight(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "a"), []byte("one"), 0o644),
		os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")),
		os.WriteFile(filepath.Join(dir, "c"), []byte("one"), 0o644),
		os.Symlink("none", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root := fsroot.NewSet(dir).Roots()[0]
	id := map[string]any{}
	var was *fsroot.Snapshot
	for _, name := range []string{"a", "b", "c"} {
		content, s, err := root.Load(name)
		if err != nil || string(content) != "one" {
			t.Fatalf("%s: %q, %v", name, content, err)
		}
		id[name], was = s.ID(), s
	}
	if id["a"] == nil || id["a"] != id["b"] || id["a"] == id["c"] {
		t.Errorf("ids: %v", id)
	}
	target, link, err := root.LoadLink("link")
	if err != nil || target != "none" || link.ID() != nil {
		t.Errorf("link: %q, %v, %v", target, link.ID(), err)
	}
	tx, err := fsroot.Begin(t.Context(), state, root)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.End()
	steps := []fsroot.Step{{Rel: "c", Content: []byte("two"), Was: was}, {Rel: "link", Remove: true, Was: link}}
	if err := tx.Commit(steps); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(steps[:1]); fsroot.KindOf(err) != fsroot.Stale {
		t.Errorf("a second time: %v", err)
	}
}
