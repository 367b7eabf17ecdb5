package patchtool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/pkg/patchapply"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// An applyOut is a plan that was made so, or would be.
type applyOut struct {
	plan *patchapply.Plan
	dry  bool
}

// render says what became of each file. Where that is too much for the budget, files are
// left out and counted.
func (o applyOut) render(b toolkit.Budget) toolkit.Result {
	first := "completed"
	if o.dry {
		first = "dry run: the patch fits; nothing was changed"
	}
	out := []string{first}
	for _, w := range o.plan.Warnings {
		out = append(out, "Warning: "+toolkit.Inline(w))
	}
	const room = 120 // for what is said of the rest
	size := len(strings.Join(out, "\n"))
	for i, c := range o.plan.Outcomes {
		lines := o.lines(c)
		size += len(strings.Join(lines, "\n")) + 1
		if size > b.Text-room {
			rest := len(o.plan.Outcomes) - i
			out = append(out, fmt.Sprintf("[cut: %d of %d files are shown; the other %d were dealt with as well]", i, len(o.plan.Outcomes), rest))
			break
		}
		out = append(out, lines...)
	}
	return toolkit.Result{Text: strings.Join(out, "\n")}
}

// lines are what is said of one file.
func (o applyOut) lines(c patchapply.Outcome) []string {
	verb := func(did, would string) string {
		if o.dry {
			return would
		}
		return did
	}
	name := toolkit.Inline(c.Path)
	var text string
	switch c.Effect {
	case patchapply.Created:
		text = fmt.Sprintf("%s file: %s (%s)", verb("Created", "Would create"), name, bytesOf(len(c.After)))
	case patchapply.Updated:
		text = fmt.Sprintf("%s file: %s (%d -> %s)", verb("Updated", "Would update"), name, len(c.Before.Content), bytesOf(len(c.After)))
		if c.Perm != 0 && c.Perm != c.Before.Perm {
			text += fmt.Sprintf(", mode %04o -> %04o", c.Before.Perm, c.Perm)
		}
	case patchapply.Deleted:
		text = verb("Deleted", "Would delete") + " file: " + name
	case patchapply.Moved:
		text = verb("Moved", "Would move") + " file: " + toolkit.Inline(c.From) + " -> " + name
	default:
		text = "No changes: " + name
	}
	return append([]string{text}, notes(c.Hunks)...)
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// notes say where hunks were applied that do not fit to the letter, or are in doubt.
func notes(hunks []patchapply.HunkReport) (out []string) {
	for _, h := range hunks {
		if h.Fuzz == 0 && len(h.Warnings) == 0 {
			continue
		}
		text := fmt.Sprintf("  hunk %d at line %d", h.Hunk, h.Line)
		if h.Fuzz > 0 {
			text += fmt.Sprintf(": matched %s (fuzz %d)", loosely(h.Pass), h.Fuzz)
		}
		for _, w := range slices.Compact(h.Warnings) {
			text += "; " + toolkit.Inline(w)
		}
		out = append(out, text)
	}
	return out
}

// loosely says how lines were compared.
func loosely(p patchapply.Pass) string {
	switch p {
	case patchapply.PassRightTrim:
		return "but for white space at the ends of lines"
	case patchapply.PassTrim:
		return "but for white space at both ends of lines"
	case patchapply.PassUnicode:
		return "but for white space and the form of dashes, quotes and blanks"
	}
	return "exactly, but not at the place given"
}
