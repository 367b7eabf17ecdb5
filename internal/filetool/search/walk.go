package search

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A visitor is what a search does with what the walker meets. Paths are relative to the
// start. Its methods are called from several goroutines at once.
type visitor interface {
	// descend reports whether anything below the directory may be wanted.
	descend(rel string) bool
	// wants reports whether the entry is.
	wants(rel string, k Kind) bool
	// takes reports whether wanted entries of the kind become hits; the others are
	// counted as skipped.
	takes(k Kind) bool
	// visit makes the hit of an entry that lies in f.
	visit(k *worker, f *folder, e dirent, rel string) (h Hit, ok bool)
}

// A job is one search.
type job struct {
	start    Start
	opts     Options
	visitor  visitor
	early    bool   // stop when the page is full, whatever the totals
	heavy    bool   // visits take long, so files are shared out in runs
	explicit string // path that is a hit, and whose directories are searched, though ignored
}

// runLength is how many files a run has at most.
const runLength = 32

// graceAfterTimeout is how long the workers get to notice that time is up. One that waits
// for a slow file system longer than that is left behind.
const graceAfterTimeout = 500 * time.Millisecond

type walk struct {
	job
	*queue
	prefix string // of the start below the top of its rules; all paths begin with it
	top    *place
	held   atomic.Int32
	budget int32
	need   int // of page
}

// run walks the tree. The error is that of the context, or of opening the start again.
func (j job) run(ctx context.Context) (*Result, error) {
	f, err := openStart(j.start)
	if errors.Is(err, fs.ErrPermission) {
		return nil, &entryError{err}
	}
	if err != nil {
		return nil, err
	}
	w := &walk{job: j, queue: newQueue(newPage(j.opts, j.early)), budget: int32(handles())}
	w.need = w.page.need
	w.top = &place{held: &w.held}
	w.top.hold(f)
	first := &task{at: w.top, name: "."}
	if !j.opts.IncludeIgnored {
		first.rules, w.prefix = above(f, j.start)
	}
	first.path = w.prefix
	w.settle(&report{tasks: []*task{first}})
	w.wait(ctx, w.work())
	return w.result(ctx)
}

// work starts the workers and returns a channel that is closed when all are done.
func (w *walk) work() <-chan struct{} {
	n := w.opts.Workers
	if n <= 0 {
		n = min(runtime.GOMAXPROCS(0), 8)
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { newWorker(w).loop() })
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		w.mu.Lock()
		w.drop()
		w.mu.Unlock()
		w.top.release()
		close(done)
	}()
	return done
}

// wait waits for the workers, or for the end of time.
func (w *walk) wait(ctx context.Context, done <-chan struct{}) {
	end := time.NewTimer(w.opts.timeout())
	defer end.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if w.opts.Progress != nil {
				w.opts.Progress(int(w.files.Load()))
			}
			continue
		case <-ctx.Done():
			w.halt(cancelled)
		case <-end.C:
			w.halt(timedOut)
		}
		select {
		case <-done:
		case <-time.After(graceAfterTimeout):
		}
		return
	}
}

func (w *walk) result(ctx context.Context) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	late := w.stop.Load() == timedOut
	r := &Result{
		Files:        int(w.files.Load()),
		Results:      w.page.results,
		TotalHits:    w.page.hits,
		TotalMatches: w.page.matches,
		Complete:     !w.page.partial && !late,
		TimedOut:     late,
		Skipped:      w.skipped,
	}
	r.Hits, r.Truncated = w.page.cut()
	return r, nil
}

// explicitly reports whether whoever made the query named the path itself, or something
// below it.
func (w *walk) explicitly(rel string) (named, above bool) {
	rest, ok := strings.CutPrefix(w.explicit, rel)
	return ok && rest == "", ok && rest != "" && rest[0] == '/'
}

// A worker runs tasks, one at a time.
type worker struct {
	w       *walk
	report  *report
	buf     []byte // for listing
	scan    scanner
	matcher matcher // of Grep; nil before its first file
}

func newWorker(w *walk) *worker {
	k := &worker{w: w, buf: make([]byte, 32<<10)}
	k.scan.stopped = k.stopped
	return k
}

func (k *worker) stopped() bool { return k.w.stop.Load() != running }

func (k *worker) loop() {
	for {
		t := k.w.next(k.report)
		if t == nil {
			return
		}
		k.report = &report{}
		if t.files != nil {
			k.runOf(t)
		} else {
			k.list(t)
		}
	}
}

// failed counts an entry that could not be opened or read, unless it is merely gone.
func (k *worker) failed(path string, err error) {
	if !gone(err) {
		k.report.skipped.unreadable(k.rel(strings.TrimSuffix(path, "/")))
	}
}

// stat returns what is known of a listed entry. One that is now of another kind is gone;
// one in a directory that may be read but not entered is unreadable.
func (k *worker) stat(f *folder, e dirent, rel string) (i info, ok bool) {
	i, err := f.stat(e.name)
	if err != nil && !gone(err) {
		k.report.skipped.unreadable(rel)
	}
	return i, err == nil && i.kind == e.kind
}

// rel returns path as the visitor and the caller see it.
func (k *worker) rel(path string) string {
	return path[min(len(k.w.prefix), len(path)):]
}

func (k *worker) runOf(t *task) {
	defer t.release()
	k.files(t.at.folder, t.path, t.files)
}

// files visits entries of the folder f that lie next to each other in path order. Once
// they fill the page by themselves, the others are left alone or, where totals are wanted,
// only counted.
func (k *worker) files(f *folder, path string, run []dirent) {
	c := chunk{key: k.rel(path + run[0].name)}
	weight := 0
	for _, e := range run {
		rel := k.rel(path + e.name)
		full := k.w.need > 0 && weight >= k.w.need && !k.w.opts.Newest
		if k.stopped() {
			break
		}
		if k.w.beyond(rel) || full && k.w.early {
			k.report.partial = true
			break
		}
		h, ok := k.visit(f, e, rel)
		switch {
		case ok && full:
			c.rest++
			c.matches += h.Count
		case ok:
			c.hits = append(c.hits, h)
			weight += max(1, len(h.Lines))
		}
	}
	k.report.chunks = append(k.report.chunks, c)
}

func (k *worker) visit(f *folder, e dirent, rel string) (Hit, bool) {
	if k.w.heavy {
		k.report.files++
	}
	return k.w.visitor.visit(k, f, e, rel)
}

// order sorts entries as their paths are: a directory as if its name ended in a slash.
func order(entries []dirent) {
	slices.SortFunc(entries, func(a, b dirent) int {
		n := min(len(a.name), len(b.name))
		if c := strings.Compare(a.name[:n], b.name[:n]); c != 0 {
			return c
		}
		return int(at(a, n)) - int(at(b, n))
	})
}

// at returns the byte of an entry's path at i, at most one behind its name.
func at(e dirent, i int) byte {
	switch {
	case i < len(e.name):
		return e.name[i]
	case e.kind == Dir:
		return '/'
	}
	return 0
}
