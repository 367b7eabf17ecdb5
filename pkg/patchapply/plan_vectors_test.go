package patchapply_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/patchapply"
)

// All examples, on a directory: bytes, modes and links, with a file beside it that nothing
// may reach.
func TestVectorsInADirectory(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "apply_patch.json"))
	must(t, err)
	var all struct{ Vectors []vector }
	must(t, json.Unmarshal(raw, &all))
	if len(all.Vectors) < 101 {
		t.Fatalf("there are only %d vectors", len(all.Vectors))
	}
	for _, v := range all.Vectors {
		t.Run(v.Name, func(t *testing.T) { v.runInDirectory(t) })
	}
}

func (v *vector) runInDirectory(t *testing.T) {
	d := newDirs(t, "root")
	for name, f := range v.Before {
		f.make(t, filepath.Join(d.roots[0], filepath.FromSlash(name)))
	}
	before := tree(t, d.top)
	err := v.applyInDirectory(t, d)
	after := tree(t, d.top)
	if got := patchapply.ClassOf(err); got != v.Expected.Error || err != nil && got == "" {
		t.Fatalf("class = %q, want %q: %v", got, v.Expected.Error, err)
	}
	want := before
	if err == nil {
		want = map[string]string{"outside.txt": "0644 secret\n"}
		for name, f := range v.Expected.Files {
			want["root/"+name] = f.entry(t)
		}
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
}

func (v *vector) applyInDirectory(t *testing.T, d *dirs) error {
	rooted := strings.NewReplacer("$ROOT", filepath.ToSlash(d.roots[0]))
	var p *patchapply.Patch
	var err error
	if v.Operation == nil {
		p, err = patchapply.Parse([]byte(rooted.Replace(v.Patch)))
	} else {
		p, err = patchapply.ParseOperations([]patchapply.Operation{*v.Operation})
	}
	if err != nil {
		return err
	}
	_, err = commit(t, d.storage, p)
	return err
}

// commit plans p as its callers do, and commits the plan.
func commit(t testing.TB, s patchapply.Storage, p *patchapply.Patch) (*patchapply.Plan, error) {
	t.Helper()
	plan, err := p.Plan(t.Context(), s.View(t.Context()))
	if err != nil {
		return nil, err
	}
	return plan.Commit(t.Context(), s)
}

func (f *vectorFile) make(t *testing.T, name string) {
	t.Helper()
	if f.Symlink == nil {
		write(t, name, f.content(t), f.perm(t))
		return
	}
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.Symlink(*f.Symlink, name))
}

// entry writes f as [tree] does.
func (f *vectorFile) entry(t *testing.T) string {
	t.Helper()
	if f.Symlink != nil {
		return "-> " + *f.Symlink
	}
	return fmt.Sprintf("%04o %s", f.perm(t), f.content(t))
}

func (f *vectorFile) perm(t *testing.T) fs.FileMode {
	t.Helper()
	if f.Mode == nil {
		return 0o644
	}
	n, err := strconv.ParseUint(*f.Mode, 8, 32)
	must(t, err)
	return fs.FileMode(n)
}
