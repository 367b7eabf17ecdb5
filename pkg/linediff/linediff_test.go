package linediff_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/linediff"
)

func TestUnified(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"same", "a\nb\n", "a\nb\n", ""},
		{"both empty", "", "", ""},
		{"created", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"one line", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"put in", "a\nb\n", "a\nx\nb\n", "@@ -1,2 +1,3 @@\n a\n+x\n b\n"},
		{"taken out at the end", "a\nb\n", "a\n", "@@ -1,2 +1 @@\n a\n-b\n"},
		{"no end before", "a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"no end after", "b\n", "b", "@@ -1 +1 @@\n-b\n+b\n\\ No newline at end of file\n"},
		{"carriage returns are text", "a\r\nb\r\n", "a\r\nB\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n"},
		{"other bytes", "\xe9\n", "\xff\n", "@@ -1 +1 @@\n-\xe9\n+\xff\n"},
		{
			"two hunks", "1\n" + strings.Repeat("x\n", 7) + "2\n", "one\n" + strings.Repeat("x\n", 7) + "two\n",
			"@@ -1,4 +1,4 @@\n-1\n+one\n x\n x\n x\n@@ -6,4 +6,4 @@\n x\n x\n x\n-2\n+two\n",
		},
		{
			"near ones are one hunk", "1\n" + strings.Repeat("x\n", 6) + "2\n", "one\n" + strings.Repeat("x\n", 6) + "two\n",
			"@@ -1,8 +1,8 @@\n-1\n+one\n x\n x\n x\n x\n x\n x\n-2\n+two\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := tc.want
			if want != "" {
				want = "--- a\n+++ b\n" + want
			}
			if diff := cmp.Diff(want, string(linediff.Unified("a", "b", []byte(tc.old), []byte(tc.new)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// change returns a text and another that was made of it, from a few different lines, so
// that many are equal.
func change(r *rand.Rand) (old, new []byte) {
	kinds := []int{2, 5, 50, 100_000}[r.IntN(4)]
	line := func() string { return fmt.Sprintf("line %d\n", r.IntN(kinds)) }
	var a, b strings.Builder
	chance := []int{2, 10, 60}[r.IntN(3)]
	for range r.IntN(200) {
		l := line()
		a.WriteString(l)
		switch r.IntN(chance) {
		case 0:
			b.WriteString(line())
		case 1:
		default:
			b.WriteString(l)
		}
		if r.IntN(chance) == 0 {
			b.WriteString(line())
		}
	}
	cut := func(s string) []byte {
		if r.IntN(4) == 0 {
			s = strings.TrimSuffix(s, "\n")
		}
		return []byte(s)
	}
	return cut(a.String()), cut(b.String())
}

// apply makes the new text of the old one and hunks, line by line.
func apply(old []byte, hunks []linediff.Hunk) string {
	lines := linediff.Lines(old)
	var out strings.Builder
	at := 0
	for _, h := range hunks {
		start := h.OldStart
		if h.OldLines > 0 {
			start--
		}
		for ; at < start; at++ {
			out.Write(lines[at])
		}
		for _, l := range h.Lines {
			switch {
			case l.Op == '+':
				out.Write(l.Text)
			case !bytes.Equal(l.Text, lines[at]):
				return fmt.Sprintf("line %d is %q, the hunk says %q", at+1, lines[at], l.Text)
			case l.Op == ' ':
				out.Write(l.Text)
				at++
			default:
				at++
			}
		}
	}
	for ; at < len(lines); at++ {
		out.Write(lines[at])
	}
	return out.String()
}

func TestHunksMakeTheNewText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		old, new := change(r)
		if got := apply(old, linediff.Hunks(old, new, i%4)); got != string(new) {
			t.Fatalf("case %d: from\n%s\nthe hunks make\n%s\nwant\n%s", i, old, got, new)
		}
	}
}

func FuzzHunks(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nc"), uint8(3))
	f.Fuzz(func(t *testing.T, old, new []byte, context uint8) {
		if got := apply(old, linediff.Hunks(old, new, int(context%5))); got != string(new) {
			t.Errorf("%q, want %q", got, new)
		}
	})
}

// TestPatchAndGitApply: what others make of the old text and our diff is the new text.
func TestPatchAndGitApply(t *testing.T) {
	patch, git := testneed.Tool(t, "patch"), testneed.Tool(t, "git")
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 100 {
		old, new := change(r)
		if len(old) == 0 || len(new) == 0 {
			continue // a file that comes or goes is written otherwise
		}
		diff := linediff.Unified("a/f", "b/f", old, new)
		if diff == nil {
			continue
		}
		for name, args := range map[string][]string{
			"patch": {patch, "-s", "-p1", "--no-backup-if-mismatch", "-F0"}, "git": {git, "apply", "--whitespace=nowarn", "-"},
		} {
			dir := t.TempDir()
			file := filepath.Join(dir, "f")
			must(t, os.WriteFile(file, old, 0o644))
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(diff)
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("case %d: %s: %v: %s\n%s", i, name, err, out, diff)
			}
			got, err := os.ReadFile(file)
			must(t, err)
			if !bytes.Equal(got, new) {
				t.Fatalf("case %d: %s made\n%s\nwant\n%s\nof\n%s", i, name, got, new, diff)
			}
		}
	}
}

// TestSmallest: where little differs, no smaller difference exists.
func TestSmallest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 150 {
		old, new := change(r)
		a, b := linediff.Lines(old), linediff.Lines(new)
		changed := 0
		for _, h := range linediff.Hunks(old, new, 0) {
			changed += len(h.Lines)
		}
		if want := len(a) + len(b) - 2*common(a, b); changed != want && want <= 256 {
			t.Fatalf("%d lines differ, want %d, between\n%s\nand\n%s", changed, want, old, new)
		}
	}
}

// common returns the length of the longest common row of lines.
func common(a, b [][]byte) int {
	best := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			here := max(best[j+1], best[j])
			if bytes.Equal(x, y) {
				here = diagonal + 1
			}
			diagonal, best[j+1] = best[j+1], here
		}
	}
	return best[len(b)]
}

// TestLargeTexts: no pair of texts takes long, and a change in many places stays many hunks.
func TestLargeTexts(t *testing.T) {
	var numbered, everyTenth, backwards strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&numbered, "line %d\n", i)
		fmt.Fprintf(&backwards, "line %d\n", 100_000-i)
		if i%20 == 10 {
			everyTenth.WriteString("changed\n")
		} else {
			fmt.Fprintf(&everyTenth, "line %d\n", i)
		}
	}
	equal := strings.Repeat("same\n", 100_000)
	mixed := strings.Repeat("same\nother\n", 50_000)
	for name, texts := range map[string][2]string{
		"many places": {numbered.String(), everyTenth.String()}, "backwards": {numbered.String(), backwards.String()},
		"equal lines": {equal, mixed}, "equal lines, other way": {mixed, equal[:len(equal)/2]},
	} {
		began := time.Now()
		hunks := linediff.Hunks([]byte(texts[0]), []byte(texts[1]), 3)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if got := apply([]byte(texts[0]), hunks); got != texts[1] {
			t.Errorf("%s: the hunks make another text", name)
		}
		if name == "many places" && len(hunks) != 5000 {
			t.Errorf("%d hunks, want 5000", len(hunks))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
