// Package textfile says what a text file is: its encoding, its line ends, its lines, and
// when a file is none. Search, edit and patch stand on it, so that they agree on which
// line is line 7 and on what a byte looks like.
//
// The rules: a line ends at \n and nowhere else; a \r before it belongs to the line end.
// A file with a NUL byte is binary, unless it is UTF-16 with a byte order mark. Bytes that
// are no UTF-8 are shown as in windows-1252, never as U+FFFD, so that nothing that can be
// read is hidden; only reading decodes, nothing here rewrites.
//
// [Sniff] judges the head of a file, [NewScanner] reads lines in bounded memory, [Tail]
// finds the last ones without reading the rest, [Show] makes text of bytes.
package textfile

import (
	"bytes"
	"unicode/utf8"
)

// HeadSize is how much of a file's start [Sniff] should get: more changes nothing that
// matters, less may miss a NUL.
const HeadSize = 64 << 10

// An Encoding is how a file's bytes become text.
type Encoding uint8

// The encodings. EightBit is any that extends ASCII and is not UTF-8, such as Latin-1 or
// GBK: which one cannot be told, and it is shown as windows-1252.
const (
	UTF8 Encoding = iota // ASCII and the empty file included
	UTF8BOM
	UTF16LE
	UTF16BE
	EightBit
	Binary
)

// String returns the name for results.
func (e Encoding) String() string {
	switch e {
	case UTF8:
		return "utf-8"
	case UTF8BOM:
		return "utf-8 with BOM"
	case UTF16LE:
		return "utf-16le"
	case UTF16BE:
		return "utf-16be"
	case EightBit:
		return "8-bit (not utf-8)"
	default:
		return "binary"
	}
}

// A Kind is what a file is, judged by its head.
type Kind struct {
	Encoding Encoding
	EOL      EOL
	MIME     string // by magic number; "text/plain" for text, else "application/octet-stream"
}

// IsText reports whether the file has lines.
func (k Kind) IsText() bool { return k.Encoding != Binary }

// Wide reports whether the file must pass [NewDecoder] before it has lines.
func (k Kind) Wide() bool { return k.Encoding == UTF16LE || k.Encoding == UTF16BE }

// The byte order marks.
var (
	bomUTF8    = []byte("\xef\xbb\xbf")
	bomUTF16LE = []byte("\xff\xfe")
	bomUTF16BE = []byte("\xfe\xff")
)

// Sniff judges a file by its first bytes, at best [HeadSize] of them or the whole file.
func Sniff(head []byte) Kind {
	if mime := magic(head); mime != "" {
		return Kind{Encoding: Binary, MIME: mime}
	}
	if e := wide(head); e != UTF8 {
		if text := decoded(head, e); bytes.IndexByte(text, 0) < 0 {
			return Kind{Encoding: e, EOL: DetectEOL(text), MIME: "text/plain"}
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return Kind{Encoding: Binary, MIME: "application/octet-stream"}
	}
	return Kind{Encoding: narrow(head), EOL: DetectEOL(head), MIME: "text/plain"}
}

// IsBinary reports whether Sniff would say so, without finding out the rest.
func IsBinary(head []byte) bool {
	return bytes.IndexByte(head, 0) >= 0 && !Sniff(head).IsText() || magic(head) != ""
}

func wide(head []byte) Encoding {
	switch {
	case bytes.HasPrefix(head, bomUTF16LE):
		return UTF16LE
	case bytes.HasPrefix(head, bomUTF16BE):
		return UTF16BE
	}
	return UTF8
}

func narrow(head []byte) Encoding {
	whole := head[:len(head)-unfinished(head)]
	switch {
	case !utf8.Valid(whole):
		return EightBit
	case bytes.HasPrefix(head, bomUTF8):
		return UTF8BOM
	case len(head) < HeadSize && len(whole) < len(head):
		return EightBit // the file ends in the middle of a letter
	}
	return UTF8
}

// unfinished returns how many bytes at the end of b start a rune that b does not hold whole.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// BOM returns the byte order mark that files of encoding e start with; nil for most.
func (e Encoding) BOM() []byte {
	switch e {
	case UTF8BOM:
		return bytes.Clone(bomUTF8)
	case UTF16LE:
		return bytes.Clone(bomUTF16LE)
	case UTF16BE:
		return bytes.Clone(bomUTF16BE)
	}
	return nil
}

// An EOL is how the lines of a file end.
type EOL uint8

// The line ends. CR alone ends no line here: such a file is one line.
const (
	NoEOL EOL = iota // at most one line, without an end
	LF
	CRLF
	CR
	MixedEOL // LF and CRLF
)

// String returns the name for results.
func (e EOL) String() string {
	switch e {
	case LF:
		return "lf"
	case CRLF:
		return "crlf"
	case CR:
		return "cr"
	case MixedEOL:
		return "mixed"
	default:
		return "none"
	}
}

// DetectEOL looks at the line ends in text.
func DetectEOL(text []byte) EOL {
	all := bytes.Count(text, []byte("\n"))
	crlf := bytes.Count(text, []byte("\r\n"))
	switch {
	case all == 0 && bytes.IndexByte(text, '\r') >= 0:
		return CR
	case all == 0:
		return NoEOL
	case crlf == 0:
		return LF
	case crlf == all:
		return CRLF
	}
	return MixedEOL
}
