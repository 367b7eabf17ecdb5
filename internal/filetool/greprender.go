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
	TotalFiles   *int        `json:"total_files,omitempty"`
	TotalMatches *int        `json:"total_matches,omitempty"` // not of files_with_matches, which stops at the first
	Searched     *int        `json:"files_searched,omitempty"`
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
	s := &rows{page: o.page, unit: "file", narrow: "path, glob or type", said: o.TotalHits == 0}
	r := grepResult{TotalFiles: o.exact(o.TotalHits), Searched: o.exact(o.Files)}
	if o.plan.query.Mode != search.Files {
		r.TotalMatches = o.exact(o.TotalMatches)
	}
	switch o.plan.query.Mode {
	case search.Content:
		s.unit = "line"
		o.lines(s, &r)
		r.Matches = r.Matches[:s.fit(b)]
		r.Filenames = filesOf(r.Matches)
	case search.Count:
		for _, f := range o.hits {
			s.list = append(s.list, row{text: fmt.Sprintf("%s:%d", rowName(f.name), f.Count)})
			r.FileCounts = append(r.FileCounts, fileCount{f.name, f.Count})
		}
		r.FileCounts = r.FileCounts[:s.fit(b)]
		r.Filenames = o.names(len(s.list))
	default:
		for _, f := range o.hits {
			s.list = append(s.list, row{text: rowName(f.name)})
		}
		r.Filenames = o.names(s.fit(b))
	}
	first, notes := o.first(s), append(o.totals(s), s.notes()...)
	r.counts = s.counts(first, notes)
	return toolkit.Result{Text: s.text(first, notes), Structured: r}
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
			s.list = append(s.list, row{before, o.line(rowName(f.name), l, showCR(text))})
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

// totals is the total line of count, for the pages before and after as well.
func (o grepOut) totals(s *rows) []string {
	if o.plan.query.Mode != search.Count || o.TotalHits == 0 || s.endedEarly() {
		return nil
	}
	what := "total"
	if !o.Complete {
		what = "total so far"
	}
	lines, files := plural(o.TotalMatches, "matching line"), plural(o.TotalHits, "file")
	return []string{what + ": " + lines + " in " + files}
}

// first says, where nothing was found or time ran out, how much was searched.
func (o grepOut) first(s *rows) string {
	searched := fmt.Sprintf("in %s searched (%s ignored, %s binary, %s unreadable skipped)", plural(o.Files, "file"),
		thousands(o.Skipped.Ignored), thousands(o.Skipped.Binary), thousands(o.Skipped.Unreadable))
	if line := s.stopped("no match so far " + searched); line != "" || o.TotalHits > 0 {
		return line
	}
	return "No matches found " + searched
}
