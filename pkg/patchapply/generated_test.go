package patchapply_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

// A generated is a patch made from an edit, whose outcome is known.
type generated struct {
	before, after, patch string
}

// A change replaces lines from start to end.
type change struct {
	start, end int
	lines      []string
}

// generate makes a file, an edit and the envelope for it. The context of each hunk is made
// long enough for its first place behind the hunk before to be the right one.
func generate(seed uint64) generated {
	r := newRandomFile(seed)
	r.eol = []string{"\n", "\n", "\r\n", "\r"}[r.IntN(4)]
	lines := r.lines(r.IntN(60))
	terminated := len(lines) == 0 || r.IntN(3) > 0
	if !terminated && lines[len(lines)-1] == "" {
		lines[len(lines)-1] = "last"
	}
	if len(lines) == 0 || len(lines) == 1 && !terminated {
		r.eol = "\n" // nothing says otherwise
	}
	var patch strings.Builder
	patch.WriteString("*** Begin Patch\n*** Update File: f\n")
	var after []string
	cursor := 0
	for cursor <= len(lines) {
		c := r.change(lines, cursor)
		c, first, last := r.context(lines, cursor, c)
		after = append(after, lines[cursor:c.start]...)
		after = append(after, c.lines...)
		writeHunk(&patch, lines, c, first, last)
		after = append(after, lines[c.end:last]...)
		if cursor = last; r.IntN(3) == 0 || cursor >= len(lines) {
			break
		}
	}
	after = append(after, lines[min(cursor, len(lines)):]...)
	patch.WriteString("*** End Patch\n")
	bom := strings.Repeat("\ufeff", r.IntN(8)/7)
	return generated{bom + r.joined(lines, terminated), bom + r.joined(after, terminated), patch.String()}
}

func (r *randomFile) joined(lines []string, terminated bool) string {
	if len(lines) == 0 {
		return ""
	}
	text := strings.Join(lines, r.eol)
	if terminated {
		text += r.eol
	}
	return text
}

func (r *randomFile) change(lines []string, cursor int) change {
	start := cursor + r.IntN(len(lines)-cursor+1)
	end := start + min(r.IntN(4), len(lines)-start)
	c := change{start, end, r.lines(r.IntN(4))}
	if start == end && len(c.lines) == 0 {
		c.lines = []string{"new"}
	}
	return c
}

// context returns the lines of the file that a hunk takes, with enough context for them to
// be found there first. Where only blank lines are left behind the change, it removes them.
func (r *randomFile) context(lines []string, cursor int, c change) (found change, first, last int) {
	first = max(cursor, c.start-r.IntN(4))
	last = min(len(lines), c.end+r.IntN(4))
	for {
		old := lines[first:last]
		blankTail := last > c.end && strings.TrimSpace(lines[last-1]) == "" // may be taken for a separator
		if len(old) > 0 && firstPlace(lines, old, cursor) == first && !blankTail {
			return c, first, last
		}
		if first == cursor && last == len(lines) {
			if blankTail {
				c.end = last
			}
			return c, first, last
		}
		first, last = max(cursor, first-1), min(len(lines), last+1)
	}
}

func firstPlace(lines, old []string, from int) int {
	for i := from; i+len(old) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(old)], old) {
			return i
		}
	}
	return -1
}

func writeHunk(b *strings.Builder, lines []string, c change, first, last int) {
	b.WriteString("@@\n")
	for _, part := range []struct {
		op    string
		lines []string
	}{
		{" ", lines[first:c.start]},
		{"-", lines[c.start:c.end]},
		{"+", c.lines},
		{" ", lines[c.end:last]},
	} {
		for _, line := range part.lines {
			fmt.Fprintf(b, "%s%s\n", part.op, line)
		}
	}
}

// check applies a generated patch.
func (g generated) check(t *testing.T) {
	t.Helper()
	p, err := patchapply.Parse([]byte(g.patch))
	if err != nil {
		t.Fatalf("%v\n%s", err, g.patch)
	}
	after, _, err := p.Sections[0].Apply([]byte(g.before))
	if err != nil {
		t.Fatalf("%v\nfile:\n%q\n%s", err, g.before, g.patch)
	}
	if diff := cmp.Diff(g.after, string(after)); diff != "" {
		t.Fatalf("(-want +got)\n%s\nfile:\n%q\n%s", diff, g.before, g.patch)
	}
}

// TestGenerated applies patches that were made from edits.
func TestGenerated(t *testing.T) {
	for seed := range uint64(10_000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { generate(seed).check(t) })
		if t.Failed() {
			return
		}
	}
}

func FuzzGenerated(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { generate(seed).check(t) })
}
