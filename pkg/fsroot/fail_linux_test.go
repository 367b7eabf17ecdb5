package fsroot_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"golang.org/x/sys/unix"
)

// mount mounts what and unmounts it at the end of the test.
func mount(t *testing.T, what, at, kind string, flags uintptr, data string) {
	t.Helper()
	testneed.Root(t)
	need(t, unix.Mount(what, at, kind, flags, data))
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
}

// asNobody runs f with the rights of uid 65534 to files, which belong to the thread.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	testneed.Root(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.SetfsgidRetGid(65534)
	unix.SetfsuidRetUid(65534)
	defer unix.SetfsgidRetGid(0)
	defer unix.SetfsuidRetUid(0)
	f()
}

// refused makes a commit that must fail, and wants all to be as before and the text to
// name the path and the reason.
func (tr tree) refused(t *testing.T, tx *fsroot.Tx, steps []fsroot.Step, path, why string) {
	t.Helper()
	before := picture(t, tr.root)
	err := tx.Commit(steps)
	if err == nil {
		t.Fatal("the commit was made")
	}
	if text := visible(err); !strings.Contains(text, fmt.Sprintf("%q", path)) || !strings.Contains(text, why) {
		t.Errorf("the text does not name %s and %q: %s", path, why, text)
	}
	if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
		t.Errorf("a commit that failed changed files (-before +after):\n%.2000s", diff)
	}
	if left, _ := filepath.Glob(tr.state() + "/*/*"); len(left) != 1 {
		t.Errorf("beside the lock there is: %v", left)
	}
}

// TestNoSpace: the disk fills while files are staged, and while one is written in place.
func TestNoSpace(t *testing.T) {
	tr := plant(t)
	mount(t, "none", tr.root, "tmpfs", 0, "size=1m")
	for _, name := range []string{"a", "b", "hard"} {
		must(t, os.WriteFile(tr.root+"/"+name, []byte(name), 0o644))
	}
	must(t, os.Link(tr.root+"/hard", tr.root+"/hard2"))
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		tx := tr.begin(t, s)
		defer tx.End()
		big := bytes.Repeat([]byte("x"), 600<<10)
		a, b, hard := load(t, tx, "a"), load(t, tx, "b"), load(t, tx, "hard")
		tr.refused(t, tx, []fsroot.Step{
			{Rel: "a", Was: a, Content: big},
			{Rel: "n/m/new", Content: []byte("new")},
			{Rel: "b", Remove: true, Was: b},
			{Rel: "n/big", Content: big},
		}, "n/big", "no space left on device")
		tr.refused(t, tx, []fsroot.Step{
			{Rel: "a", Was: a, Content: big},
			{Rel: "b", Remove: true, Was: b},
			{Rel: "hard", Was: hard, Content: big},
			{Rel: "n/new", Content: []byte("new")},
		}, "hard", "no space left on device")
		// More directories than are kept open.
		many := []fsroot.Step{{Rel: "hard", Was: load(t, tx, "hard"), Content: big}}
		for i := range 100 {
			many = append(many, fsroot.Step{Rel: fmt.Sprintf("n%d/m/new", i), Content: []byte("new")})
		}
		tr.refused(t, tx, append(many, fsroot.Step{Rel: "n/big", Content: big[:450<<10]}), "hard", "no space left on device")
		must(t, tx.Commit([]fsroot.Step{{Rel: "a", Was: a, Content: big[:300<<10]}}))
		must(t, os.WriteFile(tr.root+"/a", []byte("a"), 0o644))
	})
}

