package textfile_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/textfile"
	"golang.org/x/text/encoding/charmap"
)

// wide encodes text as UTF-16 with a byte order mark.
func wide(text string, order binary.AppendByteOrder) []byte {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

// TestSniff is case 38, kimi-code PR 2647 (UTF-16 refused as binary) and claude-code#60174.
func TestSniff(t *testing.T) {
	type kind = textfile.Kind
	const plain, unknown = "text/plain", "application/octet-stream"
	tests := []struct {
		name string
		head string
		want kind
	}{
		{"empty", "", kind{textfile.UTF8, textfile.NoEOL, plain}},
		{"ascii", "a\nb\n", kind{textfile.UTF8, textfile.LF, plain}},
		{"utf-8", "gr\u00fc\u00dfe", kind{textfile.UTF8, textfile.NoEOL, plain}},
		{"utf-8 BOM", "\xef\xbb\xbfa\r\n", kind{textfile.UTF8BOM, textfile.CRLF, plain}},
		{"utf-8 cut in a letter at the end of the head", strings.Repeat("x", textfile.HeadSize-1) + "\xc3", kind{textfile.UTF8, textfile.NoEOL, plain}},
		{"utf-8 cut in a letter at the end of the file", "gr\xc3", kind{textfile.EightBit, textfile.NoEOL, plain}},
		{"latin-1", "gr\xfc\xdfe\n", kind{textfile.EightBit, textfile.LF, plain}},
		{"gbk", "\xc4\xe3\xba\xc3\n", kind{textfile.EightBit, textfile.LF, plain}},
		{"utf-16le", string(wide("h\u00e9\r\n", binary.LittleEndian)), kind{textfile.UTF16LE, textfile.CRLF, plain}},
		{"utf-16be", string(wide("h\u00e9\n", binary.BigEndian)), kind{textfile.UTF16BE, textfile.LF, plain}},
		{"only a mark", "\xff\xfe", kind{textfile.UTF16LE, textfile.NoEOL, plain}},
		{"utf-32le", "\xff\xfe\x00\x00a\x00\x00\x00", kind{textfile.Binary, 0, unknown}},
		{"NUL", "a\x00b", kind{textfile.Binary, 0, unknown}},
		{"mixed ends", "a\r\nb\n", kind{textfile.UTF8, textfile.MixedEOL, plain}},
		{"old mac", "a\rb\r", kind{textfile.UTF8, textfile.CR, plain}},
		{"progress bar", "10%\r20%\r\n30%\r\n", kind{textfile.UTF8, textfile.CRLF, plain}},
		{"png", "\x89PNG\r\n\x1a\n\x00\x00", kind{textfile.Binary, 0, "image/png"}},
		{"jpeg", "\xff\xd8\xff\xe0", kind{textfile.Binary, 0, "image/jpeg"}},
		{"gif", "GIF89a\x10\x00\x10\x00", kind{textfile.Binary, 0, "image/gif"}},
		{"text that begins like a gif", "GIF89a is an old format\n", kind{textfile.UTF8, textfile.LF, "text/plain"}},
		{"text that begins like a video", "The ftyp box\n", kind{textfile.UTF8, textfile.LF, "text/plain"}},
		{"text that begins like a pdf", "%PDF-1.7 is the header\n", kind{textfile.UTF8, textfile.LF, "text/plain"}},
		{"webp", "RIFF\x10\x00\x00\x00WEBPVP8 ", kind{textfile.Binary, 0, "image/webp"}},
		{"wav", "RIFF\x10\x00\x00\x00WAVEfmt ", kind{textfile.Binary, 0, "audio/wav"}},
		{"mp3", "ID3\x03\x00\x00", kind{textfile.Binary, 0, "audio/mpeg"}},
		{"mp3 without a tag", "\xff\xfb\x90\x64\x00\x00", kind{textfile.Binary, 0, "audio/mpeg"}},
		{"ogg", "OggS\x00\x02", kind{textfile.Binary, 0, "audio/ogg"}},
		{"flac", "fLaC\x00\x00", kind{textfile.Binary, 0, "audio/flac"}},
		{"pdf", "%PDF-1.7\n", kind{textfile.Binary, 0, "application/pdf"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, textfile.Sniff([]byte(tt.head))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := textfile.IsBinary([]byte(tt.head)); got != (tt.want.Encoding == textfile.Binary) {
				t.Errorf("IsBinary = %v", got)
			}
		})
	}
}

func TestNewDecoder(t *testing.T) {
	const text = "h\u00e9llo \U0001f600\r\nline two\n"
	for name, tt := range map[string]struct {
		file []byte
		e    textfile.Encoding
		want string
	}{
		"le":              {wide(text, binary.LittleEndian), textfile.UTF16LE, text},
		"be":              {wide(text, binary.BigEndian), textfile.UTF16BE, text},
		"half a pair":     {[]byte("\xff\xfea\x00\x3d\xd8b\x00"), textfile.UTF16LE, "a\ufffdb"},
		"half at the end": {[]byte("\xff\xfea\x00\x3d\xd8"), textfile.UTF16LE, "a\ufffd"},
		"odd byte":        {[]byte("\xff\xfea\x00b"), textfile.UTF16LE, "a\ufffd"},
		"no mark":         {[]byte("a\x00b\x00"), textfile.UTF16LE, "ab"},
		"bom":             {[]byte("\xef\xbb\xbfab"), textfile.UTF8BOM, "ab"},
		"short":           {[]byte("a"), textfile.UTF8BOM, "a"},
		"empty":           {nil, textfile.UTF8BOM, ""},
		"empty wide":      {nil, textfile.UTF16BE, ""},
		"utf-8":           {[]byte(text), textfile.UTF8, text},
	} {
		for _, way := range []func(io.Reader) io.Reader{plainly, iotest.OneByteReader, iotest.DataErrReader} {
			got, err := io.ReadAll(textfile.NewDecoder(way(bytes.NewReader(tt.file)), tt.e))
			if err != nil || string(got) != tt.want {
				t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
			}
		}
	}
}

func plainly(r io.Reader) io.Reader { return r }

func TestShow(t *testing.T) {
	for in, want := range map[string]string{
		"gr\u00fc\u00dfe":  "gr\u00fc\u00dfe",
		"gr\xfc\xdfe":      "gr\u00fc\u00dfe",
		"\x93quoted\x94":   "\u201cquoted\u201d",
		"\u00fc and \xfc":  "\u00fc and \u00fc",
		"kept: \ufffd":     "kept: \ufffd",
		"\x81\xe4\xb8 end": "\u0081\u00e4\u00b8 end",
	} {
		if got := textfile.Show([]byte(in)); got != want {
			t.Errorf("Show(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzShow: no byte becomes U+FFFD, and what is shown of eight-bit text leads back to it.
func FuzzShow(f *testing.F) {
	f.Add([]byte("gr\xfc\xdfe \x93x\x94"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := textfile.Show(b)
		if !utf8.ValidString(got) || strings.Count(got, "\ufffd") != bytes.Count(b, []byte("\ufffd")) {
			t.Fatalf("Show(%q) = %q", b, got)
		}
		if utf8.RuneCountInString(got) != utf8.RuneCount(b) {
			t.Fatalf("Show(%q) has another number of letters", b)
		}
		text, err := charmap.Windows1252.NewDecoder().Bytes(b)
		if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
			return
		}
		if back, ok := textfile.EightBitBytes(string(text)); !ok || !bytes.Equal(back, b) {
			t.Fatalf("EightBitBytes(%q) = %q, %v; want %q", text, back, ok, b)
		}
	})
}

// FuzzWide compares with the standard library's decoding of whole slices.
func FuzzWide(f *testing.F) {
	f.Add([]byte("a\x00\x3d\xd8\x00\xde"), false)
	f.Fuzz(func(t *testing.T, b []byte, big bool) {
		order, e := binary.ByteOrder(binary.LittleEndian), textfile.UTF16LE
		if big {
			order, e = binary.BigEndian, textfile.UTF16BE
		}
		var units []uint16
		for i := 0; i+1 < len(b); i += 2 {
			units = append(units, order.Uint16(b[i:]))
		}
		if len(units) > 0 && units[0] == 0xfeff {
			units = units[1:]
		}
		want := string(utf16.Decode(units))
		if len(b)%2 == 1 {
			want += "\ufffd"
		}
		got, err := io.ReadAll(textfile.NewDecoder(iotest.HalfReader(bytes.NewReader(b)), e))
		if err != nil || string(got) != want {
			t.Fatalf("%q: %q, %v; want %q", b, got, err, want)
		}
	})
}
