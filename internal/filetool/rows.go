package filetool

import (
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A rows is a result as text: rows, of which the first so many fit, and notes.
type rows struct {
	*page
	unit string // what a row is, in the plural
	list []row
	cut  bool // rows were left out for room
	said bool // the text already says what was ignored, binary or unreadable
}

// A row is one result. What stands before it is no result of its own.
type row struct {
	before string // with a newline
	text   string
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

func (s *rows) text(notes []string) string {
	var b strings.Builder
	for _, r := range s.list {
		b.WriteString(r.before + r.text + "\n")
	}
	for _, n := range notes {
		b.WriteString("[" + n + "]\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// next is the offset of the page after this one, 0 if there is none.
func (s *rows) next() int {
	if !s.cut && !s.Truncated {
		return 0
	}
	return s.offset + len(s.list)
}

// notes say which part of the whole this is, and what is not in it.
func (s *rows) notes() []string {
	var notes []string
	if n := s.rangeNote(); n != "" {
		notes = append(notes, n)
	}
	if s.TimedOut {
		notes = append(notes, fmt.Sprintf("stopped after %.0f s, so results are missing: name a narrower path or pattern", search.DefaultTimeout.Seconds()))
	}
	if n := s.skippedNote(); n != "" {
		notes = append(notes, n)
	}
	return notes
}

func (s *rows) rangeNote() string {
	total := ""
	if s.Complete {
		total = " of " + thousands(s.Results)
	}
	part := fmt.Sprintf("%s %s-%s%s", s.unit, thousands(s.offset+1), thousands(s.offset+len(s.list)), total)
	switch {
	case len(s.list) == 0 && s.offset > 0 && s.Results > 0:
		return fmt.Sprintf("nothing at offset %d: there are %s %s", s.offset, thousands(s.Results), s.unit)
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
	k := s.Skipped
	if (len(s.list) >= few || s.next() > 0) && k.Unreadable+k.TooLarge+k.Denied == 0 {
		return ""
	}
	const hint = "include_ignored=true shows what is ignored"
	if s.said {
		k.Ignored, k.Binary = 0, 0
	}
	list := skippedList(k)
	switch {
	case list == "" && s.Skipped.Ignored > 0:
		return hint
	case list == "":
		return ""
	case s.Skipped.Ignored > 0:
		list += "; " + hint
	}
	return "skipped: " + list
}

func skippedList(k search.Skipped) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{k.Ignored, "ignored"},
		{k.Binary, "binary"},
		{k.TooLarge, "too large"},
		{k.Unreadable, "unreadable"},
		{k.Special, "pipes, sockets or devices"},
		{k.Links, "links"},
		{k.Denied, "hidden by the policy"},
	} {
		if p.n == 0 {
			continue
		}
		part := thousands(p.n) + " " + p.what
		if p.what == "unreadable" {
			part += " (" + strings.Join(k.Names, ", ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// A counts is what all structured results of a search have.
type counts struct {
	Truncated  bool     `json:"truncated"`
	NextOffset int      `json:"next_offset,omitempty"`
	TimedOut   bool     `json:"timed_out"`
	Exact      bool     `json:"exact"`
	Skipped    skipped  `json:"skipped"`
	Notes      []string `json:"notes,omitempty"`
}

type skipped struct {
	Ignored    int `json:"ignored"`
	Binary     int `json:"binary"`
	TooLarge   int `json:"too_large"`
	Unreadable int `json:"unreadable"`
	Special    int `json:"special"`
	Links      int `json:"links"`
	Denied     int `json:"denied"`
}

func (s *rows) counts(notes []string) counts {
	k := s.Skipped
	return counts{
		Truncated: s.next() > 0, NextOffset: s.next(), TimedOut: s.TimedOut, Exact: s.Complete, Notes: notes,
		Skipped: skipped{k.Ignored, k.Binary, k.TooLarge, k.Unreadable, k.Special, k.Links, k.Denied},
	}
}

// countsSchema describes counts, for the output schemas; it ends the properties.
const countsSchema = `
		"truncated":{"type":"boolean","description":"more follow"},
		"next_offset":{"type":"integer","description":"of the next page"},
		"timed_out":{"type":"boolean","description":"ended early"},
		"exact":{"type":"boolean","description":"totals are exact"},
		"skipped":{"type":"object","description":"counts by reason"},
		"notes":{"type":"array","description":"as in the text","items":{"type":"string"}}}}`
