package fsroot

import (
	"io"
	"io/fs"
	"os"
)

// An openFile is a file that a load or a commit opens for a moment: an [*os.File], or on Linux
// a bare descriptor.
//
// The bare ways are there because a commit opens thousands of files. An os.File asks the
// system whether it can be polled, which is no question for a regular file, and is made for
// sharing and for being forgotten: that costs as much as all that we do with it. The bare
// ways only take the common case. Whatever else they meet, errors included, they leave to
// package os, which does the same again and explains it.
type openFile interface {
	io.ReadWriteCloser
	Stat() (fs.FileInfo, error)
	Chmod(fs.FileMode) error
	Chown(uid, gid int) error
	Fd() uintptr
}

// openFile opens name in the open directory x.
func (x *dir) openFile(name string, flag int, perm fs.FileMode) (openFile, error) {
	if f := x.openBare(name, flag, perm); f != nil {
		return f, nil
	}
	f, err := x.handle.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// look describes name in the open directory x, as lstat does; of no use for os.SameFile.
func (x *dir) look(name string) (fs.FileInfo, error) {
	if info, known := x.lookBare(name); known {
		return info, nil
	}
	return x.lstat(name)
}

// lstat describes name in the open directory x; nil if there is nothing.
func (x *dir) lstat(name string) (fs.FileInfo, error) {
	info, err := x.handle.Lstat(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	return info, err
}

// remove removes name in the open directory x, if there is one.
func (x *dir) remove(name string) error {
	if x.removeBare(name) {
		return nil
	}
	err := x.handle.Remove(name)
	if err == nil || os.IsNotExist(err) {
		return nil
	}
	// A read-only file system refuses before it looks.
	if info, errStat := x.lstat(name); info == nil && errStat == nil {
		return nil
	}
	return err
}
