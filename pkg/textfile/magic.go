package textfile

import (
	"bytes"
	"strings"
)

// A signature is how files of one type start. Bytes of pattern that are '?' match any.
type signature struct {
	pattern string
	mime    string
}

// signatures are types that are no text although some of them have no NUL in their head.
// Order matters where one starts like another.
var signatures = []signature{
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
	{"RIFF????WEBPVP8", "image/webp"},
	{"RIFF????WAVE", "audio/wav"},
	{"FORM????AIFF", "audio/aiff"},
	{"ID3?\x00", "audio/mpeg"},
	{"ID3\x04\x00", "audio/mpeg"},
	{"OggS\x00", "audio/ogg"},
	{"fLaC\x00", "audio/flac"},
	{"????ftypM4A", "audio/mp4"},
	{"????ftypavif", "image/avif"},
	{"????ftypheic", "image/heic"},
	{"????ftyp", "video/mp4"},
	{"\x1a\x45\xdf\xa3", "video/webm"},
	{"%PDF-", "application/pdf"},
	{"PK\x03\x04", "application/zip"},
	{"PK\x05\x06", "application/zip"},
	{"\x1f\x8b\x08", "application/gzip"},
	{"BZh?1AY&SY", "application/x-bzip2"},
	{"\xfd7zXZ\x00", "application/x-xz"},
	{"\x28\xb5\x2f\xfd", "application/zstd"},
	{"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"},
	{"\x7fELF", "application/x-executable"},
	{"SQLite format 3\x00", "application/vnd.sqlite3"},
	{"\x00asm", "application/wasm"},
}

// magic returns the media type that head has by its first bytes, or "".
func magic(head []byte) string {
	for _, s := range signatures {
		if s.matches(head) && (!s.isText() || bytes.IndexByte(head, 0) >= 0 || pdfHeader(head)) {
			return s.mime
		}
	}
	if mpegFrame(head) {
		return "audio/mpeg"
	}
	return ""
}

func (s signature) matches(head []byte) bool {
	if len(head) < len(s.pattern) {
		return false
	}
	for i := range len(s.pattern) {
		if s.pattern[i] != '?' && s.pattern[i] != head[i] {
			return false
		}
	}
	return true
}

// isText reports whether a text could begin so: "GIF89a is an old format" is no picture.
// Real files of these types have a NUL soon after, but for PDF.
func (s signature) isText() bool {
	return strings.IndexFunc(s.pattern, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// pdfHeader reports whether the first line is a PDF's: the version and nothing else.
func pdfHeader(head []byte) bool {
	line, rest, _ := bytes.Cut(head, []byte("%PDF-"))
	return len(line) == 0 && len(rest) > 3 && rest[1] == '.' && (rest[3] == '\n' || rest[3] == '\r')
}

// mpegFrame reports whether head is MPEG audio without a tag: a layer III frame header with
// a usual rate, and a NUL, which Latin-1 text that starts with ÿû lacks.
func mpegFrame(head []byte) bool {
	return len(head) > 4 && head[0] == 0xff && (head[1]|1 == 0xfb || head[1]|1 == 0xf3) &&
		head[2]>>4 != 0 && head[2]>>4 != 15 && bytes.IndexByte(head, 0) >= 0
}
