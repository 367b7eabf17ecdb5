package patchtool

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/pkg/linediff"
	"github.com/toolhost/toolhost/pkg/patchapply"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// Bounds on what a person is shown of a plan. Most calls are shown to nobody, so it must
// cost next to nothing.
const (
	summaryBytes = 4 << 10
	summaryFiles = 8        // that the first line names
	diffWindow   = 64 << 10 // of a file, from the first difference on
)

// summary says in one line what a plan would do, and below it as a diff, as far as that fits, and
// whether that is all of it.
func summary(plan *patchapply.Plan) (text string, whole bool) {
	var what []string
	for i, o := range plan.Outcomes {
		if i == summaryFiles {
			what = append(what, fmt.Sprintf("and %d more", len(plan.Outcomes)-i))
			break
		}
		what = append(what, intent(o))
	}
	text, whole = "apply a patch: "+strings.Join(what, ", "), true
	for _, o := range plan.Outcomes {
		if len(text) > summaryBytes {
			break
		}
		part, all := diff(o)
		text, whole = text+part, whole && all
	}
	if len(text) > summaryBytes {
		text, whole = toolkit.Cut(text, summaryBytes), false
	}
	return text, whole
}

// unshown stands for a patch that its summary does not show whole.
func (in applyIn) unshown(p *patchapply.Patch) string {
	added, removed := 0, 0
	for _, s := range p.Sections {
		if s.Kind == patchapply.Add {
			added += bytes.Count(s.Content, []byte("\n"))
		}
		for _, h := range s.Hunks {
			for _, l := range h.Lines {
				switch l.Op {
				case '+':
					added++
				case '-':
					removed++
				}
			}
		}
	}
	text := []byte(in.Patch)
	if in.Patch == "" {
		text, _ = json.Marshal([]any{in.Operation, in.Operations}) // decoded from JSON
	}
	return fmt.Sprintf("a patch of %d files with %d lines added and %d removed, %d bytes with SHA-256 %x",
		len(p.Sections), added, removed, len(text), sha256.Sum256(text))
}

func intent(o patchapply.Outcome) string {
	name := toolkit.Inline(o.Path)
	switch o.Effect {
	case patchapply.Created:
		return "create " + name
	case patchapply.Updated:
		return "update " + name + newMode(o)
	case patchapply.Deleted:
		return "delete " + name
	case patchapply.Moved:
		text := "move " + toolkit.Inline(o.From) + " to " + name + newMode(o)
		if o.Lost != nil {
			text += " in the place of what is there"
		}
		return text
	}
	return "leave " + name
}

// newMode says to what permissions a file gets others.
func newMode(o patchapply.Outcome) string {
	if o.Before == nil || o.Perm == 0 || o.Perm == o.Before.Perm {
		return ""
	}
	return fmt.Sprintf(" (mode %04o to %04o)", o.Before.Perm, o.Perm)
}

// diff returns what differs in a file, each line so that it cannot pass for something else.
func diff(o patchapply.Outcome) (text string, whole bool) {
	var before []byte
	if o.Before != nil {
		before = o.Before.Content
	}
	if o.Effect == patchapply.Deleted || bytes.Equal(before, o.After) {
		return "", true
	}
	hunks, more := hunksOf(before, o.After)
	var b strings.Builder
	fmt.Fprintf(&b, "\n--- %s", toolkit.Inline(o.Path))
	for _, h := range hunks {
		fmt.Fprintf(&b, "\n%s", h.Header())
		for _, l := range h.Lines {
			line, ended := strings.CutSuffix(string(l.Text), "\n")
			fmt.Fprintf(&b, "\n%c%s", l.Op, toolkit.Inline(line))
			if !ended {
				b.WriteString("\n\\ No newline at end of file")
			}
		}
	}
	if more {
		b.WriteString("\n[the file goes on; more may differ]")
	}
	return b.String(), !more
}

// hunksOf compares the windows of two texts from shortly before the first difference to shortly
// behind the last.
// Hunks at the end of a window that does not reach the end of its text are left out: they
// may be none.
func hunksOf(before, after []byte) (hunks []linediff.Hunk, more bool) {
	const context = 3
	start := lineStart(before, commonPrefix(before, after), context)
	lines := bytes.Count(before[:start], []byte("\n"))
	tail := commonSuffix(before[start:], after[start:])
	a, moreA := window(before[start:lineEnd(before, len(before)-tail, context)])
	b, moreB := window(after[start:lineEnd(after, len(after)-tail, context)])
	hunks = linediff.Hunks(a, b, context)
	if more = moreA || moreB; more && len(hunks) > 1 {
		hunks = hunks[:len(hunks)-1]
	}
	for i := range hunks {
		hunks[i].OldStart += lines
		hunks[i].NewStart += lines
	}
	return hunks, more
}

func commonPrefix(a, b []byte) int {
	const block = 4096
	n, end := 0, min(len(a), len(b))
	for n+block <= end && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < end && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []byte) int {
	const block = 4096
	n, end := 0, min(len(a), len(b))
	for n+block <= end && bytes.Equal(a[len(a)-n-block:len(a)-n], b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < end && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// lineEnd returns where the line ends that lies so many lines behind the one at n.
func lineEnd(text []byte, n, lines int) int {
	for range lines + 1 {
		i := bytes.IndexByte(text[n:], '\n')
		if i < 0 {
			return len(text)
		}
		n += i + 1
	}
	return n
}

// lineStart returns where the line begins that lies so many lines before the one at n.
func lineStart(text []byte, n, lines int) int {
	for range lines + 1 {
		n = bytes.LastIndexByte(text[:n], '\n')
		if n < 0 {
			return 0
		}
	}
	return n + 1
}

func window(text []byte) (part []byte, more bool) {
	if len(text) <= diffWindow {
		return text, false
	}
	return text[:diffWindow], true
}
