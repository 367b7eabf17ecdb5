package patchapply

import (
	"slices"
	"strings"
)

// eofFuzz is what it adds to the fuzz when lines said to end the file do not.
const eofFuzz = 10000

// maxPlaces is how many places of lines are looked for, to name them.
const maxPlaces = 6

// A locator finds the places of a section's hunks, one after the other. Lines are always
// looked for in the file as it was, behind the hunk before: none is taken twice.
type locator struct {
	section *Section
	file    *fileText
	mem     *scratch
	old     [][][]byte // lines that hunks find, by hunk; nil: not asked for yet
	indexes [passes]*lineIndex
	cursor  int // where the next hunk may begin, from 0
	changed int // where one with numbers may: git prints some that share context with the one before
	offset  int // by how much the last hunk with numbers was off
}

// A search is for one hunk.
type search struct {
	hunk     *Hunk
	number   int // from 0
	lines    []Line
	old      [][]byte // of lines
	from     int      // where it begins
	anchorAt int      // line of the last anchor; -1: none
	anchored bool     // all anchors were found
	behind   bool     // the first one only before the cursor
	missing  string   // the one anchor that was not found
}

// index returns the lines of the file for a pass.
func (l *locator) index(p Pass) *lineIndex {
	if l.indexes[p] != nil {
		return l.indexes[p]
	}
	var wanted [][]byte
	for i := range l.section.Hunks {
		h := &l.section.Hunks[i]
		for _, anchor := range h.Anchors {
			wanted = append(wanted, []byte(anchor), []byte(withoutTail(anchor)))
		}
		wanted = append(wanted, l.oldOf(i)...)
	}
	var hashes []uint64
	if p == PassExact { // the others are seldom needed
		l.mem.hashes = slices.Grow(l.mem.hashes[:0], l.file.count())
		hashes = l.mem.hashes[:l.file.count()]
	} else {
		hashes = make([]uint64, l.file.count())
	}
	l.indexes[p] = newLineIndex(p, l.file, wanted, hashes)
	return l.indexes[p]
}

// oldOf returns the lines that hunk i finds.
func (l *locator) oldOf(i int) [][]byte {
	if l.old[i] == nil {
		l.old[i] = oldLines(l.section.Hunks[i].Lines)
	}
	return l.old[i]
}

func oldLines(lines []Line) [][]byte {
	count, size := 0, 0
	for _, l := range lines {
		if l.Op != '+' {
			count, size = count+1, size+len(l.Text)
		}
	}
	old, text := make([][]byte, 0, count), make([]byte, 0, size)
	for _, l := range lines {
		if l.Op != '+' {
			text = append(text, l.Text...)
			old = append(old, text[len(text)-len(l.Text):len(text):len(text)])
		}
	}
	return old
}

// withoutBlankTail returns lines without blank context at the end, which may be what stands
// between two hunks.
func withoutBlankTail(lines []Line) []Line {
	for n := len(lines); n > 0 && lines[n-1].Op == ' ' && isBlank(lines[n-1].Text); n-- {
		lines = lines[:n-1]
	}
	return lines
}

// locate finds the place of hunk i.
func (l *locator) locate(i int) (edit, error) {
	h := &l.section.Hunks[i]
	s := &search{hunk: h, number: i, lines: h.Lines, from: l.cursor, anchorAt: -1}
	if h.Unified != nil {
		s.from = l.changed
	}
	s.old = l.oldOf(i)
	if err := l.findAnchors(s); err != nil {
		return edit{}, err
	}
	short := withoutBlankTail(h.Lines)
	shortOld := s.old[:len(s.old)-(len(h.Lines)-len(short))] // what it lacks is context
	if len(s.old) == 0 || h.Unified == nil && len(shortOld) == 0 {
		s.lines = short
		return l.insert(s)
	}
	full := *s
	for _, from := range l.starts(s) {
		s.from, s.lines, s.old = from, full.lines, full.old
		if d, found, err := l.try(s); found || err != nil {
			return l.clear(s, d, err)
		}
		if len(shortOld) == 0 || len(shortOld) == len(s.old) {
			continue
		}
		s.lines, s.old = short, shortOld
		if d, found, err := l.try(s); found || err != nil {
			return l.clear(s, d, err)
		}
	}
	if len(shortOld) == 0 {
		s.lines, s.from = short, full.from
		return l.insert(s)
	}
	full.lines, full.old = short, shortOld
	return edit{}, l.notFound(&full)
}

// starts returns where to search from, one after the other: behind the anchor, at the anchor
// itself, and from the cursor where the anchor also stands before it.
func (l *locator) starts(s *search) []int {
	starts := []int{s.from}
	if !s.anchored {
		return starts
	}
	if s.anchorAt >= l.cursor {
		starts = append(starts, s.anchorAt)
	}
	if len(s.hunk.Anchors) == 1 && !s.behind && l.cursor > 0 && s.from > l.cursor {
		if at, ok := l.findAnchor(s.hunk.Anchors[0], 0); ok && at < l.cursor {
			starts = append(starts, l.cursor)
		}
	}
	return starts
}

// findAnchors goes from anchor to anchor. One that stands before the cursor counts if it is
// the first; one alone may be missing.
func (l *locator) findAnchors(s *search) error {
	for i, anchor := range s.hunk.Anchors {
		if at, ok := l.findAnchor(anchor, s.from); ok {
			s.from, s.anchorAt = at+1, at
			continue
		}
		if i == 0 {
			if at, ok := l.findAnchor(anchor, 0); ok {
				s.anchorAt, s.behind = at, true
				continue
			}
		}
		if s.missing = anchor; len(s.hunk.Anchors) > 1 {
			return l.anchorMissing(s)
		}
	}
	s.anchored = len(s.hunk.Anchors) > 0 && s.missing == ""
	return nil
}

// findAnchor returns the first line from a place on that is the anchor.
func (l *locator) findAnchor(anchor string, from int) (int, bool) {
	for _, text := range []string{anchor, withoutTail(anchor)} {
		for p := PassExact; p < passes; p++ {
			if at := l.index(p).find([][]byte{[]byte(text)}, from, 1); len(at) > 0 {
				return at[0], true
			}
		}
	}
	return 0, false
}

// withoutTail returns an anchor without the @@ that some models put behind it too.
func withoutTail(anchor string) string {
	return strings.TrimSuffix(strings.TrimRight(anchor, " \t"), " @@")
}

// try searches in all passes from one place on.
func (l *locator) try(s *search) (edit, bool, error) {
	if s.hunk.EndOfFile {
		if at := l.file.count() - len(s.old); at >= s.from {
			for p := PassExact; p < passes; p++ {
				if l.index(p).matches(s.old, at) {
					return l.place(s, at, p), true, nil
				}
			}
		}
	}
	for p := PassExact; p < passes; p++ {
		d, found, err := l.tryPass(s, p)
		if found || err != nil {
			return d, found, err
		}
	}
	return edit{}, false, nil
}
