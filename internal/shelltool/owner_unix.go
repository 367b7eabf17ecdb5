//go:build unix

package shelltool

import (
	"os"
	"syscall"
)

// ownerOf returns the uid of a directory's owner.
func ownerOf(dir string) (uid uint32, ok bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
