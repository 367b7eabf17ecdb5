package toolkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds the nesting of arguments, so that a hostile call cannot exhaust the stack.
const maxDepth = 64

// A member is one key of the arguments object, in the order given.
type member struct {
	key   string
	value any // string, json.Number, bool, nil, []any or map[string]any
}

// parseArguments reads the arguments of a call; absent and null are an empty object.
func parseArguments(raw json.RawMessage) ([]member, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, Errorf(`arguments: got %s, want a JSON object such as {"path": "."}`, Inline(shorten(string(raw))))
	}
	if !utf8.Valid(raw) {
		return nil, Errorf("arguments: not valid UTF-8: encode the text as UTF-8 and call again")
	}
	if i := loneSurrogate(raw); i >= 0 {
		return nil, Errorf("arguments: unpaired surrogate %s at byte %d: send the character itself, or both halves", raw[i:i+6], i)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	p := parser{dec: dec}
	if _, err := dec.Token(); err != nil {
		return nil, badJSON(err)
	}
	members, err := p.members()
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, Errorf("arguments: more follows the JSON object: send one object only")
	}
	return members, nil
}

func badJSON(err error) error {
	var v interface{ Visible() string }
	if errors.As(err, &v) {
		return err
	}
	return Errorf(`arguments: not valid JSON: %v; want an object such as {"path": "."}`, err)
}

// A parser builds values from tokens, so that duplicate keys are seen at every depth.
type parser struct {
	dec   *json.Decoder
	depth int
}

func (p *parser) members() ([]member, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, Errorf("arguments: nested deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	var out []member
	seen := map[string]bool{}
	for p.dec.More() {
		t, err := p.dec.Token()
		if err != nil {
			return nil, badJSON(err)
		}
		key, _ := t.(string) // in an object the decoder yields keys here, or an error
		if seen[key] {
			return nil, Errorf("arguments: key %s is given twice: give it once", Inline(strconv.Quote(shorten(key))))
		}
		seen[key] = true
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, member{key, v})
	}
	_, err := p.dec.Token() // the closing brace
	if err != nil {
		return nil, badJSON(err)
	}
	return out, nil
}

func (p *parser) value() (any, error) {
	t, err := p.dec.Token()
	if err != nil {
		return nil, badJSON(err)
	}
	switch t {
	case json.Delim('{'):
		ms, err := p.members()
		obj := make(map[string]any, len(ms))
		for _, m := range ms {
			obj[m.key] = m.value
		}
		return obj, err
	case json.Delim('['):
		return p.elements()
	}
	return t, nil
}

func (p *parser) elements() (any, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, Errorf("arguments: nested deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	out := []any{}
	for p.dec.More() {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if _, err := p.dec.Token(); err != nil {
		return nil, badJSON(err)
	}
	return out, nil
}

// loneSurrogate returns the offset of the first \uD800..\uDFFF escape without its other
// half, which encoding/json would turn into U+FFFD, or -1.
func loneSurrogate(raw []byte) int {
	for i := 0; i+6 <= len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		r, ok := escapedRune(raw[i:])
		switch {
		case !ok:
			i++ // another escape: skip what it escapes
		case r >= 0xD800 && r < 0xDC00:
			low, ok := escapedRune(raw[i+6:])
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return i
			}
			i += 11
		case r >= 0xDC00 && r < 0xE000:
			return i
		default:
			i += 5
		}
	}
	return -1
}

func escapedRune(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return r, err == nil
}
