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
	// A FIFO's writer and some devices notice an open, so look before.
	if info := r.statDirect(rel, true); info == nil || !info.Mode().IsRegular() {
		return nil
	}
	f := r.direct(rel, unix.O_RDONLY|nonBlocking)
	if f == nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil
	}
	return &File{File: f, Info: info, Real: rel}
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
	base := r.directBase()
	if base == nil {
		return nil
	}
	defer base.Close()
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: noLinks}
	for {
		fd, err := unix.Openat2(int(base.Fd()), rel, &how)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil
		}
		return os.NewFile(uintptr(fd), rel)
	}
}

func (r *Root) directBase() *os.File {
	if r.portable {
		return nil
	}
	if r.within != nil {
		return r.within.direct(r.sub, unix.O_PATH|unix.O_DIRECTORY)
	}
	f, err := os.OpenFile(r.dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	return f
}
