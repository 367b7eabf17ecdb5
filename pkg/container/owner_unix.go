//go:build unix

package container

import (
	"errors"
	"os"
	"syscall"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// exists reports whether a process has this pid.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// ownerOf returns to whom a file belongs.
func ownerOf(info os.FileInfo) (uid, gid uint32, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return s.Uid, s.Gid, true
}

// fileOf returns which file it is.
func fileOf(info os.FileInfo) (protocol.File, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return protocol.File{}, false
	}
	return protocol.File{Device: uint64(s.Dev), Inode: s.Ino}, true
}
