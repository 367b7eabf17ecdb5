// Package capture keeps the beginning and the end of a stream of any length in bounded
// memory, and makes text of it that says exactly what is missing.
//
// A [Collector] takes what a command writes. [Clip] makes texts of one command's two
// streams within a limit of code points. Invalid UTF-8 becomes U+FFFD, one for each byte, and
// a rune is never cut.
//
// The package imports the standard library only, since the agent is built from it.
package capture

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Kept is what a [Collector] has of a stream. Between Head and Tail nothing is missing
// unless Bytes is larger than both together.
type Kept struct {
	Head, Tail []byte
	Bytes      int64 // of the whole stream
	Runes      int64 // of the whole stream, each invalid byte counting as one
}

// A Collector keeps the first and the last bytes of what is written to it, and counts the
// rest. It is safe for concurrent use. Its memory grows with what it holds, to twice its
// room.
type Collector struct {
	room int

	mu    sync.Mutex
	head  []byte
	ring  []byte // of the bytes behind the head, the last ones; a ring once it is full
	start int    // of the oldest byte in ring
	bytes int64
	runes int64
	part  []byte // the beginning of a rune whose end has not come yet
	line  []byte // the last line, or its beginning
	next  bool   // a new line begins with the next byte
}

// NewCollector returns a collector that keeps room bytes of the head and of the tail.
func NewCollector(room int) *Collector { return &Collector{room: max(room, utf8.UTFMax)} }

// Write takes p and never fails.
func (c *Collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += int64(len(p))
	c.count(p)
	c.remember(p)
	rest := p
	if n := min(len(rest), c.room-len(c.head)); n > 0 {
		c.head = append(c.head, rest[:n]...)
		rest = rest[n:]
	}
	c.push(rest)
	return len(p), nil
}

// push puts p into the ring.
func (c *Collector) push(p []byte) {
	if len(p) > c.room {
		p = p[len(p)-c.room:]
	}
	if n := min(len(p), c.room-len(c.ring)); n > 0 {
		c.ring = append(c.ring, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(c.ring[c.start:], p)
		c.start = (c.start + n) % c.room
		p = p[n:]
	}
}

// count adds the runes of p that are complete.
func (c *Collector) count(p []byte) {
	for len(c.part) > 0 && len(p) > 0 {
		c.part = append(c.part, p[0])
		p = p[1:]
		for len(c.part) > 0 && utf8.FullRune(c.part) {
			_, n := utf8.DecodeRune(c.part)
			c.part = append(c.part[:0], c.part[n:]...)
			c.runes++
		}
	}
	whole := len(p) - unfinished(p)
	c.runes += runeCount(p[:whole])
	c.part = append(c.part, p[whole:]...)
}

// unfinished returns how many bytes at the end of p begin a rune that may still be
// completed.
func unfinished(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// runeCount counts like utf8.RuneCount, several times as fast: in valid text each rune has
// exactly one byte that does not continue another, whose upper bits are not 10.
func runeCount(p []byte) (n int64) {
	if !utf8.Valid(p) {
		for len(p) > 0 {
			_, size := utf8.DecodeRune(p)
			p = p[size:]
			n++
		}
		return n
	}
	const lowest = 0x0101010101010101 // bit of each byte
	for ; len(p) >= 8; p = p[8:] {
		w := binary.NativeEndian.Uint64(p)
		n += int64(8 - bits.OnesCount64(w>>7&^(w>>6)&lowest))
	}
	for _, b := range p {
		if utf8.RuneStart(b) {
			n++
		}
	}
	return n
}

// lineRoom bounds what is kept of the last line, in bytes.
const lineRoom = 200

// remember keeps the beginning of the last line. A carriage return begins a new line, as a
// terminal shows it.
func (c *Collector) remember(p []byte) {
	full := bytes.TrimRight(p, "\r\n")
	if len(full) == 0 {
		c.next = c.next || len(p) > 0
		return
	}
	begin := lastBreak(full) + 1
	if begin > 0 || c.next {
		c.line = c.line[:0]
	}
	c.line = append(c.line, full[begin:min(len(full), begin+lineRoom-min(lineRoom, len(c.line)))]...)
	c.next = len(full) < len(p)
}

// lastBreak returns where the last end of a line stands, or -1. Where there is none it is
// faster to look from the front.
func lastBreak(p []byte) int {
	if bytes.IndexByte(p, '\n') < 0 && bytes.IndexByte(p, '\r') < 0 {
		return -1
	}
	return bytes.LastIndexAny(p, "\r\n")
}

// Line returns the beginning of the last line, at most 200 bytes, and how many bytes were
// written since the last Take.
func (c *Collector) Line() (line string, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.ToValidUTF8(string(c.line), ""), c.bytes
}

// Take returns what was written since the last Take. Unless the stream has ended, the
// beginning of a rune is left for the next one.
func (c *Collector) Take(ended bool) Kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []byte
	if ended {
		c.runes += int64(utf8.RuneCount(c.part))
	} else {
		left = c.part
	}
	tail := append(append(make([]byte, 0, len(c.ring)), c.ring[c.start:]...), c.ring[:c.start]...)
	k := join(c.head, tail, c.bytes)
	k.Runes = c.runes
	k.drop(len(left))
	c.head, c.ring, c.start, c.part = nil, nil, 0, nil
	c.bytes, c.runes = 0, 0
	if len(left) > 0 {
		c.bytes = int64(len(left))
		c.part = left
		c.head = append(c.head, left...)
	}
	return k
}

// join makes one of head and tail where nothing lies between them, and else trims both to
// whole runes.
func join(head, tail []byte, total int64) Kept {
	k := Kept{Head: head, Bytes: total}
	if int64(len(head)+len(tail)) == total {
		k.Head = append(head, tail...)
		return k
	}
	k.Head = head[:len(head)-unfinished(head)]
	for n := 0; n < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); n++ {
		tail = tail[1:]
	}
	k.Tail = tail
	return k
}

// drop leaves out the last n bytes.
func (k *Kept) drop(n int) {
	k.Bytes -= int64(n)
	if len(k.Tail) > 0 {
		k.Tail = k.Tail[:max(0, len(k.Tail)-n)]
		return
	}
	k.Head = k.Head[:max(0, len(k.Head)-n)]
}
