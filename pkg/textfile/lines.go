package textfile

import (
	"bytes"
	"io"
	"math"
	"unicode/utf8"
)

// blockSize is what is read at once: large enough for the disk, small enough for the cache.
const blockSize = 128 << 10

// A Line is one line without its end.
type Line struct {
	Number int64  // from 1
	Text   []byte // as in the file, cut to the limit; valid until the scanner is used again
	Rest   int64  // letters of the line that Text lacks
}

// A Scanner reads lines in bounded memory, however long they are. A file that ends
// without a line end has a last line all the same; the empty file has none.
type Scanner struct {
	r      io.Reader
	block  []byte
	start  int // in block, the first byte not yet consumed
	end    int
	number int64 // lines consumed
	inside bool  // in the middle of a line
	err    error
	text   []byte // of a line that lies in several blocks
}

// NewScanner returns a scanner of r, which must be UTF-8 or eight-bit text.
func NewScanner(r io.Reader) *Scanner {
	return &Scanner{r: r, block: make([]byte, blockSize)}
}

// fill makes sure that there are bytes in the block, or returns io.EOF or a read error.
func (s *Scanner) fill() error {
	for empty := 0; s.start == s.end; empty++ {
		if s.err != nil {
			return s.err
		}
		if empty > 100 {
			return io.ErrNoProgress
		}
		var n int
		n, s.err = s.r.Read(s.block)
		s.start, s.end = 0, n
	}
	return nil
}

// Lines returns how many lines were consumed so far.
func (s *Scanner) Lines() int64 { return s.number }

// Skip passes over n lines, and returns how many there were.
func (s *Scanner) Skip(n int64) (int64, error) {
	first := s.number
	for s.number-first < n {
		if err := s.fill(); err != nil {
			s.endLine()
			return s.number - first, notEOF(err)
		}
		s.skipInBlock(n - (s.number - first))
	}
	return n, nil
}

// Count passes over the rest, and returns how many lines there were.
func (s *Scanner) Count() (int64, error) { return s.Skip(math.MaxInt64) }

func notEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// endLine counts the line that the input ended in, if any.
func (s *Scanner) endLine() {
	if s.inside {
		s.inside = false
		s.number++
	}
}

// skipInBlock passes over up to n line ends.
func (s *Scanner) skipInBlock(n int64) {
	chunk := s.block[s.start:s.end]
	if ends := int64(bytes.Count(chunk, []byte{'\n'})); ends < n {
		s.number += ends
		s.inside = chunk[len(chunk)-1] != '\n'
		s.start = s.end
		return
	}
	for range n {
		s.start += bytes.IndexByte(s.block[s.start:s.end], '\n') + 1
	}
	s.number += n
	s.inside = false
}

// Next returns the next line, cut after limit letters, or io.EOF.
func (s *Scanner) Next(limit int) (Line, error) {
	if err := s.fill(); err != nil {
		return Line{}, err
	}
	chunk := s.block[s.start:s.end]
	if i := bytes.IndexByte(chunk, '\n'); i >= 0 && i <= limit {
		s.start += i + 1
		s.number++
		return Line{Number: s.number, Text: bytes.TrimSuffix(chunk[:i], []byte{'\r'})}, nil
	}
	return s.long(limit)
}

// long reads a line that may be cut, or lies in several blocks.
func (s *Scanner) long(limit int) (Line, error) {
	c := cutter{limit: limit, text: s.text[:0]}
	for ended := false; !ended; {
		if err := s.fill(); err == io.EOF {
			break
		} else if err != nil {
			return Line{}, err
		}
		chunk := s.block[s.start:s.end]
		i := bytes.IndexByte(chunk, '\n')
		if ended = i >= 0; ended {
			c.add(chunk[:i])
			c.dropCR()
			s.start += i + 1
		} else {
			c.add(chunk)
			s.start = s.end
		}
	}
	c.take(c.carry)
	s.number++
	s.text = c.text
	return Line{Number: s.number, Text: c.text, Rest: c.rest}, nil
}

// A cutter keeps the first letters of a line and counts the others. A letter is a rune, or
// a byte that belongs to none: what [Show] shows as one.
type cutter struct {
	limit int
	text  []byte
	kept  int
	rest  int64
	carry []byte // the start of a rune whose end has not come yet
}

func (c *cutter) add(p []byte) {
	if len(c.carry) > 0 {
		p = append(c.carry[:len(c.carry):len(c.carry)], p...)
	}
	n := len(p) - unfinished(p)
	// A \r is held back too: it may belong to the line end.
	if n == len(p) && n > 0 && p[n-1] == '\r' {
		n--
	}
	c.take(p[:n])
	c.carry = bytes.Clone(p[n:])
}

// dropCR drops a \r that turned out to belong to the line end.
func (c *cutter) dropCR() {
	if string(c.carry) == "\r" {
		c.carry = nil
	}
}

func (c *cutter) take(p []byte) {
	n := 0
	for n < len(p) && c.kept < c.limit {
		_, size := utf8.DecodeRune(p[n:])
		n += size
		c.kept++
	}
	c.text = append(c.text, p[:n]...)
	c.rest += int64(utf8.RuneCount(p[n:]))
}

// Tail returns the offset at which the last n lines of a file of the given size start, and
// how many there are if the file has fewer. It reads backwards from the end.
func Tail(r io.ReaderAt, size, n int64) (offset, lines int64, err error) {
	if size == 0 || n <= 0 {
		return size, 0, nil
	}
	block := make([]byte, min(blockSize, size))
	// The end of the last line is no start of another.
	for end := size - 1; end > 0; {
		chunk := block[:min(int64(len(block)), end)]
		start := end - int64(len(chunk))
		if _, err := r.ReadAt(chunk, start); err != nil && err != io.EOF {
			return 0, 0, err
		}
		for i := bytes.LastIndexByte(chunk, '\n'); i >= 0; i = bytes.LastIndexByte(chunk[:i], '\n') {
			if lines++; lines == n {
				return start + int64(i) + 1, n, nil
			}
		}
		end = start
	}
	return 0, lines + 1, nil
}
