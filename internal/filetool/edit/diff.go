package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/linediff"
	"github.com/toolhost/toolhost/pkg/textfile"
)

// lineBytes is how much of a line a diff shows.
const lineBytes = 2000

// A Diff is what changed from one content to another.
type Diff struct {
	hunks   []linediff.Hunk
	changed int // lines
}

// Compare returns what changed. It refers to both contents.
func Compare(old, new []byte) *Diff {
	bom := textfile.UTF8BOM.BOM()
	d := &Diff{hunks: linediff.Hunks(bytes.TrimPrefix(old, bom), bytes.TrimPrefix(new, bom), 3)}
	for _, h := range d.hunks {
		d.changed += differing(h.Lines)
	}
	return d
}

// Show returns a unified diff for reading: letters as a read shows them, no byte order
// mark, no carriage returns at the ends of lines, long lines cut. Where limit bytes do not
// reach, the last line says how many lines are missing.
func (d *Diff) Show(limit int) string {
	text, _ := d.ShowWhole(limit)
	return text
}

// Counts returns how many lines are added and removed.
func (d *Diff) Counts() (added, removed int) {
	for _, h := range d.hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// ShowWhole is Show, and reports whether that is all of it, to the last character.
func (d *Diff) ShowWhole(limit int) (text string, whole bool) {
	const markRoom = 80
	shown, whole := 0, true
	var b strings.Builder
	put := func(line string) bool {
		if b.Len()+len(line) > limit-markRoom {
			return false
		}
		b.WriteString(line)
		return true
	}
	for _, h := range d.hunks {
		if !put(h.Header() + "\n") {
			break
		}
		n, from := 0, starts(h.Lines)
		for n < len(h.Lines) && put(shownLine(h.Lines[n], from[n])) {
			whole = whole && (h.Lines[n].Op == ' ' || from[n] == 0 && len(h.Lines[n].Text) <= lineBytes)
			n++
		}
		shown += differing(h.Lines[:n])
		if n < len(h.Lines) {
			break
		}
	}
	if shown < d.changed {
		fmt.Fprintf(&b, "[%d of %d changed lines are shown; read the file for the others]\n", shown, d.changed)
	}
	return strings.TrimSuffix(b.String(), "\n"), whole && shown == d.changed
}

func differing(lines []linediff.Line) (n int) {
	for _, l := range lines {
		if l.Op != ' ' {
			n++
		}
	}
	return n
}

// starts returns, for each line, how many of its bytes are left out at the start: of a long
// one that became another, what both begin with, but for a little.
func starts(lines []linediff.Line) []int {
	const kept = 200
	from := make([]int, len(lines))
	run := func(at int, op byte) int {
		for at < len(lines) && lines[at].Op == op {
			at++
		}
		return at
	}
	for i := 0; i < len(lines); {
		if lines[i].Op == ' ' {
			i++
			continue
		}
		added := run(i, '-')
		end := run(added, '+')
		for k := 0; i+k < added && added+k < end; k++ {
			a, b := lines[i+k].Text, lines[added+k].Text
			if max(len(a), len(b)) <= lineBytes {
				continue
			}
			same := 0
			for same < min(len(a), len(b)) && a[same] == b[same] {
				same++
			}
			from[i+k] = max(0, same-kept)
			from[added+k] = from[i+k]
		}
		i = end
	}
	return from
}

func shownLine(l linediff.Line, from int) string {
	text, whole := bytes.CutSuffix(l.Text, []byte("\n"))
	if !whole {
		return string(l.Op) + shownText(text, from) + "\n\\ No newline at end of file\n"
	}
	return string(l.Op) + shownText(bytes.TrimSuffix(text, []byte("\r")), from) + "\n"
}

// shownText returns a line as a read shows it, cut at both ends.
func shownText(line []byte, from int) string {
	for from = min(from, len(line)); from > 0 && from < len(line) && !utf8.RuneStart(line[from]); from-- {
	}
	front := ""
	if from > 0 {
		front = fmt.Sprintf("[%d chars+]... ", utf8.RuneCount(line[:from]))
	}
	text := strings.ReplaceAll(textfile.Show(line[from:]), "\r", `\r`)
	if len(text) <= lineBytes {
		return front + text
	}
	n := lineBytes
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("%s%s ...[+%d chars]", front, text[:n], utf8.RuneCountInString(text[n:]))
}
