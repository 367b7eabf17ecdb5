package patchapply_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

// TestReports is what went wrong elsewhere, each named for the report that tells of it.
func TestReports(t *testing.T) {
	for _, c := range []struct{ name, before, hunks, want string }{
		{"openai/codex#4003 lines with LF in a file with CRLF", "a\r\nb\r\nc\r\n", "@@\n a\n-b\n+B\n+B2\n c\n", "a\r\nB\r\nB2\r\nc\r\n"},
		{"openclaw#115943 context written with other line ends", "a\r\nb\nc\r\n", "@@\n a\n b\n-c\n+C\n", "a\r\nb\nC\r\n"},
		{"cline#13512 the whole file written with LF", "a\r\nb\r\n", "@@\n-b\n+B\n", "a\r\nB\r\n"},
		{"openai/codex#27784 context on a line with a byte order mark", "\ufeffusing A;\nx\n", "@@\n using A;\n-x\n+y\n", "\ufeffusing A;\ny\n"},
		{"opencode#45924 bytes that are no UTF-8 replaced", "caf\xe9 \xff\nport=1\n", "@@\n-port=1\n+port=2\n", "caf\xe9 \xff\nport=2\n"},
		{"opencode#45925 two encodings in one file", "caf\xe9\n", "@@\n caf\u00e9\n+na\u00efve\n", "caf\xe9\nna\xefve\n"},
		{"openai/codex#7640 last newline added", "{\n  \"a\": 1\n}", "@@\n-  \"a\": 1\n+  \"a\": 2\n }\n", "{\n  \"a\": 2\n}"},
		{"opencode#45912 last newline added behind a changed last line", "a\nb", "@@\n-b\n+c\n", "a\nc"},
		{"agent-os#1907 lines joined behind a last line without an end", "a\nb", "@@\n b\n+c\n*** End of File\n", "a\nb\nc"},
		{"opencode#42081 last blank line lost", "a\nb\n\n", "@@\n-a\n+A\n", "A\nb\n\n"},
		{"openai-agents-python#4660 blank line before what is added at the end", "a\nb\n", "@@\n+c\n*** End of File\n", "a\nb\nc\n"},
		{"openai-agents-python#4661 end of file in a file that ends in a newline", "x\nb\nx\n", "@@\n x\n+c\n*** End of File\n", "x\nb\nx\nc\n"},
		{"openai/codex#30946 insertion behind an anchor went to the end", "one\ntwo\n", "@@ one\n+x\n", "one\nx\ntwo\n"},
		{"hermes#3092 insertion between hunks dropped", "one\ntwo\nthree\n", "@@\n-one\n+1\n@@ two\n+x\n@@\n-three\n+3\n", "1\ntwo\nx\n3\n"},
		{"openai/codex#2578 stacked anchors", "class A\n f\n  x\nclass B\n f\n  x\n", "@@ class B\n@@  f\n-  x\n+  y\n", "class A\n f\n  x\nclass B\n f\n  y\n"},
		{"openai-agents-js#1649 stacked anchors half matched", "f\nx\nclass B\nf\nx\n", "@@ class B\n@@ f\n-x\n+y\n", "f\nx\nclass B\nf\ny\n"},
		{"openai/codex#30505 context written as the patch has it", "if x:  \n\tone\n\ttwo\n", "@@\n if x:\n     one\n-    two\n", "if x:  \n\tone\n"},
		{"openai-agents-python#3263 blank lines at the end of a diff", "a\nb\n", "@@\n-b\n+B\n\n\n\n", "a\nB\n"},
		{"copilot-cli#1109 two @@ in a row", "a\nb\n", "@@\n@@\n-b\n+B\n", "a\nB\n"},
		{"pi-codemode#58 numbers without counts", "a\nb\n", "@@ -2 +2 @@\n-b\n+B\n", "a\nB\n"},
		{"patchloom#2465 insertion one line early", "a\nb\nc\n", "@@ -2,0 +3 @@\n+x\n", "a\nb\nx\nc\n"},
		{"holon#1233 numbers decide between equal lines", "x\na\nx\nb\nx\n", "@@ -3 +3 @@\n-x\n+y\n", "x\na\ny\nb\nx\n"},
		{"hermes#76394 markers in content cut the file", "a\n", "@@\n a\n+*** End Patch\n+*** End of File\n", "a\n*** End Patch\n*** End of File\n"},
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

// TestReportedErrors is what was applied, or refused without a reason, and must not be.
func TestReportedErrors(t *testing.T) {
	for _, c := range []struct {
		name, before, hunks string
		class               patchapply.Class
		part                string
	}{
		{"openclaw#124379 end of file over an earlier hunk", "a\nb\n", "@@\n a\n-b\n+B\n@@\n b\n+c\n*** End of File\n", patchapply.ContextNotFound, "before the end of the hunk above"},
		{"openclaw#124392 the first of look-alikes changed", "\tx\ny\n\t\tx\n", "@@\n-x\n+z\n", patchapply.Ambiguous, "lines 1, 3"},
		{"hermes-evolution#1842 ambiguity without places", "\tx\ny\n\t\tx\n", "@@\n-x\n+z\n", patchapply.Ambiguous, "line 3: `→→x`"},
		{"cline#11509 hunk left out with a warning", "a\nb\n", "@@\n-a\n+A\n@@\n-nope\n+x\n", patchapply.ContextNotFound, "hunk 2 of 2"},
		{"openai-agents-js#1655 second anchor missing", "class A\n f\nx\n", "@@ class A\n@@  g\n-x\n+y\n", patchapply.AnchorNotFound, "`·g`"},
		{"letta-code#2884 what stands there is not shown", "func f() {\n\treturn 1\n}\n", "@@\n func f() {\n-\treturn 2\n+\treturn 3\n", patchapply.ContextNotFound, "`→return 1` on line 2"},
		{"agenc-core#950 insertion applied twice", "a\nnew\nb\n", "@@\n a\n+new\n-c\n b\n", patchapply.ContextNotFound, "line 1 already"},
		{"opencode#45925 two encodings in one file", "caf\xe9\n", "@@\n caf\xe9\n+\u4e2d\n", patchapply.NotText, "windows-1252"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := applyHunks(t, c.before, c.hunks)
			wantError(t, err, c.class, c.part)
		})
	}
}

// TestReportedFar is holon#2741: many right lines, then a wrong one.
func TestReportedFar(t *testing.T) {
	var file, hunk strings.Builder
	for i := range 60 {
		fmt.Fprintf(&file, "line %d\n", i)
		switch {
		case i == 40:
			hunk.WriteString(" line forty\n")
		case i >= 20 && i < 45:
			fmt.Fprintf(&hunk, " line %d\n", i)
		}
	}
	_, _, err := applyHunks(t, file.String(), "@@\n"+hunk.String()+"-line 45\n+x\n")
	wantError(t, err, patchapply.ContextNotFound, "lines 21 to 46, where 25 of 26 agree", "expected: `line forty`", "found:    `line 40` on line 41")
}

// TestReportedParsing is what was not understood, or was where it must not be.
func TestReportedParsing(t *testing.T) {
	for _, c := range []struct{ name, patch, want string }{
		{"opencodex#372 stars behind markers", "*** Begin Patch ***\n*** Update File: f ***\n@@\n-x\n+y\n*** End Patch ***", "2 update f 1 hunks"},
		{"patchloom#2591 blanks around markers", " *** Begin Patch\n *** Delete File: f\n*** End Patch \n", "2 delete f"},
		{"openai/codex#35361 a fence around the patch", "```\n" + envelope("*** Delete File: f\n") + "```\n", "3 delete f"},
		{"openai/codex#6358 move to the same name", envelope("*** Update File: f\n*** Move to: f\n@@\n-x\n+y\n"), "2 update f -> f 1 hunks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := patchapply.Parse([]byte(c.patch))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.want}, summaries(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	t.Run("pi-codemode#58 no hunks is no success", func(t *testing.T) {
		_, err := patchapply.Parse([]byte(update("")))
		wantError(t, err, patchapply.ParseError, "changes nothing")
	})
	t.Run("openai/codex#35361 the line that was seen first is quoted", func(t *testing.T) {
		_, err := patchapply.Parse([]byte("*** Begin Change\n*** End Patch\n"))
		wantError(t, err, patchapply.ParseError, "patch line 1", "`*** Begin Change`")
	})
}

// TestReportedLongFile is the applyDiff of openai-agents-js, which overflowed its stack on
// more than 100,000 lines that a patch leaves alone.
func TestReportedLongFile(t *testing.T) {
	before := strings.Repeat("line\n", 300_000) + "end\n"
	got, _, err := applyHunks(t, before, "@@\n-end\n+END\n")
	if err != nil || got != before[:len(before)-4]+"END\n" {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}
