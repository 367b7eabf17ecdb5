package capture_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/container/capture"
)

// A naive collector keeps everything. What a real one gives must follow from it.
type naive struct {
	room   int
	stream []byte // since the last Take
}

// check compares what was taken with the stream that it was taken of.
func (n *naive) check(t *testing.T, k capture.Kept, ended bool) {
	t.Helper()
	whole := n.stream
	if !ended {
		whole = whole[:len(whole)-unfinished(whole)]
	}
	if k.Bytes != int64(len(whole)) || k.Runes != int64(utf8.RuneCount(whole)) {
		t.Fatalf("took %d bytes and %d runes of %q, want %d and %d", k.Bytes, k.Runes, n.stream, len(whole), utf8.RuneCount(whole))
	}
	if !bytes.HasPrefix(whole, k.Head) || !bytes.HasSuffix(whole, k.Tail) {
		t.Fatalf("took %q and %q of %q: no beginning and end of it", k.Head, k.Tail, whole)
	}
	if len(n.stream) <= 2*n.room {
		if !bytes.Equal(k.Head, whole) || len(k.Tail) != 0 {
			t.Fatalf("took %q and %q of %q, want all in one piece", k.Head, k.Tail, whole)
		}
	} else {
		n.checkCut(t, k, whole)
	}
	n.stream = n.stream[len(whole):]
}

// checkCut wants both sides of a cut to be as long as they can be without cutting a rune.
func (n *naive) checkCut(t *testing.T, k capture.Kept, whole []byte) {
	t.Helper()
	const rune = utf8.UTFMax - 1
	lost := len(n.stream) - len(whole) // of the room of the tail
	if l := len(k.Head); l > n.room || l < n.room-rune {
		t.Fatalf("the head of %q has %d bytes, with room for %d", whole, l, n.room)
	}
	if l := len(k.Tail); l > n.room || l < n.room-rune-lost {
		t.Fatalf("the tail of %q has %d bytes, with room for %d", whole, l, n.room)
	}
	if !boundary(whole, len(k.Head)) || !boundary(whole, len(whole)-len(k.Tail)) {
		t.Fatalf("took %q and %q of %q: a rune is cut", k.Head, k.Tail, whole)
	}
}

// boundary reports whether a rune or an invalid byte of p begins or ends at i.
func boundary(p []byte, i int) bool {
	at := 0
	for at < i {
		_, size := utf8.DecodeRune(p[at:])
		at += size
	}
	return at == i
}

// unfinished returns the length of the last rune of p where it could still be completed.
func unfinished(p []byte) int {
	at := 0
	for at < len(p) {
		if !utf8.FullRune(p[at:]) {
			return len(p) - at
		}
		_, size := utf8.DecodeRune(p[at:])
		at += size
	}
	return 0
}

// play writes stream in pieces to a collector and a naive one, takes now and then, and
// compares. Each byte of plan is a step: the length of a piece, with the highest bit a Take.
func play(t *testing.T, room int, stream, plan []byte) {
	t.Helper()
	real, oracle := capture.NewCollector(room), &naive{room: max(room, utf8.UTFMax)}
	write := func(p []byte) {
		real.Write(p)
		oracle.stream = append(oracle.stream, p...)
	}
	for _, step := range plan {
		n := min(int(step&0x7f), len(stream))
		write(stream[:n])
		stream = stream[n:]
		if step&0x80 != 0 {
			oracle.check(t, real.Take(false), false)
		}
	}
	write(stream)
	oracle.check(t, real.Take(true), true)
}

// Texts that begin runes and do not end them, end what did not begin, and hold runes of
// each length.
var awkward = []string{
	"a", "\n", "\r", "ä", "€", "😀", "\x80", "\xbf", "\xc3", "\xe2", "\xe2\x82", "\xf0", "\xf0\x9f", "\xf0\x9f\x98",
	"\xed\xa0\x80", "\xc0\x80", "\xff", "\xf4\x90\x80\x80", "\x00",
}

