package filetool

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A grepOut is what Grep found.
type grepOut struct {
	*page
	plan *grepPlan
}

type grepResult struct {
	Filenames    []string    `json:"filenames"`
	Matches      []grepLine  `json:"matches,omitempty"`
	FileCounts   []fileCount `json:"file_counts,omitempty"`
	TotalFiles   int         `json:"total_files"`
	TotalMatches *int        `json:"total_matches,omitempty"` // not of files_with_matches, which stops at the first
	Searched     int         `json:"files_searched,omitempty"`
	counts
}

type grepLine struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Context bool   `json:"context,omitempty"`
}

type fileCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

func (o grepOut) render(b toolkit.Budget) toolkit.Result {
	s := &rows{page: o.page, unit: "files"}
	r := grepResult{TotalFiles: o.TotalHits, Searched: o.Files}
	matches := o.TotalMatches
	if !o.Complete {
		// How far the search got differs from run to run; what is on the page does not.
		r.TotalFiles, r.Searched, matches = len(o.hits), 0, o.matches()
	}
	if o.plan.query.Mode != search.Files {
		r.TotalMatches = &matches
	}
	switch o.plan.query.Mode {
	case search.Content:
		s.unit = "lines"
		o.lines(s, &r)
		r.Matches = r.Matches[:s.fit(b)]
		r.Filenames = filesOf(r.Matches)
	case search.Count:
		for _, f := range o.hits {
			s.list = append(s.list, row{text: fmt.Sprintf("%s:%d", f.name, f.Count)})
			r.FileCounts = append(r.FileCounts, fileCount{f.name, f.Count})
		}
		r.FileCounts = r.FileCounts[:s.fit(b)]
		r.Filenames = o.names(len(s.list))
	default:
		for _, f := range o.hits {
			s.list = append(s.list, row{text: f.name})
		}
		r.Filenames = o.names(s.fit(b))
	}
	s.said = o.TotalHits == 0
	notes := append(o.totals(), s.notes()...)
	r.counts = s.counts(notes)
	return toolkit.Result{Text: o.none() + s.text(notes), Structured: r}
}

// names returns the names of the first n hits.
func (o grepOut) names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = o.hits[i].name
	}
	return names
}

func filesOf(lines []grepLine) []string {
	names := []string{}
	for _, l := range lines {
		if len(names) == 0 || names[len(names)-1] != l.Path {
			names = append(names, l.Path)
		}
	}
	return names
}

// lines adds the rows of content: path:line:text, path-line-text for context, and -- where
// lines were passed over.
func (o grepOut) lines(s *rows, r *grepResult) {
	q := o.plan.query
	groups := (q.Before > 0 || q.After > 0) && !q.OnlyMatching
	for i, f := range o.hits {
		last := 0
		for j, l := range f.Lines {
			var before string
			if groups && (j == 0 && i > 0 || j > 0 && l.Number != last+1) {
				before = "--\n"
			}
			last = l.Number
			text := toolkit.ValidText(l.Text)
			s.list = append(s.list, row{before, o.line(f.name, l, text)})
			r.Matches = append(r.Matches, grepLine{f.name, l.Number, text, !l.Match})
		}
	}
}

func (o grepOut) line(name string, l search.Line, text string) string {
	sep := ":"
	if !l.Match {
		sep = "-"
	}
	if !o.plan.numbers {
		return name + sep + text
	}
	return fmt.Sprintf("%s%s%d%s%s", name, sep, l.Number, sep, text)
}

// matches returns how many matching lines the page has.
func (o grepOut) matches() (n int) {
	for _, f := range o.hits {
		if o.plan.query.Mode != search.Content {
			n += f.Count
		}
		for _, l := range f.Lines {
			if l.Match {
				n++
			}
		}
	}
	return n
}

// totals is the total line of count; where the search ended with the page, that of the page.
func (o grepOut) totals() []string {
	switch {
	case o.plan.query.Mode != search.Count || o.TotalHits == 0:
		return nil
	case !o.Complete:
		return []string{fmt.Sprintf("this page: %s in %s", plural(o.matches(), "matching line"), plural(len(o.hits), "file"))}
	}
	return []string{fmt.Sprintf("total: %s in %s", plural(o.TotalMatches, "matching line"), plural(o.TotalHits, "file"))}
}

// none says that nothing was found, and how much was searched for it.
func (o grepOut) none() string {
	if o.TotalHits > 0 {
		return ""
	}
	k := o.Skipped
	return fmt.Sprintf("No matches found in %s searched (%s ignored, %s binary, %s unreadable skipped)\n",
		plural(o.Files, "file"), thousands(k.Ignored), thousands(k.Binary), thousands(k.Unreadable))
}
