//go:build linux

package filetool_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/testneed"
	"golang.org/x/sys/unix"
)

// outside returns everything outside the root, names with content.
func (h *harness) outside(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(h.top, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == h.root:
			return filepath.SkipDir
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			all[path] = string(b)
			return err
		}
		all[path] = d.Type().String()
		return nil
	}))
	return all
}

// TestHostileWrites is the writing half of files.md 4d, by its numbers: nothing outside the
// root is made or changed, and nothing of it is told.
func TestHostileWrites(t *testing.T) {
	files := map[string]string{
		"a.txt": "x\n", "sub/b.txt": "x\n", "link": "-> ../S", "dirlink": "-> ../out", "abs": "-> $R/a.txt", "c1": "-> c2", "c2": "-> c3",
		"c3": "-> sub/b.txt", "loop": "-> loop", "broken": "-> nowhere", "brokenout": "-> ../nowhere", "o1": "-> o2", "o2": "-> ../S",
		"updir": "-> ..", "[id]": "x\n", "$(id)": "x\n", "-n": "x\n", "a b": "x\n", `"`: "x\n", "nfd/cafe\u0301": "x\n",
	}
	d := newWriter(t, files)
	must(t, os.MkdirAll(d.root+"-evil", 0o755))
	must(t, os.WriteFile(d.root+"-evil/x", []byte(secret), 0o644))
	before := d.outside(t)
	for _, c := range []struct {
		name, path, file string // file below the root that is changed; "" where the call is refused
	}{
		{"1 a sibling with the same prefix", d.root + "-evil/x", ""},
		{"1 a new file there", d.root + "-evil/y", ""},
		{"2 up and out", d.root + "/../S", ""},
		{"2 up within", d.root + "/sub/../a.txt", "a.txt"},
		{"3 a link out", "link", ""},
		{"4 through a linked directory", "dirlink/passwd", ""},
		{"4 a new file there", "dirlink/new", ""},
		{"5 with a slash", "link/", ""},
		{"5 a directory with a slash", "dirlink/", ""},
		{"6 an absolute link within", "abs", "a.txt"},
		{"7 a chain", "c1", "sub/b.txt"},
		{"7 a chain out", "o1", ""},
		{"7 a loop", "loop", ""},
		{"8 a broken link", "broken", ""},
		{"9 a link to nothing outside", "brokenout", ""},
		{"10 up from what is new", "newdir/../../S2", ""},
		{"10 up from what is new, absolute", d.root + "/newdir/../../S2", ""},
		{"11 parents through a link", "dirlink/new/file", ""},
		{"11 parents through a link up", "updir/new/file", ""},
		{"11 back in through a link up", "updir/R/a.txt", ""},
		{"15 dots and slashes", d.root + "//./sub//b.txt", "sub/b.txt"},
		{"22 NUL", "a\x00b", ""},
		{"22 a long path", strings.Repeat("x/", 2500) + "x", ""},
		{"22 a long name", strings.Repeat("x", 300), ""},
		{"24 a URI", "file://" + d.root + "/a%2Etxt", "a.txt"},
		{"24 another host", "file://evil/" + d.root + "/a.txt", ""},
		{"24 another scheme", "http://" + d.root + "/a.txt", ""},
		{"25 home", "~/toolhost-written", ""},
		{"26 brackets", "[id]", "[id]"},
		{"26 a shell's words", "$(id)", "$(id)"},
		{"26 a dash", "-n", "-n"},
		{"26 a blank", "a b", "a b"},
		{"26 a quote", `"`, `"`},
		{"30 the other Unicode form", "nfd/caf\u00e9", "nfd/cafe\u0301"},
	} {
		for _, call := range []struct {
			tool string
			args args
		}{
			{"Edit", args{"path": c.path, "old_string": "x\n", "new_string": "edited\n"}},
			{"Edit", args{"path": c.path, "old_string": "", "new_string": "made\n"}},
			{"Write", args{"path": c.path, "content": "written\n"}},
		} {
			text, res := d.call(t, call.tool, call.args)
			filled := call.args["old_string"] == "" // which is refused where there is text
			if want := c.file == "" || filled; res.IsError != want {
				t.Errorf("%s: %s: an error: %v, want %v: %.300s", c.name, call.tool, res.IsError, want, text)
			}
			if strings.Contains(text, "panic") || strings.Contains(text, "internal error") {
				t.Errorf("%s: %s", c.name, text)
			}
		}
		if c.file != "" {
			if got := d.content(t, c.file); got != "written\n" {
				t.Errorf("%s: %s holds %q", c.name, c.file, got)
			}
			d.put(t, c.file, "x\n")
		}
	}
	if diff := cmp.Diff(before, d.outside(t)); diff != "" {
		t.Errorf("outside (-before +after):\n%s", diff)
	}
	for name, content := range files {
		if target, isLink := strings.CutPrefix(content, "-> "); isLink {
			got, err := os.Readlink(filepath.Join(d.root, name))
			if err != nil || got != strings.ReplaceAll(target, "$R", d.root) {
				t.Errorf("the link %s leads to %q, %v", name, got, err)
			}
		}
	}
}

