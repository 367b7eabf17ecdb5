package textfile_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/textfile"
)

// split is the oracle: lines by the standard library, without their ends.
func split(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		cut, ended := strings.CutSuffix(line, "\n")
		if ended {
			cut = strings.TrimSuffix(cut, "\r")
		}
		lines = append(lines, cut)
	}
	return lines
}

func lines(t testing.TB, s *textfile.Scanner, limit int) (text []string, rest int64) {
	t.Helper()
	for {
		line, err := s.Next(limit)
		if err == io.EOF {
			return text, rest
		}
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, string(line.Text))
		if line.Number != s.Lines() {
			t.Fatalf("line %d is counted as %d", line.Number, s.Lines())
		}
		rest += line.Rest
	}
}

// TestOnlyNewlineEndsALine: deepagents#5787, serena PR 1699, claude-supertool#1060,
// agent-os#3176.
func TestOnlyNewlineEndsALine(t *testing.T) {
	const text = "a\u2028b\fc\vd\re\u0085f\r\nsecond\n\nlast\r"
	want := []string{"a\u2028b\fc\vd\re\u0085f", "second", "", "last\r"}
	for _, way := range []func(io.Reader) io.Reader{plainly, iotest.OneByteReader} {
		got, _ := lines(t, textfile.NewScanner(way(strings.NewReader(text))), 100)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestCutLines(t *testing.T) {
	long := strings.Repeat("\u00e9", 1000) // two bytes each
	tests := []struct {
		name, text string
		limit      int
		want       string
		rest       int64
	}{
		{"exact", "12345\n", 5, "12345", 0},
		{"exact with CR", "12345\r\n", 5, "12345", 0},
		{"cut", "1234567\r\n", 5, "12345", 2},
		{"letters, not bytes", long + "\n", 10, long[:20], 990},
		{"eight bit", strings.Repeat("\xe9", 12) + "\n", 10, strings.Repeat("\xe9", 10), 2},
		{"without an end", "1234567", 5, "12345", 2},
	}
	for _, tt := range tests {
		for _, way := range []func(io.Reader) io.Reader{plainly, iotest.OneByteReader} {
			line, err := textfile.NewScanner(way(strings.NewReader(tt.text))).Next(tt.limit)
			if err != nil || string(line.Text) != tt.want || line.Rest != tt.rest {
				t.Errorf("%s: %q and %d more, %v", tt.name, line.Text, line.Rest, err)
			}
		}
	}
}

// FuzzLines compares reading, skipping and the tail with the standard library.
func FuzzLines(f *testing.F) {
	f.Add("a\nb\r\n\nc", uint8(1), uint16(3), uint8(2))
	f.Add("\u00e9\u00e9\r\nx\xff\xe4\xb8\n\r", uint8(0), uint16(1), uint8(1))
	f.Fuzz(func(t *testing.T, text string, skip uint8, limit uint16, tail uint8) {
		checkLines(t, text, int64(skip), int(limit)+1)
		checkTail(t, text, split(text), int(tail)+1)
	})
}

// TestBlocks: lines that lie across the blocks that are read at once.
func TestBlocks(t *testing.T) {
	long := strings.Repeat("\u00e9", 70_000)
	for _, text := range []string{long + "\r\nx\xff\n", long + "\n" + long + long, strings.Repeat("abc\r\n", 50_000)} {
		for _, skip := range []int64{0, 1, 43_690, 43_691} {
			checkLines(t, text, skip, 10)
			checkLines(t, text, skip, 100_000)
			checkTail(t, text, split(text), int(skip)+1)
		}
	}
}

// checkLines skips lines of text and reads the others, cut to limit letters.
func checkLines(t *testing.T, text string, skip int64, limit int) {
	t.Helper()
	want := split(text)
	s := textfile.NewScanner(iotest.HalfReader(strings.NewReader(text)))
	skipped, err := s.Skip(skip)
	if err != nil || skipped != min(skip, int64(len(want))) {
		t.Fatalf("skipped %d of %d, %v", skipped, len(want), err)
	}
	rest := want[skipped:]
	got, more := lines(t, s, limit)
	letters := int64(0)
	for i, line := range rest {
		if i >= len(got) || !strings.HasPrefix(line, got[i]) {
			t.Fatalf("lines %q, want %q", got, rest)
		}
		letters += int64(utf8.RuneCountInString(line) - utf8.RuneCountInString(got[i]))
	}
	if len(got) != len(rest) || letters != more {
		t.Fatalf("lines %q, want %q; %d more letters, want %d", got, rest, more, letters)
	}
}

func checkTail(t *testing.T, text string, want []string, n int) {
	t.Helper()
	offset, count, err := textfile.Tail(strings.NewReader(text), int64(len(text)), int64(n))
	if err != nil || count != int64(min(n, len(want))) {
		t.Fatalf("tail of %d: %d lines, %v; want %d", n, count, err, min(n, len(want)))
	}
	if diff := cmp.Diff(want[len(want)-int(count):], split(text[offset:])); diff != "" && count > 0 {
		t.Fatalf("tail (-want +got):\n%s", diff)
	}
}

// TestBigFile is target P5 and case 36: any part of a big file in bounded memory.
func TestBigFile(t *testing.T) {
	f, size, total := bigFile(t)
	for _, from := range []int64{1, 270_000} {
		before := allocated()
		s := textfile.NewScanner(io.NewSectionReader(f, 0, size))
		if _, err := s.Skip(from - 1); err != nil {
			t.Fatal(err)
		}
		for i := range int64(100) {
			line, err := s.Next(2000)
			if err != nil || !bytes.HasPrefix(line.Text, fmt.Appendf(nil, "%07d ", from+i)) {
				t.Fatalf("line %d: %q, %v", from+i, line.Text, err)
			}
		}
		if used := allocated() - before; used > 1<<20 {
			t.Errorf("from line %d: %d bytes", from, used)
		}
	}
	offset, n, err := textfile.Tail(f, size, 100)
	if err != nil || n != 100 || offset != size-100*size/total {
		t.Errorf("tail at %d of %d, %d lines, %v", offset, size, n, err)
	}
}

// BenchmarkSkip passes over lines, to be compared with BenchmarkRead, which only reads.
func BenchmarkSkip(b *testing.B) {
	f, size, total := bigFile(b)
	b.SetBytes(size)
	for b.Loop() {
		s := textfile.NewScanner(io.NewSectionReader(f, 0, size))
		if n, err := s.Skip(total); err != nil || n != total {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	f, size, _ := bigFile(b)
	block := make([]byte, 128<<10)
	b.SetBytes(size)
	for b.Loop() {
		if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.NewSectionReader(f, 0, size), block); err != nil {
			b.Fatal(err)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// bigFile has 300,000 lines of one length.
func bigFile(t testing.TB) (f *os.File, size, total int64) {
	t.Helper()
	const lines = 300_000
	f, err := os.Create(filepath.Join(t.TempDir(), "big"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	var b bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&b, "%07d %s\n", i+1, "the quick brown fox jumps over the lazy dogs")
	}
	n, err := b.WriteTo(f)
	if err != nil {
		t.Fatal(err)
	}
	return f, n, lines
}

// TestOneLongLine is case 37: a line of 50 MB is cut, and its length is known.
func TestOneLongLine(t *testing.T) {
	before := allocated()
	s := textfile.NewScanner(io.LimitReader(letters{}, 50<<20))
	line, err := s.Next(2000)
	if err != nil || len(line.Text) != 2000 || line.Rest != 50<<20-2000 {
		t.Errorf("%d letters and %d more, %v", len(line.Text), line.Rest, err)
	}
	if used := allocated() - before; used > 1<<20 {
		t.Errorf("used %d bytes", used)
	}
}

// letters is an endless line.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
