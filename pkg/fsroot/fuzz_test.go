package fsroot_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// FuzzRead: whatever path comes, nothing outside is read, the real path has no links, and
// both ways of opening agree. The oracle is filepath.EvalSymlinks.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"a.txt", "abs/b.txt", "../S", "dirlink/passwd", "up/a.txt", "hop", "c1", "abs/../../S", "loop/x", "file://$R/a.txt",
		"$R/sub/../a.txt", "@\"a.txt\"", "~/x", "sub//./b.txt/", "$R/../R/a.txt", "to-root/to-root/up/S",
	} {
		f.Add(seed)
	}
	tr := plant(f, "a.txt", "sub/b.txt", "sub/deep/c.txt", "abs -> $R/sub", "dirlink -> ../out", "up -> sub/deep/../..", "hop -> ../R/a.txt",
		"c1 -> c2", "c2 -> abs/deep/c.txt", "loop -> loop", "to-root -> $R", "sub/out -> ../../out", "sub/in -> ../abs/deep")
	s := fsroot.NewSet(tr.root)
	portable := fsroot.Portable(s)
	f.Fuzz(func(t *testing.T, path string) {
		path = strings.ReplaceAll(path, "$R", tr.root)
		content, real, err := read(s, path)
		if strings.Contains(content, secret) {
			t.Fatalf("%q reads what is outside", path)
		}
		if text := visible(err); err != nil && (strings.Contains(text, "\n") || strings.Contains(text, secret)) {
			t.Fatalf("%q: %q", path, text)
		}
		_, otherReal, otherErr := read(portable, path)
		if real != otherReal || fsroot.KindOf(err) != fsroot.KindOf(otherErr) {
			t.Fatalf("%q: %q, %v by the kernel; %q, %v without", path, real, err, otherReal, otherErr)
		}
		if err != nil {
			return
		}
		want := filepath.Join(tr.root, real)
		if got, err := filepath.EvalSymlinks(want); err != nil || got != want {
			t.Fatalf("%q: %s is %s, %v", path, want, got, err)
		}
	})
}
