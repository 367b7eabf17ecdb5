package edit

import (
	"bytes"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

// A view is content as a model was shown it: UTF-8, lines ended by \n, no byte order mark.
// It knows which bytes of the content each part of the text stands for.
type view struct {
	content []byte
	text    []byte // shares memory with content where they are the same
	marks   []mark // in order; from each on, text and content go in step until the next
	stray   int    // bytes that are no UTF-8
	foreign int    // letters of several bytes
	marked  bool   // the byte order mark is part of the text
}

type mark struct{ text, content int }

// look returns the view of content. With marked, the byte order mark is a letter of the text.
func look(content []byte, marked bool) *view {
	v := &view{content: content, marked: marked}
	from := 0
	if bom := textfile.UTF8BOM.BOM(); !marked && bytes.HasPrefix(content, bom) {
		from = len(bom)
	}
	v.marks = []mark{{0, from}}
	body := content[from:]
	valid := utf8.Valid(body)
	if valid && !bytes.Contains(body, []byte("\r\n")) {
		v.text = body
		return v
	}
	v.text = make([]byte, 0, len(body)+len(body)/8)
	v.marks = slices.Grow(v.marks, bytes.Count(body, []byte("\r\n")))
	if valid {
		v.joinEnds(from)
	} else {
		v.decode(from)
	}
	return v
}

// joinEnds fills the view of content that is UTF-8, from there on.
func (v *view) joinEnds(from int) {
	for {
		n := bytes.Index(v.content[from:], []byte("\r\n"))
		if n < 0 {
			v.text = append(v.text, v.content[from:]...)
			return
		}
		v.text = append(append(v.text, v.content[from:from+n]...), '\n')
		from += n + 2
		v.marks = append(v.marks, mark{len(v.text), from})
	}
}

// decode fills the view letter by letter.
func (v *view) decode(from int) {
	for i := from; i < len(v.content); {
		r, size := utf8.DecodeRune(v.content[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			v.stray++
			v.text = append(v.text, textfile.Show(v.content[i:i+1])...)
		case r == '\r' && bytes.HasPrefix(v.content[i:], []byte("\r\n")):
			size = 2
			v.text = append(v.text, '\n')
		default:
			if size > 1 {
				v.foreign++
			}
			v.text = append(v.text, v.content[i:i+size]...)
			i += size
			continue
		}
		i += size
		v.marks = append(v.marks, mark{len(v.text), i})
	}
}

// at returns where in the content a place between two letters of the text is.
func (v *view) at(place int) int {
	i := sort.Search(len(v.marks), func(i int) bool { return v.marks[i].text > place }) - 1
	return v.marks[i].content + place - v.marks[i].text
}

// find returns the places where text stands. Two that overlap are both returned only where
// there is no other, since then it is not clear which one is meant.
func (v *view) find(text string, all bool) (hits []int) {
	old := []byte(text)
	for from := 0; ; {
		n := bytes.Index(v.text[from:], old)
		if n < 0 {
			break
		}
		hits = append(hits, from+n)
		from += n + len(old)
	}
	if len(hits) == 1 && !all {
		if n := bytes.Index(v.text[hits[0]+1:], old); n >= 0 {
			hits = append(hits, hits[0]+1+n)
		}
	}
	return hits
}

// encode returns a text without line ends in the letters of the file: UTF-8, or one byte
// each where the letters beyond ASCII that it has are mostly such. It is false where the
// file cannot hold a letter.
func (v *view) encode(text string) ([]byte, bool) {
	if v.stray == 0 || v.foreign > 0 && v.foreign >= v.stray {
		return []byte(text), true
	}
	return textfile.EightBitBytes(text)
}
