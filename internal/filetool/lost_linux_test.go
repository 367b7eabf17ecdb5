package filetool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testneed"
	"golang.org/x/sys/unix"
)

// TestWhatCannotBePutBack: where a file cannot be put back, the text does not say that
// nothing was changed. One with holes takes more room when it is written again than there is.
func TestWhatCannotBePutBack(t *testing.T) {
	testneed.Root(t)
	d := newWriter(t, map[string]string{"small/": ""})
	small := filepath.Join(d.root, "small")
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=128k"); err != nil {
		testneed.Missing(t, "mounting", "run the tests with CAP_SYS_ADMIN: "+err.Error())
	}
	t.Cleanup(func() { unix.Unmount(small, unix.MNT_DETACH) })
	d.put(t, "small/holes", "x\n")
	must(t, os.Link(filepath.Join(small, "holes"), filepath.Join(small, "twin")))
	must(t, os.Truncate(filepath.Join(small, "holes"), 1<<20))
	text, res := d.call(t, "Write", args{"path": "small/holes", "content": strings.Repeat("y\n", 1<<20)})
	if !res.IsError || !strings.Contains(text, "no space left") || strings.Contains(text, "nothing was changed") {
		t.Errorf("%.500s", text)
	}
}
