package patchapply_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

// envelope puts the markers around sections.
func envelope(sections string) string { return "*** Begin Patch\n" + sections + "*** End Patch\n" }

// update makes an envelope that updates f.
func update(hunks string) string { return envelope("*** Update File: f\n" + hunks) }

// summary is what a section is about, on one line.
func summary(s patchapply.Section) string {
	kind := map[patchapply.Kind]string{patchapply.Add: "add", patchapply.Update: "update", patchapply.Delete: "delete"}[s.Kind]
	text := fmt.Sprintf("%d %s %s", s.Line, kind, s.Path)
	if s.MoveTo != "" {
		text += " -> " + s.MoveTo
	}
	if s.Perm != nil {
		text += fmt.Sprintf(" %o", *s.Perm)
	}
	if s.Kind == patchapply.Add {
		text += fmt.Sprintf(" %q", s.Content)
	}
	if len(s.Hunks) > 0 {
		text += fmt.Sprintf(" %d hunks", len(s.Hunks))
	}
	return text
}

func summaries(p *patchapply.Patch) []string {
	var all []string
	for _, s := range p.Sections {
		all = append(all, summary(s))
	}
	return all
}

func TestParseEnvelope(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		want        []string
		warnings    int
	}{
		{"sections", envelope("*** Add File: a\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n@@\n-x\n+y\n"), []string{`2 add a "x\n"`, "4 delete b", "5 update c -> d 1 hunks"}, 0},
		{"first hunk without @@", update("-x\n+y\n"), []string{"2 update f 1 hunks"}, 0},
		{"environment", envelope("*** Environment ID: 7\n*** Delete File: b\n"), []string{"3 delete b"}, 0},
		{"blank lines between sections", envelope("\n*** Delete File: a\n\n\n*** Delete File: b\n\n"), []string{"3 delete a", "6 delete b"}, 0},
		{"indented header after a whole section", envelope("*** Delete File: a\n  *** Delete File: b\n"), []string{"2 delete a", "3 delete b"}, 0},
		{"indented header after end of file", update("@@\n-x\n*** End of File\n *** Delete File: b\n"), []string{"2 update f 1 hunks", "6 delete b"}, 0},
		{"last line indented", "*** Begin Patch\n*** Delete File: a\n  *** End Patch  \n\n", []string{"2 delete a"}, 0},
		{"last line indented in a fence", "```\n*** Begin Patch\n*** Delete File: a\n *** End Patch\n```\n", []string{"3 delete a"}, 1},
		{"byte order mark", "\ufeff" + envelope("*** Delete File: a\n"), []string{"2 delete a"}, 0},
		{"blanks around a path", envelope("*** Delete File:   a b \n"), []string{"2 delete a b"}, 0},
		{"prose around", "Here it is:\n\n" + envelope("*** Delete File: a\n") + "\nDone - all of it.\n", []string{"4 delete a"}, 1},
		{"prose between two", envelope("*** Delete File: a\n") + "and\n" + envelope("*** Delete File: b\n"), []string{"2 delete a", "6 delete b"}, 1},
		{"heredoc for cat", "cat <<EOF | apply_patch\n" + envelope("*** Delete File: a\n") + "EOF\n", []string{"3 delete a"}, 1},
		{"JSON patch", `{"patch":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}`, []string{"2 delete a"}, 1},
		{"JSON patchText", `{"patchText":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}`, []string{"2 delete a"}, 1},
		{"JSON command", `{"command":["apply_patch","*** Begin Patch\n*** Delete File: a\n*** End Patch"]}`, []string{"2 delete a"}, 1},
		{"JSON shell command", `{"command":["bash","-lc","apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE"]}`, []string{"3 delete a"}, 1},
		{"JSON string", `"*** Begin Patch\n*** Delete File: a\n*** End Patch"`, []string{"2 delete a"}, 1},
		{"stars twice", "*** Begin Patch ***\n*** Delete File: a ***\n*** End Patch ***\n", []string{"2 delete a"}, 1},
		{"header of a unified diff inside", update("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n"), []string{"2 update f 1 hunks"}, 0},
		{"separators in a line", envelope("*** Add File: a\n+x\u2028y\fz\n"), []string{`2 add a "x\u2028y\fz\n"`}, 0},
		{"@@ and nothing behind", update("@@\n-x\n@@\n"), []string{"2 update f 1 hunks"}, 0},
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

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		class       patchapply.Class
		line        int
		part        string
	}{
		{"empty", "", patchapply.EmptyPatch, 0, "empty"},
		{"blank", " \n\n", patchapply.EmptyPatch, 0, "empty"},
		{"prose", "please\n", patchapply.ParseError, 1, "`please`"},
		{"no sections", envelope(""), patchapply.EmptyPatch, 0, "no files"},
		{"bare hunks", "@@\n-a\n+b\n", patchapply.ParseError, 1, "Update File"},
		{"bare unified hunks", "@@ -1 +1 @@\n-a\n+b\n", patchapply.ParseError, 1, "+++ b/path"},
		{"no end", "*** Begin Patch\n*** Delete File: a\n", patchapply.ParseError, 1, "cut off"},
		{"no end before the next", "*** Begin Patch\n*** Delete File: a\n" + envelope("*** Delete File: b\n"), patchapply.ParseError, 3, "Begin Patch"},
		{"no begin", "*** Delete File: a\n*** End Patch\n", patchapply.ParseError, 1, "Begin Patch"},
		{"section behind the end", envelope("*** Delete File: a\n") + "*** Delete File: b\n*** End Patch\n", patchapply.ParseError, 4, "outside"},
		{"hunk behind the end", envelope("*** Delete File: a\n") + "@@\n-b\n", patchapply.ParseError, 4, "outside"},
		{"unknown header", envelope("*** Copy File: a\n"), patchapply.ParseError, 2, "Delete File"},
		{"no path", envelope("*** Delete File:\n"), patchapply.ParseError, 2, "path is missing"},
		{"no path to move to", envelope("*** Update File: a\n*** Move to:\n"), patchapply.ParseError, 3, "path is missing"},
		{"text after delete", envelope("*** Delete File: a\nx\n"), patchapply.ParseError, 3, "`x`"},
		{"no plus", envelope("*** Add File: a\n+x\n y\n"), patchapply.ParseError, 4, "begin with +"},
		{"no prefix", update("@@\n-x\ny\n"), patchapply.ParseError, 5, "`y`"},
		{"tab as prefix", update("@@\n-x\n\ty\n"), patchapply.ParseError, 5, "`→y`"},
		{"no hunks", update(""), patchapply.ParseError, 2, "changes nothing"},
		{"only @@", update("@@\n\n"), patchapply.ParseError, 2, "changes nothing"},
		{"anchor without lines", update("@@ f\n@@ g\n"), patchapply.ParseError, 3, "no lines"},
		{"numbers without lines", update("@@ -1 +1 @@\n@@\n-x\n"), patchapply.ParseError, 3, "no lines"},
		{"end of file without a hunk", update("*** End of File\n"), patchapply.ParseError, 3, "no hunk"},
		{"line after end of file", update("@@\n-x\n*** End of File\n-y\n"), patchapply.ParseError, 6, "must begin with @@"},
		{"late move", update("@@\n-x\n*** Move to: g\n"), patchapply.ParseError, 5, "no header"},
		{"NUL", envelope("*** Add File: a\n+\x00\n"), patchapply.ParseError, 3, "NUL"},
		{"too large", strings.Repeat("x", 10<<20+1), patchapply.TooLarge, 0, "10485761"},
		{"envelope and diff", envelope("*** Delete File: a\n") + "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", patchapply.ParseError, 4, "outside"},
		{"diff and envelope", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" + envelope("*** Delete File: a\n"), patchapply.ParseError, 6, "mixed"},
		{"long line", envelope(strings.Repeat("x\t", 5000) + "\n"), patchapply.ParseError, 2, "…"},
		{"long path", envelope("*** Update File: " + strings.Repeat("x", 5000) + "\n"), patchapply.ParseError, 2, "changes nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := patchapply.Parse([]byte(c.patch))
			wantError(t, err, c.class, c.part)
			if line := err.(*patchapply.Error).Line; line != c.line {
				t.Errorf("line %d, want %d", line, c.line)
			}
		})
	}
}

