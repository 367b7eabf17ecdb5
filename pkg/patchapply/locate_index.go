package patchapply

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A Pass is how loosely lines are compared. The whole file is searched in one pass before
// the next, looser one is tried.
type Pass uint8

// The passes, in their order.
const (
	PassExact     Pass = iota
	PassRightTrim      // without white space at the end
	PassTrim           // and at the start
	PassUnicode        // and with dashes, quotation marks and blanks of all kinds as in ASCII
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
		return bytes.TrimRightFunc(line, unicode.IsSpace)
	case PassTrim:
		return bytes.TrimSpace(line)
	}
	for _, b := range line {
		if b >= utf8.RuneSelf {
			return bytes.TrimSpace(appendPlain(buf[:0], line))
		}
	}
	return bytes.TrimSpace(line)
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
	at     map[uint64][]int32 // where the lines are that a patch has
	buf    [2][]byte
}

// newLineIndex reads a file, and the lines that a patch will ask for.
func newLineIndex(pass Pass, f *fileText, wanted [][]byte) *lineIndex {
	x := &lineIndex{pass: pass, file: f, seed: maphash.MakeSeed(), hashes: make([]uint64, f.count()), at: map[uint64][]int32{}}
	var filter [1 << 10]uint64 // most lines are not wanted: a bit for 16 bits of the hash
	for _, line := range wanted {
		h := x.hash(line)
		x.at[h] = nil
		filter[h>>6&1023] |= 1 << (h & 63)
	}
	for i := range x.hashes {
		h := x.hash(f.line(i))
		x.hashes[i] = h
		if filter[h>>6&1023]&(1<<(h&63)) == 0 {
			continue
		}
		if places, ok := x.at[h]; ok {
			x.at[h] = append(places, int32(i))
		}
	}
	return x
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

// find returns at most limit places from line from on where the file has lines, or all of
// them where limit is 0. It asks the places of the rarest line; where these are so many
// that this could take more than linear time it goes on as Knuth, Morris and Pratt do.
func (x *lineIndex) find(lines [][]byte, from, limit int) (found []int) {
	hashes := make([]uint64, len(lines))
	rarest := 0
	for i, line := range lines {
		hashes[i] = x.hash(line)
		if len(x.at[hashes[i]]) < len(x.at[hashes[rarest]]) {
			rarest = i
		}
	}
	places := x.at[hashes[rarest]]
	first, _ := slices.BinarySearch(places, int32(min(from+rarest, x.file.count())))
	work := 4 * len(x.hashes)
	for _, place := range places[first:] {
		start := int(place) - rarest
		n := x.agree(hashes, start)
		if n == len(hashes) && x.matches(lines, start) {
			if found = append(found, start); len(found) == limit {
				return found
			}
		}
		if work -= n + 1; work < 0 {
			return x.findLinear(lines, hashes, start+1, limit, found)
		}
	}
	return found
}

// agree returns how many hashes from the first on are those of lines from start on.
func (x *lineIndex) agree(hashes []uint64, start int) int {
	if start+len(hashes) > len(x.hashes) {
		return 0
	}
	for i, h := range hashes {
		if x.hashes[start+i] != h {
			return i
		}
	}
	return len(hashes)
}
