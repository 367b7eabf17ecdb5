package fsroot

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps what the names a and b hold, in one step.
func exchange(x *dir, a, b string) error { return x.rename(a, b, unix.RENAME_EXCHANGE) }

// renameNew gives what is called from the name to, which must be free.
func renameNew(x *dir, from, to string) error { return x.rename(from, to, unix.RENAME_NOREPLACE) }

func (x *dir) rename(from, to string, flags uint) error {
	return unix.Renameat2(x.fd, from, x.fd, to, flags)
}

// unable reports whether err may say that the system or the file system has no such call.
// Some sandboxes say that it is not permitted.
func unable(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM)
}
