package filetool

import (
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

var listDefinition = toolkit.Definition{
	Effect: approval.ReadFiles,
	Name:   "List",
	Title:  "List a directory",
	Description: "Lists a directory as a tree. Hidden files are shown, ignored ones counted. " +
		"Results are capped; the last line says how to continue.",
	Params: []toolkit.Param{
		pathParam,
		{
			Name: "depth", Type: toolkit.Integer, Min: toolkit.Bound(1), Max: toolkit.Bound(search.MaxDepth),
			Example: "2", Description: "Levels; default 1.",
			Aliases: []string{"max_depth", "maxDepth", "levels"},
		},
		headLimit("Most entries; default 500."), offsetParam, ignoredParam,
		{
			Name: "show", Type: toolkit.String, Enum: []string{"names", "details"}, Example: `"details"`,
			Description: "details: size and time too.",
		},
	},
	Output: json.RawMessage(`{"type":"object","properties":{
		"entries":{"type":"array","description":"path, type, link_target, link_state; details: size, modified",
			"items":{"type":"object"}},
		"total_entries":{"type":"integer","description":"in all"},` + countsSchema),
	Hints: readOnly,
}

// addList registers List.
func addList(s *toolkit.Server, r roots) error {
	return toolkit.Add(s, toolkit.Tool[listIn, *listPlan, listOut]{
		Definition: listDefinition, Plan: r.planList, Run: runList, Render: listOut.render,
	})
}

type listIn struct {
	Depth int    `json:"depth"`
	Show  string `json:"show"`
	searchIn
}

type listPlan struct {
	*target
	query search.ListQuery
	notes []string
}

func (r roots) planList(ctx context.Context, call *toolkit.Call, in listIn) (*listPlan, approval.Action, error) {
	t, a, err := r.target(ctx, call, in.Path, in.options(listLimit))
	if err != nil {
		return nil, a, err
	}
	if err := t.directories(); err != nil {
		return nil, a, err
	}
	q := search.ListQuery{Options: in.options(listLimit), Depth: in.Depth, Details: in.Show == "details"}
	return &listPlan{t, q, in.notes(listLimit)}, t.action(approval.List, "list what is"), nil
}

func runList(ctx context.Context, p *listPlan, g approval.Grant, report toolkit.Progress) (listOut, error) {
	o := p.query.Options
	o.Progress = counting(report)
	found, err := p.search(ctx, request{Options: o, grant: g, directories: true, run: p.below})
	if err == nil {
		err = found.inspect(ctx, g)
	}
	return listOut{found, p}, err
}

// below lists one directory.
func (p *listPlan) below(ctx context.Context, s search.Start, o search.Options) (*search.Result, error) {
	q := p.query
	q.Options = o
	return search.NewList(q).Run(ctx, s)
}

// A listOut is the entries found.
type listOut struct {
	*page
	plan *listPlan
}

type listResult struct {
	Entries      []listEntry `json:"entries"`
	TotalEntries *int        `json:"total_entries,omitempty"`
	counts
}

type listEntry struct {
	Path       string `json:"path"`
	Type       string `json:"type"`
	LinkTarget string `json:"link_target,omitempty"`
	LinkState  string `json:"link_state,omitempty"`
	Size       *int64 `json:"size,omitempty"`
	Modified   string `json:"modified,omitempty"`
}

func (o listOut) render(b toolkit.Budget) toolkit.Result {
	s := &rows{page: o.page, unit: "entry", narrow: "path or depth"}
	r := listResult{Entries: []listEntry{}, TotalEntries: o.exact(o.TotalHits)}
	for i, h := range o.hits {
		e := o.entry(h)
		s.list = append(s.list, row{o.before(i), indent(h.Path) + o.label(h, e)})
		r.Entries = append(r.Entries, e)
	}
	r.Entries = r.Entries[:s.fit(b)]
	first, notes := s.stopped("no entries so far"), append(o.plan.notes, s.notes()...)
	r.counts = s.counts(first, notes)
	if first == "" && o.TotalHits == 0 {
		first = o.emptyHead()
		notes = append([]string{"no entries"}, notes...)
		r.Notes = notes
	}
	return toolkit.Result{Text: s.text(first, notes), Structured: r}
}

// emptyHead is the first line of a list without entries.
func (o listOut) emptyHead() string {
	if len(o.heads) == 0 {
		return ""
	}
	return dirName(o.heads[0].name)
}

// before is the lines before entry i: the directory that was listed, and on a later page
// the directories that the first entry lies in.
func (o listOut) before(i int) string {
	var b strings.Builder
	for _, t := range o.heads {
		if t.first != i {
			continue
		}
		b.WriteString(dirName(t.name) + "\n")
		if i > 0 || o.offset == 0 {
			continue
		}
		parts := strings.Split(path.Dir(o.hits[0].Path), "/")
		for d, name := range parts {
			if name != "." {
				b.WriteString(strings.Repeat("  ", d+1) + rowName(toolkit.Inline(name)) + "/ (continued)\n")
			}
		}
	}
	return b.String()
}

func dirName(name string) string { return rowName(strings.TrimSuffix(name, "/")) + "/" }

func indent(p string) string { return strings.Repeat("  ", strings.Count(p, "/")+1) }

func (o listOut) label(h hit, e listEntry) string {
	text := rowName(toolkit.Inline(path.Base(h.Path)))
	if h.link == nil {
		text += typeMark(h.mode)
	} else {
		text += " -> " + h.leadsTo(e)
	}
	if e.Size != nil && h.Kind == search.File {
		text += "  " + byteSize(*e.Size)
	}
	if e.Modified != "" {
		text += "  " + e.Modified
	}
	return text
}

// leadsTo is what stands behind the arrow of a link.
func (h hit) leadsTo(e listEntry) string {
	switch {
	case e.LinkTarget != "":
		return e.LinkTarget
	case h.link.Kind == fsroot.Other:
		return "(hidden by the policy)"
	}
	return "(" + e.LinkState + ")"
}

func (o listOut) entry(h hit) listEntry {
	e := listEntry{Path: h.name, Type: fsroot.TypeName(h.mode)}
	if h.link != nil {
		e.LinkTarget, e.LinkState = linkFacts(h.start.names, h.link)
	}
	if o.plan.query.Details {
		e.Size = &h.Size
		e.Modified = h.ModTime.UTC().Format(time.RFC3339)
	}
	return e
}

// inspect finds out what the engine does not know: where the links of a page lead, and
// which kind of device one is.
func (p *page) inspect(ctx context.Context, g approval.Grant) error {
	for i := range p.hits {
		h := &p.hits[i]
		h.mode = modeOf(h.Kind)
		if h.Kind != search.Link && h.Kind != search.Device {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		h.inspect(g)
	}
	return nil
}

// inspect keeps to what the engine saw where the entry is another meanwhile. A target that
// the policy hides is not named.
func (h *hit) inspect(g approval.Grant) {
	root := h.start.dir.Root
	info, err := root.Lstat(h.start.below(h.Path))
	switch {
	case h.Kind == search.Device && err == nil && info.Mode()&fs.ModeDevice != 0:
		h.mode = info.Mode().Type()
	case h.Kind == search.Link && err == nil && info.Link != nil:
		h.link = info.Link
	case h.Kind == search.Link:
		h.link = &fsroot.Link{Kind: fsroot.Dangling}
	}
	if l := h.link; l != nil && l.Kind == fsroot.Other && !g.Unfiltered() && !shows(g, root, l.Target, l.Mode.IsDir()) {
		h.link = &fsroot.Link{}
	}
}
