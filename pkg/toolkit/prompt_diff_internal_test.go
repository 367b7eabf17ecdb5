package toolkit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/linediff"
)

func TestLinesInADiff(t *testing.T) {
	tests := []struct {
		name, diff     string
		added, removed int
	}{
		{"nothing", "", 0, 0},
		{"lines alone", "-a\n+b\n+c", 2, 1},
		{"a header of two lines", "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c", 2, 1},
		{"a header of one line", "--- x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n--- y\n@@ -1 +0,0 @@\n-a", 2, 2},
		{"a new file of what looks like headers", "@@ -0,0 +1,3 @@\n+++ evil\n+++ evil\n+++ evil", 3, 0},
		{"removed and added, as a header is", "@@ -1,2 +1,2 @@\n--- a\n+++ b\n-a\n+b", 2, 2},
		{"the same before a hunk", "@@ -1 +1 @@\n--- a\n+++ b\n@@ -9 +9 @@\n-a\n+b", 2, 2},
		{"the same without a hunk", "-a\n--- a\n+++ b\n+++ c", 2, 2},
		{"context that looks like a hunk", "@@ -1,2 +1,3 @@\n @@ -1,9 +1,9 @@\n \n+++ b", 1, 0},
		{"no end of line", "--- x\n@@ -1 +1 @@\n--- a\n\\ No newline at end of file\n+++ b\n\\ No newline at end of file\n--- y\n@@ -0,0 +1 @@\n+c", 2, 1},
		{"a header that cannot be read", "@@ -a,b @@\n+++ b", 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if added, removed := linesIn(tt.diff); added != tt.added || removed != tt.removed {
				t.Errorf("%d added and %d removed, want %d and %d", added, removed, tt.added, tt.removed)
			}
		})
	}
}

// What a file holds cannot make a change look smaller.
func TestLongChangeOfHeaders(t *testing.T) {
	content := []byte(strings.Repeat("++ evil\n", 600))
	var diff strings.Builder
	for _, h := range linediff.Hunks(nil, content, 3) {
		fmt.Fprintln(&diff, h.Header())
		for _, l := range h.Lines {
			fmt.Fprintf(&diff, "%c%s", l.Op, l.Text)
		}
	}
	for name, diff := range map[string]string{
		"hunks":   strings.TrimSuffix(diff.String(), "\n"),
		"a patch": strings.TrimSuffix(string(linediff.Unified("a/x", "b/x", nil, content)), "\n"),
	} {
		got, err := promptOf(alice, editAction(diff), cautious)
		if want := fmt.Sprintf("%d lines added, 0 removed, ", bytes.Count(content, []byte("\n"))); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, got %q, want %q in it", name, err, got, want)
		}
	}
}
