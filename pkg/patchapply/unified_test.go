package patchapply_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

func TestParseUnified(t *testing.T) {
	const hunk = "@@ -1 +1 @@\n-x\n+y\n"
	for _, c := range []struct {
		name, patch string
		want        []string
		warnings    int
	}{
		{"diff -u with times", "--- f.orig\t2026-01-02 03:04:05.000000000 +0000\n+++ f\t2026-01-02 03:04:06.000000000 +0000\n" + hunk, []string{"1 update f 1 hunks"}, 0},
		{"diff -u of a new version", "--- f\n+++ f.new\n" + hunk, []string{"1 update f 1 hunks"}, 0},
		{"diff -u of a version set aside in git's names", "--- a/d/f.orig\n+++ b/d/f\n" + hunk, []string{"1 update d/f 1 hunks"}, 0},
		{"diff -u of two trees", "--- /t/old/d/f\n+++ /t/new/d/f\n" + hunk, []string{"1 update d/f 1 hunks"}, 0},
		{"one name with a prefix", "--- a/d/f\n+++ d/f\n" + hunk, []string{"1 update d/f 1 hunks"}, 0},
		{"diff -ru", "diff -ru v1/src/f v2/src/f\n--- v1/src/f\tMon\n+++ v2/src/f\tTue\n" + hunk + "diff -ru v1/g v2/g\n--- v1/g\n+++ v2/g\n" + hunk, []string{"2 update src/f 1 hunks", "8 update g 1 hunks"}, 0},
		{"only in", "Only in b: x\n--- a/f\n+++ b/f\n" + hunk, []string{"2 update f 1 hunks"}, 1},
		{"svn", "Index: f\n===================\n--- f\t(revision 1)\n+++ f\t(working copy)\n" + hunk, []string{"3 update f 1 hunks"}, 0},
		{"new file of diff -N", "--- a/f\t1970-01-01 01:00:00.000000000 +0100\n+++ b/f\t2026-01-01\n@@ -0,0 +1 @@\n+x\n", []string{`1 add f "x\n"`}, 0},
		{"empty file that grows", "--- a/f\t2026-01-01\n+++ b/f\t2026-01-01\n@@ -0,0 +1 @@\n+x\n", []string{"1 update f 1 hunks"}, 0},
		{"removed file of diff -N", "--- a/f\t2026-01-01\n+++ b/f\t1970-01-01 00:00:00\n@@ -1 +0,0 @@\n-x\n", []string{"1 delete f 1 hunks"}, 0},
		{"/dev/null before", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", []string{`1 add f "x"`}, 0},
		{"/dev/null after", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", []string{"1 delete f 1 hunks"}, 0},
		{"prefix i and w", "diff --git i/d/f w/d/f\nindex 1..2 100644\n--- i/d/f\n+++ w/d/f\n" + hunk, []string{"1 update d/f 1 hunks"}, 0},
		{"no prefix", "diff --git a/f a/f\n--- a/f\n+++ a/f\n" + hunk, []string{"1 update a/f 1 hunks"}, 0},
		{"blanks in a name", "diff --git a/a b/f b/a b/f\n--- a/a b/f\t\n+++ b/a b/f\t\n" + hunk, []string{"1 update a b/f 1 hunks"}, 0},
		{"quoted names", "diff --git \"a/n\\303\\244\\t\" \"b/n\\303\\244\\t\"\n--- \"a/n\\303\\244\\t\"\n+++ \"b/n\\303\\244\\t\"\n" + hunk, []string{"1 update nä\t 1 hunks"}, 0},
		{"one name quoted", "diff --git a/f \"b/\\\"f\"\nrename from f\nrename to \"\\\"f\"\n", []string{`1 update f -> "f`}, 0},
		{"modes alone", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", []string{"1 update f 755"}, 0},
		{"new executable", "diff --git a/f b/f\nnew file mode 100755\nindex 0..1\n", []string{`1 add f 755 ""`}, 0},
		{"empty file removed", "diff --git a/f b/f\ndeleted file mode 100644\nindex 1..0\n", []string{"1 delete f"}, 0},
		{"rename with hunks", "diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n" + hunk, []string{"1 update f -> g 1 hunks"}, 0},
		{"chain of renames", "diff --git a/a b/b\nrename from a\nrename to b\ndiff --git a/b b/c\nrename from b\nrename to c\n", []string{"4 update b -> c", "1 update a -> b"}, 0},
		{"file for a directory", "diff --git a/d b/d\nnew file mode 100644\ndiff --git a/d/f b/d/f\ndeleted file mode 100644\n", []string{"3 delete d/f", `1 add d ""`}, 0},
		{"mail", "From 12 Mon\nSubject: x\n\n- y\n---\n f | 2 +-\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n" + hunk + "-- \n2.39.5\n\n", []string{"8 update f 1 hunks"}, 1},
		{"mails that follow on each other", "diff --git a/f b/f\nnew file mode 100644\n-- \n2.39\n\nFrom 1\n---\n f | 1 -\n\ndiff --git a/f b/f\ndeleted file mode 100644\n", []string{`1 add f ""`, "10 delete f"}, 1},
		{"fence and prose", "Try:\n```diff\n--- a/f\n+++ b/f\n" + hunk + "```\n- that is all\n", []string{"3 update f 1 hunks"}, 1},
		{"wrong counts", "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n-x\n+y\n--- a/g\n+++ b/g\n@@ -1,7 +1 @@\n x\n-y\n\n", []string{"1 update f 1 hunks", "6 update g 1 hunks"}, 2},
		{"CRLF throughout", "--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-x\r\n+y\r\n", []string{"1 update f 1 hunks"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := patchapply.Parse([]byte(c.patch))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, summaries(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(p.Warnings) != c.warnings {
				t.Errorf("warnings %q, want %d", p.Warnings, c.warnings)
			}
		})
	}
}

func TestParseUnifiedErrors(t *testing.T) {
	for _, c := range []struct {
		name, patch, part string
		line              int
	}{
		{"binary patch", "diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIc$\n", "binary", 1},
		{"binary files of git", "diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n", "binary", 1},
		{"binary files of diff", "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\nBinary files a/f and b/f differ\n", "binary", 6},
		{"new submodule", "diff --git a/f b/f\nnew file mode 160000\nindex 0..1\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+Subproject commit 1\n", "submodule", 1},
		{"submodule", "diff --git a/f b/f\nindex 0..1 160000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-Subproject commit 0\n+Subproject commit 1\n", "submodule", 1},
		{"symbolic link", "diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", "symbolic link", 1},
		{"copy", "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n", "copy", 1},
		{"mode", "diff --git a/f b/f\nold mode 100644\nnew mode 9\n", "mode", 1},
		{"half a rename", "diff --git a/f b/g\nrename from f\n", "missing", 1},
		{"nothing", "diff --git a/f b/f\nindex 1..1\n", "nothing is said", 1},
		{"combined diff", "diff --cc f\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n--x\n++y\n", "cannot be read", 4},
		{"no prefix", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\nc\n", "begin with a blank", 7},
		{"lines behind a hunk", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+B\nc\n+d\n", "outside a hunk", 7},
		{"no lines", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n", "no lines", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := patchapply.Parse([]byte(c.patch))
			wantError(t, err, patchapply.ParseError, c.part)
			if line := err.(*patchapply.Error).Line; line != c.line {
				t.Errorf("line %d, want %d", line, c.line)
			}
		})
	}
}

// TestRealGitHeaders parses what git prints for things that are not lines.
func TestRealGitHeaders(t *testing.T) {
	g := gitIn(t)
	g.run("", "config", "diff.mnemonicPrefix", "true")
	text := func(n uint64) string { return strings.Join(newRandomFile(n).lines(90), "\n") + "\n" }
	writeTree(t, g.dir, map[string]string{"run": "#!/bin/sh\n", "old name": text(1), "gone": "x\n", "chain1": text(2), "chain2": text(3)})
	g.run("", "add", ".")
	for _, err := range []error{
		os.Chmod(filepath.Join(g.dir, "run"), 0o755),
		os.Rename(filepath.Join(g.dir, "old name"), filepath.Join(g.dir, "ñew")),
		os.Remove(filepath.Join(g.dir, "gone")),
		os.Rename(filepath.Join(g.dir, "chain2"), filepath.Join(g.dir, "chain3")),
		os.Rename(filepath.Join(g.dir, "chain1"), filepath.Join(g.dir, "chain2")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	writeTree(t, g.dir, map[string]string{"empty": ""})
	g.run("", "add", "-N", "empty", "ñew", "chain3")
	p, err := patchapply.Parse([]byte(g.run("", "diff", "-M", "-B")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range summaries(p) {
		_, s, _ = strings.Cut(s, " ")
		got = append(got, s)
	}
	want := []string{"delete gone 1 hunks", "update chain2 -> chain3", "update chain1 -> chain2", `add empty ""`, "update run 755", "update old name -> ñew"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestApplyUnified(t *testing.T) {
	diff := func(hunks string) string { return "--- a/f\n+++ b/f\n" + hunks }
	for _, c := range []struct{ name, before, patch, want string }{
		{"stated place of several", "x\nx\nx\n", diff("@@ -2 +2 @@\n-x\n+y\n"), "x\ny\nx\n"},
		{"other place", "a\nb\nx\nc\nd\ne\n", diff("@@ -5,2 +5,2 @@\n-x\n+y\n"), "a\nb\ny\nc\nd\ne\n"},
		{"running offset", "0\n0\n0\na\nx\nx\nx\n", diff("@@ -1 +1 @@\n-a\n+y\n@@ -3 +3 @@\n-x\n+z\n"), "0\n0\n0\ny\nx\nz\nx\n"},
		{"exact is better than near", "x\n  y\nz\ny\n", diff("@@ -1 +1 @@\n-y\n+Y\n"), "x\n  y\nz\nY\n"},
		{"insertion behind a line", "a\nb\n", diff("@@ -1,0 +2 @@\n+x\n"), "a\nx\nb\n"},
		{"insertion at the start", "a\nb\n", diff("@@ -0,0 +1 @@\n+x\n"), "x\na\nb\n"},
		{"insertion behind the end", "a\n", diff("@@ -9,0 +9 @@\n+x\n"), "a\nx\n"},
		{"insertion before a blank line", "\na\n\n", diff("@@ -3 +3,2 @@\n+x\n \n"), "\na\nx\n\n"},
		{"section is no anchor", "f\nx\ng\nx\n", diff("@@ -2 +2 @@ g\n-x\n+y\n"), "f\ny\ng\nx\n"},
		{"no newline, and none is told", "a\nb", diff("@@ -1,2 +1,2 @@\n a\n-b\n+B\n"), "a\nB"},
		{"newline added", "a", diff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"), "a\n"},
		{"newline removed", "a\n", diff("@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"), "a"},
		{"last line removed", "a\nb", diff("@@ -1,2 +1 @@\n a\n-b\n\\ No newline at end of file\n"), "a\n"},
		{"no newline on context", "a\nb", diff("@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"), "A\nb"},
		{"no newline in the middle", "a\nb\n", diff("@@ -1 +1 @@\n-a\n+A\n\\ No newline at end of file\n"), "A\nb\n"},
		{"CRLF file, LF diff", "a\r\nb\r\n", diff("@@ -1,2 +1,2 @@\n-a\n+A\n b\n"), "A\r\nb\r\n"},
		{"CRLF file, diff of it", "a\r\nb\r\n", diff("@@ -1,2 +1,2 @@\n-a\r\n+A\r\n b\r\n"), "A\r\nb\r\n"},
		{"CR alone, diff of it", "x\ry\r", diff("@@ -1 +1 @@\n-x\ry\r\n\\ No newline at end of file\n+x\rY\r\n\\ No newline at end of file\n"), "x\rY\r"},
		{"CR alone, diff in lines", "x\ry\r", diff("@@ -1,2 +1,2 @@\n x\n-y\n+Y\n"), "x\rY\r"},
		{"LF to CRLF", "a\nb\n", diff("@@ -1,2 +1,2 @@\n-a\n+a\r\n b\n"), "a\r\nb\n"},
		{"CRLF to LF", "a\r\nb\r\n", diff("@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"), "a\nb\r\n"},
		{"diff converted to CRLF", "a\nb\n", "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n-a\r\n+A\r\n b\r\n", "A\nb\n"},
		{"byte order mark on both sides", "\ufeffa\nb\n", diff("@@ -1,2 +1,3 @@\n+x\n-\ufeffa\n+a\n b\n"), "x\na\nb\n"},
		{"byte order mark removed", "\ufeffa\n", diff("@@ -1 +1 @@\n-\ufeffa\n+a\n"), "a\n"},
		{"other encoding in both", "caf\xe9\n", diff("@@ -1 +1 @@\n-caf\xe9\n+th\xe9\n"), "th\xe9\n"},
		{"hunks that share context", "a\nb\nc\n", diff("@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n"), "A\nb\nC\n"},
		{"lines like a header", "-- a/x\nb\n@@ -1 +1 @@\n", diff("@@ -1,3 +1,3 @@\n--- a/x\n+++ b/x\n b\n @@ -1 +1 @@\n"), "++ b/x\nb\n@@ -1 +1 @@\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := patchapply.Parse([]byte(c.patch))
			if err != nil {
				t.Fatal(err)
			}
			got, err := applyTo(map[string]string{"f": c.before}, p)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got["f"]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
