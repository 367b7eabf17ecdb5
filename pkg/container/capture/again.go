package capture

import (
	"strings"
	"unicode/utf8"
)

// Clip returns t with at most limit code points, as [Clip] cuts a stream: what its mark says
// is missing counts on, and it has one mark.
func (t Text) Clip(limit int) Text {
	runes := int64(utf8.RuneCountInString(t.Text))
	if runes <= int64(limit) {
		return t
	}
	if t.Omitted == 0 {
		return clip(Kept{Head: []byte(t.Text), Bytes: int64(len(t.Text)), Runes: runes}, int64(limit))
	}
	head, tail := t.halves(runes)
	return clip(Kept{
		Head: []byte(head), Tail: []byte(tail),
		Bytes: int64(len(head)+len(tail)) + t.Omitted,
		Runes: int64(utf8.RuneCountInString(head)+utf8.RuneCountInString(tail)) + t.Omitted,
	}, int64(limit))
}

// halves returns what stands before and behind the mark of t, which has so many runes. The
// output may hold the same words; the mark is the one in the middle, where clip puts it.
func (t Text) halves(runes int64) (head, tail string) {
	m := mark(t.Omitted)
	first, _ := firstRunes([]byte(t.Text), (runes-int64(len(m))+1)/2)
	at := len(first)
	if !strings.HasPrefix(t.Text[at:], m) {
		at = strings.Index(t.Text, m)
	}
	if at < 0 { // there was no room for one
		return t.Text, ""
	}
	return t.Text[:at], t.Text[at+len(m):]
}
