package fsroot

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// Open opens the regular file rel. It never blocks: other types are refused by name, and
// what is opened is looked at again before it is returned.
func (r *Root) Open(rel string) (*File, error) {
	rel, err := clean("open", rel)
	if err != nil {
		return nil, err
	}
	if f := r.openDirect(rel); f != nil {
		return f, nil
	}
	var f *File
	err = r.walkTo("open", rel, followed, func(n node) (err error) {
		f, err = openNode(n, rel)
		return err
	})
	return f, err
}

func openNode(n node, rel string) (*File, error) {
	if err := regular(rel, n.info.Mode()); err != nil {
		return nil, err
	}
	f, info, err := n.open(rel)
	if err != nil {
		return nil, err
	}
	return &File{File: f, Info: info, Real: n.real}, nil
}

// open opens what the walk saw, if it is still that.
func (n node) open(rel string) (*os.File, fs.FileInfo, error) {
	f, err := n.dir.OpenFile(n.name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, errorAt("open", rel, changedOr(n.dir, n.name, n.info, err))
	}
	info, err := f.Stat()
	if err != nil || !os.SameFile(info, n.info) {
		f.Close()
		return nil, nil, &Error{Op: "open", Path: rel, Kind: Changed, Err: err}
	}
	return f, info, nil
}

func regular(rel string, mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &Error{Op: "open", Path: rel, Kind: IsDir}
	default:
		return &Error{Op: "open", Path: rel, Kind: NotRegular, Mode: mode.Type()}
	}
}

// OpenDir opens the directory rel.
func (r *Root) OpenDir(rel string) (*Dir, error) {
	rel, err := clean("open", rel)
	if err != nil {
		return nil, err
	}
	if f := r.openDirDirect(rel); f != nil {
		return &Dir{File: f, Root: r, Real: rel}, nil
	}
	var d *Dir
	err = r.walkTo("open", rel, followed, func(n node) (err error) {
		d, err = r.openDirNode(n, rel)
		return err
	})
	return d, err
}

func (r *Root) openDirNode(n node, rel string) (*Dir, error) {
	if !n.info.IsDir() {
		return nil, &Error{Op: "open", Path: rel, Kind: NotDir}
	}
	f, _, err := n.open(rel)
	if err != nil {
		return nil, err
	}
	return &Dir{File: f, Root: r, Real: n.real}, nil
}

// An Info is what is known of a name without opening it.
type Info struct {
	fs.FileInfo
	Real string // below the root, links resolved; by Lstat, except in the last component
	Link *Link  // what a link says; nil if the name is none
}

// A Link is where a symbolic link leads.
type Link struct {
	Target string      // below the root, links resolved; "" where it leads outside
	Kind   Kind        // Other if it leads to something, else Outside, Dangling, TooManyLinks ...
	Mode   fs.FileMode // of what it leads to, if Kind is Other
}

// Stat describes what rel leads to, links followed.
func (r *Root) Stat(rel string) (Info, error) {
	rel, err := clean("stat", rel)
	if err != nil {
		return Info{}, err
	}
	return r.stat(rel, true)
}

// Lstat describes rel itself: if it is a link, the link and where it leads.
func (r *Root) Lstat(rel string) (Info, error) {
	rel, err := clean("stat", rel)
	if err != nil {
		return Info{}, err
	}
	info, err := r.stat(rel, false)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info.Link = r.linkAt(rel)
	}
	return info, err
}

func (r *Root) stat(rel string, follow bool) (Info, error) {
	if fi := r.statDirect(rel, follow); fi != nil {
		return Info{FileInfo: fi, Real: rel}, nil
	}
	last := asItIs
	if follow {
		last = followed
	}
	var info Info
	err := r.walkTo("stat", rel, last, func(n node) error {
		info = Info{FileInfo: n.info, Real: n.real}
		return nil
	})
	return info, err
}

func (r *Root) linkAt(rel string) *Link {
	info, err := r.stat(rel, true)
	if err != nil {
		return &Link{Kind: linkKind(err)}
	}
	return &Link{Target: info.Real, Mode: info.Mode()}
}

func linkKind(err error) Kind {
	if k := KindOf(err); k != Other {
		return k
	}
	return Dangling
}

// clean checks a path that should be below a root and brings it to the form of [Place.Rel].
func clean(op, rel string) (string, error) {
	if reason := invalid(rel); reason != "" {
		return "", &Error{Op: op, Path: rel, Kind: InvalidName, Reason: reason}
	}
	cleaned := path.Clean(rel)
	if path.IsAbs(cleaned) || cleaned == ".." || strings.HasPrefix(cleaned, "../") {
		return "", &Error{Op: op, Path: rel, Kind: Outside}
	}
	if reason := native.invalid(cleaned); reason != "" {
		return "", &Error{Op: op, Path: rel, Kind: InvalidName, Reason: reason}
	}
	return cleaned, nil
}
