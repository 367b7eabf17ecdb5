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

// Diff shows what changed, as a unified diff for reading: letters as a read shows them, no
// byte order mark, no carriage returns at the ends of lines, long lines cut. Where limit
// bytes do not reach, the last line says how many lines are missing.
func Diff(old, new []byte, limit int) string {
	const markRoom = 80
	bom := textfile.UTF8BOM.BOM()
	hunks := linediff.Hunks(bytes.TrimPrefix(old, bom), bytes.TrimPrefix(new, bom), 3)
	changed, shown := 0, 0
	for _, h := range hunks {
		changed += differing(h.Lines)
	}
	var b strings.Builder
	put := func(line string) bool {
		if b.Len()+len(line) > limit-markRoom {
			return false
		}
		b.WriteString(line)
		return true
	}
	for _, h := range hunks {
		if !put(h.Header() + "\n") {
			break
		}
		n := 0
		for n < len(h.Lines) && put(shownLine(h.Lines[n])) {
			n++
		}
		shown += differing(h.Lines[:n])
		if n < len(h.Lines) {
			break
		}
	}
	if shown < changed {
		fmt.Fprintf(&b, "[%d of %d changed lines are shown; read the file for the others]\n", shown, changed)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func differing(lines []linediff.Line) (n int) {
	for _, l := range lines {
		if l.Op != ' ' {
			n++
		}
	}
	return n
}

func shownLine(l linediff.Line) string {
	text, whole := bytes.CutSuffix(l.Text, []byte("\n"))
	if !whole {
		return string(l.Op) + shownText(text) + "\n\\ No newline at end of file\n"
	}
	return string(l.Op) + shownText(bytes.TrimSuffix(text, []byte("\r"))) + "\n"
}

// shownText returns a line as a read shows it, cut.
func shownText(line []byte) string {
	text := strings.ReplaceAll(textfile.Show(line), "\r", `\r`)
	if len(text) <= lineBytes {
		return text
	}
	n := lineBytes
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("%s ...[+%d chars]", text[:n], utf8.RuneCountInString(text[n:]))
}
