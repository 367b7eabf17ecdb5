package capture

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Text is what of a stream is shown.
type Text struct {
	Text    string // valid UTF-8
	Omitted int64  // code points that are missing from it, the mark not counted as one of them
}

// Room is how many bytes of head and tail a [Collector] needs so that [Clip] can show limit
// code points of its stream.
func Room(limit int) int { return limit * utf8.UTFMax }

// Clip returns texts of a command's two streams that have at most limit code points
// together, marks included. A stream that is short leaves its share to the other. Of one that is
// cut the beginning and the end are shown, and between them a mark with the exact number of
// code points that are missing; where there is no room for a mark, only the beginning.
func Clip(stdout, stderr Kept, limit int) (out, err Text) {
	half := int64(limit / 2)
	first := int64(limit) - half
	switch {
	case stderr.Runes < half:
		first = int64(limit) - stderr.Runes
	case stdout.Runes < first:
		first = stdout.Runes
	}
	return clip(stdout, first), clip(stderr, int64(limit)-first)
}

func clip(k Kept, limit int64) Text {
	if k.Runes <= limit && int64(len(k.Head)+len(k.Tail)) == k.Bytes {
		return Text{Text: valid(k.Head) + valid(k.Tail)}
	}
	// The mark names what is missing, whose number of digits depends on the mark's length:
	// one that is counted with all digits is never too short.
	room := limit - int64(len(mark(k.Runes)))
	if room < 2 {
		head, n := firstRunes(k.Head, limit)
		return Text{Text: valid(head), Omitted: k.Runes - n}
	}
	head, n := firstRunes(k.Head, room-room/2)
	rest := k.Tail
	if int64(len(k.Head)) == k.Bytes { // one piece: the end is that of its head
		rest = k.Head[len(head):]
	}
	tail, m := lastRunes(rest, room/2)
	missing := k.Runes - n - m
	return Text{Text: valid(head) + mark(missing) + valid(tail), Omitted: missing}
}

func mark(missing int64) string { return fmt.Sprintf("\n[... %d characters omitted ...]\n", missing) }

func firstRunes(p []byte, n int64) (head []byte, runes int64) {
	at := 0
	for ; runes < n && at < len(p); runes++ {
		_, size := utf8.DecodeRune(p[at:])
		at += size
	}
	return p[:at], runes
}

// lastRunes returns the last n runes of p, or all of them.
func lastRunes(p []byte, n int64) (tail []byte, runes int64) {
	all := int64(utf8.RuneCount(p))
	rest, _ := firstRunes(p, all-n)
	return p[len(rest):], min(all, n)
}

// valid returns p as text: each byte that is not UTF-8 becomes U+FFFD.
func valid(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	var b strings.Builder
	for _, r := range string(p) {
		b.WriteRune(r)
	}
	return b.String()
}
