package patchapply

import (
	"bytes"
	"hash/maphash"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

// A Pass is how loosely lines are compared. The whole file is searched in one pass before
// the next, looser one is tried.
type Pass uint8

// The passes, in their order.
const (
	PassExact     Pass = iota
	PassRightTrim      // without white space at the end
	PassTrim           // and at the start
	PassUnicode        // and with dashes, quotation marks and blanks of all kinds as in ASCII, and bytes that are no UTF-8 as they are shown
	passes
)

// String returns the name for results.
func (p Pass) String() string {
	return [passes]string{"exact", "right-trim", "trim", "unicode"}[p]
}

// fuzz is what a match in the pass adds to the fuzz.
func (p Pass) fuzz() int { return [passes]int{0, 1, 100, 1000}[p] }

// normalise returns a line as the pass compares it. It may use buf, and may return line.
func (p Pass) normalise(line, buf []byte) []byte {
	switch p {
	case PassExact:
		return line
	case PassRightTrim:
		return trimRight(line)
	case PassTrim:
		return bytes.TrimSpace(line)
	}
	for _, b := range line {
		if b < utf8.RuneSelf {
			continue
		}
		if !utf8.Valid(line) {
			line = []byte(textfile.Show(line)) // as it was read
		}
		return bytes.TrimSpace(appendPlain(buf[:0], line))
	}
	return bytes.TrimSpace(line)
}

// trimRight takes off white space at the end, fast where it is ASCII.
func trimRight(line []byte) []byte {
	for n := len(line); n > 0; n-- {
		switch c := line[n-1]; {
		case c >= utf8.RuneSelf:
			return bytes.TrimRightFunc(line[:n], unicode.IsSpace)
		case c != ' ' && (c < '\t' || c > '\r'):
			return line[:n]
		}
	}
	return nil
}

// appendPlain appends a line with the characters of ASCII that look like its own.
func appendPlain(to, line []byte) []byte {
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		switch {
		case r >= 0x2010 && r <= 0x2015, r == 0x2212:
			to = append(to, '-')
		case r >= 0x2018 && r <= 0x201b:
			to = append(to, '\'')
		case r >= 0x201c && r <= 0x201f:
			to = append(to, '"')
		case r == 0xa0, r >= 0x2002 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
			to = append(to, ' ')
		default:
			to = append(to, line[:n]...)
		}
		line = line[n:]
	}
	return to
}

// A lineIndex finds lines of a patch in a file in one pass. Each line of the file is
// normalised and hashed once.
type lineIndex struct {
	pass   Pass
	file   *fileText
	seed   maphash.Seed
	hashes []uint64
	wanted map[uint64]int32 // hashes of the lines that a patch has, by their place in at
	at     [][]int32        // where these lines are
	buf    [2][]byte
}

// newLineIndex reads a file, and the lines that a patch will ask for. It fills hashes, one for
// each line of the file.
func newLineIndex(pass Pass, f *fileText, wanted [][]byte, hashes []uint64) *lineIndex {
	x := &lineIndex{pass: pass, file: f, seed: maphash.MakeSeed(), hashes: hashes, wanted: map[uint64]int32{}}
	var filter [1 << 10]uint64 // most lines are not wanted: a bit for 16 bits of the hash
	for _, line := range wanted {
		h := x.hash(line)
		if _, ok := x.wanted[h]; !ok {
			x.wanted[h] = int32(len(x.wanted))
		}
		filter[h>>6&1023] |= 1 << (h & 63)
	}
	x.at = make([][]int32, len(x.wanted))
	first := make([]int32, len(x.wanted)) // most lines are in a file once
	for i := range x.at {
		x.at[i] = first[i : i : i+1]
	}
	for i := range x.hashes {
		h := x.hash(f.line(i))
		x.hashes[i] = h
		if filter[h>>6&1023]&(1<<(h&63)) == 0 {
			continue
		}
		if n, ok := x.wanted[h]; ok {
			x.at[n] = append(x.at[n], int32(i))
		}
	}
	return x
}

// places returns where a wanted line is, by its hash.
func (x *lineIndex) places(h uint64) []int32 {
	if n, ok := x.wanted[h]; ok {
		return x.at[n]
	}
	return nil
}

func (x *lineIndex) hash(line []byte) uint64 {
	return maphash.Bytes(x.seed, x.pass.normalise(line, x.scratch(0, len(line))))
}

// scratch returns one of two buffers, with room for n bytes.
func (x *lineIndex) scratch(i, n int) []byte {
	if x.pass == PassUnicode && cap(x.buf[i]) < n {
		x.buf[i] = make([]byte, 0, 2*n)
	}
	return x.buf[i]
}

// matches reports whether the file has lines at a place.
func (x *lineIndex) matches(lines [][]byte, start int) bool {
	if start < 0 || start+len(lines) > x.file.count() {
		return false
	}
	for i, line := range lines {
		if !x.equal(line, start+i) {
			return false
		}
	}
	return true
}

func (x *lineIndex) equal(line []byte, i int) bool {
	other := x.file.line(i)
	return bytes.Equal(x.pass.normalise(line, x.scratch(0, len(line))), x.pass.normalise(other, x.scratch(1, len(other))))
}
