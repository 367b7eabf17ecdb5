// Package fsroot is a storage root: client paths in, confined handles out.
//
// A [Set] holds the directories that a call may use. [Set.Resolve] turns what a client
// wrote into a [Place], a root and a clean path below it, without touching anything
// outside. The methods of [Root] open such a path: whatever lies there, a link, a swapped
// directory or a device, they return a handle to something below the root or an [*Error].
// [Begin] gives those who write the sole right to do so, and a [Tx] that makes several
// changes or none.
//
// Symbolic links are followed as long as they stay below the root, absolute ones included.
// A path is never checked first and used later: on Linux the kernel resolves it below the
// root's handle, elsewhere and where links are met each component is opened on its own and
// compared with what was seen there.
//
// Nothing is opened before the first use, and nothing is kept open: a root that is missing
// makes the call fail, and works again when it is back.
//
// The package does not decide who may read what. Policies judge [File.Real], the path with
// links resolved. Hard links to files elsewhere cannot be told from files and are read.
package fsroot

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// A Root is one directory that a client may use. It is safe for concurrent use.
type Root struct {
	dir      string // absolute, as given
	within   *Root  // the operator's root that a client narrowed; nil for an operator's own
	sub      string // of dir below within
	portable bool   // never use the kernel's confinement
	chosen   string // by a client alone: dir with its links resolved as far as it is there; "" for an operator's own
}

// A Place is a path below a root. Rel is slash-separated and clean, "." is the root.
// A Place says nothing about what lies there, nor whether links on the way leave the root.
type Place struct {
	Root *Root
	Rel  string
}

// A File is an open regular file below a root.
type File struct {
	*os.File
	Info fs.FileInfo // of the open file
	Real string      // path below the root, links resolved; what policies judge
}

// A Dir is an open directory below a root.
type Dir struct {
	*os.File
	Root *Root
	Real string // path below the root, links resolved
}

// Dir returns the root's directory: absolute, as the operator or client gave it.
func (r *Root) Dir() string { return r.dir }

// Origin returns the operator's root and the path below it that rel has there. It differs
// from r and rel where the client narrowed the operator's root; policies are written
// against the operator's.
func (r *Root) Origin(rel string) (*Root, string) {
	if r.within == nil {
		return r, rel
	}
	return r.within.Origin(path.Join(r.sub, rel))
}

// Named returns the path of rel as policies name it: the directory of the operator's root, and
// the path below it. Where the client alone chose the root, these are the top of the file system
// and all of the path, so that no client chooses what rules are matched against.
func (r *Root) Named(rel string) (dir, below string) {
	origin, below := r.Origin(rel)
	if origin.chosen == "" {
		return origin.dir, below
	}
	top := filepath.VolumeName(origin.chosen) + string(filepath.Separator)
	base, err := filepath.Rel(top, origin.chosen)
	if err != nil { // it is below its own volume
		return origin.dir, below
	}
	return top, path.Join(filepath.ToSlash(base), below)
}

// Abs returns the absolute path of rel below r, in the system's form and for display only.
func (r *Root) Abs(rel string) string { return filepath.Join(r.dir, filepath.FromSlash(rel)) }

// OSRoot opens the same directory as an [os.Root]. It fails if the directory was moved or
// replaced since it was opened.
func (d *Dir) OSRoot() (*os.Root, error) {
	base, err := d.Root.openBase()
	if err != nil {
		return nil, err
	}
	defer base.Close()
	sub, err := base.OpenRoot(path.Join(d.Real, "."))
	if err != nil {
		return nil, errorAt("open", d.Real, err)
	}
	if !sameDir(d.File, sub) {
		sub.Close()
		return nil, &Error{Op: "open", Path: d.Real, Kind: Changed}
	}
	return sub, nil
}

func sameDir(f *os.File, dir *os.Root) bool {
	a, errA := f.Stat()
	b, errB := dir.Stat(".")
	return errA == nil && errB == nil && os.SameFile(a, b)
}