// TestReadOnly: a part of the tree is mounted read-only.
func TestReadOnly(t *testing.T) {
	tr := plant(t, "a", "ro/b", "ro/c")
	mount(t, tr.root+"/ro", tr.root+"/ro", "", unix.MS_BIND, "")
	need(t, unix.Mount("", tr.root+"/ro", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	a, b := load(t, tx, "a"), load(t, tx, "ro/b")
	first := []fsroot.Step{{Rel: "a", Was: a, Content: []byte("new")}, {Rel: "n/x"}}
	for _, last := range []fsroot.Step{{Rel: "ro/b", Was: b}, {Rel: "ro/new"}, {Rel: "ro/b", Remove: true, Was: b}} {
		tr.refused(t, tx, append(first, last), last.Rel, "read-only file system")
	}
	err := tx.Commit(append(first, fsroot.Step{Rel: "ro/d/new"}))
	if text := visible(err); !strings.Contains(text, `"ro/d" could not be made (read-only file system)`) {
		t.Error(text)
	}
	// Another file system below the root is no obstacle.
	must(t, unix.Mount("", tr.root+"/ro", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	must(t, tx.Commit(append(first, fsroot.Step{Rel: "ro/b", Was: b})))
}

// TestForbidden: somebody may write only a part of what they change.
func TestForbidden(t *testing.T) {
	testneed.Root(t)
	tr := plant(t, "open/a", "open/theirs", "shut/b", "shut/locked", "sticky/c")
	must(t, os.Chmod(filepath.Dir(tr.top), 0o755))
	for _, name := range []string{"open", "open/a"} {
		must(t, os.Chown(tr.root+"/"+name, 65534, 65534))
	}
	must(t, os.Chmod(tr.root+"/shut/b", 0o666))
	must(t, os.Chmod(tr.root+"/open/theirs", 0o666))
	must(t, os.Chmod(tr.root+"/sticky/c", 0o666))
	must(t, os.Chmod(tr.root+"/sticky", os.ModeSticky|0o777))
	must(t, os.Mkdir(tr.state(), 0o777))
	must(t, os.Chmod(tr.state(), 0o777))
	asNobody(t, func() {
		tx := tr.begin(t, fsroot.NewSet(tr.root))
		defer tx.End()
		was := map[string]*fsroot.Snapshot{}
		for _, name := range []string{"open/a", "open/theirs", "shut/b", "shut/locked", "sticky/c"} {
			was[name] = load(t, tx, name)
		}
		first := []fsroot.Step{
			{Rel: "open/a", Was: was["open/a"], Content: []byte("new")},
			{Rel: "open/new/x", Content: []byte("new")},
			{Rel: "shut/b", Was: was["shut/b"], Content: []byte("longer than before")},
		}
		for _, last := range []fsroot.Step{
			{Rel: "shut/new"},
			{Rel: "shut/locked", Was: was["shut/locked"]},
			{Rel: "shut/b2", Like: was["shut/b"]},
			{Rel: "shut/locked", Was: was["shut/locked"], Remove: true},
		} {
			tr.refused(t, tx, append(first, last), last.Rel, "permission denied")
		}
		first[2].Was = load(t, tx, "shut/b") // the time is another, and only the owner may set it
		last := fsroot.Step{Rel: "sticky/c", Was: was["sticky/c"], Remove: true}
		tr.refused(t, tx, append(first, last), last.Rel, "operation not permitted")

		// In place: where no file may be made, and where it would have another owner.
		first[2].Was = load(t, tx, "shut/b")
		inodes := tr.inodes(t, "shut/b", "open/theirs")
		must(t, tx.Commit(append(first, fsroot.Step{Rel: "open/theirs", Was: was["open/theirs"], Content: []byte("mine")})))
		if diff := cmp.Diff(inodes, tr.inodes(t, "shut/b", "open/theirs")); diff != "" {
			t.Errorf("not in place: %s", diff)
		}
	})
	for name, want := range map[string]string{"open/a": "new", "open/new/x": "new", "shut/b": "longer than before", "open/theirs": "mine"} {
		if b, err := os.ReadFile(tr.root + "/" + name); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v", name, b, err)
		}
	}
}

func (tr tree) inodes(t *testing.T, names ...string) (inodes []string) {
	for _, name := range names {
		var st unix.Stat_t
		must(t, unix.Stat(tr.root+"/"+name, &st))
		inodes = append(inodes, fmt.Sprint(st.Ino, st.Uid, st.Gid, st.Mode))
	}
	return inodes
}

// TestAttributes: extended attributes and ACLs stay; file capabilities do not.
func TestAttributes(t *testing.T) {
	testneed.Root(t)
	tr := plant(t, "a", "d/plain", "old")
	acl := []byte("\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\x39\x30\x00\x00" +
		"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x04\x00\xff\xff\xff\xff")
	for _, name := range []string{"/a", "/old"} {
		need(t, unix.Setxattr(tr.root+name, "user.note", []byte("kept"), 0))
		need(t, unix.Setxattr(tr.root+name, "system.posix_acl_access", acl, 0))
		need(t, unix.Setxattr(tr.root+name, "security.capability", []byte("\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 0))
	}
	// New files in d get an ACL that the old one has not.
	need(t, unix.Setxattr(tr.root+"/d", "system.posix_acl_default", acl, 0))
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	old := load(t, tx, "old")
	before := picture(t, tr.root)
	must(t, tx.Commit([]fsroot.Step{
		{Rel: "a", Was: load(t, tx, "a"), Content: []byte("a")},
		{Rel: "d/plain", Was: load(t, tx, "d/plain"), Content: []byte("d/plain")},
		{Rel: "new", Like: old},
		{Rel: "old", Was: old, Remove: true},
	}))
	before["/new"] = strings.TrimSuffix(before["/old"], "old")
	delete(before, "/old")
	if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
		t.Error(diff)
	}
	want := []string{"system.posix_acl_access", "user.note"}
	for name, want := range map[string][]string{"/a": want, "/new": want, "/d/plain": {}} {
		buf := make([]byte, 1000)
		n, err := unix.Listxattr(tr.root+name, buf)
		must(t, err)
		got := strings.FieldsFunc(string(buf[:n]), func(r rune) bool { return r == 0 })
		for i := len(got) - 1; i >= 0; i-- {
			if got[i] == "security.selinux" {
				got = append(got[:i], got[i+1:]...)
			}
		}
		if diff := cmp.Diff(want, sorted(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSomebodyElseWrites: an editor that asks nobody replaces the file all the time. What
// it wrote is never overwritten by what was made from an older content.
func TestSomebodyElseWrites(t *testing.T) {
	tr := plant(t)
	must(t, os.WriteFile(tr.root+"/file", []byte("e0"), 0o644))
	var mu sync.Mutex
	next := map[string][]string{} // by what a version replaced
	n := 0
	add := func(from, to string) {
		mu.Lock()
		defer mu.Unlock()
		next[from] = append(next[from], to)
	}
	editor := func() {
		n++
		mine, aside := fmt.Sprint("e", n), tr.root+"/aside"
		must(t, os.WriteFile(aside, []byte(mine), 0o644))
		must(t, unix.Renameat2(unix.AT_FDCWD, aside, unix.AT_FDCWD, tr.root+"/file", unix.RENAME_EXCHANGE))
		was, err := os.ReadFile(aside)
		must(t, err)
		add(string(was), mine)
		time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Millisecond))))
	}
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	made, tries := 0, 0
	swapping(t, editor, func() {
		tries++
		content, was, err := tx.Load("file")
		if err != nil {
			return
		}
		mine := fmt.Sprint("t", tries)
		if tx.Commit([]fsroot.Step{{Rel: "file", Was: was, Content: []byte(mine)}}) == nil {
			add(string(content), mine)
			made++
		}
	})
	for from, to := range next {
		if len(to) > 1 {
			t.Errorf("%v were all made from %s", to, from)
		}
	}
	t.Logf("%d of %d commits made", made, tries)
}

// TestStateFull: there is no room for the journal, or for the old content of a file that is
// written in place.
func TestStateFull(t *testing.T) {
	tr := plant(t, "a")
	must(t, os.WriteFile(tr.root+"/hard", make([]byte, 200<<10), 0o644))
	must(t, os.Link(tr.root+"/hard", tr.root+"/hard2"))
	must(t, os.Mkdir(tr.state(), 0o700))
	mount(t, "none", tr.state(), "tmpfs", 0, "size=64k")
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	steps := []fsroot.Step{{Rel: "a", Was: load(t, tx, "a")}, {Rel: "n/new"}}
	inPlace := fsroot.Step{Rel: "hard", Was: load(t, tx, "hard")}
	fill := func() { os.WriteFile(tr.state()+"/fill", make([]byte, 64<<10), 0o600) }
	for name, try := range map[string]func() []fsroot.Step{
		"copy":    func() []fsroot.Step { return append(steps, inPlace) },
		"journal": func() []fsroot.Step { fill(); return steps },
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(tr.state() + "/fill")
			before := picture(t, tr.root)
			err := tx.Commit(try())
			if fsroot.KindOf(err) != fsroot.NoState || !strings.Contains(visible(err), "no space left on device") {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
				t.Errorf("files changed (-before +after):\n%.2000s", diff)
			}
		})
	}
	os.Remove(tr.state() + "/fill")
	must(t, tx.Commit(steps))
	if left, _ := filepath.Glob(tr.state() + "/*/*"); len(left) != 1 {
		t.Errorf("beside the lock there is: %v", left)
	}
}
