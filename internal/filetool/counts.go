package filetool

// A counts is what all structured results of a search have. Skipped is left out where the
// search ended with its page: what it saw behind that differs from run to run.
type counts struct {
	Truncated  bool     `json:"truncated"`
	NextOffset int      `json:"next_offset,omitempty"`
	TimedOut   bool     `json:"timed_out"`
	Exact      bool     `json:"exact"`
	Skipped    *skipped `json:"skipped,omitempty"`
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

// counts makes the part that all have; first is the first line of the text, if it has one.
func (s *rows) counts(first string, notes []string) counts {
	if first != "" {
		notes = append([]string{first}, notes...)
	}
	c := counts{
		Truncated: s.next() > 0, NextOffset: s.next(), TimedOut: s.TimedOut, Exact: s.Complete, Notes: notes,
	}
	if k := s.Skipped; !s.endedEarly() {
		c.Skipped = &skipped{k.Ignored, k.Binary, k.TooLarge, k.Unreadable, k.Special, k.Links, k.Denied}
	}
	return c
}

// exact returns a total, or nothing where the search did not see everything.
func (p *page) exact(total int) *int {
	if !p.Complete {
		return nil
	}
	return &total
}

// countsSchema describes counts, for the output schemas; it ends the properties.
const countsSchema = `
		"truncated":{"type":"boolean","description":"more follow"},
		"next_offset":{"type":"integer","description":"of the next page"},
		"timed_out":{"type":"boolean","description":"ended early"},
		"exact":{"type":"boolean","description":"totals are exact"},
		"skipped":{"type":"object","description":"counts by reason"},
		"notes":{"type":"array","description":"as in the text","items":{"type":"string"}}}}`
