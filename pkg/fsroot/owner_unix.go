//go:build unix

package fsroot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepOwner gives f, which is, the owner and group of like.
func keepOwner(f openFile, is, like fs.FileInfo) error {
	uid, gid, ok1 := ownerOf(is)
	wantUID, wantGID, ok2 := ownerOf(like)
	if !ok1 || !ok2 || (uid == wantUID && gid == wantGID) {
		return nil
	}
	return f.Chown(int(wantUID), int(wantGID))
}

func ownerOf(info fs.FileInfo) (uid, gid uint32, ok bool) {
	if own, ok := info.(interface{ owner() (uid, gid uint32) }); ok {
		uid, gid = own.owner()
		return uid, gid, true
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return st.Uid, st.Gid, true
}

// key names the directory that info describes, for every process on the machine.
func key(_ string, info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d-%d", st.Dev, st.Ino)
	}
	return ""
}

// idOf returns which file the open f is, and how many names it has.
func idOf(_ openFile, info fs.FileInfo) (id fileID, links uint64) {
	if info == nil {
		return fileID{}, 0
	}
	if own, ok := info.(interface{ identity() (fileID, uint64) }); ok {
		return own.identity()
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, 0
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink)
}

// idAt returns which file name in dir is, as Lstat saw it.
func idAt(_ *os.Root, _ string, info fs.FileInfo) fileID {
	id, _ := idOf(nil, info)
	return id
}

// removeDir removes the directory name, and nothing else of that name.
func removeDir(x *dir, name string) error {
	return unix.Unlinkat(int(x.file.Fd()), name, unix.AT_REMOVEDIR)
}

// notEmpty reports whether err says that there is something in a directory, or nothing
// like it any more.
func notEmpty(err error) bool {
	return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
}
