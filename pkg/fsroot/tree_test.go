package fsroot_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testleak"
	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		return
	}
	testleak.Main(m)
}

// secret is the content of every file that lies outside the root.
const secret = "TOP SECRET"

// A tree is a root R and what lies round it. Names of entries end in / for directories,
// and hold " -> " for links; the rest are files whose content is their name.
type tree struct {
	top  string // holds R and the outside
	root string // R
}

func plant(t testing.TB, entries ...string) tree {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	tr := tree{top: top, root: filepath.Join(top, "R")}
	must(t, os.MkdirAll(tr.root, 0o755))
	must(t, os.WriteFile(filepath.Join(top, "S"), []byte(secret), 0o644))
	must(t, os.MkdirAll(filepath.Join(top, "out"), 0o755))
	must(t, os.WriteFile(filepath.Join(top, "out", "passwd"), []byte(secret), 0o644))
	for _, e := range entries {
		tr.add(t, e)
	}
	return tr
}

func (tr tree) add(t testing.TB, entry string) {
	t.Helper()
	name, target, isLink := strings.Cut(entry, " -> ")
	p := filepath.Join(tr.root, name)
	must(t, os.MkdirAll(filepath.Dir(p), 0o755))
	switch {
	case isLink:
		must(t, os.Symlink(strings.ReplaceAll(target, "$R", tr.root), p))
	case strings.HasSuffix(name, "/"):
		must(t, os.MkdirAll(p, 0o755))
	default:
		must(t, os.WriteFile(p, []byte(name), 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// need ends the test where the machine lacks a privilege.
func need(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		testneed.Missing(t, "a privilege", "run the tests as root: "+err.Error())
	}
}

// everyWay runs f with the kernel's confinement and without.
func everyWay(t *testing.T, s *fsroot.Set, f func(t *testing.T, s *fsroot.Set)) {
	t.Run("kernel", func(t *testing.T) { f(t, s) })
	t.Run("portable", func(t *testing.T) { f(t, fsroot.Portable(s)) })
}

// read resolves and reads path as a tool does.
func read(s *fsroot.Set, path string) (content, real string, err error) {
	p, err := s.Resolve(path)
	if err != nil {
		return "", "", err
	}
	f, err := p.Root.Open(p.Rel)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(b), f.Real, err
}

func visible(err error) string {
	if v, ok := err.(interface{ Visible() string }); ok {
		return v.Visible()
	}
	return fmt.Sprint(err)
}
