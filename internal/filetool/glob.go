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

// How many results the tools give where no limit is, and at most.
const (
	globLimit = 100
	grepLimit = 250
	listLimit = 500
	mostFinds = 10_000
)

var searchHints = toolkit.Hints{ReadOnly: true, NonDestructive: true, Idempotent: true, ClosedWorld: true}

// Parameters that the searching tools share.
var (
	pathParam = toolkit.Param{
		Name: "path", Type: toolkit.String, Example: `"src"`, Description: "Directory; default all roots.",
		Aliases: []string{"dir_path", "directory", "dir", "relative_path", "file_path", "dirPath", "target_directory", "root"},
	}
	offsetParam = toolkit.Param{
		Name: "offset", Type: toolkit.Integer, Example: "100", Description: "Results to skip.",
		Aliases: []string{"skip"},
	}
	sortParam = toolkit.Param{
		Name: "sort", Type: toolkit.String, Enum: []string{"path", "mtime"}, Example: `"mtime"`, Description: "mtime: newest first.",
		Aliases: []string{"sort_by", "sortBy", "order"},
	}
	ignoredParam = toolkit.Param{
		Name: "include_ignored", Type: toolkit.Boolean, Example: "true", Description: "Include ignored files.",
		Aliases: []string{"no_ignore", "includeIgnored", "noIgnore"},
	}
)

func headLimit(text string) toolkit.Param {
	return toolkit.Param{
		Name: "head_limit", Type: toolkit.Integer, Example: "100", Description: text,
		Aliases: []string{"limit", "max_results", "maxResults", "max_count", "headLimit"},
	}
}

var globDefinition = toolkit.Definition{
	Name:  "Glob",
	Title: "Find files by name",
	Description: "Finds files by a glob such as src/**/*.{ts,tsx}. Without / it matches at any depth; ending in / it finds directories. " +
		"Hidden files are found, ignored ones counted. Results are capped; the last line says how to continue.",
	Params: []toolkit.Param{
		{
			Name: "pattern", Type: toolkit.String, Required: true, Example: `"**/*.go"`, Description: "Glob, relative to path.",
			Aliases: []string{"glob", "glob_pattern", "file_mask", "filePattern", "query"},
		},
		pathParam, headLimit("Most results; default 100."), offsetParam, sortParam, ignoredParam,
	},
	Output: json.RawMessage(`{"type":"object","properties":{
		"filenames":{"type":"array","description":"paths","items":{"type":"string"}},
		"total_files":{"type":"integer","description":"in all"},` + countsSchema),
	Hints: searchHints,
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

// A searchIn is the arguments that the searching tools share.
type searchIn struct {
	Path           string `json:"path"`
	HeadLimit      *int64 `json:"head_limit"`
	Offset         int64  `json:"offset"`
	Sort           string `json:"sort"`
	IncludeIgnored bool   `json:"include_ignored"`
}

func (in searchIn) options(usual int) search.Options {
	return search.Options{
		Offset:         int(min(max(in.Offset, 0), 1<<30)),
		Limit:          limitOf(in.HeadLimit, usual, mostFinds),
		Newest:         in.Sort == "mtime",
		IncludeIgnored: in.IncludeIgnored,
	}
}

type globPlan struct {
	*hunt
	query search.GlobQuery
	asked string // the pattern as it was given
}

func (r roots) planGlob(ctx context.Context, call *toolkit.Call, in globIn) (*globPlan, approval.Action, error) {
	p := &globPlan{query: search.GlobQuery{Pattern: in.Pattern, Options: in.options(globLimit)}, asked: in.Pattern}
	if isAbsolute(in.Pattern) {
		in.Path, p.query.Pattern = splitAbsolute(filepath.ToSlash(in.Pattern))
	}
	if _, err := search.NewGlob(p.query); err != nil {
		return nil, approval.Action{}, err
	}
	h, err := r.hunt(ctx, call, in.Path)
	if err != nil {
		return nil, approval.Action{}, err
	}
	if err := h.directories("Glob"); err != nil {
		return nil, approval.Action{}, err
	}
	p.hunt = h
	return p, h.action(approval.List, "find "+toolkit.Inline(in.Pattern)), nil
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
	c, err := p.find(ctx, p.query, g)
	if err != nil || c.TotalHits > 0 {
		return globOut{catch: c, pattern: p.asked}, err
	}
	return globOut{catch: c, pattern: p.asked, dir: p.directory(ctx, g)}, nil
}

func (p *globPlan) find(ctx context.Context, q search.GlobQuery, g approval.Grant) (*catch, error) {
	visible := shown(g, strings.HasSuffix(q.Pattern, "/"))
	return p.run(ctx, q.Options, visible, func(ctx context.Context, s search.Start, o search.Options) (*search.Result, error) {
		engine, err := search.NewGlob(search.GlobQuery{Pattern: q.Pattern, Options: o})
		if err != nil {
			return nil, err
		}
		return engine.Run(ctx, s)
	})
}

// directory returns the directory that the pattern matches where it matches no file:
// models often give just that.
func (p *globPlan) directory(ctx context.Context, g approval.Grant) string {
	q := p.query
	if strings.HasSuffix(q.Pattern, "/") {
		return ""
	}
	q.Pattern, q.Offset, q.Limit = q.Pattern+"/", 0, 1
	c, err := p.find(ctx, q, g)
	if err != nil || len(c.finds) == 0 {
		return ""
	}
	return c.finds[0].name
}

// A globOut is the paths found.
type globOut struct {
	*catch
	pattern string
	dir     string // a directory that matches where no file does
}

type globResult struct {
	Filenames  []string `json:"filenames"`
	TotalFiles int      `json:"total_files"`
	counts
}

func (o globOut) render(b toolkit.Budget) toolkit.Result {
	s := &sheet{catch: o.catch, unit: "files"}
	for _, f := range o.finds {
		s.rows = append(s.rows, row{text: f.name + mark(f.Kind)})
	}
	s.fit(b)
	notes := s.notes()
	if o.TotalHits == 0 {
		notes = append(o.none(), notes...)
	}
	r := globResult{Filenames: []string{}, TotalFiles: o.TotalHits, counts: s.counts(notes)}
	for _, row := range s.rows {
		r.Filenames = append(r.Filenames, row.text)
	}
	return toolkit.Result{Text: s.text(notes), Structured: r}
}

func (o globOut) none() []string {
	notes := []string{fmt.Sprintf("nothing matches %s; %s files seen", toolkit.Inline(o.pattern), thousands(int64(o.Files)))}
	if o.dir != "" {
		notes = append(notes, fmt.Sprintf("%s is a directory; %s/** finds its files", o.dir, o.dir))
	}
	return notes
}

// mark is what stands behind the name of an entry by its kind.
func mark(k search.Kind) string {
	switch k {
	case search.Dir:
		return "/"
	case search.Pipe:
		return " (named pipe)"
	case search.Socket:
		return " (socket)"
	case search.Device:
		return " (device)"
	}
	return ""
}
