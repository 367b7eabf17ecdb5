package filetool

import (
	"io"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// What the tests of format and progress call.
var (
	Counting = counting
	Plural   = plural[int]
)

// Render renders what the engine returned to a tool, so that tests need no search that
// takes as long as the longest may.
func Render(tool string, r search.Result, mode search.Mode) toolkit.Result {
	p := &page{Result: r}
	for _, h := range r.Hits {
		p.hits = append(p.hits, hit{Hit: h, name: h.Path, mode: modeOf(h.Kind)})
	}
	b := toolkit.Budget{Text: toolkit.DefaultMaxOutput, All: toolkit.DefaultMaxResult}
	switch tool {
	case "Glob":
		return globOut{page: p, plan: &globPlan{asked: "*.go"}}.render(b)
	case "Grep":
		return grepOut{p, &grepPlan{query: search.GrepQuery{Mode: mode}, numbers: true}}.render(b)
	}
	return listOut{p, &listPlan{}}.render(b)
}

// Window shows lines of a text of which r may lack the end, as Read does, or the error.
func Window(r io.Reader, size, from, limit int64) string {
	w, err := source{r: r, size: size}.window(from, limit)
	if err != nil {
		return err.Error()
	}
	lines, mark := w.render(toolkit.DefaultMaxOutput)
	return lines + mark
}