// TestRootForms is cases 13, 14 and 16 for writing.
func TestRootForms(t *testing.T) {
	d := newHarness(t, map[string]string{"a.txt": "x\n", "B/a.txt": "x\n"})
	must(t, os.Symlink(d.root, filepath.Join(d.top, "l")))
	state := t.TempDir()
	linked := &harness{root: d.root, client: start(t, "--write", "--state-dir", state, "--root", filepath.Join(d.top, "l"))}
	for i, path := range []string{filepath.Join(d.top, "l", "a.txt"), filepath.Join(d.root, "a.txt"), "a.txt"} {
		content := fmt.Sprint(i)
		if text, res := linked.call(t, "Write", args{"path": path, "content": content}); res.IsError || d.content(t, "a.txt") != content {
			t.Errorf("13 %s: %s", path, text)
		}
	}
	whole := &harness{client: start(t, "--write", "--state-dir", state, "--root", "/")}
	if text, res := whole.call(t, "Write", args{"path": filepath.Join(d.root, "a.txt"), "content": "whole"}); res.IsError || d.content(t, "a.txt") != "whole" {
		t.Errorf("14: %s", text)
	}
	two := &harness{client: start(t, "--write", "--state-dir", state, "--root", d.root, "--root", filepath.Join(d.root, "B"))}
	if text, res := two.call(t, "Write", args{"path": "a.txt", "content": "two"}); !res.IsError || d.content(t, "a.txt") != "whole" || d.content(t, "B/a.txt") != "x\n" {
		t.Errorf("16: %s", text)
	}
	if text, res := two.call(t, "Write", args{"path": filepath.Join(d.root, "B/a.txt"), "content": "two"}); res.IsError || d.content(t, "B/a.txt") != "two" {
		t.Errorf("16: %s", text)
	}
}

// TestSpecialFilesAreNotWritten is cases 18 and 19.
func TestSpecialFilesAreNotWritten(t *testing.T) {
	testneed.Root(t)
	d := newWriter(t, map[string]string{"a.txt": "x"})
	must(t, unix.Mkfifo(d.root+"/fifo", 0o644))
	l, err := net.Listen("unix", d.root+"/sock")
	must(t, err)
	defer l.Close()
	device(t, unix.S_IFCHR, d.root+"/chardev", 1, 3)
	for name, says := range map[string]string{"fifo": "named pipe", "sock": "socket", "chardev": "character device"} {
		for tool, a := range map[string]args{
			"Write": {"path": name, "content": "x"}, "Edit": {"path": name, "old_string": "x", "new_string": "y"},
		} {
			began := time.Now()
			text, res := d.call(t, tool, a)
			if took := time.Since(began); !res.IsError || !strings.Contains(text, says) || took > 2*time.Second {
				t.Errorf("%s %s, after %v: %s", tool, name, took, text)
			}
		}
	}
}

