package fsroot_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/fsroot"
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

// TestProcAsRoot is case 20: magic links below /proc lead nowhere.
func TestProcAsRoot(t *testing.T) {
	testneed.Files(t, "/proc/self", "run the tests on Linux")
	everyWay(t, fsroot.NewSet("/proc"), func(t *testing.T, s *fsroot.Set) {
		for _, path := range []string{"self/root/etc/passwd", "self/cwd/go.mod", "self/fd/1", "self/exe"} {
			if _, _, err := read(s, path); err == nil {
				t.Errorf("%s opened", path)
			}
		}
		if content, _, err := read(s, "self/status"); err != nil || !strings.Contains(content, "Name:") {
			t.Errorf("self/status: %q, %v", content, err)
		}
	})
}

// TestPermission: what the system refuses has a kind of its own, and a directory that may
// be entered but not listed is entered.
func TestPermission(t *testing.T) {
	testneed.Root(t)
	tr := plant(t, "locked", "closed/a.txt", "blind/a.txt")
	must(t, os.Chmod(filepath.Dir(tr.top), 0o755))
	must(t, os.Chmod(tr.root+"/locked", 0))
	must(t, os.Chmod(tr.root+"/closed", 0))
	must(t, os.Chmod(tr.root+"/blind", 0o711))
	// The file system's user belongs to the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.SetfsuidRetUid(65534)
	defer unix.SetfsuidRetUid(0)
	s := fsroot.NewSet(tr.root)
	for path, want := range map[string]fsroot.Kind{"locked": fsroot.Permission, "closed/a.txt": fsroot.Permission, "blind/a.txt": 0} {
		if _, _, err := read(s, path); fsroot.KindOf(err) != want || (err == nil) != (want == 0) {
			t.Errorf("%s: %v, want kind %d", path, err, want)
		}
	}
}
