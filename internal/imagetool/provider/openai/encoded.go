package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

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

// pieceSize is how much text is decoded at once. It is divisible by four, so that pieces can
// be decoded one by one.
const pieceSize = 1 << 20

// pieces are the text of a picture, which is decoded as it comes as long as it is the usual
// kind of base64. What is not, is kept as text: the URL-safe alphabet, a data: URL, escapes.
type pieces struct {
	length int      // of the text
	done   [][]byte // whole pieces, decoded
	text   []byte   // that follows them
	odd    bool     // all is in text
}

func (p *pieces) add(data []byte) {
	p.length += len(data)
	for len(data) > 0 {
		n := len(data)
		if !p.odd {
			n = min(n, pieceSize-len(p.text))
		}
		p.text = append(p.text, data[:n]...)
		data = data[n:]
		if !p.odd && len(p.text) == pieceSize {
			p.turn()
		}
	}
}

// turn decodes a whole piece, or brings all back to text.
func (p *pieces) turn() {
	data := make([]byte, pieceSize/4*3)
	if n, err := base64.StdEncoding.Decode(data, p.text); err == nil && n == len(data) {
		p.done, p.text = append(p.done, data), p.text[:0]
		return
	}
	p.restore()
}

// restore brings all back to text. Whole pieces have one form only.
func (p *pieces) restore() {
	var text []byte
	for _, d := range p.done {
		text = base64.StdEncoding.AppendEncode(text, d)
	}
	p.text, p.done, p.odd = append(text, p.text...), nil, true
}

// decode returns the picture.
func (p *pieces) decode() (e encoded) {
	if !p.odd {
		last := make([]byte, base64.StdEncoding.DecodedLen(len(p.text)))
		n, err := base64.StdEncoding.Decode(last, p.text)
		if err == nil && (n > 0 || len(p.text) == 0) {
			e.data = bytes.Join(append(p.done, last[:n]), nil)
			return e
		}
		p.restore()
	}
	text := bytes.Join([][]byte{{'"'}, p.text, {'"'}}, nil)
	if err := json.Unmarshal(text, &e); err != nil {
		e.err = fmt.Errorf("decode base64: %w", err)
	}
	return e
}
