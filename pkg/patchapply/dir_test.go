package patchapply_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/patchapply"
	"github.com/toolhost/toolhost/pkg/patchapply/storagetest"
)

func TestDirIsAStorage(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storagetest.Fixture {
		d := newDirs(t, "root")
		root := d.roots[0]
		return storagetest.Fixture{
			Storage: d.storage,
			Write:   func(p, content string, perm fs.FileMode) { write(t, filepath.Join(root, p), content, perm) },
			Remove:  func(p string) { os.Remove(filepath.Join(root, p)) },
			Link:    func(p, target string) { must(t, os.Symlink(target, filepath.Join(root, p))) },
			Tree:    func() map[string]string { return tree(t, root) },
			Break:   lockOut(t, root),
		}
	})
}

// lockOut makes a file and its directory read-only. That stops no superuser.
func lockOut(t *testing.T, root string) func(p string) (mend func()) {
	if os.Geteuid() <= 0 {
		return nil
	}
	return func(p string) func() {
		name := filepath.Join(root, p)
		must(t, os.Chmod(name, 0o444))
		must(t, os.Chmod(filepath.Dir(name), 0o555))
		return func() {
			must(t, os.Chmod(filepath.Dir(name), 0o755))
			must(t, os.Chmod(name, 0o644))
		}
	}
}

// dirs are roots beside a file that no patch may reach.
type dirs struct {
	top     string
	roots   []string
	storage *patchapply.Dir
}

func newDirs(t *testing.T, names ...string) *dirs {
	t.Helper()
	d := &dirs{top: realTemp(t)}
	for _, name := range names {
		d.roots = append(d.roots, filepath.Join(d.top, name))
		must(t, os.Mkdir(filepath.Join(d.top, name), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(d.top, "outside.txt"), []byte("secret\n"), 0o644))
	d.storage = patchapply.NewDir(fsroot.NewSet(d.roots...), realTemp(t))
	return d
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// write makes a file, its directories, and the mode it is to have.
func write(t *testing.T, name, content string, perm fs.FileMode) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(content), perm))
	must(t, os.Chmod(name, perm))
}

// tree returns all files and links below dir, as storagetest has them.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = entry(name, e)
		return err
	}))
	return out
}

func entry(name string, e fs.DirEntry) (string, error) {
	if e.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		return "-> " + target, err
	}
	info, err := e.Info()
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(name)
	return fmt.Sprintf("%04o %s", info.Mode().Perm(), content), err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
