package fsroot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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

// A Lock is the right to change the files below a root.
type Lock struct{ f *os.File }

// AcquireLock waits until this process, and this caller in it, may change what is below r
// as the only one, or until ctx ends. All who write must use the same state directory,
// which is made if it is missing. The lock ends with the process, however that ends.
func AcquireLock(ctx context.Context, stateDir string, r *Root) (*Lock, error) {
	key, err := r.Key()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(stateDir, key+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	if err := waitLock(ctx, f); err != nil {
		f.Close()
		return nil, fmt.Errorf("wait for the lock of %s: %w", r.dir, err)
	}
	return &Lock{f}, nil
}

// waitLock polls: no system lets a wait for a file lock be given up in another way.
func waitLock(ctx context.Context, f *os.File) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
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

// Release gives the lock back. The file stays: removing it would let two hold a lock.
func (l *Lock) Release() error { return l.f.Close() }
