package search

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

const (
	firstBuffer  = 128 << 10
	maxBuffer    = 32 << 20 // longer files are searched piece by piece, in whole lines
	maxMultiline = 8 << 20  // longer files are skipped where matches may span lines
	readAtOnce   = 1 << 20  // between looks at whether the search goes on
)

// A scanner searches files one after the other in a buffer of its own.
type scanner struct {
	stopped func() bool
	buf     []byte
}

// A scanned is what became of a file.
type scanned struct {
	count    int // matching lines, or groups of them
	lines    []Line
	capped   bool // more lines match than were wanted
	binary   bool
	tooLarge bool
	err      error // of reading
}

// errStopped ends the reading of a file when the search is over.
var errStopped = errors.New("search stopped")

// scan searches r, of which size is the expected length, 0 if unknown.
func (s *scanner) scan(r io.Reader, size int64, c *collector) *scanned {
	out := &scanned{}
	c.out = out
	n, eof, err := s.fill(r, 0, size, firstBuffer)
	head := s.buf[:min(n, textfile.HeadSize)]
	switch {
	case err != nil:
		out.err = err
		return out
	case textfile.IsBinary(head):
		out.binary = true
		return out
	}
	skip := 0
	switch e := encoding(head); e {
	case textfile.UTF16LE, textfile.UTF16BE:
		whole := io.MultiReader(bytes.NewReader(bytes.Clone(s.buf[:n])), r)
		r, size = textfile.NewDecoder(whole, e), 0
		n, eof = 0, false
	case textfile.UTF8BOM:
		skip = len(e.BOM())
	}
	c.eightBit = c.g.compiled.wide && !utf8.Valid(head[:len(head)-min(len(head), utf8.UTFMax)])
	n = copy(s.buf, s.buf[skip:n])
	s.rest(r, n, eof, size-int64(skip), c)
	return out
}

// encoding tells apart what has to be decoded.
func encoding(head []byte) textfile.Encoding {
	if len(head) < 2 || head[0] < 0xef {
		return textfile.UTF8
	}
	return textfile.Sniff(head).Encoding
}

// rest reads on behind the first n bytes in the buffer and searches all of them.
func (s *scanner) rest(r io.Reader, n int, eof bool, size int64, c *collector) {
	for {
		if !eof {
			var err error
			if n, eof, err = s.fill(r, n, size, s.limit(c)); err != nil {
				c.out.err = err
				return
			}
		}
		if !eof && c.g.query.Multiline {
			c.out.tooLarge = true
			return
		}
		if eof {
			c.chunk(s.buf[:n], true)
			return
		}
		end := bytes.LastIndexByte(s.buf[:n], '\n') + 1
		if end == 0 {
			end = n // one line longer than the buffer
		}
		if c.chunk(s.buf[:end], false) {
			return
		}
		n = copy(s.buf, s.buf[end:n])
		size = 0
	}
}

func (s *scanner) limit(c *collector) int {
	if c.g.query.Multiline {
		return maxMultiline
	}
	return maxBuffer
}

// fill reads until the file ends or limit bytes are in the buffer, n of them already. A
// file that has given its expected size is at its end.
func (s *scanner) fill(r io.Reader, n int, size int64, limit int) (int, bool, error) {
	for n < limit {
		if n == len(s.buf) {
			s.grow(max(firstBuffer, min(limit, max(2*n, int(min(size, maxBuffer))))))
		}
		if s.stopped() {
			return n, false, errStopped
		}
		m, err := r.Read(s.buf[n:min(len(s.buf), n+readAtOnce, limit)])
		n += m
		switch {
		case errors.Is(err, io.EOF), size > 0 && int64(n) == size:
			return n, true, nil
		case err != nil:
			return n, false, err
		}
	}
	return n, false, nil
}

func (s *scanner) grow(size int) {
	buf := make([]byte, size)
	copy(buf, s.buf)
	s.buf = buf
}
