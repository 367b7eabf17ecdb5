package fsroot

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// nonBlocking opens a FIFO without waiting for a writer, and no terminal as our own.
const nonBlocking = unix.O_NONBLOCK | unix.O_NOCTTY

// The direct ways let the kernel resolve a path that has no links, in one call. What they
// return is the file of exactly that path. They return nil for everything else, old
// kernels and forbidden calls included: then the walk finds out, and explains.

const noLinks = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS

func (r *Root) openDirect(rel string) *File {
	base := r.directBase()
	if base < 0 {
		return nil
	}
	defer unix.Close(base)
	fd := regularBelow(base, rel)
	if fd < 0 {
		return nil
	}
	f := os.NewFile(uintptr(fd), rel)
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil
	}
	return &File{File: f, Info: info, Real: rel}
}

// regularBelow opens what seems to be a regular file; -1 says that it could not.
func regularBelow(base int, rel string) int {
	// A FIFO's writer and some devices notice an open, so look before.
	seen := openBelow(base, rel, unix.O_PATH|unix.O_NOFOLLOW)
	if seen < 0 {
		return -1
	}
	var st unix.Stat_t
	err := unix.Fstat(seen, &st)
	unix.Close(seen)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return -1
	}
	return openBelow(base, rel, unix.O_RDONLY|nonBlocking)
}

func (r *Root) openDirDirect(rel string) *os.File {
	return r.direct(rel, unix.O_RDONLY|unix.O_DIRECTORY)
}

// statDirect returns nil for a link that is to be followed.
func (r *Root) statDirect(rel string, follow bool) fs.FileInfo {
	f := r.direct(rel, unix.O_PATH|unix.O_NOFOLLOW)
	if f == nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || (follow && info.Mode()&fs.ModeSymlink != 0) {
		return nil
	}
	return info
}

func (r *Root) direct(rel string, flags uint64) *os.File {
	fd := r.directFD(rel, flags)
	if fd < 0 {
		return nil
	}
	return os.NewFile(uintptr(fd), rel)
}

func (r *Root) directFD(rel string, flags uint64) int {
	base := r.directBase()
	if base < 0 {
		return -1
	}
	defer unix.Close(base)
	return openBelow(base, rel, flags)
}

// openBelow opens a path without links below the directory base; -1 says that it could not.
func openBelow(base int, rel string, flags uint64) int {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: noLinks}
	fd, err := retry(func() (int, error) { return unix.Openat2(base, rel, &how) })
	if err != nil {
		return -1
	}
	return fd
}

// directBase opens the root's own directory; -1 says that it could not, or must not.
func (r *Root) directBase() int {
	if r.portable {
		return -1
	}
	if r.within != nil {
		return r.within.directFD(r.sub, unix.O_PATH|unix.O_DIRECTORY)
	}
	fd, err := retry(func() (int, error) {
		return unix.Open(r.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return -1
	}
	return fd
}
