package filetool

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// mostContext is how many lines of context there are at most, on each side.
const mostContext = 100

// grepPathParam is pathParam, for a tool that also searches one file.
var grepPathParam = func() toolkit.Param {
	p := pathParam
	p.Description = "Directory or file; default all roots."
	return p
}()

var grepDefinition = toolkit.Definition{
	Effect: approval.ReadFiles,
	Name:   "Grep",
	Title:  "Search file contents",
	Description: "Searches file contents with a regular expression (RE2: no lookaround, no backreferences), " +
		"line by line. Binary and ignored files are skipped and counted. " +
		"Results are capped; the last line says how to continue.",
	Params: []toolkit.Param{
		{
			Name: "pattern", Type: toolkit.String, Required: true, Example: `"func \\w+Error"`,
			Description: "Regular expression.",
			Aliases: []string{
				"query", "regex", "regexp", "substring", "substring_pattern", "search", "search_term",
			},
		},
		grepPathParam,
		{
			Name: "glob", Type: toolkit.String, Example: `"*.{ts,tsx}"`,
			Description: "Only these files; commas separate, ! excludes.",
			Aliases: []string{
				"include", "filePattern", "file_pattern", "includes", "include_pattern", "paths_include_glob", "globs",
			},
		},
		{
			Name: "type", Type: toolkit.String, Example: `"go"`, Description: "File type, such as go, py.",
			Aliases: []string{"file_type", "fileType", "types"},
		},
		{
			Name: "output_mode", Type: toolkit.String, Enum: []string{"files_with_matches", "content", "count"},
			Example:     `"content"`,
			Description: "What to return; default files_with_matches.", Aliases: []string{"outputMode", "mode"},
		},
		contextParam("-A", "Lines of context after each match.",
			"after", "after_context", "context_lines_after", "A"),
		contextParam("-B", "Lines of context before each match.",
			"before", "before_context", "context_lines_before", "B"),
		contextParam("-C", "Lines of context on both sides.", "context", "context_lines", "contextLines", "C"),
		flagParam("-i", "Ignore case.", "ignore_case", "ignoreCase", "case_insensitive", "i"),
		flagParam("-n", "Show line numbers; default true.", "line_numbers", "n"),
		flagParam("-o", "Show only the matching parts.", "only_matching", "onlyMatching", "o"),
		flagParam("multiline", "Matches may span lines.", "-U", "multi_line"),
		flagParam("literal", "Take pattern as plain text.",
			"fixed_strings", "fixedStrings", "literalSearch", "literal_search", "-F"),
		headLimit("Most results; default 250, 0: as many as fit."), offsetParam, sortParam, ignoredParam,
	},
	Output: json.RawMessage(`{"type":"object","properties":{
		"filenames":{"type":"array","description":"files on this page","items":{"type":"string"}},
		"matches":{"type":"array","description":"of content: path, line, text, context","items":{"type":"object"}},
		"file_counts":{"type":"array","description":"of count: path, count","items":{"type":"object"}},
		"total_files":{"type":"integer","description":"with matches"},
		"total_matches":{"type":"integer","description":"matching lines"},
		"files_searched":{"type":"integer","description":"in all"},` + countsSchema),
	Hints: readOnly,
}

func contextParam(name, text string, aliases ...string) toolkit.Param {
	return toolkit.Param{
		Name: name, Type: toolkit.Integer, Min: toolkit.Bound(0), Max: toolkit.Bound(mostContext),
		Example: "2", Description: text, Aliases: aliases,
	}
}

func flagParam(name, text string, aliases ...string) toolkit.Param {
	return toolkit.Param{Name: name, Type: toolkit.Boolean, Example: "true", Description: text, Aliases: aliases}
}

// addGrep registers Grep.
func addGrep(s *toolkit.Server, r roots) error {
	return toolkit.Add(s, toolkit.Tool[grepIn, *grepPlan, grepOut]{
		Definition: grepDefinition, Plan: r.planGrep, Run: runGrep, Render: grepOut.render,
	})
}

