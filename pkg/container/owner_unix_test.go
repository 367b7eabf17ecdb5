//go:build unix

package container_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/container"
)

// Files that are made in a mount belong to whom the mount does.
func TestMountOwner(t *testing.T) {
	testneed.Root(t)
	e := engine(t)
	for _, owner := range []int{0, 1000, 4242} {
		t.Run(fmt.Sprint(owner), func(t *testing.T) {
			root, extra := t.TempDir(), t.TempDir()
			if err := errors.Join(os.Mkdir(filepath.Join(root, "extra"), 0o755), os.Chown(root, owner, owner)); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(extra, "note"), "read me\n")
			if err := os.Chmod(filepath.Join(extra, "note"), 0o644); err != nil {
				t.Fatal(err)
			}
			for dir := extra; dir != os.TempDir(); dir = filepath.Dir(dir) {
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			s := sandbox(t, e, busybox(t, container.Config{Mounts: []container.Mount{
				{Source: root, Target: "/data"}, {Source: extra, Target: "/data/extra/", ReadOnly: true},
			}}))
			got := output(t, s, "pwd; echo x >made; cat extra/note; (echo x >extra/new) 2>/dev/null || echo refused")
			if got != "/data\nread me\nrefused" {
				t.Errorf("in the sandbox: %q", got)
			}
			info, err := os.Stat(filepath.Join(root, "made"))
			if err != nil {
				t.Fatal(err)
			}
			if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != owner || int(st.Gid) != owner {
				t.Errorf("the file belongs to %d:%d, want %d:%d", st.Uid, st.Gid, owner, owner)
			}
		})
	}
}
