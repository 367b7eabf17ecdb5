package patchapply

import (
	"fmt"
	"strings"
)

const fileHeaders = `"--- a/path" and "+++ b/path", "diff --git a/path b/path", or "@@ -1,3 +1,3 @@"`

// startsFile reports whether line i opens a file in a unified diff. Lines of --- and +++
// do so only as a pair, and before a hunk.
func (p *parser) startsFile(i int) bool {
	return strings.HasPrefix(p.line(i), gitHeader) || p.isPair(i) || isBinaryNote(p.line(i))
}

// isBinaryNote reports whether a line stands for the change of a binary file.
func isBinaryNote(line string) bool {
	return strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(line, " differ")
}

// isPair reports whether lines i to i+2 are ---, +++ and the head of a hunk.
func (p *parser) isPair(i int) bool {
	return i+2 < p.count() && strings.HasPrefix(p.line(i), "--- ") &&
		strings.HasPrefix(p.line(i+1), "+++ ") && strings.HasPrefix(p.line(i+2), "@@")
}

// unified reads the files of a diff up to line end.
func (p *parser) unified(end int) error {
	for p.pos < end && !p.startsFile(p.pos) {
		if line := p.line(p.pos); !isBlank(line) && !isDiffNoise(line) {
			p.peel("text around the diff")
			p.noteWrapper(line)
		}
		p.pos++
	}
	several := false // diffs, one after the other
	for p.pos < end {
		f := &diffFile{line: p.pos + 1}
		if err := p.diffFile(f, end); err != nil {
			return atPath(err, f.path())
		}
		section, err := p.diffSection(f)
		if err != nil {
			return err
		}
		p.sections = append(p.sections, section)
		several = several || f.over && p.pos < end
	}
	if !several {
		freeNames(p.sections)
	}
	return nil
}

// diffFile reads one file: its header, its hunks, and what follows up to the next file.
func (p *parser) diffFile(f *diffFile, end int) error {
	for ; p.pos < end; p.pos++ {
		line := p.line(p.pos)
		switch {
		case p.pos+1 > f.line && p.startsNext(f):
			return nil
		case p.isPair(p.pos):
			f.setPair(line, p.line(p.pos+1))
			p.pos++
		case strings.HasPrefix(line, "@@"):
			if err := p.diffHunks(f, end); err != nil {
				return err
			}
			p.pos--
		case len(f.hunks) == 0 && f.header(line), isBlank(line):
		case p.isSignature(p.pos, end):
			f.over = true
		case isClosing(line):
			f.over = f.over || p.endsDiff(end)
			p.noteWrapper(line)
		case isDiffNoise(line):
		case strayHeader(line), isMarker(line, beginPatch):
			return p.fail(p.pos, "an envelope and a unified diff cannot be mixed", fileHeaders)
		case !f.over && (line[0] == '+' || line[0] == '-'):
			return p.fail(p.pos, "this line stands outside a hunk", fileHeaders)
		default:
			p.peel("text around the diff")
		}
	}
	return nil
}

// startsNext reports whether the parser is at the first line of another file.
func (p *parser) startsNext(f *diffFile) bool {
	line := p.line(p.pos)
	return strings.HasPrefix(line, gitHeader) || f.paired && (p.isPair(p.pos) || isBinaryNote(line))
}

