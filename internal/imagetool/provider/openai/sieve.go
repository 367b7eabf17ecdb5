package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A sieve takes JSON in as it arrives and keeps the pictures out of it, the strings that are
// named b64_json. A picture is never held as one long text, nor twice. In the place of the
// first one stands "#0", which is no base64.
type sieve struct {
	limit    int    // bytes that are held at most
	rest     []byte // the JSON without its pictures
	pictures []encoded
	bytes    int // of the pictures

	inString, escaped bool
	start             int     // in rest, of the last string or what follows it
	named             bool    // the last string was b64_json
	picture           *pieces // that is read
}

// write takes some bytes in, and refuses those that are too many.
func (s *sieve) write(data []byte) error {
	for len(data) > 0 {
		n, quote := s.span(data)
		s.keep(data[:n])
		if s.held() > s.limit {
			return errTooLong
		}
		if data = data[n:]; quote {
			s.quote()
			data = data[1:]
		}
	}
	return nil
}

// held counts the text of a picture as what it becomes.
func (s *sieve) held() int {
	if s.picture == nil {
		return len(s.rest) + s.bytes
	}
	return len(s.rest) + s.bytes + s.picture.length/4*3
}

// span returns how many bytes come before the next quote that opens or closes a string, and
// whether there is one.
func (s *sieve) span(data []byte) (n int, quote bool) {
	if !s.inString {
		n = bytes.IndexByte(data, '"')
		if n < 0 {
			return len(data), false
		}
		return n, true
	}
	for i, c := range data {
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			return i, true
		}
	}
	return len(data), false
}

// keep puts bytes to the picture that is read, or to the rest.
func (s *sieve) keep(data []byte) {
	if s.picture == nil {
		s.rest = append(s.rest, data...)
		return
	}
	s.picture.add(data)
}

// quote begins or ends a string.
func (s *sieve) quote() {
	s.inString = !s.inString
	switch {
	case s.inString && s.named && string(bytes.TrimSpace(s.rest[s.start:])) == ":":
		s.picture = &pieces{}
		return
	case s.picture != nil:
		p := s.picture.decode()
		s.rest = fmt.Appendf(s.rest, `"#%d"`, len(s.pictures))
		s.pictures, s.bytes = append(s.pictures, p), s.bytes+len(p.data)
		s.picture, s.named = nil, false
	default:
		s.named = !s.inString && string(s.rest[s.start:]) == "b64_json"
		s.rest = append(s.rest, '"')
	}
	s.start = len(s.rest)
}

// fill puts the pictures where their marks are.
func (s *sieve) fill(items []item) {
	for i := range items {
		if n, err := strconv.Atoi(items[i].B64.mark); err == nil && n >= 0 && n < len(s.pictures) {
			items[i].B64 = s.pictures[n]
		}
	}
}

// readFrom takes a whole body in.
func (s *sieve) readFrom(r io.Reader) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.Read(buffer)
		if wrong := s.write(buffer[:n]); wrong != nil {
			return wrong
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
