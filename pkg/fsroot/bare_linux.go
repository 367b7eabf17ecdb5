package fsroot

import (
	"io"
	"io/fs"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// A bare is a descriptor that one function opens, uses and closes.
type bare struct {
	fd   int
	name string
}

// openBare opens name itself: it is one component, and no link is followed. It returns nil
// where that cannot be done.
func (x *dir) openBare(name string, flag int, perm fs.FileMode) openFile {
	if !x.bare || !component(name) {
		return nil
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(x.fd, name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm.Perm()))
	})
	if err != nil {
		return nil
	}
	return &bare{fd, name}
}

// component reports whether name stays in its directory.
func component(name string) bool {
	for i := range len(name) {
		if name[i] == '/' {
			return false
		}
	}
	return name != "" && name != "." && name != ".."
}

// lookBare describes name itself; nil if there is nothing.
func (x *dir) lookBare(name string) (info fs.FileInfo, known bool) {
	if !x.bare || !component(name) {
		return nil, false
	}
	var st unix.Stat_t
	_, err := retry(func() (int, error) {
		return 0, unix.Fstatat(x.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	switch err {
	case nil:
		return newBareInfo(name, &st), true
	case unix.ENOENT:
		return nil, true
	}
	return nil, false
}

// removeBare removes a name that is no directory, and reports whether it did.
func (x *dir) removeBare(name string) bool {
	return x.bare && component(name) && unix.Unlinkat(x.fd, name, 0) == nil
}

// retry is for calls that a signal may interrupt.
func retry(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}

func (f *bare) fault(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *bare) Fd() uintptr { return uintptr(f.fd) }

func (f *bare) Read(b []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(f.fd, b) })
	switch {
	case err != nil:
		return 0, f.fault("read", err)
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f *bare) Write(b []byte) (done int, err error) {
	for done < len(b) {
		n, err := retry(func() (int, error) { return unix.Write(f.fd, b[done:]) })
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return done, f.fault("write", err)
		}
		done += n
	}
	return done, nil
}

func (f *bare) Stat() (fs.FileInfo, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstat(f.fd, &st) }); err != nil {
		return nil, f.fault("stat", err)
	}
	return newBareInfo(f.name, &st), nil
}

// Chmod sets permission bits.
func (f *bare) Chmod(mode fs.FileMode) error {
	_, err := retry(func() (int, error) { return 0, unix.Fchmod(f.fd, uint32(mode.Perm())) })
	return f.fault("chmod", err)
}

func (f *bare) Chown(uid, gid int) error {
	_, err := retry(func() (int, error) { return 0, unix.Fchown(f.fd, uid, gid) })
	return f.fault("chown", err)
}

// Close may be called again: the number may be another's file by then.
func (f *bare) Close() error {
	if f.fd < 0 {
		return nil
	}
	fd := f.fd
	f.fd = -1
	return f.fault("close", unix.Close(fd))
}

// A bareInfo is what package os would make of a stat, short of the times that nobody asks for.
type bareInfo struct {
	name  string
	mode  fs.FileMode
	size  int64
	mtime int64 // of the last write, in Unix nanoseconds
	id    fileID
	links uint64
	uid   uint32
	gid   uint32
}

func newBareInfo(name string, st *unix.Stat_t) *bareInfo {
	i := &bareInfo{
		name: name, mode: fs.FileMode(st.Mode & 0o777), size: st.Size, mtime: st.Mtim.Nano(),
		id: fileID{uint64(st.Dev), uint64(st.Ino)}, links: uint64(st.Nlink), uid: st.Uid, gid: st.Gid,
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		i.mode |= fs.ModeDir
	case unix.S_IFLNK:
		i.mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		i.mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		i.mode |= fs.ModeSocket
	case unix.S_IFBLK:
		i.mode |= fs.ModeDevice
	case unix.S_IFCHR:
		i.mode |= fs.ModeDevice | fs.ModeCharDevice
	default:
		i.mode |= fs.ModeIrregular
	}
	for _, b := range specialBits {
		if st.Mode&b.bit != 0 {
			i.mode |= b.mode
		}
	}
	return i
}

var specialBits = []struct {
	bit  uint32
	mode fs.FileMode
}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}}

func (i *bareInfo) Name() string       { return path.Base(i.name) }
func (i *bareInfo) Size() int64        { return i.size }
func (i *bareInfo) Mode() fs.FileMode  { return i.mode }
func (i *bareInfo) ModTime() time.Time { return time.Unix(0, i.mtime) }
func (i *bareInfo) IsDir() bool        { return i.mode.IsDir() }
func (i *bareInfo) Sys() any           { return nil }

func (i *bareInfo) identity() (id fileID, links uint64) { return i.id, i.links }

func (i *bareInfo) owner() (uid, gid uint32) { return i.uid, i.gid }