type grepIn struct {
	Pattern    string `json:"pattern"`
	Glob       string `json:"glob"`
	Type       string `json:"type"`
	OutputMode string `json:"output_mode"`
	After      *int   `json:"-A"`
	Before     *int   `json:"-B"`
	Context    *int   `json:"-C"`
	IgnoreCase bool   `json:"-i"`
	Numbers    *bool  `json:"-n"`
	Only       bool   `json:"-o"`
	Multiline  bool   `json:"multiline"`
	Literal    bool   `json:"literal"`
	searchIn
}

func (in grepIn) query() search.GrepQuery {
	modes := map[string]search.Mode{"content": search.Content, "count": search.Count}
	q := search.GrepQuery{
		Options: in.options(grepLimit), Mode: modes[in.OutputMode], Pattern: in.Pattern, Literal: in.Literal,
		IgnoreCase: in.IgnoreCase, Multiline: in.Multiline, OnlyMatching: in.Only,
		Before: contextOf(in.Before, in.Context), After: contextOf(in.After, in.Context), Globs: splitGlobs(in.Glob),
		Types: splitGlobs(in.Type),
	}
	if in.HeadLimit != nil && *in.HeadLimit == 0 {
		q.Limit = mostResults
	}
	return q
}

// contextOf returns how many lines of context one side has.
func contextOf(side, both *int) int {
	if side == nil {
		side = both
	}
	if side == nil {
		return 0
	}
	return *side
}

type grepPlan struct {
	*target
	query   search.GrepQuery
	numbers bool
}

func (r roots) planGrep(ctx context.Context, call *toolkit.Call, in grepIn) (*grepPlan, approval.Action, error) {
	p := &grepPlan{query: in.query(), numbers: in.Numbers == nil || *in.Numbers}
	if _, err := search.NewGrep(p.query); err != nil {
		return nil, approval.Action{}, err
	}
	t, a, err := r.target(ctx, call, in.Path, p.query.Options)
	if err != nil {
		return nil, a, err
	}
	p.target = t
	return p, t.action(approval.Read, "search for "+toolkit.Inline(in.Pattern)), nil
}

func runGrep(ctx context.Context, p *grepPlan, g approval.Grant, report toolkit.Progress) (grepOut, error) {
	if p.file != nil {
		if err := seen("Grep", g, p.names.root, false, p.file.Real); err != nil {
			return grepOut{}, err
		}
		return p.inFile(ctx, report)
	}
	o := p.query.Options
	o.Progress = counting(report)
	found, err := p.search(ctx, request{Options: o, grant: g, totals: p.query.Mode == search.Count, run: p.below})
	return grepOut{found, p}, err
}

// below searches one directory.
func (p *grepPlan) below(ctx context.Context, s search.Start, o search.Options) (*search.Result, error) {
	q := p.query
	q.Options = o
	engine, err := search.NewGrep(q)
	if err != nil {
		return nil, err
	}
	return engine.Run(ctx, s)
}

// inFile searches the one file that path names.
func (p *grepPlan) inFile(ctx context.Context, report toolkit.Progress) (grepOut, error) {
	q := p.query
	q.Progress = counting(report)
	engine, err := search.NewGrep(q)
	if err != nil {
		return grepOut{}, err
	}
	r, err := p.runFile(ctx, engine)
	if err != nil {
		return grepOut{}, explain(err, "%s cannot be searched: the system reports an error", p.names.name(p.file.Real))
	}
	for i, n := range r.Skipped.Names {
		r.Skipped.Names[i] = p.names.name(n)
	}
	found := &page{Result: *r, offset: p.query.Offset}
	for _, h := range r.Hits {
		found.hits = append(found.hits, hit{Hit: h, name: p.names.name(h.Path)})
	}
	return grepOut{found, p}, nil
}

// runFile ends also where the file makes a read wait, which the engine cannot: then what
// was found before is the result.
func (p *grepPlan) runFile(ctx context.Context, engine *search.Grep) (*search.Result, error) {
	waiting, cancel := context.WithTimeout(ctx, search.DefaultTimeout)
	defer cancel()
	defer interruptible{waiting, p.file}.arm()()
	r, err := engine.RunFile(ctx, p.file.File, p.file.Real)
	if err == nil && waiting.Err() != nil {
		r.TimedOut, r.Complete = true, false
	}
	return r, err
}
