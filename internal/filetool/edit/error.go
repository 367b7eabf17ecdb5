package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

// A Kind is why an edit was not made.
type Kind uint8

// The kinds of errors.
const (
	NotFound  Kind = iota + 1 // Old is not there
	Ambiguous                 // it is there more than once
	Same                      // nothing would change
	NoOld                     // Old is empty, and the content is not
	Wide                      // UTF-16
	Binary                    // no text
	Letter                    // New has a letter that the file cannot hold
	Merges                    // bytes that are no UTF-8 would become letters with those beside them
)

// An Error is why edits were not made. Nothing was changed.
type Error struct {
	Kind       Kind
	Number, Of int // which edit, from 1; 0 where it is all of them
	detail     string
}

// Error returns the text that a model may read, of less than 2,000 bytes: the first line
// says what to do, those below it show where.
func (e *Error) Error() string {
	which := ""
	if e.Of > 1 {
		which = fmt.Sprintf("edit %d of %d: ", e.Number, e.Of)
	}
	text := which + e.Kind.advice()
	if e.detail != "" {
		text += "\n" + e.detail
	}
	return text
}

// Visible returns the same: there is nothing in it that the model did not ask for.
func (e *Error) Visible() string { return e.Error() }

func (k Kind) advice() string {
	switch k {
	case NotFound:
		return "old_string was not found, nothing was changed: copy it from a fresh read of the file"
	case Ambiguous:
		return "old_string is there more than once, nothing was changed: add lines round it until it is " +
			"unique, or set replace_all"
	case Same:
		return "old_string and new_string are the same, nothing was changed: give the text as it is to become"
	case NoOld:
		return "old_string is empty but the file is not, nothing was changed: give text that is there"
	case Wide:
		return "it is UTF-16, which is shown but not changed: convert it to UTF-8 first"
	case Binary:
		return "it is binary, nothing was changed: only text can be edited"
	case Letter:
		return "new_string has a letter that this file cannot hold, nothing was changed: write it with other letters"
	case Merges:
		return "the change would join bytes that are not UTF-8 into another letter, nothing was changed: " +
			"replace the whole word"
	}
	return "the edit cannot be made"
}

// onlyEnds says so where an edit wants nothing but other line ends.
func onlyEnds(e Edit) string {
	if e.Old == e.New {
		return ""
	}
	return "they differ in line ends, and those stay as the file has them"
}

// unfitLetter names the first letter of text that a file of single bytes cannot hold.
func unfitLetter(text string) string {
	for _, r := range text {
		if _, ok := textfile.EightBitBytes(string(r)); !ok {
			return fmt.Sprintf("it is not UTF-8 and taken as windows-1252, which lacks %q (%U)", r, r)
		}
	}
	return ""
}

// Bounds on what an error shows.
const (
	shownPlaces = 10
	shownBytes  = 80  // of the line of a place
	aroundBytes = 360 // of a line round the first difference
)

// ambiguous tells where the places are, which are in order.
func ambiguous(text []byte, old string, hits []int) *Error {
	var b strings.Builder
	if hits[1] < hits[0]+len(old) {
		fmt.Fprintf(&b, "it is there %d times, overlapping:", len(hits))
	} else {
		fmt.Fprintf(&b, "it is there %d times:", len(hits))
	}
	line, counted, shown := 1, 0, 0
	for i := 0; i < len(hits) && shown < shownPlaces; shown++ {
		line += bytes.Count(text[counted:hits[i]], []byte("\n"))
		counted = hits[i]
		start := bytes.LastIndexByte(text[:hits[i]], '\n') + 1
		end := len(text)
		if n := bytes.IndexByte(text[hits[i]:], '\n'); n >= 0 {
			end = hits[i] + n
		}
		same := i + 1
		for same < len(hits) && hits[same] <= end {
			same++
		}
		fmt.Fprintf(&b, "\nline %d", line)
		if same > i+1 {
			fmt.Fprintf(&b, " (%d times)", same-i)
		}
		b.WriteString(": " + clip(string(text[start:min(end, start+4*shownBytes)]), shownBytes))
		i = same
		if shown == shownPlaces-1 && i < len(hits) {
			fmt.Fprintf(&b, "\nand %d more below", len(hits)-i)
		}
	}
	return &Error{Kind: Ambiguous, detail: b.String()}
}

// clip returns at most limit bytes of what visible makes of line.
func clip(line string, limit int) string {
	var b strings.Builder
	for _, r := range line {
		s := shownLetter(r, false)
		if b.Len()+len(s) > limit {
			b.WriteString("...")
			break
		}
		b.WriteString(s)
	}
	return b.String()
}

// shownLetter returns r as an error shows it: on its own line nothing can forge another, and
// where white space matters it can be seen.
func shownLetter(r rune, space bool) string {
	switch {
	case r == ' ' && space:
		return "·"
	case r == '\t' && space:
		return "→"
	case r == '\t':
		return `\t`
	case r == '\r' && space:
		return "␍"
	case r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf)):
		q := fmt.Sprintf("%+q", r)
		return q[1 : len(q)-1]
	case r == utf8.RuneError:
		return "\uFFFD"
	}
	return string(r)
}
