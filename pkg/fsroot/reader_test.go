package fsroot_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// A Reader says of every kind of path what Load says.
func TestReaderLikeLoad(t *testing.T) {
	dir := t.TempDir()
	for i := range 70 { // more than stay open
		must(t, os.MkdirAll(filepath.Join(dir, fmt.Sprint("d", i), "sub"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("d", i), "file"), fmt.Append(nil, "content ", i), 0o640))
	}
	if runtime.GOOS != "windows" {
		must(t, os.Symlink("d1", filepath.Join(dir, "link")))
		must(t, os.Symlink("../d1/file", filepath.Join(dir, "d2", "link")))
		must(t, os.Symlink(os.TempDir(), filepath.Join(dir, "outside")))
	}
	for name, set := range map[string]*fsroot.Set{"system": fsroot.NewSet(dir), "portable": fsroot.Portable(fsroot.NewSet(dir))} {
		t.Run(name, func(t *testing.T) {
			root := set.Roots()[0]
			r := root.Reader()
			defer r.Close()
			names := []string{".", "d1", "d1/sub", "d1/none", "none/file", "d1/file/x", "link/file", "d2/link", "outside/x", "../x", "d1/../d2/file", ""}
			for i := range 140 {
				names = append(names, fmt.Sprintf("d%d/file", i%70))
			}
			for _, rel := range names {
				want, wantWas, wantErr := root.Load(rel)
				got, was, err := r.Load(rel)
				if !bytes.Equal(got, want) || fsroot.KindOf(err) != fsroot.KindOf(wantErr) || (err == nil) != (wantErr == nil) {
					t.Errorf("%q: %q, %v, want %q, %v", rel, got, err, want, wantErr)
				}
				if err == nil && (was.Real() != wantWas.Real() || was.Perm() != wantWas.Perm() || was.IsLink() != wantWas.IsLink() || was.ID() != wantWas.ID()) {
					t.Errorf("%q: %v, want %v", rel, was, wantWas)
				}
			}
		})
	}
}

// What a Reader takes from a directory that was moved away is stale.
func TestReaderMovedDir(t *testing.T) {
	dir := t.TempDir()
	root := fsroot.NewSet(dir).Roots()[0]
	for _, d := range []string{"d", "new"} {
		must(t, os.Mkdir(filepath.Join(dir, d), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, d, "a"), []byte("a"), 0o644))
		must(t, os.WriteFile(filepath.Join(dir, d, "b"), []byte("b"), 0o644))
	}
	r := root.Reader()
	_, _, err := r.Load("d/a")
	must(t, err)
	if runtime.GOOS == "windows" {
		r.Close()
	}
	must(t, os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "old")))
	must(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "d")))
	_, was, err := r.Load("d/b")
	must(t, err)
	r.Close()
	tx, err := fsroot.Begin(context.Background(), t.TempDir(), root)
	must(t, err)
	defer tx.End()
	err = tx.Commit([]fsroot.Step{{Rel: "d/b", Was: was, Content: []byte("x")}})
	if runtime.GOOS == "linux" && fsroot.KindOf(err) != fsroot.Stale {
		t.Errorf("commit: %v, want stale", err)
	}
	if _, _, err := r.Load("d/b"); err != nil { // also after Close
		t.Error(err)
	}
	r.Close()
}