// isDiffNoise reports whether a line is one that programs print between files.
func isDiffNoise(line string) bool {
	for _, prefix := range []string{"diff ", "Index: ", "====", "index "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// diffHunks reads the hunks of one file.
func (p *parser) diffHunks(f *diffFile, end int) error {
	crlf := strings.HasSuffix(p.raw(p.pos), "\r")
	for p.pos < end && strings.HasPrefix(p.line(p.pos), "@@") {
		h := Hunk{Line: p.pos + 1}
		if !h.head(p.line(p.pos)) {
			return p.fail(p.pos, "the head of this hunk cannot be read", `"@@ -1,3 +1,3 @@"`)
		}
		p.pos++
		if err := p.diffHunk(&h, end); err != nil {
			return err
		}
		f.bare = f.bare || h.Unified == nil
		if len(h.Lines) == 0 {
			return p.fail(h.Line-1, "this hunk has no lines", hunkLines)
		}
		f.hunks = append(f.hunks, h)
	}
	f.crlf = f.crlf || crlf
	return nil
}

// head takes the line of @@: with numbers, or else as in an envelope.
func (h *Hunk) head(line string) bool {
	if numbers, ok := parseNumbers(line); ok {
		h.Unified = numbers
		return true
	}
	if strings.HasPrefix(line, "@@@") || strings.HasPrefix(line, "@@ -") {
		return false
	}
	switch anchor := strings.TrimPrefix(line[2:], " "); strings.TrimSpace(anchor) {
	case "", "@@", "...", "... @@":
	default:
		h.Anchors = []string{anchor}
	}
	return true
}

// diffHunk reads the lines of one hunk. Where the counts of its head fit they say where it
// ends, so that a removed line "-- x" is not taken for a file's header. Otherwise it goes on
// to a line that can be none of its own.
func (p *parser) diffHunk(h *Hunk, end int) error {
	if stop, ok := p.counted(h.Unified, end); ok {
		for ; p.pos < stop; p.pos++ {
			h.take(p.raw(p.pos))
		}
		return nil
	}
	for ; p.pos < end && !p.endsUncounted(h, end); p.pos++ {
		line := p.raw(p.pos)
		if h.Unified == nil {
			line = p.line(p.pos)
		}
		if !h.take(line) {
			return p.fail(p.pos, "a line of a hunk must begin with a blank, - or +", hunkLines)
		}
	}
	if h.Unified != nil && !h.fits(3) {
		p.warnings = append(p.warnings, fmt.Sprintf("patch line %d: the counts in the head of the hunk do not fit its lines; the lines were taken", h.Line))
	}
	return nil
}

// endsUncounted reports whether the parser's line stands behind a hunk whose counts do not
// say where it ends. A line that can be one of its own never does, but for the files' headers
// and what nothing else can follow.
func (p *parser) endsUncounted(h *Hunk, end int) bool {
	line := p.line(p.pos)
	if strings.HasPrefix(line, "@@") || p.startsFile(p.pos) || p.isSignature(p.pos, end) {
		return true
	}
	return !canBeHunk(line) && (isDiffNoise(line) || isClosing(line) || h.fits(0))
}

// isSignature reports whether line i is the "-- " that git puts under a mail, with its version
// behind: that can be no line of a hunk, so "-- " is none either.
func (p *parser) isSignature(i, end int) bool {
	if line := p.line(i); line != "-- " && line != "--" || i+1 >= end {
		return false
	}
	version := p.line(i + 1)
	if version == "" || strings.Trim(version[:1], "0123456789") != "" || strings.ContainsAny(strings.TrimSpace(version), " \t") {
		return false
	}
	for i += 2; i < end && isBlank(p.line(i)); i++ {
	}
	return i >= end || !canBeHunk(p.line(i)) || p.startsFile(i)
}

// canBeHunk reports whether a line's first character is one that a hunk's line has.
func canBeHunk(line string) bool { return line == "" || strings.IndexByte(" -+\\", line[0]) >= 0 }

// fits reports whether a hunk has as many lines as its head says. Of blank ones at the end
// as many may be too much as there are, and slack may be missing.
func (h *Hunk) fits(slack int) bool {
	if h.Unified == nil {
		return false
	}
	before, after := 0, 0
	lines := withoutBlankTail(h.Lines)
	for _, l := range lines {
		before, after = before+countOp(l.Op, '+'), after+countOp(l.Op, '-')
	}
	blanks := h.Unified.OldCount - before
	return blanks >= 0 && blanks == h.Unified.NewCount-after && blanks <= len(h.Lines)-len(lines)+slack
}

// countOp is 0 for a line that is not on a side, which is named by the other side's op.
func countOp(op, other byte) int {
	if op == other {
		return 0
	}
	return 1
}

// counted returns where the hunk ends that begins at the parser's line, and whether the
// counts lead to something that can stand behind a hunk.
func (p *parser) counted(n *Numbers, end int) (int, bool) {
	if n == nil {
		return 0, false
	}
	before, after, i := n.OldCount, n.NewCount, p.pos
	for ; i < end && (before > 0 || after > 0); i++ {
		line := p.line(i)
		if !canBeHunk(line) || before == 1 && after == 1 && p.isNextPair(i, n) {
			return 0, false
		}
		switch {
		case line == "", line[0] == ' ':
			before, after = before-1, after-1
		case line[0] == '-':
			before--
		case line[0] == '+':
			after--
		}
	}
	if before != 0 || after != 0 {
		return 0, false
	}
	if i < end && strings.HasPrefix(p.line(i), `\`) {
		i++
	}
	return i, p.follows(i, end)
}

// isNextPair reports whether line i begins the header of the next file, although the counts
// of a hunk include it: the names agree, and the hunk behind lies before this one's end.
func (p *parser) isNextPair(i int, n *Numbers) bool {
	if !p.isPair(i) {
		return false
	}
	f := &diffFile{}
	f.setPair(p.line(i), p.line(i+1))
	next, ok := parseNumbers(p.line(i + 2))
	return ok && next.Old < n.Old+n.OldCount-1 && (f.old == devNull || f.new == devNull || commonName(f.old, f.new) != "")
}

// follows reports whether line i can stand behind a hunk that is whole. What could be one of
// its lines, blank ones left aside, cannot.
func (p *parser) follows(i, end int) bool {
	for i < end && isBlank(p.line(i)) {
		i++
	}
	return i == end || !canBeHunk(p.line(i)) || p.startsFile(i) || p.isSignature(i, end)
}

// settleCR decides whether a \r before the line end belongs to the lines of an update. It does
// where they differ in it or are all new; where old ones have it too the file knows better. Where the heads of hunks
// have it too it is the patch that was converted.
func (f *diffFile) settleCR(update bool) {
	with, without := 0, 0
	update = update && !onlyAdds(f.hunks)
	for _, h := range f.hunks {
		for _, l := range h.Lines {
			switch n := strings.IndexByte(l.Text, '\r'); {
			case n >= 0 && n < len(l.Text)-1 && !f.crlf:
				return // no line end
			case strings.HasSuffix(l.Text, "\r"):
				with++
			default:
				without++
			}
		}
	}
	if with == 0 || !f.crlf && (without > 0 || !update) {
		return
	}
	for _, h := range f.hunks {
		for i := range h.Lines {
			h.Lines[i].Text = strings.TrimSuffix(h.Lines[i].Text, "\r")
		}
	}
}