// TestWhatIsKept: mode, owner, attributes, links and names of a file outlive a change, and a
// new file is made as the umask says.
func TestWhatIsKept(t *testing.T) {
	testneed.Root(t)
	d := newWriter(t, map[string]string{"run.sh": "x\n", "hard": "x\n", "other": "x\n"})
	at := func(name string) string { return filepath.Join(d.root, name) }
	must(t, os.Chmod(at("run.sh"), 0o750))
	must(t, os.Chown(at("run.sh"), 1234, 4321))
	must(t, os.Link(at("hard"), at("twin")))
	attrs := unix.Setxattr(at("run.sh"), "user.note", []byte("kept"), 0) == nil
	for _, name := range []string{"run.sh", "hard"} {
		for tool, a := range map[string]args{"Write": {"path": name, "content": "x y\n"}, "Edit": {"path": name, "old_string": "x", "new_string": "x x"}} {
			if text, res := d.call(t, tool, a); res.IsError {
				t.Errorf("%s %s: %s", tool, name, text)
			}
		}
	}
	var st unix.Stat_t
	must(t, unix.Stat(at("run.sh"), &st))
	if st.Mode&0o7777 != 0o750 || st.Uid != 1234 || st.Gid != 4321 {
		t.Errorf("mode %o, owner %d:%d", st.Mode&0o7777, st.Uid, st.Gid)
	}
	note := make([]byte, 10)
	if n, err := unix.Getxattr(at("run.sh"), "user.note", note); attrs && (err != nil || string(note[:n]) != "kept") {
		t.Errorf("the attribute is %q, %v", note[:max(n, 0)], err)
	}
	if d.content(t, "twin") != d.content(t, "hard") || d.content(t, "hard") == "x\n" {
		t.Errorf("the names of one file hold %q and %q", d.content(t, "hard"), d.content(t, "twin"))
	}
	old := unix.Umask(0o027)
	defer unix.Umask(old)
	d.call(t, "Write", args{"path": "new", "content": "x"})
	must(t, unix.Stat(at("new"), &st))
	if st.Mode&0o7777 != 0o640 {
		t.Errorf("the mode of a new file is %o", st.Mode&0o7777)
	}
	if left, _ := filepath.Glob(at(".toolhost*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestLargeFilesAreNotEdited is case 36: what does not fit in memory is refused, and soon.
func TestLargeFilesAreNotEdited(t *testing.T) {
	d := newWriter(t, map[string]string{"large": ""})
	must(t, os.Truncate(filepath.Join(d.root, "large"), 1<<30))
	for tool, a := range map[string]args{"Write": {"path": "large", "content": "x"}, "Edit": {"path": "large", "old_string": "x", "new_string": "y"}} {
		began := time.Now()
		text, res := d.call(t, tool, a)
		if took := time.Since(began); !res.IsError || !strings.Contains(text, "larger than 64 MiB") || took > 5*time.Second {
			t.Errorf("%s, after %v: %s", tool, took, text)
		}
	}
}

// TestEncodingsOnDisk is case 38: no call puts U+FFFD into a file.
func TestEncodingsOnDisk(t *testing.T) {
	files := map[string]string{
		"le": "\xff\xfex\x00\n\x00", "be": "\xfe\xff\x00x\x00\n", "bom": "\ufeffx\r\n", "latin": "x \xe9\r\n", "gbk": "x \xc4\xe3\n", "cut": "x \xe2\x82", "cr": "x\ry\r",
	}
	d := newWriter(t, files)
	for name, content := range files {
		text, res := d.call(t, "Edit", args{"path": name, "old_string": "x", "new_string": "z"})
		want := strings.Replace(content, "x", "z", 1)
		if name == "le" || name == "be" {
			want = content
		}
		if got := d.content(t, name); got != want || res.IsError != (want == content) {
			t.Errorf("%s holds %q, want %q: %s", name, got, want, text)
		}
	}
}

// TestUnwritable is case 34 for writing: the text says why, and nothing changes.
func TestUnwritable(t *testing.T) {
	testneed.Root(t)
	d := newWriter(t, map[string]string{"a.txt": "x\n", "sub/b.txt": "x\n"})
	chattr := testneed.Tool(t, "chattr")
	if out, err := exec.Command(chattr, "+i", filepath.Join(d.root, "a.txt")).CombinedOutput(); err != nil {
		testneed.Missing(t, "files that root may not write", "use a file system with immutable files: "+string(out))
	}
	defer exec.Command(chattr, "-i", filepath.Join(d.root, "a.txt")).Run()
	text, res := d.call(t, "Edit", args{"path": "a.txt", "old_string": "x", "new_string": "y"})
	if !res.IsError || !strings.Contains(text, "not permitted") || d.content(t, "a.txt") != "x\n" {
		t.Errorf("%s", text)
	}
}

// TestFullDisk: what does not fit is said, and the old content stays.
func TestFullDisk(t *testing.T) {
	testneed.Root(t)
	d := newWriter(t, map[string]string{"small/": ""})
	small := filepath.Join(d.root, "small")
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=128k"); err != nil {
		testneed.Missing(t, "mounting", "run the tests with CAP_SYS_ADMIN: "+err.Error())
	}
	t.Cleanup(func() { unix.Unmount(small, unix.MNT_DETACH) })
	d.put(t, "small/a.txt", "x\n")
	for tool, a := range map[string]args{
		"Write": {"content": strings.Repeat("y\n", 100_000)}, "Edit": {"old_string": "x", "new_string": strings.Repeat("y\n", 100_000)},
	} {
		a["path"] = "small/a.txt"
		text, res := d.call(t, tool, a)
		if !res.IsError || !strings.Contains(text, "no space left") || d.content(t, "small/a.txt") != "x\n" {
			t.Errorf("%s: %s", tool, text)
		}
	}
	if left, err := os.ReadDir(small); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestSwapsWhileWriting is cases 32 and 33 for writing: while a directory and a file are
// swapped for links to outside, nothing outside is made, changed or told.
func TestSwapsWhileWriting(t *testing.T) {
	d := newWriter(t, map[string]string{"d/passwd": "inside\n", "evil": "-> ../out", "x": "inside\n", "bad": "-> ../S"})
	before := d.outside(t)
	at := func(name string) string { return filepath.Join(d.root, name) }
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, at("d"), unix.AT_FDCWD, at("evil"), unix.RENAME_EXCHANGE)
				unix.Renameat2(unix.AT_FDCWD, at("x"), unix.AT_FDCWD, at("bad"), unix.RENAME_EXCHANGE)
			}
		}
	})
	made, refused := 0, 0
	for end, i := time.Now().Add(3*time.Second), 0; time.Now().Before(end); i++ {
		for _, call := range []struct {
			tool string
			args args
		}{
			{"Edit", args{"path": "d/passwd", "old_string": "inside", "new_string": "inside!", "replace_all": true}},
			{"Write", args{"path": "d/passwd", "content": fmt.Sprintf("inside %d\n", i)}},
			{"Write", args{"path": fmt.Sprintf("d/new%d/file", i), "content": "new\n"}},
			{"Write", args{"path": "x", "content": fmt.Sprintf("inside %d\n", i)}},
		} {
			if _, res := d.call(t, call.tool, call.args); res.IsError {
				refused++
			} else {
				made++
			}
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d made, %d refused", made, refused)
	if made == 0 || refused == 0 {
		t.Errorf("the race was never run: %d made, %d refused", made, refused)
	}
	if diff := cmp.Diff(before, d.outside(t)); diff != "" {
		t.Errorf("outside (-before +after):\n%s", diff)
	}
}
