package patchapply_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/patchapply"
	"golang.org/x/sys/unix"
)

// What a file has beside its content stays, where it is updated and where it goes: a mode
// that the umask would not let through, owner and attributes.
func TestWhatAPatchKeeps(t *testing.T) {
	testneed.Root(t)
	d := newDirs(t, "root")
	at := func(name string) string { return filepath.Join(d.roots[0], name) }
	for _, name := range []string{"stays", "goes", "both"} {
		write(t, at(name), "one\n", 0o767)
		must(t, os.Chown(at(name), 12345, 23456))
		if err := unix.Setxattr(at(name), "user.note", []byte("kept"), 0); err != nil {
			testneed.Missing(t, "extended attributes", "use a file system that has them: "+err.Error())
		}
	}
	_, err := commit(t, d.storage, patch(t, "*** Update File: stays\n"+oneToTwo,
		"*** Update File: goes\n*** Move to: new/gone", "*** Update File: both\n*** Move to: new/both\n"+oneToTwo))
	must(t, err)
	for name, want := range map[string]string{"stays": "two\n", "new/gone": "one\n", "new/both": "two\n"} {
		content, err := os.ReadFile(at(name))
		must(t, err)
		info, err := os.Stat(at(name))
		must(t, err)
		st := info.Sys().(*syscall.Stat_t)
		if string(content) != want || info.Mode() != 0o767 || st.Uid != 12345 || st.Gid != 23456 {
			t.Errorf("%s holds %q, mode %v, owner %d:%d", name, content, info.Mode(), st.Uid, st.Gid)
		}
		note := make([]byte, 10)
		if n, err := unix.Getxattr(at(name), "user.note", note); err != nil || string(note[:n]) != "kept" {
			t.Errorf("%s: the attribute is %q, %v", name, note[:max(n, 0)], err)
		}
	}
}

// Where a file could not be put back, the error names it and does not say that nothing was
// changed: one with holes takes more room when it is written again than the disk has.
func TestWhatAPatchCannotPutBack(t *testing.T) {
	testneed.Root(t)
	d := newDirs(t, "root")
	root := d.roots[0]
	if err := unix.Mount("none", root, "tmpfs", 0, "size=1m"); err != nil {
		testneed.Missing(t, "mounting", "run the tests with CAP_SYS_ADMIN: "+err.Error())
	}
	t.Cleanup(func() { unix.Unmount(root, unix.MNT_DETACH) })
	for _, name := range []string{"holes", "hard"} {
		write(t, filepath.Join(root, name), "one\n", 0o644)
		must(t, os.Link(filepath.Join(root, name), filepath.Join(root, name+"2")))
	}
	holes := filepath.Join(root, "holes")
	must(t, os.Truncate(holes, 2<<20))
	tx, err := d.storage.Begin(t.Context())
	must(t, err)
	defer tx.End()
	load := func(name string) *patchapply.File {
		f, err := tx.Load(name, 8<<20)
		must(t, err)
		return f
	}
	err = tx.Commit([]patchapply.Change{
		{Path: "holes", Before: load("holes"), After: []byte("x")},
		{Path: "hard", Before: load("hard"), After: bytes.Repeat([]byte("x"), 2<<20)},
	})
	var e *patchapply.Error
	if !errors.As(err, &e) || e.Class != patchapply.IOError || !strings.Contains(e.Text, "holes") || strings.Contains(e.Text, "No files were changed") {
		t.Errorf("%v", err)
	}
}
