package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A splicer replaces one text by another in the places of a view, which are in order.
type splicer struct {
	view          *view
	hits          []int
	before, after string
	own           string // the line end that the edit was written with

	pieces  [][]byte // of after, between its line ends, as the file has letters
	changed []byte
	next    int    // see endBehind
	tail    string // the line end that holds behind the last one
}

// splice returns the new content. What before and after have in common at both ends is left
// alone, so that it keeps the bytes that it has.
func (s *splicer) splice() ([]byte, error) {
	start, end := common(s.before, s.after)
	middle := s.after[start : len(s.after)-end]
	for _, line := range strings.Split(middle, "\n") {
		piece, ok := s.view.encode(line)
		if !ok {
			return nil, &Error{Kind: Letter, detail: unfitLetter(line)}
		}
		s.pieces = append(s.pieces, piece)
	}
	s.next = -1
	content, done := s.view.content, 0
	s.changed = make([]byte, 0, len(content)+len(s.hits)*(len(middle)+8))
	for _, hit := range s.hits {
		from, to := s.view.at(hit+start), s.view.at(hit+len(s.before)-end)
		s.changed = append(s.changed, content[done:from]...)
		s.replace(from, to)
		done = to
	}
	s.changed = append(s.changed, content[done:]...)
	if s.view.stray > 0 && !s.reads() {
		return nil, &Error{Kind: Merges}
	}
	return s.changed, nil
}

// common returns how much of a and b is the same at the start and at the end, in whole
// letters.
func common(a, b string) (start, end int) {
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	for start > 0 && (start < len(a) && !utf8.RuneStart(a[start]) || start < len(b) && !utf8.RuneStart(b[start])) {
		start--
	}
	a, b = a[start:], b[start:]
	for end < len(a) && end < len(b) && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(a[len(a)-end]) {
		end--
	}
	return start, end
}

// replace appends what takes the place of content[from:to]. Its line ends are those that
// were there, one by one, then the last of them again; where there were none, that of the
// line, or of the last line of the file.
func (s *splicer) replace(from, to int) {
	was := s.view.content[from:to]
	eol := ""
	for i, piece := range s.pieces {
		if i > 0 {
			if n := bytes.IndexByte(was, '\n'); n >= 0 {
				eol = endAt(was, n)
				was = was[n+1:]
			} else if eol == "" {
				eol = s.endBehind(to)
			}
			s.changed = append(s.changed, eol...)
		}
		s.changed = append(s.changed, piece...)
	}
}

// endBehind returns how the line ends that content[at] lies in, or else the last one of the
// file. Places come in order: what was found for one serves the next.
func (s *splicer) endBehind(at int) string {
	content := s.view.content
	if s.next < at {
		s.next = len(content)
		if n := bytes.IndexByte(content[at:], '\n'); n >= 0 {
			s.next = at + n
		}
	}
	if s.next < len(content) {
		return endAt(content, s.next)
	}
	if s.tail == "" {
		s.tail = s.own
		if n := bytes.LastIndexByte(content, '\n'); n >= 0 {
			s.tail = endAt(content, n)
		}
	}
	return s.tail
}

// endAt returns the line end of which content[n] is the \n.
func endAt(content []byte, n int) string {
	if n > 0 && content[n-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// reads reports whether the new content is shown as the edit wants it. Bytes that are no
// UTF-8 can become a letter together with what is put beside them.
func (s *splicer) reads() bool {
	var want []byte
	done := 0
	for _, hit := range s.hits {
		want = append(append(want, s.view.text[done:hit]...), s.after...)
		done = hit + len(s.before)
	}
	want = append(want, s.view.text[done:]...)
	return bytes.Equal(look(s.changed, s.view.marked).text, want)
}
