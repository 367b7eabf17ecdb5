//go:build linux && !portable

package search

import (
	"encoding/binary"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A folder is an open directory. Its methods take one path component and follow no link.
type folder struct{ fd int }

func openStart(s Start) (*folder, error) {
	conn, err := s.Dir.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, dupErr := -1, error(nil)
	err = conn.Control(func(from uintptr) {
		fd, dupErr = openat(int(from), ".", unix.O_DIRECTORY)
	})
	if err == nil {
		err = dupErr
	}
	if err != nil {
		return nil, err
	}
	return &folder{fd}, nil
}

func openat(dir int, name string, flags int) (int, error) {
	flags |= unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	for attempt := 0; ; attempt++ {
		fd, err := unix.Openat(dir, name, flags, 0)
		switch {
		case err == unix.EINTR:
			continue
		case (err == unix.EMFILE || err == unix.ENFILE) && attempt < 50:
			time.Sleep(5 * time.Millisecond) // other calls give theirs back soon
			continue
		}
		return fd, err
	}
}

func (f *folder) close() { unix.Close(f.fd) }

func (f *folder) child(name string) (*folder, error) {
	fd, err := openat(f.fd, name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &folder{fd}, nil
}

// parent opens the directory above; path, where the folder lies, serves other systems.
func (f *folder) parent(string) (*folder, error) { return f.child("..") }

// open opens a regular file; vanished is the error for anything else.
func (f *folder) open(name string) (io.ReadCloser, info, error) {
	fd, err := openat(f.fd, name, 0)
	if err != nil {
		return nil, info{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, info{}, errVanished
	}
	return rawFile(fd), toInfo(&st), nil
}

// A rawFile reads without the poller, which costs more than the reading of a small file.
type rawFile int

func (f rawFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(f), p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (f rawFile) Close() error { return unix.Close(int(f)) }

func (f *folder) stat(name string) (info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return info{}, err
	}
	return toInfo(&st), nil
}

func (f *folder) readlink(name string) (string, error) {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(f.fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func toInfo(st *unix.Stat_t) info {
	return info{kind: toKind(st.Mode & unix.S_IFMT), size: st.Size, modTime: time.Unix(st.Mtim.Unix())}
}

func toKind(mode uint32) Kind {
	switch mode {
	case unix.S_IFREG:
		return File
	case unix.S_IFDIR:
		return Dir
	case unix.S_IFLNK:
		return Link
	case unix.S_IFIFO:
		return Pipe
	case unix.S_IFSOCK:
		return Socket
	}
	return Device
}

// list returns the entries in no order. What the directory held before an error counts.
func (f *folder) list(buf []byte) ([]dirent, error) {
	var all []dirent
	for {
		n, err := unix.ReadDirent(f.fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || n <= 0:
			return all, err
		}
		all = f.parse(all, buf[:n])
	}
}

// parse reads records of struct linux_dirent64: inode and offset (8 bytes each), length of
// the record (2), type (1), name up to a NUL.
func (f *folder) parse(all []dirent, b []byte) []dirent {
	for len(b) > 19 {
		size := int(binary.NativeEndian.Uint16(b[16:]))
		name, typ := unix.ByteSliceToString(b[19:size]), b[18]
		b = b[size:]
		if name != "." && name != ".." {
			all = append(all, dirent{name, f.kind(name, typ)})
		}
	}
	return all
}

func (f *folder) kind(name string, typ byte) Kind {
	switch typ {
	case unix.DT_REG:
		return File
	case unix.DT_DIR:
		return Dir
	case unix.DT_LNK:
		return Link
	case unix.DT_FIFO:
		return Pipe
	case unix.DT_SOCK:
		return Socket
	case unix.DT_UNKNOWN: // the file system does not say
		if i, err := f.stat(name); err == nil {
			return i.kind
		}
		return File
	}
	return Device
}

// handles returns how many directories one search may hold open.
func handles() int {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return minHandles
	}
	return int(min(max(lim.Cur/4, minHandles), maxHandles))
}

// gone reports whether err means that an entry was removed or replaced since it was
// listed, which is no fault of anything.
func gone(err error) bool {
	switch err {
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ENXIO, errVanished:
		return true
	}
	return os.IsNotExist(err)
}
