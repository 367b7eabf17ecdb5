package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// pieceSize is how much of a picture's text is held in one piece. It is divisible by four, so
// that pieces can be decoded one by one.
const pieceSize = 1 << 20

// A sieve takes JSON in as it arrives and keeps the pictures out of it, the strings that are
// named b64_json. A picture is never held as one long text, nor twice. In the place of the
// first one stands "#0", which is no base64.
type sieve struct {
	limit    int    // bytes that are held at most
	rest     []byte // the JSON without its pictures
	pictures []encoded
	bytes    int // of the pictures

	inString, escaped bool
	start             int      // in rest, of the last string or what follows it
	named             bool     // the last string was b64_json
	text              [][]byte // of the picture that is read
	length            int      // of text
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
func (s *sieve) held() int { return len(s.rest) + s.bytes + s.length/4*3 }

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
	if s.text == nil {
		s.rest = append(s.rest, data...)
		return
	}
	s.length += len(data)
	for len(data) > 0 {
		last := &s.text[len(s.text)-1]
		if len(*last) == pieceSize {
			s.text = append(s.text, make([]byte, 0, pieceSize))
			continue
		}
		n := min(len(data), pieceSize-len(*last))
		*last = append(*last, data[:n]...)
		data = data[n:]
	}
}

// quote begins or ends a string.
func (s *sieve) quote() {
	s.inString = !s.inString
	switch {
	case s.inString && s.named && string(bytes.TrimSpace(s.rest[s.start:])) == ":":
		s.text, s.length = [][]byte{nil}, 0
		return
	case s.text != nil:
		p := decodePieces(s.text)
		s.rest = fmt.Appendf(s.rest, `"#%d"`, len(s.pictures))
		s.pictures, s.bytes = append(s.pictures, p), s.bytes+len(p.data)
		s.text, s.length, s.named = nil, 0, false
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

// encoded is a picture as base64, decoded.
type encoded struct {
	data []byte
	err  error
	mark string // where a sieve has kept it, after #
}

// UnmarshalJSON keeps what is wrong with one picture to that picture.
func (e *encoded) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' {
		return nil // null, or nonsense: no picture
	}
	content := data[1 : len(data)-1]
	if mark, ok := bytes.CutPrefix(content, []byte("#")); ok {
		e.mark = string(mark)
		return nil
	}
	if bytes.IndexByte(content, '\\') >= 0 {
		content = []byte(text(json.RawMessage(data)))
	}
	if len(content) > 0 {
		e.data, e.err = provider.DecodeBase64(content)
	}
	return nil
}

// decodePieces decodes what is usual piece by piece, and joins what is not: the URL-safe
// alphabet, a data: URL, escapes.
func decodePieces(pieces [][]byte) (e encoded) {
	length := 0
	for _, p := range pieces {
		length += len(p)
	}
	data := make([]byte, 0, base64.StdEncoding.DecodedLen(length))
	for i, p := range pieces {
		n, err := base64.StdEncoding.Decode(data[len(data):cap(data)], p)
		if whole := n == len(p)/4*3; err != nil || !whole && i < len(pieces)-1 || n == 0 {
			text := bytes.Join([][]byte{{'"'}, bytes.Join(pieces, nil), {'"'}}, nil)
			if err := json.Unmarshal(text, &e); err != nil {
				e.err = fmt.Errorf("decode base64: %w", err)
			}
			return e
		}
		data = data[:len(data)+n]
	}
	return encoded{data: data}
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
