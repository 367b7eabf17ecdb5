package search

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// A matcher finds what a query looks for in buffers of whole lines. Each worker has one
// of its own, so it may keep state; it is used for one buffer at a time.
type matcher interface {
	// find returns the first match at or after pos, which is the beginning of a line,
	// widened to whole lines without the last newline; start is -1 if there is none, or
	// if the search was stopped. A buffer is searched from 0 on, with rising pos.
	find(b []byte, pos int) (start, end int)
	// locate returns all matches that are not empty within lines that find returned, at
	// most n of them, n < 0 meaning all.
	locate(lines []byte, n int) [][]int
}

// A finder is the matcher of a compiled pattern.
type finder struct {
	*compiled
	stopped func() bool
	turns   int
	next    []int // of each needle, where it stands at or behind the last place looked at
}

func (c *compiled) matcher(stopped func() bool) matcher {
	return &finder{compiled: c, stopped: stopped, next: make([]int, len(c.needles))}
}

// turnsBetween is how many lines or blocks are matched between looks at the time.
const turnsBetween = 16

// over reports whether the search is to end. It is asked at each turn of a loop.
func (f *finder) over() bool {
	f.turns++
	return f.turns%turnsBetween == 0 && f.stopped()
}

func (f *finder) locate(lines []byte, n int) [][]int {
	text := f.content(lines)
	var found [][]int
	if n != 1 {
		found = f.re.FindAllIndex(text, n)
	} else if m := f.index(text); m != nil {
		found = [][]int{m}
	}
	kept := found[:0]
	for _, m := range found {
		if m[1] > m[0] {
			kept = append(kept, m)
		}
	}
	return kept
}

func (f *finder) find(b []byte, pos int) (start, end int) {
	switch {
	case pos >= len(b):
		return -1, -1
	case f.multiline:
		return f.findAcross(b, pos)
	case len(f.needles) > 0:
		return f.findByNeedle(b, pos)
	}
	return f.findByBlock(b, pos)
}

// candidate returns the first place at or after pos where a needle stands, or len(b).
func (f *finder) candidate(b []byte, pos int) int {
	first := len(b)
	for i := range f.needles {
		if pos == 0 || f.next[i] < pos {
			f.next[i] = f.needles[i].find(b, pos)
		}
		first = min(first, f.next[i])
	}
	return first
}

func (f *finder) findAcross(b []byte, pos int) (start, end int) {
	if len(f.needles) > 0 && f.candidate(b, pos) == len(b) || f.stopped() {
		return -1, -1
	}
	m := f.nextAcross(b, pos)
	if m == nil || m[0] == len(b) && b[len(b)-1] == '\n' {
		return -1, -1
	}
	start, _ = lineAt(b, pos, m[0])
	_, end = lineAt(b, pos, max(m[0], m[1]-1))
	return start, end
}

// nextAcross returns the first match that begins at or after pos. What asks for the
// beginning of the text must see it, all else may start at the line.
func (f *finder) nextAcross(b []byte, pos int) []int {
	if !f.seesStart || pos == 0 {
		m := f.index(b[pos:])
		if m == nil {
			return nil
		}
		return []int{pos + m[0], pos + m[1]}
	}
	for _, m := range f.re.FindAllIndex(b, -1) {
		if m[0] >= pos {
			return m
		}
	}
	return nil
}

func (f *finder) findByNeedle(b []byte, pos int) (start, end int) {
	for pos < len(b) && !f.over() {
		i := f.candidate(b, pos)
		if i == len(b) {
			break
		}
		start, end := lineAt(b, pos, i)
		if f.pure || f.matches(f.content(b[start:end])) {
			return start, end
		}
		pos = end + 1
	}
	return -1, -1
}

// blockSize is how much is given to the regular expression at once: package regexp is
// several times faster on small texts.
const blockSize = 4 << 10

func (f *finder) findByBlock(b []byte, pos int) (start, end int) {
	for pos < len(b) && !f.over() {
		_, stop := lineAt(b, pos, min(pos+blockSize, len(b))-1)
		block := b[pos:stop]
		if !f.seesCR && bytes.IndexByte(block, '\r') >= 0 {
			if start, end = f.findByLine(block); start >= 0 {
				return pos + start, pos + end
			}
		} else if m := f.index(block); m != nil {
			return lineAt(b, pos, pos+m[0])
		}
		pos = stop + 1
	}
	return -1, -1
}

func (f *finder) findByLine(b []byte) (start, end int) {
	for start <= len(b) {
		_, end = lineAt(b, start, start)
		if f.matches(f.content(b[start:end])) {
			return start, end
		}
		start = end + 1
	}
	return -1, -1
}

// longText is the length from which a text is given to the regular expression rune by
// rune, since nothing else can be stopped, unless it begins with a literal: that is
// looked for first, which is fast.
const longText = 1 << 20

func (f *finder) matches(text []byte) bool {
	if len(text) < longText || f.prefixed {
		return f.re.Match(text)
	}
	r := &runeReader{text: text, stopped: f.stopped}
	return f.re.MatchReader(r) && !r.cut
}

func (f *finder) index(text []byte) []int {
	if len(text) < longText || f.prefixed {
		return f.re.FindIndex(text)
	}
	r := &runeReader{text: text, stopped: f.stopped}
	if m := f.re.FindReaderIndex(r); !r.cut {
		return m
	}
	return nil
}

// A runeReader reads a text until the search is stopped.
type runeReader struct {
	text    []byte
	stopped func() bool
	read    int
	cut     bool
}

func (r *runeReader) ReadRune() (rune, int, error) {
	r.read++
	if r.read%(blockSize*turnsBetween) == 0 && r.stopped() {
		r.cut = true
	}
	if r.cut || len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}

// content returns what of a line the pattern sees: not the \r of its ending, unless the
// pattern asks for one.
func (f *finder) content(line []byte) []byte {
	if f.seesCR {
		return line
	}
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// lineAt returns the bounds of the line that holds index i; pos is known to begin a line
// at or before i.
func lineAt(b []byte, pos, i int) (start, end int) {
	start = pos + bytes.LastIndexByte(b[pos:i], '\n') + 1
	if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
		return start, i + n
	}
	return start, len(b)
}
