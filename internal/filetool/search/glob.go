package search

import "context"

// A GlobQuery asks for files by name.
type GlobQuery struct {
	Options
	// Pattern is a glob as of package doublestar, over paths relative to the start. One
	// without a slash matches at any depth, unless ./ stands before it; one that ends in a
	// slash matches directories instead of files.
	Pattern string
}

// A Glob is a checked [GlobQuery].
type Glob struct {
	opts    Options
	pattern *pattern
}

// NewGlob checks q. The error is a [*QueryError].
func NewGlob(q GlobQuery) (*Glob, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	p, err := newPattern(q.Pattern)
	if err != nil {
		return nil, err
	}
	return &Glob{q.Options, p}, nil
}

// Run finds the files. Totals are exact unless time runs out. A path that the pattern
// names in full, or the directories it begins with, are searched even where ignore files
// hide them.
func (g *Glob) Run(ctx context.Context, s Start) (*Result, error) {
	r, err := job{start: s, opts: g.opts, visitor: g, explicit: g.pattern.literal}.run(ctx)
	if err == nil && r.TotalHits == 0 && g.pattern.broken != nil {
		return nil, g.pattern.broken
	}
	return r, err
}

func (g *Glob) descend(rel string) bool { return g.pattern.descend(rel) }
func (g *Glob) takes(k Kind) bool       { return k == File || k == Dir }

// wants is also for a link that the pattern would go through: it may be why nothing is
// found, so it is counted.
func (g *Glob) wants(rel string, k Kind) bool {
	return g.pattern.match(rel, k) || k == Link && g.pattern.through(rel)
}

func (g *Glob) visit(k *worker, f *folder, e dirent, rel string) (Hit, bool) {
	h := Hit{Path: rel, Kind: e.kind}
	if !g.opts.Newest {
		return h, true
	}
	i, ok := k.stat(f, e, rel)
	h.ModTime = i.modTime
	return h, ok
}
