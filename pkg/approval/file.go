package approval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultEvery is how often a [File] looks whether it has changed.
const DefaultEvery = 2 * time.Second

// FileOptions configure a [File]. The zero value of each field is the documented default.
type FileOptions struct {
	ParseOptions
	Every time.Duration // how often the file is looked at; 0 is DefaultEvery
	// Check is asked about each version before it is read; an error refuses it. Nil asks nobody.
	Check func(info fs.FileInfo) error
	// Report is told once of each version that cannot be used, after which the last good one still holds, and
	// with nil of each that holds from then on. It is called from whatever goroutine found out, one
	// call at a time; nil tells nobody.
	Report func(revision string, err error)
}

// A File is an [Evaluator] that follows a policy file. A change is seen by the first call that
// comes after the time of looking again, or by [File.Reload]; calls always meet one whole version, and what
// was used of limits that stay the same still counts. A version that cannot be read or is not
// valid changes nothing.
type File struct {
	path    string
	opts    FileOptions
	current atomic.Pointer[Policy]
	next    atomic.Int64 // when to look again, in Unix nanoseconds
	mu      sync.Mutex   // of what follows
	pending string       // revision that was seen once, and may be half written
	bad     string       // what was reported last; "" after a good version
}

// OpenFile reads the policy file at path. Here, other than later, a file that cannot be used is an error.
func OpenFile(path string, o FileOptions) (*File, Problems, error) {
	if o.Every == 0 {
		o.Every = DefaultEvery
	}
	f := &File{path: path, opts: o}
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("policy %s: %w", path, pathCause(err))
	}
	if err := f.check(info); err != nil {
		return nil, nil, err
	}
	p, warnings, err := Load(path, o.ParseOptions)
	if err != nil {
		return nil, warnings, err
	}
	f.current.Store(p)
	f.next.Store(time.Now().Add(o.Every).UnixNano())
	return f, warnings, nil
}

func (f *File) check(info fs.FileInfo) error {
	if f.opts.Check == nil {
		return nil
	}
	return f.opts.Check(info)
}

// pathCause returns what is wrong with a file, without its name.
func pathCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Evaluate implements [Evaluator].
func (f *File) Evaluate(ctx context.Context, who Caller, a Action) Verdict {
	f.poll()
	return f.current.Load().Evaluate(ctx, who, a)
}

// Hides implements [Evaluator].
func (f *File) Hides(who Caller, tool string) bool {
	f.poll()
	return f.current.Load().Hides(who, tool)
}

// Revision names the version that holds.
func (f *File) Revision() string { return f.current.Load().Revision() }

// Watch looks at the file until ctx ends, also when there are no calls.
func (f *File) Watch(ctx context.Context) {
	t := time.NewTicker(f.opts.Every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			f.poll()
		}
	}
}

// poll looks at the file if it is time to. Who comes while another looks goes on with what holds.
func (f *File) poll() {
	if time.Now().UnixNano() < f.next.Load() || !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	f.next.Store(time.Now().Add(f.opts.Every).UnixNano())
	_ = f.load(f.settled) // reported
}

// settled reports whether a version can be taken by its age: one that was written just now may be
// half of what is being written. Then it has to be the same at the next look.
func (f *File) settled(info fs.FileInfo, rev string) bool {
	settle := min(f.opts.Every, time.Second)
	if age := time.Since(info.ModTime()); age >= settle || rev == f.pending {
		return true
	}
	f.pending = rev
	f.next.Store(time.Now().Add(settle).UnixNano())
	return false
}

// Reload reads the file now. An error says why the last good version still holds.
func (f *File) Reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load(func(fs.FileInfo, string) bool { return true })
}

// load reads the file and swaps its policy in, if that is another one and take wants it. The lock is
// held.
func (f *File) load(take func(info fs.FileInfo, rev string) bool) error {
	info, err := os.Stat(f.path)
	if err != nil {
		return f.refuse("", fmt.Errorf("policy %s: %w", f.path, pathCause(err)))
	}
	if err := f.check(info); err != nil {
		return f.refuse("", err)
	}
	data, err := readFile(f.path)
	if err != nil {
		return f.refuse("", fmt.Errorf("policy %s: %w", f.path, err))
	}
	older, rev := f.current.Load(), revision(data)
	if rev == older.revision {
		if f.bad != "" {
			f.bad = ""
			f.report(rev, nil)
		}
		return nil
	}
	if !take(info, rev) {
		return nil
	}
	if rev == f.bad {
		_, _, err := Parse(data, f.opts.ParseOptions)
		return err
	}
	p, _, err := Parse(data, f.opts.ParseOptions)
	if err != nil {
		return f.refuse(rev, err)
	}
	p.keepUse(older)
	f.current.Store(p)
	f.bad = ""
	f.report(rev, nil)
	return nil
}

// refuse reports err unless the same version was reported last. What cannot be read has no revision, but its error.
func (f *File) refuse(rev string, err error) error {
	id := rev
	if id == "" {
		id = err.Error()
	}
	if id != f.bad {
		f.bad = id
		f.report(rev, err)
	}
	return err
}

func (f *File) report(rev string, err error) {
	if f.opts.Report != nil {
		f.opts.Report(rev, err)
	}
}
