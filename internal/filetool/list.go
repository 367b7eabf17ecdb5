package filetool

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

var listDefinition = toolkit.Definition{
	Name:  "List",
	Title: "List a directory",
	Description: "Lists a directory as a tree. Hidden files are shown, ignored ones counted. " +
		"Results are capped; the last line says how to continue.",
	Params: []toolkit.Param{
		pathParam,
		{
			Name: "depth", Type: toolkit.Integer, Min: toolkit.Bound(1), Max: toolkit.Bound(search.MaxDepth), Example: "2", Description: "Levels; default 1.",
			Aliases: []string{"max_depth", "maxDepth", "levels"},
		},
		headLimit("Most entries; default 500."), offsetParam, ignoredParam,
		{
			Name: "show", Type: toolkit.String, Enum: []string{"names", "details"}, Example: `"details"`, Description: "details: size and time too.",
		},
	},
	Output: json.RawMessage(`{"type":"object","properties":{
		"entries":{"type":"array","description":"path, type, target of links; details: size, modified","items":{"type":"object"}},
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
}

func (r roots) planList(ctx context.Context, call *toolkit.Call, in listIn) (*listPlan, approval.Action, error) {
	t, err := r.target(ctx, call, in.Path)
	if err != nil {
		return nil, approval.Action{}, err
	}
	if err := t.directories("List"); err != nil {
		return nil, approval.Action{}, err
	}
	q := search.ListQuery{Options: in.options(listLimit), Depth: in.Depth, Details: in.Show == "details"}
	return &listPlan{t, q}, t.action(approval.List, "list what is"), nil
}

func runList(ctx context.Context, p *listPlan, g approval.Grant, report toolkit.Progress) (listOut, error) {
	o := p.query.Options
	o.Progress = counting(report)
	found, err := p.search(ctx, request{o, g, true, p.below})
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
	TotalEntries int         `json:"total_entries"`
	counts
}

type listEntry struct {
	Path     string `json:"path"`
	Type     string `json:"type"`
	Target   string `json:"target,omitempty"`
	Size     *int64 `json:"size,omitempty"`
	Modified string `json:"modified,omitempty"`
}

func (o listOut) render(b toolkit.Budget) toolkit.Result {
	s := &rows{page: o.page, unit: "entries"}
	r := listResult{Entries: []listEntry{}, TotalEntries: o.TotalHits}
	for i, f := range o.hits {
		e := o.entry(i)
		s.list = append(s.list, row{o.before(i), indent(f.Path) + o.label(f, e)})
		r.Entries = append(r.Entries, e)
	}
	r.Entries = r.Entries[:s.fit(b)]
	notes := s.notes()
	if o.TotalHits == 0 {
		notes = append([]string{"no entries"}, notes...)
	}
	r.counts = s.counts(notes)
	return toolkit.Result{Text: o.emptyTop() + s.text(notes), Structured: r}
}

// emptyTop is the head of a list without entries.
func (o listOut) emptyTop() string {
	if len(o.hits) > 0 || len(o.heads) == 0 {
		return ""
	}
	return dirName(o.heads[0].name) + "\n"
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
				b.WriteString(strings.Repeat("  ", d+1) + toolkit.Inline(name) + "/ (continued)\n")
			}
		}
	}
	return b.String()
}

func dirName(name string) string { return strings.TrimSuffix(name, "/") + "/" }

func indent(p string) string { return strings.Repeat("  ", strings.Count(p, "/")+1) }

func (o listOut) label(f hit, e listEntry) string {
	text := toolkit.Inline(path.Base(f.Path))
	if f.Kind == search.Link {
		text += " -> " + e.Target
	} else {
		text += typeMark(modeOf(f.Kind))
	}
	if e.Size != nil && f.Kind == search.File {
		text += "  " + byteSize(*e.Size)
	}
	if e.Modified != "" {
		text += "  " + e.Modified
	}
	return text
}

func (o listOut) entry(i int) listEntry {
	f := o.hits[i]
	e := listEntry{Path: f.name, Type: fsroot.TypeName(modeOf(f.Kind))}
	if f.Kind == search.Link {
		e.Target = o.target(i)
	}
	if o.plan.query.Details {
		e.Size = &f.Size
		e.Modified = f.ModTime.UTC().Format(time.RFC3339)
	}
	return e
}

// target says where a link leads, as long as that is below the root: what lies outside is
// nobody's business here.
func (o listOut) target(i int) string {
	const outside = "(outside the root)"
	f := o.hits[i]
	if strings.HasPrefix(f.Target, "/") || f.Target == "" {
		return outside
	}
	rel := f.start.below(path.Join(path.Dir(f.Path), f.Target))
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return outside
	}
	return toolkit.Inline(f.Target)
}
