package search

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

// A collector makes results of the matches in one file, which it gets in chunks of whole
// lines.
type collector struct {
	g   *Grep
	m   matcher
	max int // lines wanted; 0 for all
	out *scanned

	number  int    // lines before offset counted of the chunk
	counted int    // offset in the chunk up to which newlines are counted
	shown   int    // number of the last line in the result
	pending int    // lines of context still to come
	decoded []byte // a chunk that is no UTF-8
	tail    []Line // last lines of the chunk before, for context
}

// chunk searches b and reports whether nothing more is wanted. The last chunk ends the
// file; others end in a newline. A NUL ends the search before its line: what follows is
// taken for no text.
func (c *collector) chunk(b []byte, last bool) (done bool) {
	nul := bytes.IndexByte(b, 0)
	if nul >= 0 {
		b = b[:bytes.LastIndexByte(b[:nul], '\n')+1]
	}
	if c.g.compiled.wide && !utf8.Valid(b) {
		b = c.decode(b)
	}
	c.counted = 0
	for pos := 0; ; {
		start, end := c.m.find(b, pos)
		if start < 0 {
			c.after(b, pos, len(b))
			break
		}
		c.out.count++
		if c.g.query.Mode == Files {
			return true
		}
		if c.g.query.Mode == Content {
			c.after(b, pos, start)
			c.match(b, start, end)
		}
		if c.out.capped {
			return true
		}
		pos = end + 1
	}
	if !last {
		c.carry(b)
	}
	c.out.binary = nul >= 0 && !c.out.capped
	return c.out.capped || c.out.binary
}

// decodeAtOnce bounds, but for longer lines, what [textfile.Show] copies.
const decodeAtOnce = 64 << 10

// decode returns b as it is shown, which is what patterns with letters beyond ASCII are
// matched with. It is valid until the next call.
func (c *collector) decode(b []byte) []byte {
	c.decoded = c.decoded[:0]
	for len(b) > 0 {
		_, end := lineAt(b, 0, min(decodeAtOnce, len(b))-1)
		end = min(end+1, len(b))
		c.decoded = append(c.decoded, textfile.Show(b[:end])...)
		b = b[end:]
	}
	return c.decoded
}

// at returns the number of the line that begins at offset.
func (c *collector) at(b []byte, offset int) int {
	c.number += bytes.Count(b[c.counted:offset], []byte{'\n'})
	c.counted = offset
	return c.number + 1
}

func (c *collector) emit(l Line) {
	switch {
	case c.max > 0 && len(c.out.lines) == c.max:
		c.out.capped = true
	case l.Number > c.shown || l.Match && c.g.query.OnlyMatching:
		c.out.lines = append(c.out.lines, l)
		c.shown = l.Number
	}
}

// match adds the lines b[start:end] that a match spans, after the context before them.
func (c *collector) match(b []byte, start, end int) {
	if c.g.query.OnlyMatching {
		c.parts(b, start, end)
		return
	}
	c.before(b, start)
	for pos := start; pos <= end; {
		_, stop := lineAt(b, pos, pos)
		c.emit(Line{c.at(b, pos), c.text(b[pos:stop]), true})
		pos = stop + 1
	}
	c.pending = c.g.query.After
}

// parts adds each match in b[start:end] by itself, by lines if it spans several.
func (c *collector) parts(b []byte, start, end int) {
	c.m.each(b[start:end], func(from, to int) bool {
		for pos, stop := start+from, start+to; pos < stop && !c.out.capped; {
			_, e := lineAt(b, pos, pos)
			e = min(e, stop)
			if line := b[pos:e]; len(line) > 0 {
				c.emit(Line{c.at(b, pos), show(line, 0), true})
			}
			pos = e + 1
		}
		return !c.out.capped
	})
}

// after adds the context that the last match still has a claim on, from pos to limit.
func (c *collector) after(b []byte, pos, limit int) {
	for c.pending > 0 && pos < limit {
		_, end := lineAt(b, pos, pos)
		c.emit(Line{c.at(b, pos), show(b[pos:end], 0), false})
		c.pending--
		pos = end + 1
	}
}

// before adds the context before the line at start.
func (c *collector) before(b []byte, start int) {
	n := c.g.query.Before
	if n == 0 {
		return
	}
	number := c.at(b, start)
	for _, l := range c.tail {
		if l.Number >= number-n {
			c.emit(l)
		}
	}
	for _, l := range lastLines(b[:start], number, n) {
		c.emit(l)
	}
}

// lastLines returns the last n lines of b, which ends where line number begins.
func lastLines(b []byte, number, n int) []Line {
	var lines []Line
	end := len(b)
	for end > 0 && len(lines) < n {
		start, _ := lineAt(b, 0, end-1)
		number--
		lines = append(lines, Line{number, show(b[start:end-1], 0), false})
		end = start
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// carry keeps what the next chunk needs of this one.
func (c *collector) carry(b []byte) {
	number := c.at(b, len(b))
	if n := c.g.query.Before; n > 0 && len(b) > 0 && b[len(b)-1] == '\n' {
		c.tail = lastLines(b, number, n)
	}
}

// text returns a matching line for display.
func (c *collector) text(line []byte) string {
	if !long(line) {
		return show(line, 0)
	}
	return show(line, c.m.first(line))
}

// Lines of more than maxLine runes are cut to window of them, of which lead stand before
// the first match.
const (
	maxLine = 500
	window  = 400
	lead    = 100
)

func long(line []byte) bool {
	return len(line) > maxLine && utf8.RuneCount(line) > maxLine
}

// show returns a line as text without its ending. A long one is cut round the byte at hit.
func show(line []byte, hit int) string {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if !long(line) {
		return textfile.Show(line)
	}
	start := hit
	for n := 0; n < lead && start > 0; n++ {
		_, size := utf8.DecodeLastRune(line[:start])
		start -= size
	}
	end := start
	for n := 0; n < window && end < len(line); n++ {
		_, size := utf8.DecodeRune(line[end:])
		end += size
	}
	text := textfile.Show(line[start:end])
	if start > 0 {
		text = "[+" + strconv.Itoa(start) + " bytes] " + text
	}
	if end < len(line) {
		text += " [+" + strconv.Itoa(len(line)-end) + " bytes]"
	}
	return text
}
