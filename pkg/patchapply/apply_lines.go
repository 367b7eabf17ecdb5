package patchapply

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

// A fileText is a file as lines. Each keeps the line end that it has.
type fileText struct {
	bom    []byte
	data   []byte // without bom
	starts []int  // of each line, and the end
	crOnly bool   // lines end at \r: the file has no \n
	keepCR bool   // a \r before \n belongs to the line, as hunks have it so

	eightBit bool // letters beyond ASCII are one byte each
}

// split finds the lines.
func (f *fileText) split(keepCR bool, mem *scratch) {
	f.keepCR = keepCR
	end := byte('\n')
	if !keepCR && bytes.IndexByte(f.data, '\n') < 0 && bytes.IndexByte(f.data, '\r') >= 0 {
		end, f.crOnly = '\r', true
	}
	mem.starts = slices.Grow(mem.starts[:0], bytes.Count(f.data, []byte{end})+2)
	f.starts = mem.starts[:0]
	for at := 0; at < len(f.data); {
		f.starts = append(f.starts, at)
		n := bytes.IndexByte(f.data[at:], end)
		if n < 0 {
			break
		}
		at += n + 1
	}
	f.starts = append(f.starts, len(f.data))
}

// count returns how many lines there are. The empty file has none.
func (f *fileText) count() int { return len(f.starts) - 1 }

// line returns line i without its line end.
func (f *fileText) line(i int) []byte {
	end := f.starts[i+1] - len(f.end(i))
	return f.data[f.starts[i]:end]
}

// end returns the line end of line i: empty at most for the last.
func (f *fileText) end(i int) []byte {
	b := f.data[f.starts[i]:f.starts[i+1]]
	switch n := len(b); {
	case f.crOnly && n > 0 && b[n-1] == '\r':
		return b[n-1:]
	case n == 0 || b[n-1] != '\n':
		return nil
	case n > 1 && b[n-2] == '\r' && !f.keepCR:
		return b[n-2:]
	default:
		return b[n-1:]
	}
}

// terminated reports whether the last line has a line end. The empty file counts as such.
func (f *fileText) terminated() bool {
	return f.count() == 0 || len(f.end(f.count()-1)) > 0
}

// endLike returns the line end for a new line that takes the place of line i or follows it:
// that line's own, or of the nearest that has one.
func (f *fileText) endLike(i int) []byte {
	if f.count() == 0 {
		return []byte{'\n'}
	}
	for i = min(max(i, 0), f.count()-1); i >= 0; i-- {
		if end := f.end(i); len(end) > 0 {
			return end
		}
	}
	return []byte{'\n'}
}

// An emitter writes the new file, edit by edit.
type emitter struct {
	file  *fileText
	out   []byte
	next  int    // the line of the old file that comes next
	delta int    // how many more lines the new file has so far
	ended int    // length of the line end that out ends with
	added bool   // the last line was added by a hunk
	last  *Hunk  // the last hunk
	tail  bool   // which took the file's last line, or stands behind it
	start int    // length of the byte order mark
	blank []byte // for shifted lines
}

// newEmitter makes one for a file to which about so many bytes are added.
func newEmitter(f *fileText, added int) *emitter {
	e := &emitter{file: f, out: make([]byte, 0, len(f.bom)+len(f.data)+len(f.data)/64+added+16), start: len(f.bom)}
	e.out = append(e.out, f.bom...)
	return e
}

// copy writes lines of the file up to line end.
func (e *emitter) copy(end int) {
	if e.next >= end {
		return
	}
	e.terminate()
	e.out = append(e.out, e.file.data[e.file.starts[e.next]:e.file.starts[end]]...)
	e.ended, e.added, e.next = len(e.file.end(end-1)), false, end
}

// terminate gives the last line an end where it has none and another follows.
func (e *emitter) terminate() {
	if len(e.out) > e.start && e.ended == 0 {
		end := e.file.endLike(e.next - 1)
		e.out = append(e.out, end...)
		e.ended = len(end)
	}
}

// edit writes an edit, and the file up to its last change. Context behind that is left, as the
// next hunk may begin in it.
func (e *emitter) edit(d edit) {
	e.last, e.tail = d.hunk, d.start+d.count == e.file.count()
	at := d.start
	run, removed, added := 0, 0, 0 // a run of removed lines, and what takes their place
	for _, l := range d.lines {
		switch l.Op {
		case '-':
			if removed == 0 || added > 0 {
				run, removed, added = at, 0, 0
			}
			e.copy(at)
			at++
			e.next = at
			removed++
			e.delta--
		case '+':
			e.copy(at)
			like := at - 1
			if removed > 0 {
				like = run + min(added, removed-1)
			}
			e.add(d.shift, l.Text, e.file.endLike(like))
			added++
			e.delta++
		default:
			at++
			run, removed, added = 0, 0, 0
		}
	}
}

// add writes a new line.
func (e *emitter) add(shift indent, text string, end []byte) {
	e.terminate()
	if len(e.out) == e.start && e.start > 0 && len(text) >= len(bom) && text[:len(bom)] == bom {
		text = text[len(bom):]
	}
	if e.file.eightBit && !isASCII(text) && utf8.ValidString(text) {
		b, _ := textfile.EightBitBytes(text)
		text = string(b)
	}
	e.blank = shift.apply(e.blank[:0], text)
	e.out = append(append(e.out, e.blank...), end...)
	e.ended, e.added = len(end), true
}

// finish writes the rest, and settles how the last line ends: as a hunk with numbers says,
// where it says anything, or else as the file ended before.
func (e *emitter) finish() []byte {
	e.copy(e.file.count())
	if len(e.out) == e.start || !e.tail {
		return e.out
	}
	strip := !e.file.terminated()
	if numbers := e.last.Unified; numbers != nil {
		strip = e.added && (numbers.NoNewlineNew || strip && !numbers.NoNewlineOld)
	}
	if strip {
		e.out = e.out[:len(e.out)-e.ended]
	}
	return e.out
}
