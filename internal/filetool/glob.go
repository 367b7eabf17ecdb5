package filetool

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

var globDefinition = toolkit.Definition{
	Effect: approval.ReadFiles,
	Name:   "Glob",
	Title:  "Find files by name",
	Description: "Finds files by a glob such as src/**/*.{ts,tsx}. Without / it matches at any depth; " +
		"ending in / it finds directories. Hidden files are found, ignored ones counted. " +
		"Results are capped; the last line says how to continue.",
	Params: []toolkit.Param{
		{
			Name: "pattern", Type: toolkit.String, Required: true, Example: `"**/*.go"`,
			Description: "Glob, relative to path.",
			Aliases:     []string{"glob", "glob_pattern", "file_mask", "filePattern", "query"},
		},
		pathParam, headLimit("Most results; default 100."), offsetParam, sortParam, ignoredParam,
	},
	Output: json.RawMessage(`{"type":"object","properties":{
		"filenames":{"type":"array","description":"paths","items":{"type":"string"}},
		"total_files":{"type":"integer","description":"in all"},` + countsSchema),
	Hints: readOnly,
}

// addGlob registers Glob.
func addGlob(s *toolkit.Server, r roots) error {
	return toolkit.Add(s, toolkit.Tool[globIn, *globPlan, globOut]{
		Definition: globDefinition, Plan: r.planGlob, Run: runGlob, Render: globOut.render,
	})
}

type globIn struct {
	Pattern string `json:"pattern"`
	searchIn
}

type globPlan struct {
	*target
	query search.GlobQuery
	asked string // the pattern as it was given
	notes []string
}

func (r roots) planGlob(ctx context.Context, call *toolkit.Call, in globIn) (*globPlan, approval.Action, error) {
	p := &globPlan{asked: in.Pattern, notes: in.notes(globLimit)}
	p.query = search.GlobQuery{Pattern: in.Pattern, Options: in.options(globLimit)}
	if isAbsolute(in.Pattern) {
		in.Path, p.query.Pattern = splitAbsolute(filepath.ToSlash(in.Pattern))
	}
	if _, err := search.NewGlob(p.query); err != nil {
		return nil, approval.Action{}, err
	}
	t, a, err := r.target(ctx, call, in.Path, p.query.Options)
	if err != nil {
		return nil, a, err
	}
	if err := t.directories(); err != nil {
		return nil, a, err
	}
	p.target = t
	return p, t.action(approval.List, "find "+toolkit.Inline(in.Pattern)), nil
}

// splitAbsolute splits an absolute pattern behind the last directory that it names in full.
func splitAbsolute(pattern string) (dir, rest string) {
	end := len(pattern)
	if i := strings.IndexAny(pattern, `*?[{\`); i >= 0 {
		end = i
	}
	i := strings.LastIndexByte(strings.TrimSuffix(pattern[:end], "/"), '/')
	if end < len(pattern) {
		i = strings.LastIndexByte(pattern[:end], '/')
	}
	if i < 0 {
		return pattern, "**"
	}
	return pattern[:i+1], "./" + pattern[i+1:]
}

func runGlob(ctx context.Context, p *globPlan, g approval.Grant, report toolkit.Progress) (globOut, error) {
	p.query.Progress = counting(report)
	found, err := p.find(ctx, p.query, g)
	out := globOut{page: found, plan: p}
	if err == nil && found.TotalHits == 0 && !found.TimedOut {
		out.dir = p.directory(ctx, g)
	}
	return out, err
}

func (p *globPlan) find(ctx context.Context, q search.GlobQuery, g approval.Grant) (*page, error) {
	run := func(ctx context.Context, s search.Start, o search.Options) (*search.Result, error) {
		engine, err := search.NewGlob(search.GlobQuery{Pattern: q.Pattern, Options: o})
		if err != nil {
			return nil, err
		}
		return engine.Run(ctx, s)
	}
	directories := strings.HasSuffix(q.Pattern, "/")
	return p.search(ctx, request{Options: q.Options, grant: g, directories: directories, run: run})
}

// directory returns the directory that the pattern matches where it matches no file:
// models often give just that. A pattern that ends in ** has already looked for the files
// in it.
func (p *globPlan) directory(ctx context.Context, g approval.Grant) string {
	q := p.query
	if strings.HasSuffix(q.Pattern, "/") || strings.HasSuffix(q.Pattern, "**") {
		return ""
	}
	q.Pattern, q.Offset, q.Limit = q.Pattern+"/", 0, 1
	found, err := p.find(ctx, q, g)
	if err != nil || len(found.hits) == 0 {
		return ""
	}
	return found.hits[0].name
}

// A globOut is the paths found.
type globOut struct {
	*page
	plan *globPlan
	dir  string // a directory that matches where no file does
}

type globResult struct {
	Filenames  []string `json:"filenames"`
	TotalFiles *int     `json:"total_files,omitempty"`
	counts
}

func (o globOut) render(b toolkit.Budget) toolkit.Result {
	s := &rows{page: o.page, unit: "file", narrow: "path or pattern"}
	for _, h := range o.hits {
		s.list = append(s.list, row{text: rowName(h.name) + typeMark(modeOf(h.Kind))})
	}
	s.fit(b)
	nothing := fmt.Sprintf("nothing matches %s", toolkit.Inline(o.plan.asked))
	first, notes := s.stopped(nothing+" so far; "+o.seen()), append(o.plan.notes, s.notes()...)
	if o.TotalHits == 0 && first == "" {
		notes = append(o.none(nothing), notes...)
	}
	r := globResult{Filenames: []string{}, TotalFiles: o.exact(o.TotalHits), counts: s.counts(first, notes)}
	for _, h := range o.hits[:len(s.list)] {
		r.Filenames = append(r.Filenames, h.name+typeMark(modeOf(h.Kind)))
	}
	return toolkit.Result{Text: s.text(first, notes), Structured: r}
}

func (o globOut) seen() string { return plural(o.Files, "file") + " seen" }

func (o globOut) none(nothing string) []string {
	notes := []string{nothing + "; " + o.seen()}
	if o.dir != "" {
		notes = append(notes, fmt.Sprintf("%s is a directory; %s/** finds its files", o.dir, o.dir))
	}
	return notes
}
