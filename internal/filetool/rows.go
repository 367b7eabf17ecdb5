package filetool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A rows is a result as text: rows, of which the first so many fit, and notes.
type rows struct {
	*page
	unit   string // what a row is, in the singular
	narrow string // the arguments that make the search smaller
	list   []row
	cut    bool // rows were left out for room
	said   bool // the text already says what was ignored, binary or unreadable
}

// A row is one result. What stands before it is no result of its own.
type row struct {
	before string // with a newline
	text   string
}

// rowName is an escaped name as a row begins with it: the notes stand in brackets, and no
// name may pass for one. Paths with ./ before them are found as well.
func rowName(name string) string {
	if strings.HasPrefix(name, "[") {
		return "./" + name
	}
	return name
}

// Room for the notes behind the rows.
const noteRoom = 1200

// fit drops the rows that have no room, as text or in both forms together, and returns how
// many stay. One always stays, so that the next page is another.
func (s *rows) fit(b toolkit.Budget) int {
	const member = 64 // what a row costs in the structured form, beside its text with escapes
	room, both := b.Text-noteRoom, b.All-4*noteRoom
	for i, r := range s.list {
		n := len(r.before) + len(r.text) + 1
		room, both = room-n, both-3*n-member
		if min(room, both) < 0 && i > 0 {
			s.list, s.cut = s.list[:i], true
			break
		}
	}
	return len(s.list)
}

// text joins the first line, which may be empty, the rows and the notes.
func (s *rows) text(first string, notes []string) string {
	var b strings.Builder
	if first != "" {
		b.WriteString(first + "\n")
	}
	for _, r := range s.list {
		b.WriteString(r.before + r.text + "\n")
	}
	for _, n := range notes {
		b.WriteString("[" + n + "]\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// stopped is the first line of a search that ran out of time, with what it has so far;
// empty for others. A model that read of an absence first would stop there.
func (s *rows) stopped(soFar string) string {
	if !s.TimedOut {
		return ""
	}
	if s.TotalHits > 0 {
		soFar = "results are missing"
	}
	return fmt.Sprintf("Stopped after %.0f s: %s; narrow %s", search.DefaultTimeout.Seconds(), soFar, s.narrow)
}

// next is the offset of the page after this one, 0 if there is none.
func (s *rows) next() int {
	if !s.cut && !s.Truncated {
		return 0
	}
	return s.offset + len(s.list)
}

// notes say what is not in the result and, at the end, which part of the whole it is and
// how to get the next one: that is where the descriptions send the model.
func (s *rows) notes() (notes []string) {
	notes = slices.Clone(s.missing)
	for _, n := range []string{s.skippedNote(), s.linksNote(), s.rangeNote()} {
		if n != "" {
			notes = append(notes, n)
		}
	}
	return notes
}

func (s *rows) rangeNote() string {
	total := ""
	if s.Complete {
		total = " of " + thousands(s.Results)
	}
	part := fmt.Sprintf("%s %s-%s%s", many(s.unit), thousands(s.offset+1), thousands(s.offset+len(s.list)), total)
	switch {
	case len(s.list) == 0 && s.offset > 0 && s.Results > 0 && !s.TimedOut:
		return fmt.Sprintf("nothing at offset %d: there %s %s", s.offset, isOrAre(s.Results), plural(s.Results, s.unit))
	case s.next() > 0 && s.cut:
		return fmt.Sprintf("%s, cut at the size limit; offset=%d for more", part, s.next())
	case s.next() > 0:
		return fmt.Sprintf("%s; offset=%d for more", part, s.next())
	case s.offset > 0 && len(s.list) > 0:
		return part
	}
	return ""
}

// few is up to how many results the harmless kinds of skipping are mentioned: then what is
// looked for may lie there.
const few = 20

func (s *rows) skippedNote() string {
	k := s.skips()
	if s.isFull() && k.Unreadable+k.TooLarge+k.Denied == 0 {
		return ""
	}
	const hint = "include_ignored=true shows what is ignored"
	ignored := k.Ignored
	if s.said {
		k.Ignored, k.Binary = 0, 0
	}
	list := skippedList(k)
	switch {
	case list == "" && ignored > 0:
		return hint
	case list == "":
		return ""
	case ignored > 0:
		list += "; " + hint
	}
	return "skipped: " + list
}

// linksNote says that links were not followed, as long as what is looked for may lie there.
func (s *rows) linksNote() string {
	switch n := s.skips().Links; {
	case n == 0 || s.isFull():
		return ""
	case n == 1:
		return "1 link was not followed: give it as path"
	default:
		return plural(n, "link") + " were not followed: give one as path"
	}
}

func (s *rows) isFull() bool { return len(s.list) >= few || s.next() > 0 }

// skips returns what was skipped. How far beyond its page a search gets that ends with it
// differs from run to run, so nothing is told of that.
func (s *rows) skips() search.Skipped {
	if s.endedEarly() {
		return search.Skipped{}
	}
	return s.Skipped
}

// endedEarly reports whether the search ended since the page was full.
func (s *rows) endedEarly() bool { return !s.Complete && !s.TimedOut }

func skippedList(k search.Skipped) string {
	special := "pipes, sockets or devices"
	if k.Special == 1 {
		special = "pipe, socket or device"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{k.Ignored, "ignored"},
		{k.Binary, "binary"},
		{k.TooLarge, "too large"},
		{k.Unreadable, "unreadable (" + strings.Join(k.Names, ", ") + ")"},
		{k.Special, special},
		{k.Denied, "hidden by the policy"},
	} {
		if p.n > 0 {
			parts = append(parts, thousands(p.n)+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}
