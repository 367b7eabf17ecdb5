package patchapply_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

// applyHunks applies hunks to a text.
func applyHunks(t *testing.T, before, hunks string) (string, []patchapply.HunkReport, error) {
	t.Helper()
	p, err := patchapply.Parse([]byte(update(hunks)))
	if err != nil {
		t.Fatal(err)
	}
	after, report, err := p.Sections[0].Apply([]byte(before))
	return string(after), report, err
}

func TestApply(t *testing.T) {
	for _, c := range []struct{ name, before, hunks, want string }{
		{"anchor found forward only", "f\nx\nf\n", "@@ x\n f\n+y\n", "f\nx\nf\ny\n"},
		{"anchor with @@ behind", "f\nx\n", "@@ f @@\n-x\n+y\n", "f\ny\n"},
		{"anchor before the cursor where it does not fit behind", "f\na\nb\nf\n", "@@\n-a\n+A\n@@ f\n-b\n+B\n", "f\nA\nB\nf\n"},
		{"anchor chooses among loose places", "\tx\nf\n\tx\n", "@@ f\n-x\n+y\n", "\tx\nf\n\ty\n"},
		{"insertion behind an anchor before the cursor", "f\na\nb\n", "@@ f\n-a\n+A\n@@ f\n+c\n", "f\nA\nc\nb\n"},
		{"insertion with a blank line behind it", "a\nb\n", "@@ a\n+x\n\n@@\n-b\n+B\n", "a\nx\nB\n"},
		{"insertion at the end of file", "a\nb\n", "@@ a\n+x\n*** End of File\n", "a\nb\nx\n"},
		{"loose end of file", "a\n b\n", "@@\n-b\n+B\n*** End of File\n", "a\n B\n"},
		{"unique elsewhere than the end", "a\nb\n", "@@\n-a\n+A\n*** End of File\n", "A\nb\n"},
		{"blank lines behind a hunk that are there", "a\n\nb\n", "@@\n-a\n+A\n\n", "A\n\nb\n"},
		{"shift to the right", "\t\tif x {\n\t\t\ty()\n\t\t}\n", "@@\n if x {\n-\ty()\n+\tz()\n+\n+\tq()\n }\n", "\t\tif x {\n\t\t\tz()\n\n\t\t\tq()\n\t\t}\n"},
		{"shift to the left", "if x {\n  y()\n}\n", "@@\n   if x {\n-    y()\n+    z()\n", "if x {\n  z()\n}\n"},
		{"shift where removed lines come back as they were", "    a()\n    b()\n", "@@\n-a()\n-b()\n+a()\n+c()\n+b()\n", "    a()\n    c()\n    b()\n"},
		{"shift for a hunk about white space within lines", "    a\n    b  = 1\n", "@@\n a\n-b  = 1\n+b = 1\n", "    a\n    b = 1\n"},
		{"tabs for blanks, and a line that goes deeper", "\ta()\n", "@@\n-    a()\n+    if b {\n+        a()\n+    }\n", "\tif b {\n\t\ta()\n\t}\n"},
		{"no shift where lines differ in how much", "  a\n    b\n", "@@\n a\n-b\n+c\n", "  a\nc\n"},
		{"no shift where an added line cannot", "a\nb\n", "@@\n   a\n-  b\n+c\n", "a\nc\n"},
		{"tabs for blanks", "\ta\n\tb\n", "@@\n     a\n-    b\n+    c\n+      d\n", "\ta\n    c\n      d\n"},
		{"other steps of indentation", "if a:\n    if b:\n        c\n", "@@\n if a:\n   if b:\n-    c\n+    d\n+  e\n", "if a:\n    if b:\n        d\n    e\n"},
		{"tabs for blanks, whole ones", "\ta\n\t\tb\n", "@@\n     a\n-        b\n+        c\n+            d\n", "\ta\n\t\tc\n\t\t\td\n"},
		{"context that has lost its first blank", "A\n    f\n        x\n", "@@\n    f\n-        x\n+        y\n", "A\n    f\n        y\n"},
		{"context that has lost its first blank, insertion", "A\n    f\n        x\n", "@@\n    f\n        x\n+        y\n", "A\n    f\n        x\n        y\n"},
		{"no-break spaces as indentation", "\u00a0\u00a0a\n\u00a0\u00a0b\n", "@@\n   a\n-  b\n+  c\n", "\u00a0\u00a0a\n\u00a0\u00a0c\n"},
		{"Unicode blanks at the end", "a\u3000\nb\n", "@@\n-a\n+A\n b\n", "A\nb\n"},
		{"byte order mark is no blank", "x\ufeff\nx\n", "@@\n-x\n+y\n", "x\ufeff\ny\n"},
		{"byte order mark on an added first line", "\ufeffa\n", "@@\n-a\n+\ufeffb\n", "\ufeffb\n"},
		{"byte order mark and nothing left", "\ufeffa\n", "@@\n-a\n", "\ufeff"},
		{"mixed ends, each replaced line its own", "a\r\nb\nc\r\n", "@@\n-a\n-b\n-c\n+A\n+B\n+C\n+D\n", "A\r\nB\nC\r\nD\r\n"},
		{"mixed ends, interleaved", "a\r\nb\n", "@@\n-a\n+A\n-b\n+B\n", "A\r\nB\n"},
		{"mixed ends, added at the top", "a\r\nb\n", "@@\n+x\n a\n", "x\r\na\r\nb\n"},
		{"last line replaced by two", "a\r\nb", "@@\n-b\n+B\n+C\n", "a\r\nB\r\nC"},
		{"last line removed", "a\nb", "@@\n a\n-b\n", "a"},
		{"one line without an end", "a", "@@\n a\n+b\n", "a\nb"},
		{"CR and LF", "a\rb\nc\n", "@@\n-a\rb\n+x\n", "x\nc\n"},
		{"single bytes, found and written as they are read", "caf\xe9 \x93x\x94\na\n", "@@\n café “x”\n-a\n+thé €\n", "caf\xe9 \x93x\x94\nth\xe9 \x80\n"},
		{"UTF-8 with a stray byte", "café thé \xe9\na\n", "@@\n-a\n+thé\n", "café thé \xe9\nthé\n"},
		{"invalid UTF-8 kept", "\xff\xfd\na\n", "@@\n-a\n+b\n", "\xff\xfd\nb\n"},
		{"context only", "a\n", "@@\n a\n", "a\n"},
		{"blank context at the start", "\n\nx\n", "@@\n\n+y\n x\n", "\n\ny\nx\n"},
		{"what looks like numbers is an anchor", "-x +y\na\n", "@@ -x +y @@\n-a\n+b\n", "-x +y\nb\n"},
		{"numbers without the second @@", "a\na\n", "@@ -2 +2\n-a\n+b\n", "a\nb\n"},
		{"numbers, and blank lines that are not there", "a\nb\n", "@@ -2 +2,2 @@\n+x\n \n", "a\nx\nb\n"},
		{"tab for another tab", "\ta\n b\n", "@@\n   a\n-    b\n+    c\n", "\ta\n c\n"},
		{"overlapping look-alikes", "a\na\nb\n", "@@\n a\n-b\n+c\n", "a\na\nc\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := applyHunks(t, c.before, c.hunks)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestApplyReport(t *testing.T) {
	before := "a\nb \n  c\n\u201cd\u201d\nx\nx\nx\n"
	hunks := "@@\n-a\n+1\n+2\n@@\n-b\n@@\n-c\n+3\n@@\n-\"d\"\n+4\n@@\n-x\n+y\n@@ nowhere to be found\n+z\n"
	_, _, err := applyHunks(t, before, hunks)
	wantError(t, err, patchapply.AnchorNotFound, "hunk 6 of 6")
	_, report, err := applyHunks(t, before, strings.Split(hunks, "@@ nowhere")[0]+"@@\n+z\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []patchapply.HunkReport{
		{Hunk: 1, Line: 1, OldLine: 1},
		{Hunk: 2, Line: 3, OldLine: 2, Pass: patchapply.PassRightTrim, Fuzz: 1},
		{Hunk: 3, Line: 3, OldLine: 3, Pass: patchapply.PassTrim, Fuzz: 100},
		{Hunk: 4, Line: 4, OldLine: 4, Pass: patchapply.PassUnicode, Fuzz: 1000},
		{Hunk: 5, Line: 5, OldLine: 5, Warnings: []string{"the same lines are also at lines 6, 7"}},
		{Hunk: 6, Line: 8, OldLine: 8, Warnings: []string{"the hunk has neither context nor anchor; the lines were added at the end of the file"}},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := patchapply.PassUnicode.String(); got != "unicode" {
		t.Errorf("name %q", got)
	}
}

func TestApplyErrors(t *testing.T) {
	for _, c := range []struct {
		name, before, hunks string
		class               patchapply.Class
		parts               []string
	}{
		{"NUL", "a\x00\n", "@@\n-a\n", patchapply.NotText, []string{"NUL"}},
		{"UTF-16", "\xfe\xffa", "@@\n-a\n", patchapply.NotText, []string{"UTF-16"}},
		{"two encodings", "caf\xe9\na\n", "@@\n-a\n+中\n", patchapply.NotText, []string{"not UTF-8", "`中`"}},
		{"single bytes that would read as another letter", "caf\xe9\na\n", "@@\n-a\n+Ã©\n", patchapply.NotText, []string{"cannot hold"}},
		{"single bytes are shown as they are read", "caf\xe9 au lait\nb\n", "@@\n-café au thé\n", patchapply.ContextNotFound, []string{"found:    `café au lait`"}},
		{"composed and not", "cafe\u0301\ny\n", "@@\n-caf\u00e9\n+tea\n", patchapply.ContextNotFound, []string{"U+00E9 and U+0065 U+0301", "composed or not"}},
		{"long line that differs late", strings.Repeat("x", 500) + "a\n", "@@\n-" + strings.Repeat("x", 500) + "b\n", patchapply.ContextNotFound, []string{"xxb`", "xxa`"}},
		{"long line that is longer", strings.Repeat("x", 5001) + "\n", "@@\n-" + strings.Repeat("x", 5000) + "\n", patchapply.ContextNotFound, []string{"have 5000 and 5001 bytes and differ from byte 5001"}},
		{"removal that is made", "1\n3\n4\n", "@@\n 1\n-2\n 3\n", patchapply.ContextNotFound, []string{"at line 1 already"}},
		{
			"first line that differs", "a\nb\n\tc\nd\n", "@@\n a\n b\n   C\n-d\n", patchapply.ContextNotFound,
			[]string{"f: hunk 1 of 1 (patch line 3): the 4 lines", "began at line 1", "lines 1 to 4, where 3 of 4", "`··C`", "`→c` on line 3", "→ is a tab, · is a blank"},
		},
		{"white space that cannot be seen", "first a b\u200bc last\r\n", "@@\n-first a\u00a0b\tc last\r\r\n", patchapply.ContextNotFound, []string{"a⍽b→c last␍", "a b<U+200B>c last`"}},
		{"before the hunk above", "a\nb\n", "@@\n-b\n@@\n-a\n", patchapply.ContextNotFound, []string{"hunk 2 of 2", "at line 1, before the end of the hunk above"}},
		{"before the anchor", "a\nf\n", "@@ f\n-a\n", patchapply.ContextNotFound, []string{"line 1, before the anchor", "line 3, after the anchor `f`"}},
		{"applied already", "a\nnew\nb\n", "@@\n a\n-old\n+new\n b\n", patchapply.ContextNotFound, []string{"at line 1 already"}},
		{"applied already, indented", "  a\n  new\n", "@@\n a\n-old\n+new\n", patchapply.ContextNotFound, []string{"at line 1 already"}},
		{"empty file", "", "@@\n-a\n", patchapply.ContextNotFound, []string{"The file is empty"}},
		{"nothing like it", "a\nb\n", "@@\n-something else\n", patchapply.ContextNotFound, []string{"Nothing in the file"}},
		{"past the end", "a\nb\n", "@@\n a\n b\n-c\n", patchapply.ContextNotFound, []string{"the end of the file"}},
		{"shift, and a hunk about white space", "    a\n    b\n", "@@\n a\n-b\n+  b\n", patchapply.ContextNotFound, []string{"line 1 with another indentation", "1  `····a`"}},
		{"shift, and a removed line that comes back", "    a()\n    b()\n", "@@\n-a()\n-b()\n+if c:\n+    a()\n+b()\n", patchapply.ContextNotFound, []string{"not clear"}},
		{"numbers that are wrong, several places", "a\nb\nx\nc\nd\nx\n", "@@ -5,2 +5,2 @@\n-x\n+y\n", patchapply.Ambiguous, []string{"lines 3, 6", "for line 5"}},
		{"numbers that are right but for blanks, lines elsewhere", "x\n  y\nz\ny\n", "@@ -2 +2 @@\n-y\n+Y\n", patchapply.Ambiguous, []string{"lines 2, 4"}},
		{"like lines behind the anchor, exact ones behind the next", "def a():\n      x\n\ndef b():\n    x\n", "@@ def a():\n-    x\n+    y\n", patchapply.Ambiguous, []string{"lines 2, 5"}},
		{"ambiguous", " x\n\tx\n", "@@\n-x\n", patchapply.Ambiguous, []string{"lines 1, 2", "line 2: `→x`"}},
		{"ambiguous at no end", "x\nx\ny\n", "@@\n-x\n*** End of File\n", patchapply.Ambiguous, []string{"lines 1, 2"}},
		{"many places", strings.Repeat(" x\n", 50), "@@\n-x\n", patchapply.Ambiguous, []string{"lines 1, 2, 3, 4, 5 and more"}},
		{"one anchor missing, several places", "x\nfoo()\nx\n", "@@ foo(a)\n-x\n", patchapply.AnchorNotFound, []string{"`foo(a)`", "is 2: `foo()`", "fit at lines 1, 3"}},
		{"one anchor missing, no place", "x\n", "@@ f\n-y\n", patchapply.AnchorNotFound, []string{"`f`"}},
		{"one anchor missing, insertion", "x\n", "@@ f\n+y\n", patchapply.AnchorNotFound, []string{"`f`"}},
		{"second anchor only before the first", "b\na\nx\n", "@@ a\n@@ b\n-x\n", patchapply.AnchorNotFound, []string{"`b`", "line 3"}},
		{"second anchor missing, lines there", "a\nx\n", "@@ a\n@@ b\n-x\n", patchapply.AnchorNotFound, []string{"themselves are at line 2"}},
		{"end of file before the cursor", "a\nb\n", "@@\n a\n-b\n@@\n-b\n*** End of File\n", patchapply.ContextNotFound, []string{"hunk 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := applyHunks(t, c.before, c.hunks)
			wantError(t, err, c.class, c.parts...)
		})
	}
}

// TestApplyErrorSize keeps errors short, whatever the patch and the file are like.
func TestApplyErrorSize(t *testing.T) {
	long := strings.Repeat("\t\u00a0\x01", 200_000)
	for _, c := range []struct{ name, before, hunks string }{
		{"long lines", long + "a\n" + long + "b\n", "@@ " + long + "\n " + long + "a\n-" + long + "x\n+" + long + "\n"},
		{"long lines found twice", " " + long + "a\n  " + long + "a\n", "@@\n-" + long + "a\n"},
		{"too many lines", strings.Repeat("\n", 8<<20+1), "@@\n-x\n"},
		{"many lines", strings.Repeat("x\ny\n", 50_000), "@@\n" + strings.Repeat(" y\n x\n", 50_000) + "-z\n"},
		{"many hunks", strings.Repeat("x\n", 5_000), strings.Repeat("@@\n-x\n+y\n", 5_000) + "@@\n-x\n"},
		{"many anchors", "x\n", strings.Repeat("@@ x\n", 5_000) + "-x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := applyHunks(t, c.before, c.hunks)
			wantError(t, err, patchapply.ClassOf(err), "f")
		})
	}
	p, err := patchapply.Parse([]byte(envelope("*** Update File: " + strings.Repeat("\u00e4\x01", 5000) + "\n@@\n-" + long + "\n")))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = p.Sections[0].Apply([]byte(long + "x\n" + long + "y\n"))
	wantError(t, err, patchapply.ContextNotFound, "hunk 1 of 1")
}

// TestNothingIsClaimed is an error that must not say that a hunk was applied.
func TestNothingIsClaimed(t *testing.T) {
	_, _, err := applyHunks(t, "a\n}\nb\n", "@@\n-zzz\n+}\n")
	wantError(t, err, patchapply.ContextNotFound)
	if strings.Contains(err.Error(), "already") {
		t.Error(err)
	}
}

// TestApplyWarnings applies hunks that may not be what was meant.
func TestApplyWarnings(t *testing.T) {
	for _, c := range []struct{ name, before, hunks, part string }{
		{"behind the next function", "def a():\n    x\n\ndef b():\n    y\n", "@@ def a():\n-    y\n+    z\n", "`def b():` stands between"},
		{"far from the numbers", strings.Repeat("a\n", 9) + "x\n", "@@ -2 +2 @@\n-x\n+y\n", "8 lines from where the numbers say"},
		{"insertion behind the end", "a\n", "@@ -9,0 +9 @@\n+x\n", "added at line 2"},
		{"anchor before the hunk above, several places", "f\na\nx\nx\n", "@@\n-a\n+A\n@@ f\n-x\n+y\n", "also at line 4"},
		{"other indentation", "if a:\n    if b:\n        c\n", "@@\n if a:\n   if b:\n-    c\n+      d\n", "indents these lines in another way"},
		{"insertion that is there", "1\ntwo\ntwo and a half\n3\n", "@@\n 1\n two\n+two and a half\n", "there already"},
		{"insertion that is there, with numbers", "1\ntwo\n3\n", "@@ -1,0 +2 @@\n+two\n", "there already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, report, err := applyHunks(t, c.before, c.hunks)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(report[len(report)-1].Warnings, "\n"); !strings.Contains(got, c.part) {
				t.Errorf("warnings %q, want %q", got, c.part)
			}
		})
	}
}
