//go:build unix

package toolkit

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread reports whether out is a pipe or socket that nobody can read any more.
func unread(out any) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
