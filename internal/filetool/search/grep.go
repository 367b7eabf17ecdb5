package search

import (
	"context"
	"io"
	"os"
	"strings"
	"time"
)

// A Mode says what a search for content returns of a file.
type Mode uint8

// The modes.
const (
	Files   Mode = iota // that it matches
	Content             // the matching lines
	Count               // how many lines match
)

// A GrepQuery asks for lines by content.
type GrepQuery struct {
	Options
	Mode    Mode
	Pattern string // in RE2 syntax
	Literal bool   // Pattern is plain text

	IgnoreCase   bool
	Multiline    bool // a match may span lines; . matches newlines; files over 8 MiB are skipped
	OnlyMatching bool // in Content mode, the matches instead of their lines, without context
	Before       int  // lines of context, in Content mode
	After        int

	Globs []string // files that match one of these, and none that begins with "!"
	Types []string // names of file types, of which a file has one
}

// A Grep is a checked [GrepQuery].
type Grep struct {
	query    GrepQuery
	compiled *compiled
	filter   *filter
}

// NewGrep checks q. The error is a [*QueryError].
func NewGrep(q GrepQuery) (*Grep, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	f, err := newFilter(q.Globs, q.Types)
	if err != nil {
		return nil, err
	}
	c, err := compile(q)
	if err != nil {
		return nil, err
	}
	return &Grep{q, c, f}, nil
}

// Run searches the files below s. A result, for Offset and Limit, is a line in Content
// mode and a file in the others. In Files and Content mode, unless Options.Newest is set,
// the search ends when the page is full; then Result.Complete is false. In Count mode the
// totals are the point: it runs to its end.
func (g *Grep) Run(ctx context.Context, s Start) (*Result, error) {
	return job{start: s, opts: g.query.Options, visitor: g, early: g.query.Mode != Count, heavy: true}.run(ctx)
}

// RunFile searches one open file, whatever the query's globs and types. Hits have the path
// name. The file is not closed.
func (g *Grep) RunFile(ctx context.Context, f *os.File, name string) (*Result, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p := newPage(g.query.Options, true)
	end := newWatch(ctx, g.query.Options)
	k := newWorker(&walk{need: p.need})
	k.report, k.scan.stopped = &report{}, end.stopped
	h, ok := g.search(k, f, Hit{Path: name, Size: fi.Size(), ModTime: fi.ModTime()})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if ok {
		p.add(chunk{key: name, hits: []Hit{h}})
	}
	r := &Result{Files: 1, Results: p.results, TotalHits: p.hits, TotalMatches: p.matches, Skipped: k.report.skipped}
	r.Complete, r.TimedOut = !k.report.partial, end.late
	r.Hits, r.Truncated = p.cut()
	return r, nil
}

// A watch says when a search that no walk looks after is to stop, and reports progress
// while it is asked.
type watch struct {
	ctx       context.Context
	progress  func(files int)
	end, tick time.Time
	late      bool // the end has passed
}

func newWatch(ctx context.Context, o Options) *watch {
	now := time.Now()
	return &watch{ctx: ctx, progress: o.Progress, end: now.Add(o.timeout()), tick: now.Add(time.Second)}
}

func (w *watch) stopped() bool {
	now := time.Now()
	if w.progress != nil && now.After(w.tick) {
		w.tick = now.Add(time.Second)
		w.progress(1)
	}
	w.late = w.late || now.After(w.end)
	return w.late || w.ctx.Err() != nil
}

func (g *Grep) descend(rel string) bool       { return g.filter.descend(rel) }
func (g *Grep) wants(rel string, k Kind) bool { return k != Dir && g.filter.match(rel) }
func (g *Grep) takes(k Kind) bool             { return k == File }

func (g *Grep) visit(k *worker, f *folder, e dirent, rel string) (Hit, bool) {
	file, i, err := f.open(e.name)
	if err != nil {
		k.report.files--
		if !gone(err) {
			k.report.skipped.unreadable(rel)
		}
		return Hit{}, false
	}
	defer file.Close()
	return g.search(k, file, Hit{Path: rel, Size: i.size, ModTime: i.modTime})
}

// search fills in what the file of h holds.
func (g *Grep) search(k *worker, r io.Reader, h Hit) (Hit, bool) {
	c := &collector{g: g, m: k.matcherOf(g), max: k.w.need}
	out := k.scan.scan(r, h.Size, c)
	switch skipped := &k.report.skipped; {
	case out.binary:
		skipped.Binary++
	case out.tooLarge:
		skipped.TooLarge++
	case out.err != nil && out.err != errStopped:
		skipped.unreadable(h.Path)
	}
	cut := out.binary && out.count > 0
	k.report.partial = k.report.partial || out.capped || cut || out.err == errStopped
	h.Count, h.Lines = out.count, out.lines
	return h, out.count > 0 && (g.query.Mode != Content || len(out.lines) > 0)
}

// matcherOf returns the worker's own matcher.
func (k *worker) matcherOf(g *Grep) matcher {
	if k.matcher == nil {
		k.matcher = g.compiled.matcher(k.scan.stopped)
	}
	return k.matcher
}

// A filter chooses files by name.
type filter struct {
	with, without []*pattern
	types         []fileType
}

func newFilter(globs, types []string) (*filter, error) {
	f := &filter{}
	for _, name := range types {
		t, err := typeNamed(name)
		if err != nil {
			return nil, err
		}
		f.types = append(f.types, t)
	}
	for _, text := range globs {
		text, not := strings.CutPrefix(text, "!")
		if !not && strings.HasSuffix(text, "/") {
			text += "**"
		}
		p, err := newPattern(text)
		if err != nil {
			return nil, err
		}
		if p.broken != nil && len(p.forms) == 0 {
			return nil, p.broken
		}
		if not {
			f.without = append(f.without, p)
		} else {
			f.with = append(f.with, p)
		}
	}
	return f, nil
}

// match reports whether the file at rel is chosen.
func (f *filter) match(rel string) bool {
	return f.hasType(rel) && (f.with == nil || anyMatch(f.with, rel, File)) && !anyMatch(f.without, rel, File)
}

func (f *filter) hasType(rel string) bool {
	if f.types == nil {
		return true
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	for _, t := range f.types {
		if t.match(name) {
			return true
		}
	}
	return false
}

// descend reports whether files below the directory may be chosen. A pattern with "!" that
// matches a directory leaves out all that is in it.
func (f *filter) descend(rel string) bool {
	for _, p := range f.without {
		if p.matchPath(rel) {
			return false
		}
	}
	for _, p := range f.with {
		if p.descend(rel) {
			return true
		}
	}
	return f.with == nil
}

func anyMatch(patterns []*pattern, rel string, k Kind) bool {
	for _, p := range patterns {
		if p.match(rel, k) {
			return true
		}
	}
	return false
}
