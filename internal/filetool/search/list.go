package search

import (
	"context"
	"strings"
)

// A ListQuery asks for everything in a directory.
type ListQuery struct {
	Options
	Depth   int  // 1, the entries themselves, when 0; at most 10
	Details bool // fill in Hit.Size and Hit.ModTime
}

// MaxDepth is the greatest depth of a [ListQuery].
const MaxDepth = 10

// A List is a checked [ListQuery].
type List struct {
	opts    Options
	depth   int
	details bool
}

// NewList returns q, ready to run.
func NewList(q ListQuery) *List {
	return &List{q.Options, min(max(q.Depth, 1), MaxDepth), q.Details || q.Newest}
}

// Run lists the directory, in the order in which a tree is drawn. Links, pipes and the
// like are hits here. Totals are exact unless time runs out.
func (l *List) Run(ctx context.Context, s Start) (*Result, error) {
	return job{start: s, opts: l.opts, visitor: l}.run(ctx)
}

func (l *List) descend(rel string) bool { return strings.Count(rel, "/")+1 < l.depth }
func (l *List) wants(string, Kind) bool { return true }
func (l *List) takes(Kind) bool         { return true }

func (l *List) visit(k *worker, f *folder, e dirent, rel string) (Hit, bool) {
	h := Hit{Path: rel, Kind: e.kind}
	if e.kind == Link {
		h.Target, _ = f.readlink(e.name)
	}
	if !l.details {
		return h, true
	}
	i, ok := k.stat(f, e, rel)
	h.Size, h.ModTime = i.size, i.modTime
	return h, ok
}
