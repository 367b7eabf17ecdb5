package patchapply_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

// A misread is a patch with lines that look like something else than they are: it is applied
// as meant, or not at all.
type misread struct {
	name, before string // of f
	op           bool   // the patch is the diff of an operation
	patch, want  string
	class        patchapply.Class
	part         string
}

func (m misread) run(t *testing.T) {
	var p *patchapply.Patch
	var err error
	if m.op {
		p, err = patchapply.ParseOperations([]patchapply.Operation{{Type: "update_file", Path: "f", Diff: m.patch}})
	} else {
		p, err = patchapply.Parse([]byte(m.patch))
	}
	m.check(t, p, err)
}

func (m misread) check(t *testing.T, p *patchapply.Patch, err error) {
	store := patchapply.NewMemory(map[string]string{"f": m.before})
	if err == nil {
		_, err = commit(t, store, p)
	}
	got, _, _ := store.Read("f")
	switch {
	case m.class != "":
		wantError(t, err, m.class, m.part)
	case err != nil:
		t.Fatal(err)
	case string(got) != m.want:
		t.Errorf("(-want +got)\n%s", cmp.Diff(m.want, string(got)))
	}
}

// TestMisreadContent has lines of hunks that look like fences, signatures and headers, mostly
// behind counts that do not fit.
func TestMisreadContent(t *testing.T) {
	const f = "--- a/f\n+++ b/f\n"
	for _, m := range []misread{
		{name: "fence in context", before: "a\nb\n```sh\nx\n```\nc\n", patch: f + "@@ -1,9 +1,9 @@\n a\n-b\n+B\n ```sh\n-x\n+y\n ```\n c\n", want: "a\nB\n```sh\ny\n```\nc\n"},
		{name: "list item removed", before: "l\n- a\n- b\nend\n", patch: f + "@@ -1,9 +1,7 @@\n l\n-- a\n - b\n end\n", want: "l\n- b\nend\n"},
		{name: "list item replaced", before: "l\n- a\n- b\nend\n", patch: f + "@@ -1,9 +1,9 @@\n l\n-- a\n+- A\n - b\n end\n", want: "l\n- A\n- b\nend\n"},
		{name: "list item removed, last blank line lost", before: "l\n- a\n- b\n\n", patch: f + "@@ -1,4 +1,3 @@\n l\n-- a\n - b\n", want: "l\n- b\n\n"},
		{name: "dashes removed", before: "a\n-\nb\n- \nc\n", patch: f + "@@ -1,9 +1,7 @@\n-a\n+A\n--\n b\n-- \n c\n", want: "A\nb\nc\n"},
		{name: "dash removed at the end", before: "a\n- \n", patch: f + "@@ -1,9 +1,9 @@\n a\n-- \n", want: "a\n"},
		{name: "counts that end too early", before: "a\nb\n\nc\nd\n", patch: f + "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n-c\n+C\n", want: "a\nB\n\nC\nd\n"},
		{name: "fence that has lost its blank", before: "a\nb\n```\nc\n", patch: f + "@@ -1,9 +1,9 @@\n a\n-b\n+B\n```\n-c\n+C\n", class: patchapply.ParseError, part: "patch line 8"},
		{name: "the same in a fence", before: "a\nb\n```\nc\n", patch: "```diff\n" + f + "@@ -1,9 +1,9 @@\n a\n-b\n+B\n```\n-c\n+C\n```\n", class: patchapply.ParseError, part: "patch line 9"},
		{name: "word that has lost its blank", before: "a\nb\nEND\nc\n", patch: f + "@@ -1,2 +1,2 @@\n a\n-b\n+B\nEND\n-c\n+C\n", class: patchapply.ParseError, part: "patch line 8"},
		{name: "word behind counts that fit, in a fence", before: "a\nb\nEND\nc\n", patch: "```\n" + f + "@@ -1,2 +1,2 @@\n a\n-b\n+B\nEND\n-c\n+C\n```\n", class: patchapply.ParseError, part: "patch line 9"},
		{name: "heredoc and text behind it", before: "a\nb\n", patch: "git apply <<'END'\n" + f + "@@ -1,9 +1,2 @@\n a\n-b\n+B\nEND\n- done\n", want: "a\nB\n"},
		{name: "dash behind a whole hunk", before: "a\nb\n- c\n", patch: f + "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n-- c\n", class: patchapply.ContextNotFound, part: "hunk 1"},
		{name: "signature behind counts that do not fit", before: "a\nb\n", patch: "diff --git a/f b/f\n" + f + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n-- \n2.43.0\n\n", want: "a\nB\n"},
		{name: "signature in a fence", before: "a\nb\n", patch: "```diff\n" + f + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n-- \n2.43.0\n```\n", want: "a\nB\n"},
		{name: "list behind a fence, counts that do not fit", before: "a\nb\n", patch: "```diff\n" + f + "@@ -1,4 +1,4 @@\n a\n-b\n+B\n```\nThis does:\n- one\n", want: "a\nB\n"},
		{name: "no numbers", before: "a\nb\nc\n", patch: f + "@@\n a\n-b\n+B\n", want: "a\nB\nc\n"},
		{name: "dots for numbers", before: "a\nb\nc\n", patch: "```diff\n" + f + "@@ ... @@\n-b\n+B\n@@ ... @@\n-c\n+C\n```\n- done\n", want: "a\nB\nC\n"},
		{name: "function for numbers", before: "f\nx\ng\nx\n", patch: f + "@@ g @@\n-x\n+y\n", want: "f\nx\ng\ny\n"},
		{name: "no numbers, CRLF", before: "a\nb\n", patch: "--- a/f\r\n+++ b/f\r\n@@\r\n-b\r\n+B\r\n", want: "a\nB\n"},
		{name: "content behind an end that lacks its blank", before: "a\n*** End Patch\nb\n", patch: "*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n*** End Patch\n-b\n+B\n*** End Patch\n", class: patchapply.ParseError, part: "patch line 7"},
		{name: "indented removal behind the end", before: "a\n", patch: update("@@\n-a\n+A\n") + "-  b\n", class: patchapply.ParseError, part: "patch line 7"},
		{name: "addition behind the end", before: "a\n", patch: update("@@\n-a\n+A\n") + "+ b\n", class: patchapply.ParseError, part: "patch line 7"},
		{name: "counts too large by one, header of the next file", before: "a\nb\nc\n", patch: f + "@@ -2,3 +2,3 @@\n-b\n+B\n c\n--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+x\n", want: "a\nB\nc\n"},
		{name: "counts that fit, lines like a header, next hunk", before: "-- f\nb\nc\nd\n", patch: f + "@@ -1,2 +1,2 @@\n b\n--- f\n+++ f\n@@ -4 +4 @@\n-d\n+D\n", class: patchapply.ContextNotFound, part: "`-- f`"},
		{name: "fence behind an indented end", before: "a\n*** End Patch\n```\n", patch: "*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n *** End Patch\n ```\n", class: patchapply.ParseError, part: "cut off"},
	} {
		t.Run(m.name, m.run)
	}
}

// TestMisreadOperation has them in the diff of an operation.
func TestMisreadOperation(t *testing.T) {
	md := "# T\n\n```sh\nmake\n```\n\nold\n\n```go\nx\n```\nend\n"
	for _, m := range []misread{
		{name: "fence first", before: "make\n\n```sh\nmake\n```\n", patch: " ```sh\n-make\n+all\n ```\n", want: "make\n\n```sh\nall\n```\n"},
		{name: "fence first in a hunk", before: "make\n\n```sh\nmake\n```\n", patch: "@@\n ```sh\n-make\n+all\n", want: "make\n\n```sh\nall\n```\n"},
		{name: "fence last", before: "x\n\n```\nx\n```\n", patch: "@@\n-x\n+y\n ```\n", want: "x\n\n```\ny\n```\n"},
		{name: "insertion before a fence", before: "I\n```\na\n```\nend\n", patch: "@@\n a\n+b\n ```\n", want: "I\n```\na\nb\n```\nend\n"},
		{name: "fence alone in context", before: "I\n```\nend\n", patch: " ```\n+b\n", want: "I\n```\nb\nend\n"},
		{
			name: "whole diff that ends in a fence", before: md, patch: "--- a/f\n+++ b/f\n@@ -4,8 +4,8 @@\n make\n ```\n \n-old\n+new\n \n ```go\n x\n ```\n",
			want: "# T\n\n```sh\nmake\n```\n\nnew\n\n```go\nx\n```\nend\n",
		},
		{
			name: "numbered hunk between fences", before: md, patch: "@@ -3,3 +3,4 @@\n ```sh\n make\n+test\n ```\n",
			want: "# T\n\n```sh\nmake\ntest\n```\n\nold\n\n```go\nx\n```\nend\n",
		},
		{name: "fence that was not opened", before: "x\n```\n", patch: "@@\n-x\n+y\n```\n", class: patchapply.ParseError, part: "patch line 4"},
		{name: "fence around", before: "x\n", patch: "```diff\n@@\n-x\n+y\n```\n", want: "y\n"},
		{name: "marker in context, no @@", before: "D\n*** Begin Patch\nold\n*** End Patch\nx\n", patch: " D\n *** Begin Patch\n-old\n+new\n *** End Patch\n", want: "D\n*** Begin Patch\nnew\n*** End Patch\nx\n"},
		{name: "lines like names first", before: "-- old\na\nb\n", patch: "--- old\n+++ new\n@@\n-b\n+c\n", class: patchapply.ParseError, part: "another file than f"},
		{name: "names and no numbers", before: "a\nb\n", patch: "--- a/f\n+++ b/f\n@@\n-b\n+c\n", want: "a\nc\n"},
	} {
		m.op = true
		t.Run(m.name, m.run)
	}
	m := misread{before: "-- old\na\nb\n", patch: update("--- old\n+++ new\n@@\n-b\n+c\n"), class: patchapply.ParseError, part: "another file than f"}
	t.Run("lines like names first in an envelope", m.run)
}

// TestMisreadNames has names that do not agree, and files that are not what a diff says.
func TestMisreadNames(t *testing.T) {
	const hunk = "@@ -1 +1 @@\n-x\n+y\n"
	for _, m := range []misread{
		{name: "moved without saying so", before: "x\n", patch: "--- a/src/f\n+++ b/cmd/f\n" + hunk, class: patchapply.ParseError, part: "of two files"},
		{name: "two names", before: "x\n", patch: "--- f\n+++ g\n" + hunk, class: patchapply.ParseError, part: "rename from"},
		{name: "moved below a common directory", before: "x\n", patch: "--- src/a/f\n+++ src/b/f\n" + hunk, class: patchapply.ParseError, part: "of two files"},
		{name: "names against the header of git", before: "x\n", patch: "diff --git a/f b/f\n--- a/g\n+++ b/g\n" + hunk, class: patchapply.ParseError, part: "of two files"},
		{name: "names against a rename", before: "x\n", patch: "diff --git a/f b/h\nrename from f\nrename to h\n--- a/g\n+++ b/h\n" + hunk, class: patchapply.ParseError, part: "of two files"},
		{name: "deleted, other lines", before: "other\n", patch: "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", class: patchapply.ContextNotFound, part: "hunk 1"},
		{name: "deleted, fewer lines", before: "a\nb\nc\n", patch: "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", class: patchapply.ContextNotFound, part: "1 lines that the diff does not remove, such as `c`"},
		{name: "deleted, other white space", before: "\ta\n", patch: "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", class: patchapply.ContextNotFound, part: "white space"},
		{name: "deleted, with context", before: "a\nb\n", patch: "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n b\n", class: patchapply.ParseError, part: "patch line 5"},
		{name: "deleted", before: "\ufeffa\r\nb", patch: "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n\n"},
		{name: "new, with context", patch: "--- /dev/null\n+++ b/g\n@@ -0,0 +1,3 @@\n+a\n b\n+c\n", class: patchapply.ParseError, part: "patch line 5"},
		{name: "new, with context that is counted", patch: "--- /dev/null\n+++ b/g\n@@ -0,1 +1,3 @@\n+a\n b\n+c\n", class: patchapply.ParseError, part: "patch line 5"},
		{name: "new, with an old line", patch: "diff --git a/g b/g\nnew file mode 100644\n--- /dev/null\n+++ b/g\n@@ -1 +1 @@\n-b\n+c\n", class: patchapply.ParseError, part: "patch line 6"},
	} {
		t.Run(m.name, m.run)
	}
}
