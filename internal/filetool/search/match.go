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
	// each calls yield with the bounds of the matches that are not empty within lines that
	// find returned, until it returns false.
	each(lines []byte, yield func(start, end int) bool)
	// first returns where the first match begins within such lines, 0 if it is empty.
	first(lines []byte) int
}

// A finder is the matcher of a compiled pattern.
type finder struct {
	*compiled
	stopped func() bool
	spent   int   // work since the last look at the time
	halted  bool  // the search was stopped
	next    []int // of each needle, where it stands at or behind the last place looked at
}

func (c *compiled) matcher(stopped func() bool) matcher {
	return &finder{compiled: c, stopped: stopped, next: make([]int, len(c.needles))}
}

// workBetween is how much work is done between looks at the time, in bytes of text for a
// small expression. It takes up to a tenth of a second.
const workBetween = 1 << 20

// weight returns the work that a byte of text may take.
func (c *compiled) weight() int { return 1 + c.size/8 }

// over reports whether the search is to end, before n bytes are matched. It is asked at
// each turn of a loop.
func (f *finder) over(n int) bool {
	f.spent += n
	if f.spent >= workBetween/f.weight() {
		f.spent = 0
		f.halted = f.halted || f.stopped()
	}
	return f.halted
}

func (f *finder) each(lines []byte, yield func(start, end int) bool) {
	text := f.content(lines)
	for pos := 0; pos <= len(text) && !f.over(len(text)-pos); {
		m := f.indexFrom(text, pos)
		if m == nil || m[1] > m[0] && !yield(m[0], m[1]) {
			return
		}
		pos = m[1]
		if m[0] == m[1] {
			_, size := utf8.DecodeRune(text[pos:])
			pos += max(1, size)
		}
	}
}

func (f *finder) first(lines []byte) int {
	if m := f.index(f.content(lines)); m != nil && m[1] > m[0] {
		return m[0]
	}
	return 0
}

// indexFrom returns the first match that begins at or after pos, where the pattern sees
// what stands before pos.
func (f *finder) indexFrom(text []byte, pos int) []int {
	if pos == 0 || f.behind == nil {
		return shifted(f.index(text[pos:]), pos)
	}
	_, size := utf8.DecodeLastRune(text[:pos])
	from := text[pos-size:]
	var m []int
	if f.short(from) {
		m = f.behind.FindSubmatchIndex(from)
	} else {
		m = f.read(from, f.behind.FindReaderSubmatchIndex)
	}
	if m == nil {
		return nil
	}
	return shifted(m[2:4], pos-size)
}

func shifted(m []int, by int) []int {
	if m == nil {
		return nil
	}
	return []int{m[0] + by, m[1] + by}
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
	if len(f.needles) > 0 && f.candidate(b, pos) == len(b) || f.over(len(b)-pos) {
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
// beginning of the text must see that it is not there; all else may start at the line.
func (f *finder) nextAcross(b []byte, pos int) []int {
	if f.seesStart {
		return f.indexFrom(b, pos)
	}
	return shifted(f.index(b[pos:]), pos)
}

func (f *finder) findByNeedle(b []byte, pos int) (start, end int) {
	for pos < len(b) {
		i := f.candidate(b, pos)
		if i == len(b) {
			break
		}
		start, end := lineAt(b, pos, i)
		if f.over(end - start) {
			break
		}
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
	for pos < len(b) {
		_, stop := lineAt(b, pos, min(pos+blockSize, len(b))-1)
		block := b[pos:stop]
		if f.over(len(block)) {
			break
		}
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

// short reports whether a text can be given to the regular expression at once. Nothing can
// stop that; others are read rune by rune.
func (f *finder) short(text []byte) bool { return len(text) <= workBetween/f.weight() }

func (f *finder) matches(text []byte) bool {
	if f.short(text) {
		return f.re.Match(text)
	}
	return f.index(text) != nil
}

func (f *finder) index(text []byte) []int {
	if f.short(text) {
		return f.re.FindIndex(text)
	}
	from := 0
	if f.prefix != "" { // which is looked for fast
		if from = bytes.Index(text, []byte(f.prefix)); from < 0 {
			return nil
		}
	}
	return shifted(f.read(text[from:], f.re.FindReaderIndex), from)
}

// read gives a text to a method of the regular expression. There is no match if the search
// is stopped.
func (f *finder) read(text []byte, find func(io.RuneReader) []int) []int {
	r := &runeReader{text: text, f: f}
	m := find(r)
	if f.halted {
		return nil
	}
	return m
}

// A runeReader reads a text until the search is stopped.
type runeReader struct {
	text []byte
	f    *finder
}

func (r *runeReader) ReadRune() (rune, int, error) {
	if len(r.text) == 0 || r.f.over(1) {
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
