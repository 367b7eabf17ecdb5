package fsroot

import (
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// loadBare reads a regular file. Nil says that this is left to others, and so is what changes
// meanwhile or is too large.
func (r *Root) loadBare(rel string) ([]byte, fs.FileInfo) {
	base := r.directBase()
	if base < 0 {
		return nil, nil
	}
	defer unix.Close(base)
	fd := regularBelow(base, rel)
	if fd < 0 {
		return nil, nil
	}
	return readBare(&bare{fd, rel}, rel)
}

// readBare reads the open file f, and closes it.
func readBare(f openFile, rel string) ([]byte, fs.FileInfo) {
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	content, err := readWhole(f, info, rel)
	if err != nil {
		return nil, nil
	}
	return content, info
}

// loadBare is the same where the directory is open already. The name is looked at and opened
// in it without following links, so what is read lies where it would have been found by the
// whole path.
func (d *Reader) loadBare(rel string) ([]byte, fs.FileInfo) {
	x, name := d.open(path.Dir(rel)), path.Base(rel)
	if x == nil {
		return nil, nil
	}
	// A FIFO's writer and some devices notice an open, so look before.
	if info, _ := x.lookBare(name); info == nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f := x.openBare(name, os.O_RDONLY|nonBlocking, 0)
	if f == nil {
		return nil, nil
	}
	return readBare(f, rel)
}

// open returns a directory whose path has no links; nil if it has, or cannot be opened.
func (d *Reader) open(rel string) *dir {
	if x := d.dirs[rel]; x != nil {
		return x
	}
	if len(d.dirs) >= maxOpenDirs {
		d.Close()
	}
	fd := d.root.directFD(rel, unix.O_PATH|unix.O_DIRECTORY)
	if fd < 0 {
		return nil
	}
	x := &dir{fd: fd, bare: true}
	d.dirs[rel] = x
	return x
}

// Close gives the directories back.
func (d *Reader) Close() {
	for _, x := range d.dirs {
		unix.Close(x.fd)
	}
	clear(d.dirs)
}
