package filetool

import (
	"context"
	"io/fs"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A hit is one of the engine's, under the name that clients see.
type hit struct {
	search.Hit
	name  string
	start *start       // nil in a file that path names
	mode  fs.FileMode  // of List: the type
	link  *fsroot.Link // of List: where a link leads
}

// A page is what a search found: the hits asked for, and counts over all starts.
type page struct {
	search.Result // without Hits
	hits          []hit
	heads         []head
	missing       []string // notes on roots that could not be searched
	offset        int
}

// A head is a directory that was searched, and the number of its first hit.
type head struct {
	name  string
	first int
}

// A request is one search over all starts of a target.
type request struct {
	search.Options
	grant       approval.Grant
	directories bool // they are results, and show only where the policy says so
	totals      bool // go on behind a full page, for exact totals
	run         func(context.Context, search.Start, search.Options) (*search.Result, error)
}

// search searches the starts one after the other, until the page is full.
func (t *target) search(ctx context.Context, q request) (*page, error) {
	p := &page{offset: q.Offset, missing: t.missing}
	p.Complete = true
	end := time.Now().Add(search.DefaultTimeout)
	skip, room := q.Offset, q.Limit
	for i := range t.starts {
		s := &t.starts[i]
		r, err := q.in(ctx, s, search.Options{Offset: skip, Limit: max(room, 1), Timeout: time.Until(end)})
		if err != nil {
			return nil, err
		}
		p.add(r)
		if room > 0 {
			p.take(s, r.Hits)
			skip, room = max(0, skip-r.Results), room-results(r.Hits)
		} else { // the page is full: this only tells whether there is more
			p.Truncated = p.Truncated || len(r.Hits) > 0
		}
		if p.Truncated && !q.totals {
			p.Complete = p.Complete && i+1 == len(t.starts)
			break
		}
	}
	return p, nil
}

// in searches below one start, with the offset, limit and timeout of o. However late it
// is, each start gets a second.
func (q request) in(ctx context.Context, s *start, o search.Options) (*search.Result, error) {
	opts := q.Options
	opts.Offset, opts.Limit, opts.Timeout = o.Offset, o.Limit, max(time.Second, o.Timeout)
	opts.Visible = visible(q.grant, s.dir, q.directories)
	r, err := q.run(ctx, s.engine(), opts)
	if err != nil {
		return nil, explain(err, "the directory cannot be searched: the system reports an error; try one below it")
	}
	for i, n := range r.Skipped.Names {
		r.Skipped.Names[i] = s.names.name(s.below(n))
	}
	return r, nil
}

func (p *page) add(r *search.Result) {
	p.Files += r.Files
	p.Results += r.Results
	p.TotalHits += r.TotalHits
	p.TotalMatches += r.TotalMatches
	p.Complete = p.Complete && r.Complete
	p.Truncated = p.Truncated || r.Truncated
	p.TimedOut = p.TimedOut || r.TimedOut
	p.Skipped.Add(r.Skipped)
}

func (p *page) take(s *start, found []search.Hit) {
	p.heads = append(p.heads, head{s.names.name(s.dir.Real), len(p.hits)})
	for _, h := range found {
		p.hits = append(p.hits, s.hit(h))
	}
}

// results counts results as the engine does.
func results(hits []search.Hit) (n int) {
	for _, h := range hits {
		n += max(1, len(h.Lines))
	}
	return n
}

// counting reports progress by the number of files, which clients show with the message.
func counting(report toolkit.Progress) func(int) {
	return func(files int) {
		report(float64(files), 0, "files seen")
	}
}
