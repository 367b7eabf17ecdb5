package patchapply

import (
	"strconv"
	"strings"
)

const hunkLines = `"@@", lines that begin with " ", "-" or "+", and "*** End of File"`

// hunks reads hunks up to a marker that is not theirs.
func (p *parser) hunks(end int) ([]Hunk, error) {
	r := hunkReader{parser: p}
	for ; p.pos < end; p.pos++ {
		line := p.line(p.pos)
		if strings.HasPrefix(line, "***") && !isMarker(line, endOfFile) {
			break
		}
		if r.closed && strings.HasPrefix(strings.TrimSpace(line), "***") {
			break // a header after a whole hunk may be indented
		}
		if err := r.add(line); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// A hunkReader makes hunks of lines.
type hunkReader struct {
	parser *parser
	done   []Hunk
	hunk   *Hunk // the one that is read; nil: none
	closed bool  // it has its End of File
}

// add takes the line that the parser is at.
func (r *hunkReader) add(line string) error {
	switch {
	case strings.HasPrefix(line, "@@"):
		return r.open(line)
	case isMarker(line, endOfFile) && line[0] == '*':
		if r.hunk == nil || len(r.hunk.Lines) == 0 {
			return r.parser.fail(r.parser.pos, "no hunk stands before this line", hunkLines)
		}
		r.parser.noteStars(line)
		r.hunk.EndOfFile, r.closed = true, true
		return nil
	case r.closed && isBlank(line):
		return nil
	case r.closed:
		return r.parser.fail(r.parser.pos, `a new hunk after "*** End of File" must begin with @@`, `"@@", or `+headers)
	}
	if r.hunk == nil {
		if line == "" {
			return nil // between header and hunk
		}
		r.hunk = &Hunk{Line: r.parser.pos + 1}
	}
	if !r.hunk.take(line) {
		return r.parser.fail(r.parser.pos, "a line of a hunk must begin with a blank, - or +", hunkLines)
	}
	return nil
}

// open begins a hunk, or adds an anchor to one that has no lines yet.
func (r *hunkReader) open(line string) error {
	if r.hunk != nil && (len(r.hunk.Lines) > 0 || r.hunk.Unified != nil) {
		if err := r.close(); err != nil {
			return err
		}
	}
	if r.hunk == nil {
		r.hunk = &Hunk{Line: r.parser.pos + 1}
	}
	if numbers, ok := parseNumbers(line); ok {
		r.hunk.Unified = numbers
		return nil
	}
	if anchor := strings.TrimPrefix(line[2:], " "); !isBlank(anchor) {
		r.hunk.Anchors = append(r.hunk.Anchors, anchor)
	}
	return nil
}

// close ends the hunk that is read. One with nothing but blank lines is none.
func (r *hunkReader) close() error {
	h := r.hunk
	r.hunk, r.closed = nil, false
	if h == nil {
		return nil
	}
	if !h.isEmpty() {
		r.done = append(r.done, *h)
		return nil
	}
	if len(h.Anchors) > 0 || h.Unified != nil {
		return r.parser.fail(h.Line-1, "this hunk has no lines", hunkLines)
	}
	return nil
}

func (r *hunkReader) finish() ([]Hunk, error) {
	err := r.close()
	return r.done, err
}

// isEmpty reports whether a hunk neither changes nor finds anything.
func (h *Hunk) isEmpty() bool {
	for _, l := range h.Lines {
		if l.Op != ' ' || l.Text != "" {
			return false
		}
	}
	return true
}

// take adds a line as the patch has it, and reports whether it can be one.
func (h *Hunk) take(line string) bool {
	if line == "" || line == "\r" {
		h.Lines = append(h.Lines, Line{' ', line})
		return true
	}
	switch line[0] {
	case ' ', '-', '+':
		h.Lines = append(h.Lines, Line{line[0], line[1:]})
	case '\\':
		h.noNewline()
	default:
		return false
	}
	return true
}

// noNewline notes that the line before it ends the file without a line end.
func (h *Hunk) noNewline() {
	if h.Unified == nil || len(h.Lines) == 0 {
		return
	}
	switch h.Lines[len(h.Lines)-1].Op {
	case '-':
		h.Unified.NoNewlineOld = true
	case '+':
		h.Unified.NoNewlineNew = true
	default:
		h.Unified.NoNewlineOld, h.Unified.NoNewlineNew = true, true
	}
}

// parseNumbers reads @@ -a[,b] +c[,d] @@, whatever stands behind it.
func parseNumbers(line string) (*Numbers, bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return nil, false
	}
	ranges, _, ok := strings.Cut(rest, " @@")
	if !ok { // some models leave the second @@ out
		ranges = strings.TrimSpace(rest)
	}
	before, after, ok := strings.Cut(ranges, " +")
	if !ok {
		return nil, false
	}
	n := &Numbers{}
	if n.Old, n.OldCount, ok = parseRange(before); !ok {
		return nil, false
	}
	n.New, n.NewCount, ok = parseRange(strings.TrimSpace(after))
	return n, ok
}

// parseRange reads a[,b]. Without b it is one line.
func parseRange(s string) (first, count int, ok bool) {
	a, b, found := strings.Cut(s, ",")
	if !found {
		b = "1"
	}
	first, err1 := parseNumber(a)
	count, err2 := parseNumber(b)
	return first, count, err1 == nil && err2 == nil
}

func parseNumber(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}
