package filetool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A hunt is where Glob, Grep or List search: open directories, one for each root where the
// call names no path, or one file.
type hunt struct {
	grounds []ground
	file    *fsroot.File // then there are no grounds
	names   namer        // of file
}

type ground struct {
	dir   *fsroot.Dir
	names namer
}

// Close closes what is open.
func (h *hunt) Close() error {
	var errs []error
	for _, g := range h.grounds {
		errs = append(errs, g.dir.Close())
	}
	if h.file != nil {
		errs = append(errs, h.file.Close())
	}
	return errors.Join(errs...)
}

// hunt opens what path means; no path means all roots.
func (r roots) hunt(ctx context.Context, call *toolkit.Call, where string) (*hunt, error) {
	set, err := r.of(ctx, call)
	if err != nil {
		return nil, err
	}
	if where == "" || path.Clean(filepath.ToSlash(where)) == "." {
		return huntAll(set)
	}
	place, err := set.Resolve(where)
	if err != nil {
		return nil, err
	}
	names := namerFor(set, place, where)
	dir, err := place.Root.OpenDir(place.Rel)
	if fsroot.KindOf(err) == fsroot.NotDir {
		file, err := place.Root.Open(place.Rel)
		if err != nil {
			return nil, err
		}
		return &hunt{file: file, names: names}, nil
	}
	if err != nil {
		return nil, err
	}
	return &hunt{grounds: []ground{{dir, names}}}, nil
}

// huntAll opens all roots, but those that lie in others.
func huntAll(set *fsroot.Set) (*hunt, error) {
	h := &hunt{}
	for i, root := range set.Roots() {
		if lies(root, set.Roots(), i) {
			continue
		}
		dir, err := root.OpenDir(".")
		if err != nil {
			h.Close()
			return nil, err
		}
		h.grounds = append(h.grounds, ground{dir, namerFor(set, fsroot.Place{Root: root}, "")})
	}
	return h, nil
}

// lies reports whether the root, number self of all, is below another.
func lies(root *fsroot.Root, all []*fsroot.Root, self int) bool {
	for i, other := range all {
		rel, err := filepath.Rel(other.Dir(), root.Dir())
		if i != self && err == nil && filepath.IsLocal(rel) && (rel != "." || i < self) {
			return true
		}
	}
	return false
}

// directories refuses a file, for tools that search only directories.
func (h *hunt) directories(tool string) error {
	if h.file == nil {
		return nil
	}
	name := h.names.name(h.file.Real)
	h.Close()
	return toolkit.Errorf("%s is a file: %s takes a directory, Read shows a file", name, tool)
}

// action describes the search.
func (h *hunt) action(access approval.Access, what string) approval.Action {
	if h.file != nil {
		return reading(h.names.root, approval.Read, what+" in "+h.names.name(h.file.Real), h.file.Real)
	}
	a := approval.Action{Effect: approval.ReadFiles, Summary: what}
	for i, g := range h.grounds {
		one := reading(g.dir.Root, access, "", g.dir.Real)
		a.Paths = append(a.Paths, one.Paths...)
		join := ", "
		if i == 0 {
			join = " in "
		}
		a.Summary += join + g.names.name(g.dir.Real)
	}
	return a
}

// start returns the directory as the engine takes it. Ignore files count up to the
// operator's root, or to the top of the repository that it lies in.
func (g ground) start() search.Start {
	s := search.Start{Dir: g.dir.File, OSRoot: g.dir.OSRoot}
	origin, below := g.dir.Root.Origin(g.dir.Real)
	if top, err := filepath.EvalSymlinks(origin.Dir()); err == nil {
		s.Top, s.Path = top, filepath.Join(top, filepath.FromSlash(below))
	}
	return s
}

// A find is a hit under the name that clients see.
type find struct {
	name string
	search.Hit
}

// A catch is what a hunt brings: the page asked for, and counts over all grounds.
type catch struct {
	search.Result // without Hits
	finds         []find
	tops          []top
	offset, limit int
}

// A top is a directory that was searched, and the number of its first find.
type top struct {
	name  string
	first int
}

// An engine searches one directory.
type engine func(ctx context.Context, s search.Start, o search.Options) (*search.Result, error)

