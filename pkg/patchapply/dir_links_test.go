package patchapply_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/patchapply"
)

func TestNamesOfOneFile(t *testing.T) {
	for _, c := range []struct {
		name     string
		sections []string
		outcomes []string
		tree     map[string]string
	}{
		{
			"through a link and by its name",
			[]string{"*** Update File: link\n" + oneToTwo, "*** Update File: real\n@@\n-two\n+three"},
			[]string{"~ real"},
			map[string]string{"real": "0644 three\n", "link": "-> real", "dir/x": "0644 one\n", "sub": "-> dir"},
		},
		{
			"through a link only",
			[]string{"*** Update File: link\n" + oneToTwo},
			[]string{"~ link real real"},
			map[string]string{"real": "0644 two\n", "link": "-> real", "dir/x": "0644 one\n", "sub": "-> dir"},
		},
		{
			"through a link that is deleted then",
			[]string{"*** Update File: link\n" + oneToTwo, "*** Delete File: link"},
			[]string{"- link", "~ link real real"},
			map[string]string{"real": "0644 two\n", "dir/x": "0644 one\n", "sub": "-> dir"},
		},
		{
			"a new file through a linked directory and by its name",
			[]string{"*** Add File: sub/n\n+one", "*** Update File: dir/n\n" + oneToTwo, "*** Update File: sub/x\n" + oneToTwo},
			[]string{"+ dir/n", "~ dir/x"},
			map[string]string{"real": "0644 one\n", "link": "-> real", "dir/x": "0644 two\n", "dir/n": "0644 two\n", "sub": "-> dir"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDirs(t, "root")
			root := d.roots[0]
			write(t, filepath.Join(root, "real"), "one\n", 0o644)
			write(t, filepath.Join(root, "dir", "x"), "one\n", 0o644)
			must(t, os.Symlink("real", filepath.Join(root, "link")))
			must(t, os.Symlink("dir", filepath.Join(root, "sub")))
			plan, err := commit(t, d.storage, patch(t, c.sections...))
			must(t, err)
			if diff := cmp.Diff(c.outcomes, sum(plan)); diff != "" {
				t.Errorf("outcomes (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.tree, tree(t, root)); diff != "" {
				t.Errorf("tree (-want +got)\n%s", diff)
			}
		})
	}
}

func TestHardLinksAreOneFile(t *testing.T) {
	d := newDirs(t, "root")
	a, b := filepath.Join(d.roots[0], "a"), filepath.Join(d.roots[0], "b")
	write(t, a, "one\nx\n", 0o644)
	must(t, os.Link(a, b))
	_, err := commit(t, d.storage, patch(t, "*** Update File: a\n"+oneToTwo, "*** Update File: b\n@@\n two\n-x\n+y"))
	must(t, err)
	want := map[string]string{"a": "0644 two\ny\n", "b": "0644 two\ny\n"}
	if diff := cmp.Diff(want, tree(t, d.roots[0])); diff != "" {
		t.Error(diff)
	}
	x, err := os.Stat(a)
	must(t, err)
	y, err := os.Stat(b)
	must(t, err)
	if !os.SameFile(x, y) {
		t.Error("they are two files now")
	}

	// A name that goes takes nothing from the other.
	_, err = commit(t, d.storage, patch(t, "*** Update File: b\n*** Move to: c\n@@\n-y\n+z"))
	must(t, err)
	want = map[string]string{"a": "0644 two\ny\n", "c": "0644 two\nz\n"}
	if diff := cmp.Diff(want, tree(t, d.roots[0])); diff != "" {
		t.Error(diff)
	}
}

func TestLinksThatAPatchRefuses(t *testing.T) {
	d := newDirs(t, "root")
	root := d.roots[0]
	must(t, os.Mkdir(filepath.Join(d.top, "out"), 0o755))
	write(t, filepath.Join(root, "real"), "one\n", 0o644)
	for name, target := range map[string]string{
		"outside": "../outside.txt", "outdir": "../out", "absolute": filepath.Join(d.top, "out"), "new": "../out/new",
		"dangling": "none", "loop": "loop", "link": "real", "dir": ".",
	} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	before := tree(t, d.top)
	for _, c := range []struct {
		section string
		class   patchapply.Class
	}{
		{"*** Update File: outside\n@@\n-secret\n+pwned", patchapply.PathEscape},
		{"*** Add File: outside\n+x", patchapply.AlreadyExists},
		{"*** Add File: new\n+x", patchapply.AlreadyExists},
		{"*** Add File: dangling\n+x", patchapply.AlreadyExists},
		{"*** Add File: outdir/x\n+x", patchapply.PathEscape},
		{"*** Add File: outdir/new/x\n+x", patchapply.PathEscape},
		{"*** Add File: absolute/x\n+x", patchapply.PathEscape},
		{"*** Delete File: outdir/x", patchapply.PathEscape},
		{"*** Update File: real\n*** Move to: outdir/x", patchapply.PathEscape},
		{"*** Update File: real\n*** Move to: link", patchapply.AlreadyExists},
		{"*** Update File: link\n*** Move to: other", patchapply.InvalidPath},
		{"*** Update File: dangling\n" + oneToTwo, patchapply.FileNotFound},
		{"*** Update File: loop\n" + oneToTwo, patchapply.InvalidPath},
		{"*** Add File: loop/x\n+x", patchapply.InvalidPath},
		{"*** Add File: dangling/x\n+x", patchapply.FileNotFound},
		{"*** Delete File: link\n*** Add File: link\n+x", patchapply.AlreadyExists},
		{"*** Delete File: dir\n*** Add File: dir/x\n+x", patchapply.InvalidPath},
		{"*** Delete File: real\n*** Update File: link\n" + oneToTwo, patchapply.FileNotFound},
	} {
		_, err := commit(t, d.storage, patch(t, c.section))
		if got := patchapply.ClassOf(err); got != c.class {
			t.Errorf("%q: %q (%v), want %q", c.section, got, err, c.class)
		}
		if err != nil && strings.Contains(err.(*patchapply.Error).Visible(), d.top) {
			t.Errorf("%q: the text names a path outside: %v", c.section, err)
		}
	}
	if diff := cmp.Diff(before, tree(t, d.top)); diff != "" {
		t.Error(diff)
	}
	_, err := commit(t, d.storage, patch(t, "*** Delete File: outside", "*** Delete File: dangling", "*** Delete File: loop"))
	if err != nil {
		t.Errorf("links that lead nowhere cannot be deleted: %v", err)
	}
}

func TestSeveralRoots(t *testing.T) {
	d := newDirs(t, "one", "two")
	one, two := d.roots[0], d.roots[1]
	write(t, filepath.Join(one, "a"), "one\n", 0o644)
	write(t, filepath.Join(one, "both"), "one\n", 0o644)
	write(t, filepath.Join(two, "both"), "one\n", 0o644)
	write(t, filepath.Join(two, "src", "b"), "one\n", 0o644)
	for _, c := range []struct {
		name     string
		sections []string
		class    patchapply.Class
		text     string
	}{
		{"relative, in two", []string{"*** Update File: both\n" + oneToTwo}, patchapply.InvalidPath, "several roots"},
		{"files of two roots", []string{"*** Update File: a\n" + oneToTwo, "*** Update File: src/b\n" + oneToTwo}, patchapply.InvalidPath, "one root only"},
		{"a move to another root", []string{"*** Update File: a\n*** Move to: " + two + "/a"}, patchapply.InvalidPath, "one root only"},
		{"neither root", []string{"*** Add File: " + d.top + "/x\n+x"}, patchapply.PathEscape, ""},
	} {
		before := tree(t, d.top)
		_, err := commit(t, d.storage, patch(t, c.sections...))
		if patchapply.ClassOf(err) != c.class || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s", c.name, err, c.class)
		}
		if diff := cmp.Diff(before, tree(t, d.top)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	for _, sections := range [][]string{
		{"*** Update File: a\n" + oneToTwo},
		{"*** Update File: src/b\n*** Move to: b\n" + oneToTwo, "*** Add File: src/new\n+x"},
		{"*** Update File: " + two + "/both\n" + oneToTwo},
		{"*** Add File: first\n+x"},
	} {
		if _, err := commit(t, d.storage, patch(t, sections...)); err != nil {
			t.Errorf("%q: %v", sections, err)
		}
	}
	want := map[string]string{
		"outside.txt": "0644 secret\n", "one/a": "0644 two\n", "one/both": "0644 one\n", "two/both": "0644 two\n",
		"two/b": "0644 two\n", "two/src/new": "0644 x\n", "one/first": "0644 x\n",
	}
	if diff := cmp.Diff(want, tree(t, d.top)); diff != "" {
		t.Error(diff)
	}
}

func TestModesOfGitDiffs(t *testing.T) {
	d := newDirs(t, "root")
	write(t, filepath.Join(d.roots[0], "run"), "one\n", 0o644)
	p, err := patchapply.Parse([]byte("diff --git a/run b/run\nold mode 100644\nnew mode 100755\n" +
		"diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n"))
	must(t, err)
	_, err = commit(t, d.storage, p)
	must(t, err)
	want := map[string]string{"run": "0755 one\n", "new": "0755 x\n"}
	if diff := cmp.Diff(want, tree(t, d.roots[0])); diff != "" {
		t.Error(diff)
	}
}

// What no hunk touches need not be text.
func TestBinaryFilesMoveAndGo(t *testing.T) {
	d := newDirs(t, "root")
	write(t, filepath.Join(d.roots[0], "a"), "\x00\xff\r", 0o755)
	write(t, filepath.Join(d.roots[0], "b"), "\x00\xff\r", 0o644)
	_, err := commit(t, d.storage, patch(t, "*** Update File: a\n*** Move to: c", "*** Delete File: b"))
	must(t, err)
	if diff := cmp.Diff(map[string]string{"c": "0755 \x00\xff\r"}, tree(t, d.roots[0])); diff != "" {
		t.Error(diff)
	}
}
