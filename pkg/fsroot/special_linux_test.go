package fsroot_test

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func mkfifo(path string) error { return unix.Mkfifo(path, 0o644) }

func mknod(path string, char bool, major, minor uint32) error {
	mode := uint32(unix.S_IFBLK | 0o644)
	if char {
		mode = unix.S_IFCHR | 0o644
	}
	return unix.Mknod(path, mode, int(unix.Mkdev(major, minor)))
}

func bindMount(t *testing.T, from, to string) error {
	if err := os.WriteFile(to, nil, 0o644); err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	t.Cleanup(func() { unix.Unmount(to, unix.MNT_DETACH) })
	return nil
}

func owner(info os.FileInfo) [2]uint32 {
	st := info.Sys().(*syscall.Stat_t)
	return [2]uint32{st.Uid, st.Gid}
}
