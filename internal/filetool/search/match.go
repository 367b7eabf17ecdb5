package search

import "bytes"

// A matcher finds what a query looks for in buffers of whole lines. Each worker has one
// of its own, so it may keep state; it is used for one buffer at a time.
type matcher interface {
	// find returns the first match at or after pos, which is the beginning of a line,
	// widened to whole lines without the last newline; start is -1 if there is none.
	find(b []byte, pos int) (start, end int)
	// locate returns all matches that are not empty within lines that find returned, at
	// most n of them, n < 0 meaning all.
	locate(lines []byte, n int) [][]int
}

func (c *compiled) matcher() matcher { return c }

func (c *compiled) locate(lines []byte, n int) [][]int {
	found := c.re.FindAllIndex(c.content(lines), n)
	kept := found[:0]
	for _, m := range found {
		if m[1] > m[0] {
			kept = append(kept, m)
		}
	}
	return kept
}

func (c *compiled) find(b []byte, pos int) (start, end int) {
	switch {
	case pos >= len(b):
		return -1, -1
	case c.multiline:
		return c.findAcross(b, pos)
	case len(c.lit.text) > 0:
		return c.findByLiteral(b, pos)
	}
	return c.findByBlock(b, pos)
}

func (c *compiled) findAcross(b []byte, pos int) (start, end int) {
	if len(c.lit.text) > 0 && c.lit.find(b, pos) < 0 {
		return -1, -1
	}
	m := c.nextAcross(b, pos)
	if m == nil || m[0] == len(b) && b[len(b)-1] == '\n' {
		return -1, -1
	}
	start, _ = lineAt(b, pos, m[0])
	_, end = lineAt(b, pos, max(m[0], m[1]-1))
	return start, end
}

// nextAcross returns the first match that begins at or after pos. What asks for the
// beginning of the text must see it, all else may start at the line.
func (c *compiled) nextAcross(b []byte, pos int) []int {
	if !c.seesStart || pos == 0 {
		m := c.re.FindIndex(b[pos:])
		if m == nil {
			return nil
		}
		return []int{pos + m[0], pos + m[1]}
	}
	for _, m := range c.re.FindAllIndex(b, -1) {
		if m[0] >= pos {
			return m
		}
	}
	return nil
}

func (c *compiled) findByLiteral(b []byte, pos int) (start, end int) {
	for pos < len(b) {
		i := c.lit.find(b, pos)
		if i < 0 {
			break
		}
		start, end := lineAt(b, pos, i)
		if c.pure || c.re.Match(c.content(b[start:end])) {
			return start, end
		}
		pos = end + 1
	}
	return -1, -1
}

// blockSize is how much is given to the regular expression at once: package regexp is
// several times faster on small texts.
const blockSize = 4 << 10

func (c *compiled) findByBlock(b []byte, pos int) (start, end int) {
	for pos < len(b) {
		_, stop := lineAt(b, pos, min(pos+blockSize, len(b))-1)
		block := b[pos:stop]
		if !c.seesCR && bytes.IndexByte(block, '\r') >= 0 {
			if start, end = c.findByLine(block); start >= 0 {
				return pos + start, pos + end
			}
		} else if m := c.re.FindIndex(block); m != nil {
			return lineAt(b, pos, pos+m[0])
		}
		pos = stop + 1
	}
	return -1, -1
}

func (c *compiled) findByLine(b []byte) (start, end int) {
	for start <= len(b) {
		_, end = lineAt(b, start, start)
		if c.re.Match(c.content(b[start:end])) {
			return start, end
		}
		start = end + 1
	}
	return -1, -1
}

// content returns what of a line the pattern sees: not the \r of its ending, unless the
// pattern asks for one.
func (c *compiled) content(line []byte) []byte {
	if c.seesCR {
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
