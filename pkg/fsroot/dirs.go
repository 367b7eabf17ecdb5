package fsroot

import (
	"io/fs"
	"os"
	"path"
)

// maxOpenDirs bounds the descriptors that a commit holds, at two for each.
const maxOpenDirs = 64

// dirs are the directories that a commit works in. Each is resolved once; from then on
// all is done through its handle, or through one that is opened again and is the same
// directory, whatever has become of its path.
type dirs struct {
	root  *Root
	asked map[string]*dir // by path below root, as asked for
	real  map[string]*dir // by path below root, links resolved
	list  []*dir          // parents that are to be made before what is in them
	open  []*dir
}

// A dir is one of them.
type dir struct {
	index  int
	real   string // below the root of dirs
	id     fileID // zero if it is still to be made
	parent *dir   // of one that is to be made
	name   string // in parent
	made   bool   // by this commit
	gone   bool   // or never made; known in recovery
	handle *os.Root
	file   *os.File // the same, for calls that os.Root has not; may be nil
	fd     int      // of file
	bare   bool     // fd may be used
}

func newDirs(r *Root) *dirs {
	return &dirs{root: r, asked: map[string]*dir{}, real: map[string]*dir{}}
}

func (d *dirs) close() {
	for _, x := range d.open {
		x.handle.Close()
		if x.file != nil {
			x.file.Close()
		}
		x.handle, x.file, x.bare = nil, nil, false
	}
	d.open = d.open[:0]
}

// find resolves the directory asked, links followed. What is missing is to be made.
func (d *dirs) find(asked string) (*dir, error) {
	if have := d.asked[asked]; have != nil {
		return have, nil
	}
	found, err := d.search(asked)
	if err != nil {
		return nil, err
	}
	d.asked[asked] = found
	return found, nil
}

func (d *dirs) search(asked string) (*dir, error) {
	if asked == "." {
		return d.walk(asked)
	}
	parent, err := d.find(path.Dir(asked))
	if err != nil {
		return nil, err
	}
	name := path.Base(asked)
	if parent.parent != nil {
		return d.missing(parent, name), nil
	}
	if parent, err = d.at(parent); err != nil {
		return nil, err
	}
	info, err := parent.lstat(name)
	switch {
	case err != nil:
		return nil, errorAt("write", asked, err)
	case info == nil:
		return d.missing(parent, name), nil
	case info.IsDir():
		return d.below(parent, name, info)
	default:
		return d.walk(asked)
	}
}

// below opens the directory name in the open directory parent.
func (d *dirs) below(parent *dir, name string, info fs.FileInfo) (*dir, error) {
	if foldsNames {
		name = spelling(parent.handle, name, info)
	}
	real := path.Join(parent.real, name)
	if have := d.real[real]; have != nil {
		return have, nil
	}
	handle, err := openSub(parent.handle, name, info)
	if err != nil {
		return nil, errorAt("write", real, err)
	}
	x := &dir{real: real}
	if err := d.opened(x, handle); err != nil {
		return nil, err
	}
	return d.add(x), nil
}

// walk is search for the root itself and for links.
func (d *dirs) walk(asked string) (found *dir, err error) {
	d.makeRoom()
	err = d.root.walkTo("write", asked, followed, func(n node) error {
		if !n.info.IsDir() {
			return &Error{Op: "write", Path: asked, Kind: NotDir}
		}
		if found = d.real[n.real]; found != nil {
			return nil
		}
		handle, err := openSub(n.dir, n.name, n.info)
		if err != nil {
			return errorAt("write", asked, err)
		}
		found = &dir{real: n.real}
		if err := d.opened(found, handle); err != nil {
			return err
		}
		d.add(found)
		return nil
	})
	return found, err
}

func (d *dirs) missing(parent *dir, name string) *dir {
	real := path.Join(parent.real, name)
	if have := d.real[real]; have != nil {
		return have
	}
	return d.add(&dir{real: real, parent: parent, name: name})
}

func (d *dirs) add(x *dir) *dir {
	x.index = len(d.list)
	d.list = append(d.list, x)
	d.real[x.real] = x
	return x
}

// opened keeps handle, which is closed on an error.
func (d *dirs) opened(x *dir, handle *os.Root) error {
	file, err := handle.Open(".")
	if err != nil {
		handle.Close()
		return errorAt("open", x.real, err)
	}
	info, err := file.Stat()
	id, _ := idOf(file, info)
	if err == nil && x.id != (fileID{}) && id != x.id {
		err = &Error{Op: "open", Path: x.real, Kind: Changed}
	}
	if err != nil {
		handle.Close()
		file.Close()
		return errorAt("open", x.real, err)
	}
	x.id, x.handle, x.file = id, handle, file
	x.fd, x.bare = int(file.Fd()), !d.root.portable
	d.open = append(d.open, x)
	return nil
}

// makeRoom is called where no handle is in use.
func (d *dirs) makeRoom() {
	if len(d.open) >= maxOpenDirs {
		d.close()
	}
}

// at returns the open directory x. The handle is valid until the next call.
func (d *dirs) at(x *dir) (*dir, error) {
	if x.handle != nil {
		return x, nil
	}
	d.makeRoom()
	err := d.root.walkTo("open", x.real, asItIs, func(n node) error {
		if !n.info.IsDir() {
			return &Error{Op: "open", Path: x.real, Kind: Changed}
		}
		handle, err := openSub(n.dir, n.name, n.info)
		if err != nil {
			return errorAt("open", x.real, err)
		}
		return d.opened(x, handle)
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// make makes x in its parent, with 0777 less the umask.
func (d *dirs) make(x *dir) error {
	parent, err := d.at(x.parent)
	if err != nil {
		return err
	}
	if err := parent.handle.Mkdir(x.name, 0o777); err != nil {
		if os.IsExist(err) {
			return &Error{Op: "mkdir", Path: x.real, Kind: Exists, Err: err}
		}
		return errorAt("mkdir", x.real, err)
	}
	x.made = true
	return d.enter(x, parent)
}

// enter opens x in its open parent, if it is a directory and, where that is known, still
// the one that was made.
func (d *dirs) enter(x, parent *dir) error {
	info, err := parent.handle.Lstat(x.name)
	if err != nil {
		return errorAt("open", x.real, err)
	}
	if !info.IsDir() {
		return &Error{Op: "open", Path: x.real, Kind: Changed}
	}
	handle, err := openSub(parent.handle, x.name, info)
	if err != nil {
		return errorAt("open", x.real, err)
	}
	return d.opened(x, handle)
}

// unmake removes x if it was made and is empty.
func (d *dirs) unmake(x *dir) error {
	parent, err := d.at(x.parent)
	if err != nil {
		return err
	}
	info, err := parent.handle.Lstat(x.name)
	if err != nil || !info.IsDir() || idAt(parent.handle, x.name, info) != x.id {
		return nil // gone, or somebody else's
	}
	if err := removeDir(parent, x.name); err != nil && !notEmpty(err) {
		return errorAt("remove", x.real, err)
	}
	return nil
}

// holds reports whether name in the open directory x is the file id.
func (x *dir) holds(name string, id fileID) bool {
	info, err := x.handle.Lstat(name)
	return err == nil && id != (fileID{}) && idAt(x.handle, name, info) == id
}

// has reports whether there is something called name in the open directory x.
func (x *dir) has(name string) bool {
	_, err := x.handle.Lstat(name)
	return err == nil
}