func TestParseHunks(t *testing.T) {
	p, err := patchapply.Parse([]byte(update("@@ class A\n@@   def f():\n x\n-y\n+z\n\n@@ -3,2 +4 @@ here\n-a\n\\ No newline at end of file\n@@\n-q\n*** End of File\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := []patchapply.Hunk{
		{Anchors: []string{"class A", "  def f():"}, Lines: []patchapply.Line{{' ', "x"}, {'-', "y"}, {'+', "z"}, {' ', ""}}, Line: 3},
		{Unified: &patchapply.Numbers{Old: 3, OldCount: 2, New: 4, NewCount: 1, NoNewlineOld: true}, Lines: []patchapply.Line{{'-', "a"}}, Line: 9},
		{Lines: []patchapply.Line{{'-', "q"}}, EndOfFile: true, Line: 12},
	}
	if diff := cmp.Diff(want, p.Sections[0].Hunks); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestParseCutOff cuts patches everywhere: without its last line none is accepted.
func TestParseCutOff(t *testing.T) {
	for seed := range uint64(40) {
		patch := generate(seed).patch
		for n := range len(patch) - 1 {
			cut := patch[:n]
			if lines := strings.Split(strings.TrimRight(cut, " \n"), "\n"); strings.TrimSpace(lines[len(lines)-1]) == "*** End Patch" {
				continue // content that ends the text, and may be its end
			}
			if _, err := patchapply.Parse([]byte(cut)); err == nil {
				t.Fatalf("accepted %q", cut)
			}
		}
	}
}

func TestParseOperations(t *testing.T) {
	ops := func(kind, diff string) patchapply.Operation {
		return patchapply.Operation{Type: kind, Path: "f", Diff: diff}
	}
	for _, c := range []struct {
		name string
		op   patchapply.Operation
		want string
	}{
		{"hunks", ops("update_file", "@@\n-x\n+y\n"), "0 update f 1 hunks"},
		{"hunks with an end", ops("update_file", "@@\n-x\n+y\n*** End Patch\n"), "0 update f 1 hunks"},
		{"blank line and fence", ops("update_file", "\n```diff\n@@\n-x\n+y\n```\n\n"), "0 update f 1 hunks"},
		{"create behind a blank line", ops("create_file", "\n+x\n"), `0 add f "x\n"`},
		{"fence", ops("update_file", "```diff\n@@\n-x\n+y\n```\n"), "0 update f 1 hunks"},
		{"envelope", ops("update_file", update("@@\n-x\n+y\n")), "0 update f 1 hunks"},
		{"envelope that moves", ops("update_file", envelope("*** Update File: ./f\n*** Move to: g\n")), "0 update f -> g"},
		{"move alone", patchapply.Operation{Type: "update_file", Path: "f", MoveTo: "g"}, "0 update f -> g"},
		{"diff", ops("update_file", "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n"), "0 update f 1 hunks"},
		{"diff of other names", ops("update_file", "--- f.orig\n+++ f.new\n@@ -1 +1 @@\n-x\n+y\n"), "0 update f 1 hunks"},
		{"create", ops("create_file", "+x\n\n+y\n"), `0 add f "x\n\ny\n"`},
		{"create empty", ops("create_file", ""), `0 add f ""`},
		{"create one empty line", ops("create_file", "+"), `0 add f "\n"`},
		{"create with two blank lines", ops("create_file", "+x\n+\n+"), `0 add f "x\n\n"`},
		{"create with CRLF", ops("create_file", "+x\r\n+y\r\n"), `0 add f "x\ny\n"`},
		{"create by diff", ops("create_file", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+x\n+\n"), `0 add f "x\n\n"`},
		{"create by hunk", ops("create_file", "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"), `0 add f "x"`},
		{"create by envelope", ops("create_file", envelope("*** Add File: f\n+x\n")), `0 add f "x\n"`},
		{"delete", ops("delete_file", "whatever"), "0 delete f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := patchapply.ParseOperations([]patchapply.Operation{c.op})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.want}, summaries(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseOperationErrors(t *testing.T) {
	good := patchapply.Operation{Type: "delete_file", Path: "a"}
	for _, c := range []struct {
		name  string
		op    patchapply.Operation
		class patchapply.Class
		part  string
	}{
		{"no type", patchapply.Operation{Path: "f"}, patchapply.InvalidOperation, "create_file, update_file and delete_file"},
		{"no path", patchapply.Operation{Type: "delete_file"}, patchapply.InvalidOperation, "no path"},
		{"move of another type", patchapply.Operation{Type: "delete_file", Path: "f", MoveTo: "g"}, patchapply.InvalidOperation, "move_to"},
		{"empty diff", patchapply.Operation{Type: "update_file", Path: "f"}, patchapply.ParseError, "empty"},
		{"another path", patchapply.Operation{Type: "update_file", Path: "f", Diff: envelope("*** Update File: g\n@@\n-x\n")}, patchapply.ParseError, "another path"},
		{"another type", patchapply.Operation{Type: "update_file", Path: "f", Diff: envelope("*** Delete File: f\n")}, patchapply.ParseError, "do not agree"},
		{"two files", patchapply.Operation{Type: "update_file", Path: "f", Diff: envelope("*** Delete File: f\n*** Delete File: g\n")}, patchapply.ParseError, "2 files"},
		{"old lines in a new file", patchapply.Operation{Type: "create_file", Path: "f", Diff: "@@ -1 +1 @@\n-x\n+y\n"}, patchapply.ParseError, "new file"},
		{"context in a new file", patchapply.Operation{Type: "create_file", Path: "f", Diff: "+x\n y\n"}, patchapply.ParseError, "begin with +"},
		{"header in a body", patchapply.Operation{Type: "update_file", Path: "f", Diff: "@@\n-x\n*** Delete File: g\n"}, patchapply.ParseError, "no line of a hunk"},
		{"too large", patchapply.Operation{Type: "update_file", Path: "f", Diff: strings.Repeat("+", 10<<20+1)}, patchapply.TooLarge, "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := patchapply.ParseOperations([]patchapply.Operation{good, c.op})
			wantError(t, err, c.class, c.part)
			if c.class != patchapply.TooLarge && !strings.Contains(err.Error(), "operation 2 of 2") {
				t.Errorf("text does not say which operation: %v", err)
			}
		})
	}
	_, err := patchapply.ParseOperations(nil)
	wantError(t, err, patchapply.EmptyPatch)
}

// FuzzParse parses anything, and applies what comes of it.
func FuzzParse(f *testing.F) {
	for seed := range uint64(5) {
		f.Add([]byte(generate(seed).patch), []byte(generate(seed).before))
	}
	f.Add([]byte("diff --git \"a/x\\t\" b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1,2 +1 @@\n-a\n-b\n+c\n\\ No newline\n"), []byte("a\nb\n"))
	f.Add([]byte(`{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`), []byte("\xef\xbb\xbfx\r\ny"))
	f.Fuzz(func(t *testing.T, patch, file []byte) {
		p, err := patchapply.Parse(patch)
		if err != nil {
			wantError(t, err, patchapply.ClassOf(err))
			return
		}
		diff := bytes.Contains(patch, []byte("diff --git ")) || bytes.Contains(patch, []byte("--- ")) || bytes.ContainsAny(patch[:1], `{" `+"\n\r\t")
		if !diff && !bytes.Contains(patch, []byte("*** End Patch")) {
			t.Fatalf("accepted without an end")
		}
		for i := range p.Sections {
			before := bytes.Clone(file)
			after, report, err := p.Sections[i].Apply(before)
			if !bytes.Equal(before, file) {
				t.Fatal("the file was written to")
			}
			if err != nil {
				wantError(t, err, patchapply.ClassOf(err))
			} else if len(report) != len(p.Sections[i].Hunks) || after == nil && file != nil {
				t.Fatalf("%d reports, %d bytes", len(report), len(after))
			}
		}
	})
}
