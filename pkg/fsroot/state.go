package fsroot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Key names the root for all processes on the machine, however each of them spells its
// path: device and inode where there are such. A narrowed root has the key of the
// operator's.
func (r *Root) Key() (string, error) {
	if r.within != nil {
		return r.within.Key()
	}
	info, err := os.Stat(r.dir)
	if err != nil {
		return "", r.gone(err)
	}
	return key(r.dir, info), nil
}

// A state is a root's own directory in the state directory, while its lock is held. Beside
// the lock there are the journal and, for files that are written in place, their old
// contents.
type state struct {
	root *Root // the operator's
	dir  string
	lock *os.File
	turn *turn
}

// acquire waits for the lock of r.
func acquire(ctx context.Context, stateDir string, r *Root) (*state, error) {
	top, _ := r.Origin(".")
	key, err := top.Key()
	if err != nil {
		return nil, err
	}
	if stateDir == "" {
		if stateDir, err = defaultStateDir(); err != nil {
			return nil, noState(err)
		}
	}
	dir := filepath.Join(stateDir, key)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, noState(err)
	}
	turn, err := turns.wait(ctx, dir)
	if err != nil {
		return nil, waiting(r, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		turns.pass(turn)
		return nil, noState(err)
	}
	if err := waitLock(ctx, f); err != nil {
		f.Close()
		turns.pass(turn)
		return nil, waiting(r, err)
	}
	return &state{top, dir, f, turn}, nil
}

// release gives the lock back. The file stays: removing it would let two hold a lock.
func (s *state) release() error {
	err := s.lock.Close()
	turns.pass(s.turn)
	return err
}

func noState(err error) error { return &Error{Op: "begin", Path: ".", Kind: NoState, Err: err} }

func waiting(r *Root, err error) error {
	return &Error{Op: "wait for the lock of", Path: r.dir, Kind: Busy, Err: err}
}

func defaultStateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolhost"), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir()
		return filepath.Join(dir, "toolhost", "state"), err
	}
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = errors.New("the home directory is not known")
	}
	return filepath.Join(home, ".local", "state", "toolhost"), err
}

// maxPause is how long a waiter sleeps between two looks at a lock. It bounds what another
// process adds to a wait, and is short so that a busy process does not starve others.
const maxPause = 4 * time.Millisecond

// waitLock polls: no system lets a wait for a file lock be given up in another way.
func waitLock(ctx context.Context, f *os.File) error {
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, maxPause) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if got, err := tryLock(f); got || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// turns lets the callers in this process wait for a lock in the order in which they came;
// only the first of them polls. It is one for the process, as the lock is.
var turns = queue{waiting: map[string]*turn{}}

type queue struct {
	mu      sync.Mutex
	waiting map[string]*turn
}

// A turn is held by the one whose value lies in the channel; others wait to put theirs.
type turn struct {
	dir  string
	slot chan struct{}
	uses int
}

func (q *queue) wait(ctx context.Context, dir string) (*turn, error) {
	q.mu.Lock()
	t := q.waiting[dir]
	if t == nil {
		t = &turn{dir: dir, slot: make(chan struct{}, 1)}
		q.waiting[dir] = t
	}
	t.uses++
	q.mu.Unlock()
	select {
	case t.slot <- struct{}{}:
		return t, nil
	case <-ctx.Done():
		q.leave(t)
		return nil, ctx.Err()
	}
}

func (q *queue) pass(t *turn) {
	<-t.slot
	q.leave(t)
}

func (q *queue) leave(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.uses--; t.uses == 0 {
		delete(q.waiting, t.dir)
	}
}

// Trouble says what a person should look at in the state directory: journals that were of
// no use, each of a change that stayed half done, and a place where a client can reach it.
// The texts name paths of the host.
func (t *Tx) Trouble() (out []string) {
	names, err := filepath.Glob(t.state.path("bad-*"))
	if err == nil && len(names) > 0 {
		out = append(out, fmt.Sprintf("%d changes stayed half done and could not be undone; their journals: %s (look at the files they name, then remove them)", len(names), strings.Join(names, ", ")))
	}
	dir, root := plainPath(t.state.dir), plainPath(t.state.root.dir)
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		out = append(out, "the state directory "+dir+" lies below the root, where clients can change it: give --state-dir elsewhere")
	}
	return out
}

// plainPath returns the absolute path with links resolved, or as much of that as can be had.
func plainPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
