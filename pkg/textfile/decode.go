package textfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// high holds what windows-1252 has in the place of the Latin-1 control characters; 0 where
// it has nothing, and the control character stands.
var high = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

func eightBitRune(b byte) rune {
	if b >= 0x80 && b < 0xa0 && high[b-0x80] != 0 {
		return high[b-0x80]
	}
	return rune(b)
}

// Show returns b as text: UTF-8 where it is valid, and each other byte as its letter in
// windows-1252, which holds Latin-1.
func Show(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	text := make([]byte, 0, len(b)+len(b)/4)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			r = eightBitRune(b[0])
		}
		text = utf8.AppendRune(text, r)
		b = b[size:]
	}
	return string(text)
}

// EightBitBytes returns the bytes that [Show] shows as text when they are no UTF-8, so
// that what was read can be found again. It is false where text has a letter that
// windows-1252 lacks.
func EightBitBytes(text string) ([]byte, bool) {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if i := slices.Index(high[:], r); i >= 0 && r != 0 {
			b = append(b, byte(0x80+i))
			continue
		}
		if r > 0xff {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

// NewDecoder returns r as UTF-8 without the byte order mark of encoding e. UTF-16 is
// converted; half a surrogate pair, which has no UTF-8, becomes U+FFFD. Other encodings
// pass as they are.
func NewDecoder(r io.Reader, e Encoding) io.Reader {
	switch e {
	case UTF16LE:
		return &wideReader{r: r, order: binary.LittleEndian}
	case UTF16BE:
		return &wideReader{r: r, order: binary.BigEndian}
	case UTF8BOM:
		return &bomReader{r: r}
	}
	return r
}

// A bomReader drops a UTF-8 byte order mark at the start.
type bomReader struct {
	r    io.Reader
	past bool
	rest []byte // read, no BOM
}

func (b *bomReader) Read(p []byte) (int, error) {
	if !b.past {
		head := make([]byte, len(bomUTF8))
		n, err := io.ReadFull(b.r, head)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
		b.past, b.rest = true, bytes.TrimPrefix(head[:n], bomUTF8)
	}
	if len(b.rest) > 0 {
		n := copy(p, b.rest)
		b.rest = b.rest[n:]
		return n, nil
	}
	return b.r.Read(p)
}

// A wideReader converts UTF-16.
type wideReader struct {
	r     io.Reader
	order binary.ByteOrder
	in    [8 << 10]byte
	have  int    // bytes at the start of in that are not yet converted
	text  []byte // converted
	next  int    // in text, the first byte not yet given
	begun bool
	err   error
}

func (w *wideReader) Read(p []byte) (int, error) {
	for w.next == len(w.text) {
		if w.err != nil {
			return 0, w.err
		}
		w.fill()
	}
	n := copy(p, w.text[w.next:])
	w.next += n
	return n, nil
}

func (w *wideReader) fill() {
	n, err := w.r.Read(w.in[w.have:])
	w.err = err
	b := w.in[:w.have+n]
	if !w.begun && len(b) >= 2 {
		w.begun = true
		if w.order.Uint16(b) == 0xfeff {
			b = b[2:]
		}
	}
	w.text, w.next = w.text[:0], 0
	w.text, b = appendWide(w.text, b, w.order, err != nil)
	w.have = copy(w.in[:], b)
}

// appendWide appends the UTF-16 text b as UTF-8, and returns what needs more bytes; with
// final, there are none.
func appendWide(text, b []byte, order binary.ByteOrder, final bool) (_, rest []byte) {
	for len(b) >= 2 {
		r := rune(order.Uint16(b))
		size := 2
		if utf16.IsSurrogate(r) {
			if len(b) < 4 && !final {
				return text, b
			}
			r, size = pair(r, b, order)
		}
		text = utf8.AppendRune(text, r)
		b = b[size:]
	}
	if len(b) == 1 && final {
		return utf8.AppendRune(text, utf8.RuneError), nil
	}
	return text, b
}

func pair(first rune, b []byte, order binary.ByteOrder) (r rune, size int) {
	if len(b) >= 4 {
		if r := utf16.DecodeRune(first, rune(order.Uint16(b[2:]))); r != utf8.RuneError {
			return r, 4
		}
	}
	return utf8.RuneError, 2
}

// decoded converts the head of a file, as far as it is whole.
func decoded(head []byte, e Encoding) []byte {
	order := binary.ByteOrder(binary.LittleEndian)
	if e == UTF16BE {
		order = binary.BigEndian
	}
	text, _ := appendWide(nil, head[2:], order, false)
	return text
}
