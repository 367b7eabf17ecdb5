// Package linediff finds which lines differ between two texts, and writes it as a unified
// diff that patch and git apply take.
//
// A line ends at \n and nowhere else; texts are bytes, in whatever encoding. [Hunks] gives
// the differences with their line numbers, for those who print them in their own way;
// [Unified] prints them.
//
// The differences are the smallest possible where there are few, and never take much more
// than linear time: where too much differs, lines that both texts have once serve as
// anchors, and what lies between them counts as replaced.
package linediff

import (
	"bytes"
	"fmt"
)

// A Hunk is a run of differing lines with the context round it. Lines count from 1; where
// a side has no line, its start is the line before, as unified diffs have it.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []Line
}

// A Line is one line of a hunk.
type Line struct {
	Op   byte   // ' ' in both texts, '-' only in the old, '+' only in the new
	Text []byte // with its end, which the last line of a text may lack; part of the text
}

// Header returns the line that stands above the hunk, without its end.
func (h Hunk) Header() string {
	return fmt.Sprintf("@@ -%s +%s @@", span(h.OldStart, h.OldLines), span(h.NewStart, h.NewLines))
}

func span(start, lines int) string {
	if lines == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// Hunks returns what differs between the texts, each hunk with so many lines of context on
// both sides.
func Hunks(old, new []byte, context int) []Hunk {
	a, b := Lines(old), Lines(new)
	d := compare(a, b)
	var hunks []Hunk
	for i := 0; i < len(d); {
		last := i
		for last+1 < len(d) && d[last+1].a0-d[last].a1 <= 2*context {
			last++
		}
		hunks = append(hunks, hunk(a, b, d[i:last+1], context))
		i = last + 1
	}
	return hunks
}

// hunk puts changes that lie near each other into one.
func hunk(a, b [][]byte, changes []change, context int) Hunk {
	first, last := changes[0], changes[len(changes)-1]
	before := min(context, first.a0)
	after := min(context, len(a)-last.a1)
	h := Hunk{
		OldStart: first.a0 - before, OldLines: last.a1 - first.a0 + before + after,
		NewStart: first.b0 - before, NewLines: last.b1 - first.b0 + before + after,
	}
	at := h.OldStart
	for _, c := range changes {
		h.add(' ', a[at:c.a0])
		h.add('-', a[c.a0:c.a1])
		h.add('+', b[c.b0:c.b1])
		at = c.a1
	}
	h.add(' ', a[at:last.a1+after])
	if h.OldLines > 0 {
		h.OldStart++
	}
	if h.NewLines > 0 {
		h.NewStart++
	}
	return h
}

func (h *Hunk) add(op byte, lines [][]byte) {
	for _, l := range lines {
		h.Lines = append(h.Lines, Line{op, l})
	}
}

// Unified returns the unified diff of the texts with three lines of context, or nothing
// where they are the same. The names stand in its head as they are.
func Unified(oldName, newName string, old, new []byte) []byte {
	hunks := Hunks(old, new, 3)
	if len(hunks) == 0 {
		return nil
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range hunks {
		out.WriteString(h.Header() + "\n")
		for _, l := range h.Lines {
			out.WriteByte(l.Op)
			out.Write(l.Text)
			if !bytes.HasSuffix(l.Text, []byte("\n")) {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	return out.Bytes()
}

// Lines splits text into lines with their ends. They are parts of it.
func Lines(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte("\n"))+1)
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		lines = append(lines, text[:n:n])
		text = text[n:]
	}
	return lines
}
