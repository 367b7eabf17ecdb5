package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

func testCommit(t *testing.T, f Fixture) {
	f.Write("keep", "k", 0o600)
	f.Write("run", "old", 0o755)
	f.Write("gone", "g", 0o644)
	f.Write("mode", "m", 0o644)
	tx := begin(t, f)
	gone := load(t, tx, "gone")
	err := tx.Commit([]patchapply.Change{
		{Path: "gone", Before: gone, Remove: true},
		{Path: "run", Before: load(t, tx, "run"), After: []byte("new")},
		{Path: "mode", Before: load(t, tx, "mode"), After: []byte("m"), Perm: 0o755},
		{Path: "a/b/new", After: []byte("n")},
		{Path: "a/c", After: []byte("g"), Perm: 0o700, From: gone},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantTree(t, f, map[string]string{
		"keep": "0600 k", "run": "0755 new", "mode": "0755 m", "a/b/new": "0644 n", "a/c": "0700 g",
	})
}

func testStale(t *testing.T, f Fixture) {
	for name, c := range map[string]struct {
		meanwhile func()
		change    patchapply.Change
	}{
		"changed, of equal length": {func() { f.Write("b", "three", 0o644) }, patchapply.Change{Path: "b", After: []byte("mine")}},
		"changed before removal":   {func() { f.Write("b", "more than it was", 0o644) }, patchapply.Change{Path: "b", Remove: true}},
		"removed":                  {func() { f.Remove("b") }, patchapply.Change{Path: "b", After: []byte("mine")}},
		"made":                     {func() { f.Write("c", "theirs", 0o644) }, patchapply.Change{Path: "c", After: []byte("mine")}},
	} {
		t.Run(name, func(t *testing.T) {
			f.Write("a", "one", 0o644)
			f.Write("b", "seven", 0o644)
			f.Remove("c")
			tx := begin(t, f)
			first := patchapply.Change{Path: "a", Before: load(t, tx, "a"), After: []byte("two")}
			if c.change.Path == "b" {
				c.change.Before = load(t, tx, "b")
			}
			c.meanwhile()
			before := f.Tree()
			err := tx.Commit([]patchapply.Change{first, c.change})
			wantClass(t, "commit", err, patchapply.StaleFile)
			wantTree(t, f, before)
			first.Before = load(t, tx, "a")
			if err := tx.Commit([]patchapply.Change{first}); err != nil {
				t.Errorf("again: %v", err)
			}
			tx.End()
		})
	}
}

// testAllOrNothing lets something stand in the way that no check of single files sees.
func testAllOrNothing(t *testing.T, f Fixture) {
	f.Write("a", "one", 0o644)
	f.Write("d", "in the way", 0o644)
	tx := begin(t, f)
	err := tx.Commit([]patchapply.Change{
		{Path: "a", Before: load(t, tx, "a"), After: []byte("two")},
		{Path: "new", After: []byte("n")},
		{Path: "d/new", After: []byte("n")},
	})
	if err == nil {
		t.Error("a file below a file was made")
	}
	wantTree(t, f, map[string]string{"a": "0644 one", "d": "0644 in the way"})
}

func testBroken(t *testing.T, f Fixture) {
	if f.Break == nil {
		return
	}
	f.Write("a", "one", 0o644)
	f.Write("z/b", "one", 0o644)
	tx := begin(t, f)
	changes := []patchapply.Change{
		{Path: "a", Before: load(t, tx, "a"), After: []byte("two")},
		{Path: "m/new", After: []byte("n")},
		{Path: "z/b", Before: load(t, tx, "z/b"), After: []byte("two")},
	}
	before := f.Tree()
	mend := f.Break("z/b")
	err := tx.Commit(changes)
	mend()
	if class := patchapply.ClassOf(err); class == "" || class == patchapply.StaleFile {
		t.Errorf("commit: %v", err)
	}
	wantTree(t, f, before)
}

func testSole(t *testing.T, f Fixture) {
	first := begin(t, f)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if tx, err := f.Storage.Begin(short); err == nil {
		tx.End()
		t.Error("two have the sole right")
	} else if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting in vain: %v", err)
	}
	next := make(chan error)
	go func() {
		tx, err := f.Storage.Begin(t.Context())
		if err == nil {
			tx.End()
		}
		next <- err
	}()
	first.End()
	first.End()
	if err := <-next; err != nil {
		t.Errorf("after the end: %v", err)
	}
	if err := first.Commit([]patchapply.Change{{Path: "late", After: []byte("x")}}); err == nil {
		t.Error("a commit after the end")
	}
	wantTree(t, f, map[string]string{})
}

func testView(t *testing.T, f Fixture) {
	f.Write("a", "one", 0o644)
	v := f.Storage.View(t.Context())
	was := load(t, v, "a")
	tx := begin(t, f)
	if err := tx.Commit([]patchapply.Change{{Path: "a", Before: was, After: []byte("two")}}); err != nil {
		t.Fatal(err)
	}
	wantTree(t, f, map[string]string{"a": "0644 two"})
	tx.End()
	tx = begin(t, f)
	err := tx.Commit([]patchapply.Change{{Path: "a", Before: was, After: []byte("three")}})
	wantClass(t, "what the view loaded is old", err, patchapply.StaleFile)
}
