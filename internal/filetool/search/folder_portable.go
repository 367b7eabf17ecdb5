//go:build !linux || portable

package search

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A folder is an open directory. Its methods take one path component and follow no link:
// where the system cannot promise that, what was opened is compared with what was seen.
type folder struct{ root *os.Root }

func openStart(s Start) (*folder, error) {
	reopen := s.OSRoot
	if reopen == nil {
		reopen = func() (*os.Root, error) { return os.OpenRoot(s.Dir.Name()) }
	}
	root, err := reopen()
	if err != nil {
		return nil, err
	}
	// Opening takes the right to read; this takes the right to enter.
	if _, err := root.Lstat("."); err != nil {
		root.Close()
		return nil, err
	}
	return &folder{root}, nil
}

func (f *folder) close() { f.root.Close() }

func (f *folder) child(name string) (*folder, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, errVanished
	}
	sub, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	got, err := sub.Stat(".")
	if err == nil && !os.SameFile(seen, got) {
		err = errVanished
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return &folder{sub}, nil
}

// parent opens the directory above path, which is where the folder lies.
func (f *folder) parent(path string) (*folder, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return &folder{root}, nil
}

func (f *folder) open(name string) (io.ReadCloser, info, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return nil, info{}, err
	}
	if !seen.Mode().IsRegular() {
		return nil, info{}, errVanished
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, info{}, err
	}
	got, err := file.Stat()
	if err != nil || !got.Mode().IsRegular() || !os.SameFile(seen, got) {
		file.Close()
		return nil, info{}, errVanished
	}
	return file, toInfo(got), nil
}

func (f *folder) stat(name string) (info, error) {
	i, err := f.root.Lstat(name)
	if err != nil {
		return info{}, err
	}
	return toInfo(i), nil
}

func (f *folder) readlink(name string) (string, error) { return f.root.Readlink(name) }

func toInfo(i fs.FileInfo) info {
	return info{kind: toKind(i.Mode()), size: i.Size(), modTime: i.ModTime()}
}

func toKind(m fs.FileMode) Kind {
	switch m.Type() {
	case 0:
		return File
	case fs.ModeDir:
		return Dir
	case fs.ModeSymlink:
		return Link
	case fs.ModeNamedPipe:
		return Pipe
	case fs.ModeSocket:
		return Socket
	}
	return Device
}

// list returns the entries in no order. What the directory held before an error counts.
func (f *folder) list([]byte) ([]dirent, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found, err := dir.ReadDir(-1)
	all := make([]dirent, 0, len(found))
	for _, e := range found {
		all = append(all, dirent{e.Name(), toKind(e.Type())})
	}
	return all, err
}

// handles returns how many directories one search may hold open.
func handles() int { return minHandles }

// gone reports whether err means that an entry was removed or replaced since it was
// listed, which is no fault of anything.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errVanished)
}
