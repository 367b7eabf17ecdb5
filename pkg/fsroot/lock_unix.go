//go:build unix

package fsroot

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock on f if it is free. It belongs to the open file, so that two
// callers in one process exclude each other too.
func tryLock(f *os.File) (bool, error) {
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
		return true, nil
	case unix.EWOULDBLOCK, unix.EINTR:
		return false, nil
	default:
		return false, err
	}
}