// run searches the grounds one after the other, until the page is full.
func (h *hunt) run(ctx context.Context, o search.Options, visible func(ground) func(string, bool) bool, seek engine) (*catch, error) {
	c := &catch{offset: o.Offset, limit: o.Limit}
	c.Complete = true
	began := time.Now()
	for i, g := range h.grounds {
		full := i > 0 && o.Limit == 0
		if full { // only whether there is more
			o.Offset, o.Limit = 0, 1
		}
		o.Visible = visible(g)
		o.Timeout = max(time.Second, search.DefaultTimeout-time.Since(began))
		r, err := seek(ctx, g.start(), o)
		if err != nil {
			return nil, explain(err)
		}
		g.nameSkipped(r)
		c.add(r)
		if full {
			c.Truncated = len(r.Hits) > 0
			o.Limit = 0
		} else {
			c.take(g, r.Hits)
			o.Offset = max(0, o.Offset-r.Results)
			o.Limit -= weigh(r.Hits)
		}
		if c.Truncated && i+1 < len(h.grounds) {
			c.Complete = false
		}
		if c.Truncated {
			break
		}
	}
	return c, nil
}

func (c *catch) add(r *search.Result) {
	c.Files += r.Files
	c.Results += r.Results
	c.TotalHits += r.TotalHits
	c.TotalMatches += r.TotalMatches
	c.Complete = c.Complete && r.Complete
	c.Truncated = c.Truncated || r.Truncated
	c.TimedOut = c.TimedOut || r.TimedOut
	c.Skipped.Add(r.Skipped)
}

// nameSkipped gives unreadable entries the names that clients see.
func (g ground) nameSkipped(r *search.Result) {
	for i, n := range r.Skipped.Names {
		r.Skipped.Names[i] = g.names.name(path.Join(g.dir.Real, n))
	}
}

func (c *catch) take(g ground, hits []search.Hit) {
	c.tops = append(c.tops, top{g.names.name(g.dir.Real), len(c.finds)})
	for _, h := range hits {
		c.finds = append(c.finds, find{g.names.name(path.Join(g.dir.Real, h.Path)), h})
	}
}

// weigh counts results as the engine does.
func weigh(hits []search.Hit) (n int) {
	for _, h := range hits {
		n += max(1, len(h.Lines))
	}
	return n
}

// explain lets through what is made for the model; the rest is of the system.
func explain(err error) error {
	if _, ok := toolkit.VisibleText(err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return toolkit.Because(err, "the directory cannot be searched: the system reports an error; try one below it")
}

// shown returns what a search under grant may show. Directories decide for themselves
// only where they are results: their files are asked for one by one, as Read would.
func shown(g approval.Grant, directories bool) func(ground) func(string, bool) bool {
	if g.Unfiltered() {
		return func(ground) func(string, bool) bool { return nil }
	}
	return func(gr ground) func(string, bool) bool {
		return func(rel string, isDir bool) bool {
			if isDir && !directories {
				return true
			}
			origin, below := gr.dir.Root.Origin(path.Join(gr.dir.Real, rel))
			access := approval.Read
			if isDir {
				access = approval.List
			}
			return g.Shows(approval.Path{Access: access, Root: origin.Dir(), Rel: below})
		}
	}
}

// counting reports progress by the number of files.
func counting(report toolkit.Progress) func(int) {
	return func(files int) {
		report(float64(files), 0, fmt.Sprintf("%s files seen", thousands(int64(files))))
	}
}

// limitOf returns a limit that the caller gave, or the usual one in the place of nonsense.
func limitOf(given *int64, usual, most int) int {
	if given == nil || *given <= 0 {
		return usual
	}
	return int(min(*given, int64(most)))
}

// splitGlobs splits a list at commas outside braces and brackets.
func splitGlobs(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range s {
		switch {
		case strings.ContainsRune("{[", r):
			depth++
		case strings.ContainsRune("}]", r):
			depth--
		case r == ',' && depth <= 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	out = append(out, s[from:])
	kept := out[:0]
	for _, g := range out {
		if g = strings.TrimSpace(g); g != "" {
			kept = append(kept, g)
		}
	}
	return kept
}