func awkwardText(r *rand.Rand, pieces int) []byte {
	var b []byte
	for range pieces {
		b = append(b, awkward[r.IntN(len(awkward))]...)
	}
	return b
}

func TestCollectorAgainstNaive(t *testing.T) {
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		plan := make([]byte, r.IntN(20))
		for i := range plan {
			plan[i] = byte(r.IntN(12))
			if r.IntN(4) == 0 {
				plan[i] |= 0x80
			}
		}
		stream := awkwardText(r, r.IntN(60))
		t.Run(fmt.Sprint(seed), func(t *testing.T) { play(t, r.IntN(24), stream, plan) })
	}
}

func FuzzCollector(f *testing.F) {
	f.Add(4, []byte("a€😀\xf0\x9f"), []byte{1, 0x82, 3})
	f.Add(5, []byte(strings.Repeat("😀", 9)), []byte{7, 7, 0x87})
	f.Fuzz(func(t *testing.T, room int, stream, plan []byte) {
		if len(stream) < 1<<12 && len(plan) < 1<<8 {
			play(t, min(max(room, 0), 1<<10), stream, plan)
		}
	})
}

func TestLine(t *testing.T) {
	long := strings.Repeat("0123456789", 30)
	tests := map[string]struct {
		writes []string
		want   string
	}{
		"nothing":               {nil, ""},
		"one line":              {[]string{"a\n"}, "a"},
		"a line without end":    {[]string{"a\nb"}, "b"},
		"in pieces":             {[]string{"a\nb", "c", "d\n"}, "bcd"},
		"end in its own piece":  {[]string{"a", "\n"}, "a"},
		"next line":             {[]string{"a", "\n", "b"}, "b"},
		"blank lines behind":    {[]string{"a\n\n", "\n"}, "a"},
		"carriage return":       {[]string{"10%\r", "20%\r30%\r"}, "30%"},
		"carriage return first": {[]string{"10%", "\r20%"}, "20%"},
		"both":                  {[]string{"a\r\n", "b\r\n"}, "b"},
		"long":                  {[]string{long}, long[:200]},
		"long in pieces":        {[]string{long[:150], long[150:]}, long[:200]},
		"long and then short":   {[]string{long + "\n", "a"}, "a"},
		"a rune at the limit":   {[]string{long[:199] + "😀"}, long[:199]},
		"invalid bytes":         {[]string{"a\xffb"}, "ab"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := capture.NewCollector(8)
			n := 0
			for _, w := range tc.writes {
				c.Write([]byte(w))
				n += len(w)
			}
			line, written := c.Line()
			if line != tc.want || written != int64(n) {
				t.Errorf("line %q after %d bytes, want %q after %d", line, written, tc.want, n)
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	const room = 1 << 10
	c := capture.NewCollector(room)
	chunk := bytes.Repeat([]byte("0123456789abcde\n"), 1<<12)
	c.Write(chunk)
	if n := testing.AllocsPerRun(100, func() { c.Write(chunk) }); n > 0 {
		t.Errorf("%v allocations for 64 KiB behind the room", n)
	}
	k := c.Take(true)
	if cap(k.Head) > 2*room || cap(k.Tail) > 2*room {
		t.Errorf("room %d grew to %d and %d", room, cap(k.Head), cap(k.Tail))
	}
}

// keep returns what a collector has of text.
func keep(room int, text []byte) capture.Kept {
	c := capture.NewCollector(room)
	c.Write(text)
	return c.Take(true)
}

func TestClip(t *testing.T) {
	ten := "0123456789"
	tests := map[string]struct {
		stdout, stderr       string
		limit                int
		wantOut, wantErr     string
		outMissed, errMissed int64
	}{
		"all fits":              {ten, "e", 11, ten, "e", 0, 0},
		"nothing":               {"", "", 5, "", "", 0, 0},
		"no room for a mark":    {ten, "", 5, "01234", "", 5, 0},
		"shares":                {ten, ten, 10, "01234", "01234", 5, 5},
		"the other is short":    {ten, "ab", 10, "01234567", "ab", 2, 0},
		"the first is short":    {"ab", ten, 10, "ab", "01234567", 0, 2},
		"odd limit":             {ten, ten, 5, "012", "01", 7, 8},
		"a mark":                {strings.Repeat(ten, 10), "", 40, "012\n[... 94 characters omitted ...]\n789", "", 94, 0},
		"runes":                 {strings.Repeat("😀", 6), "", 5, "😀😀😀😀😀", "", 1, 0},
		"invalid bytes":         {"a\xff\xfeb", "", 4, "a\ufffd\ufffdb", "", 0, 0},
		"a rune without end":    {"a\xf0\x9f", "", 4, "a\ufffd\ufffd", "", 0, 0},
		"NUL":                   {"a\x00b", "", 4, "a\x00b", "", 0, 0},
		"no limit worth a rune": {ten, ten, 0, "", "", 10, 10},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := capture.Clip(keep(1<<10, []byte(tc.stdout)), keep(1<<10, []byte(tc.stderr)), tc.limit)
			want := []capture.Text{{Text: tc.wantOut, Omitted: tc.outMissed}, {Text: tc.wantErr, Omitted: tc.errMissed}}
			if diff := cmp.Diff(want, []capture.Text{out, err}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// checkClip compares a text with all that there was.
func checkClip(t *testing.T, whole []byte, got capture.Text) (runes int) {
	t.Helper()
	all := []rune(string(whole))
	text := []rune(got.Text)
	if !utf8.ValidString(got.Text) {
		t.Fatalf("%q is no UTF-8", got.Text)
	}
	mark := []rune(fmt.Sprintf("\n[... %d characters omitted ...]\n", got.Omitted))
	cut := -1
	for i := 0; i+len(mark) <= len(text); i++ {
		if string(text[i:i+len(mark)]) == string(mark) {
			cut = i
			break
		}
	}
	head, tail := text, []rune(nil)
	if got.Omitted > 0 && cut >= 0 {
		head, tail = text[:cut], text[cut+len(mark):]
	}
	if len(head)+len(tail)+int(got.Omitted) != len(all) {
		t.Fatalf("%q leaves out %d of %q: the numbers do not add up", got.Text, got.Omitted, string(all))
	}
	if string(head) != string(all[:len(head)]) || string(tail) != string(all[len(all)-len(tail):]) {
		t.Fatalf("%q is not the beginning and the end of %q", got.Text, string(all))
	}
	return len(text)
}

func TestClipAgainstNaive(t *testing.T) {
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		stdout, stderr := awkwardText(r, r.IntN(200)), awkwardText(r, r.IntN(200))
		limit, room := r.IntN(150), 4+r.IntN(700)
		if r.IntN(2) == 0 {
			room = capture.Room(limit)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			out, err := capture.Clip(keep(room, stdout), keep(room, stderr), limit)
			shown := checkClip(t, stdout, out) + checkClip(t, stderr, err)
			if shown > limit {
				t.Fatalf("%d code points, at most %d", shown, limit)
			}
			if all := utf8.RuneCount(stdout) + utf8.RuneCount(stderr); room >= capture.Room(limit) && all <= limit && out.Omitted+err.Omitted > 0 {
				t.Fatalf("%d code points are left out of %d, with a limit of %d", out.Omitted+err.Omitted, all, limit)
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, text := range map[string]string{
		"lines": "0123456789abcde\n", "one line": "0123456789abcdef", "runes": "äöü€😀 and so on\n", "binary": "\x00\xff\x80\x7f\xc3\x28",
	} {
		b.Run(name, func(b *testing.B) {
			chunk := bytes.Repeat([]byte(text), 64<<10/len(text))
			c := capture.NewCollector(128 << 10)
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				c.Write(chunk)
			}
		})
	}
}
