//go:build unix

package fsroot

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of like.
func keepOwner(f *os.File, like fs.FileInfo) error {
	is, err := f.Stat()
	if err != nil {
		return err
	}
	have, ok1 := is.Sys().(*syscall.Stat_t)
	want, ok2 := like.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || (have.Uid == want.Uid && have.Gid == want.Gid) {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// key names the directory that info describes, for every process on the machine.
func key(_ string, info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d-%d", st.Dev, st.Ino)
	}
	return ""
}
