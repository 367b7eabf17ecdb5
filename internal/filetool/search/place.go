package search

import (
	"errors"
	"sync/atomic"
	"time"
)

// A dirent is an entry as a directory lists it.
type dirent struct {
	name string
	kind Kind
}

// An info is what is known of an entry without following it.
type info struct {
	kind    Kind
	size    int64
	modTime time.Time
}

// errVanished is for an entry that is no longer what its directory said.
var errVanished = errors.New("changed while it was searched")

// The bounds of how many directories one search holds open.
const (
	minHandles = 32
	maxHandles = 512
)

// A place is a directory of the walk. It keeps its folder open as long as something below
// waits to be opened from it. Where too many are open already a place keeps none and is
// opened from the one above each time, component by component.
type place struct {
	up     *place // nil for the start
	name   string
	folder *folder
	refs   atomic.Int32  // users of folder; it is closed at 0 and stays so
	held   *atomic.Int32 // places of the walk that keep a folder
}

// hold gives p its open folder, for one user.
func (p *place) hold(f *folder) {
	p.folder = f
	p.refs.Store(1)
	p.held.Add(1)
}

func (p *place) retain() bool {
	for {
		n := p.refs.Load()
		if n == 0 {
			return false
		}
		if p.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (p *place) release() {
	if p.refs.Add(-1) == 0 {
		p.folder.close()
		p.held.Add(-1)
	}
}

// open returns the folder of p, to be given back with done.
func (p *place) open() (f *folder, done func(), err error) {
	if p.retain() {
		return p.folder, p.release, nil
	}
	if p.up == nil {
		return nil, nil, errVanished
	}
	up, upDone, err := p.up.open()
	if err != nil {
		return nil, nil, err
	}
	defer upDone()
	f, err = up.child(p.name)
	if err != nil {
		return nil, nil, err
	}
	return f, f.close, nil
}
