package search

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/toolhost/toolhost/pkg/textfile"
)

const (
	firstBuffer  = 128 << 10
	maxBuffer    = 4 << 20   // longer files are searched piece by piece, in whole lines
	maxLineBytes = 256 << 20 // the buffer grows so far for one line; longer ones are not searched
	maxMultiline = 8 << 20   // longer files are skipped where matches may span lines
	readAtOnce   = 1 << 20   // between looks at whether the search goes on
)

// A scanner searches files one after the other in a buffer of its own.
type scanner struct {
	stopped func() bool
	buf     []byte
	holds   bool // wideBuffer
}

// wideBuffer is held by the one scanner that has a buffer above maxBuffer: the memory is
// that of the whole process, and so is this.
var wideBuffer = make(chan struct{}, 1)

// waitForBuffer is the time between looks at whether a search that waits for it goes on.
const waitForBuffer = 50 * time.Millisecond

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
	defer s.shrink()
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
	limit := s.limit(c)
	for {
		if !eof {
			var err error
			if n, eof, err = s.fill(r, n, size, limit); err != nil {
				c.out.err = err
				return
			}
		}
		end := n
		if !eof {
			end = bytes.LastIndexByte(s.buf[:n], '\n') + 1
		}
		switch {
		case eof:
		case c.g.query.Multiline, end == 0 && limit == maxLineBytes:
			*c.out = scanned{tooLarge: true}
			return
		case end == 0: // one line longer than the buffer
			limit *= 2
			if !s.widen() {
				c.out.err = errStopped
				return
			}
			continue
		}
		if c.chunk(s.buf[:end], eof) {
			return
		}
		if s.stopped() {
			c.out.err = errStopped
		}
		if eof || c.out.err != nil {
			return
		}
		n, limit, size = copy(s.buf, s.buf[end:n]), s.limit(c), 0
	}
}

// widen waits until the scanner may have a buffer above maxBuffer. It is false if the
// search was stopped before.
func (s *scanner) widen() bool {
	for !s.holds {
		select {
		case wideBuffer <- struct{}{}:
			s.holds = true
		case <-time.After(waitForBuffer):
			if s.stopped() {
				return false
			}
		}
	}
	return true
}

// shrink gives up such a buffer.
func (s *scanner) shrink() {
	if s.holds {
		s.buf, s.holds = nil, false
		<-wideBuffer
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
