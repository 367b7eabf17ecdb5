package fsroot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

// begin starts a transaction on the first root of s that ends with the test.
func (tr tree) begin(t testing.TB, s *fsroot.Set) *fsroot.Tx {
	t.Helper()
	tx, err := fsroot.Begin(context.Background(), tr.state(), s.Roots()[0])
	must(t, err)
	t.Cleanup(func() { tx.End() })
	return tx
}

func (tr tree) state() string { return filepath.Join(tr.top, "state") }

func load(t testing.TB, tx *fsroot.Tx, rel string) *fsroot.Snapshot {
	t.Helper()
	_, was, err := tx.Load(rel)
	must(t, err)
	return was
}

// picture describes everything below dir: type, permissions, links and content.
func picture(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			text += " -> " + to
		case info.Mode().IsRegular():
			content, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += " " + string(content)
		}
		all[strings.TrimPrefix(p, dir)] = text
		return nil
	}))
	return all
}

// outside is a picture of what no commit may touch.
func (tr tree) outside(t testing.TB) map[string]string {
	all := picture(t, tr.top)
	for name := range all {
		if name == "" || strings.HasPrefix(name, "/R") || strings.HasPrefix(name, "/state") {
			delete(all, name)
		}
	}
	return all
}

// TestCommit is cases 8 to 11 of writing, and what a step may be about.
func TestCommit(t *testing.T) {
	tests := []struct {
		name string
		step fsroot.Step
		load string // what Was is loaded from
		real string // what holds "new" afterwards
		kind fsroot.Kind
	}{
		{"existing", fsroot.Step{Rel: "a.txt"}, "a.txt", "a.txt", 0},
		{"new", fsroot.Step{Rel: "sub/new.txt"}, "", "sub/new.txt", 0},
		{"new directories", fsroot.Step{Rel: "x/y/new.txt"}, "", "x/y/new.txt", 0},
		{"through a link", fsroot.Step{Rel: "rel"}, "rel", "sub/b.txt", 0},
		{"through an absolute link", fsroot.Step{Rel: "abs"}, "abs", "a.txt", 0},
		{"below a linked directory", fsroot.Step{Rel: "dir/new.txt"}, "", "sub/new.txt", 0},
		{"new directory below a linked one", fsroot.Step{Rel: "dir/z/new.txt"}, "", "sub/z/new.txt", 0},
		{"8 dangling link", fsroot.Step{Rel: "broken"}, "", "", fsroot.Exists},
		{"8 dangling link, for another file", fsroot.Step{Rel: "broken"}, "a.txt", "", fsroot.Dangling},
		{"9 link out", fsroot.Step{Rel: "out"}, "", "", fsroot.Exists},
		{"9 link out, for another file", fsroot.Step{Rel: "out"}, "a.txt", "", fsroot.Outside},
		{"9 link out to nothing", fsroot.Step{Rel: "gone"}, "a.txt", "", fsroot.Outside},
		{"10 dots", fsroot.Step{Rel: "sub/../../S2"}, "", "", fsroot.Outside},
		{"11 directory link out", fsroot.Step{Rel: "outdir/S3"}, "", "", fsroot.Outside},
		{"11 new directory behind a link out", fsroot.Step{Rel: "outdir/d/S3"}, "", "", fsroot.Outside},
		{"new directory behind a dangling link", fsroot.Step{Rel: "broken/d/x"}, "", "", fsroot.Dangling},
		{"directory", fsroot.Step{Rel: "sub"}, "", "", fsroot.Exists},
		{"directory, for a file", fsroot.Step{Rel: "sub"}, "a.txt", "", fsroot.IsDir},
		{"root", fsroot.Step{Rel: "."}, "", "", fsroot.IsDir},
		{"fifo", fsroot.Step{Rel: "fifo"}, "", "", fsroot.Exists},
		{"fifo, for a file", fsroot.Step{Rel: "fifo"}, "a.txt", "", fsroot.NotRegular},
		{"below a file", fsroot.Step{Rel: "a.txt/new"}, "", "", fsroot.NotDir},
		{"exists", fsroot.Step{Rel: "a.txt"}, "", "", fsroot.Exists},
		{"is gone", fsroot.Step{Rel: "none"}, "a.txt", "", fsroot.Stale},
		{"is another", fsroot.Step{Rel: "sub/b.txt"}, "a.txt", "", fsroot.Stale},
		{"remove", fsroot.Step{Rel: "a.txt", Remove: true}, "a.txt", "", 0},
		{"remove a link", fsroot.Step{Rel: "rel", Remove: true}, "rel", "", 0},
		{"remove what a link leads to", fsroot.Step{Rel: "sub/b.txt", Remove: true}, "rel", "", 0},
		{"remove a link for its file", fsroot.Step{Rel: "rel", Remove: true}, "sub/b.txt", "", fsroot.Stale},
		{"remove another", fsroot.Step{Rel: "sub/b.txt", Remove: true}, "a.txt", "", fsroot.Stale},
		{"remove nothing", fsroot.Step{Rel: "none", Remove: true}, "a.txt", "", fsroot.Stale},
		{"remove unseen", fsroot.Step{Rel: "a.txt", Remove: true}, "", "", fsroot.Exists},
		{"remove a directory", fsroot.Step{Rel: "sub", Remove: true}, "a.txt", "", fsroot.IsDir},
		{"remove behind a link out", fsroot.Step{Rel: "outdir/passwd", Remove: true}, "a.txt", "", fsroot.Outside},
		{"remove dots", fsroot.Step{Rel: "../S", Remove: true}, "a.txt", "", fsroot.Outside},
	}
	for _, portable := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(fmt.Sprint(tt.name, " ", portable), func(t *testing.T) {
				tr := plant(t, "a.txt", "sub/b.txt", "rel -> sub/b.txt", "abs -> $R/a.txt", "dir -> sub", "broken -> nowhere",
					"out -> ../S", "gone -> ../S1", "outdir -> ../out")
				must(t, mkfifo(tr.root+"/fifo"))
				s := fsroot.NewSet(tr.root)
				if portable {
					s = fsroot.Portable(s)
				}
				tx := tr.begin(t, s)
				step := tt.step
				step.Content = []byte("new")
				if tt.load != "" {
					step.Was = load(t, tx, tt.load)
				}
				before, outside := picture(t, tr.root), tr.outside(t)
				other := fsroot.Step{Rel: "other/dir/file", Content: []byte("other")}
				err := tx.Commit([]fsroot.Step{other, step})
				if fsroot.KindOf(err) != tt.kind || (err == nil) != (tt.kind == 0) {
					t.Fatalf("%v, want kind %d", err, tt.kind)
				}
				after := picture(t, tr.root)
				if diff := cmp.Diff(outside, tr.outside(t)); diff != "" {
					t.Errorf("something changed outside:\n%s", diff)
				}
				if err != nil {
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("a refused commit changed files (-before +after):\n%s", diff)
					}
					return
				}
				checkDone(t, tt.step, tt.real, before, after)
			})
		}
	}
}

// checkDone wants that between before and after only real and other/dir/file changed.
func checkDone(t *testing.T, s fsroot.Step, real string, before, after map[string]string) {
	if !strings.HasSuffix(after["/other/dir/file"], " other") {
		t.Error("the other step was not made")
	}
	if s.Remove {
		if _, is := after["/"+s.Rel]; is {
			t.Errorf("%s is still there", s.Rel)
		}
		delete(before, "/"+s.Rel)
	} else {
		if !strings.HasSuffix(after["/"+real], " new") {
			t.Errorf("%s holds %q", real, after["/"+real])
		}
		delete(before, "/"+real)
	}
	for name, want := range before {
		if after[name] != want {
			t.Errorf("%s is %q, was %q", name, after[name], want)
		}
	}
	for name := range after {
		if strings.Contains(name, fsroot.TempPrefix) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestLoad: what is loaded, and what is not.
func TestLoad(t *testing.T) {
	tr := plant(t, "a.txt", "in -> a.txt", "d/x", "dl -> d", "out -> ../S", "broken -> none")
	must(t, os.Truncate(tr.root+"/d/x", fsroot.MaxLoad+1))
	must(t, os.Chmod(tr.root+"/a.txt", 0o640))
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	for rel, link := range map[string]bool{"a.txt": false, "in": true} {
		content, was, err := tx.Load(rel)
		if err != nil || string(content) != "a.txt" || was.Real() != "a.txt" || was.Perm() != 0o640 || was.IsLink() != link {
			t.Errorf("%s: %q, %+v, %v", rel, content, was, err)
		}
	}
	for rel, kind := range map[string]fsroot.Kind{
		"d/x": fsroot.TooLarge, "dl/x": fsroot.TooLarge, "d": fsroot.IsDir, "out": fsroot.Outside, "broken": fsroot.Dangling, "none": fsroot.NotExist,
	} {
		if _, _, err := tx.Load(rel); fsroot.KindOf(err) != kind {
			t.Errorf("%s: %v, want kind %d", rel, err, kind)
		}
	}
	for rel, want := range map[string]string{"in": "a.txt", "out": "../S", "broken": "none", "dl": "d"} {
		if to, was, err := tx.LoadLink(rel); err != nil || to != want || !was.IsLink() {
			t.Errorf("%s: %q, %v", rel, to, err)
		}
	}
	if _, _, err := tx.LoadLink("a.txt"); fsroot.KindOf(err) != fsroot.Changed {
		t.Errorf("a file as a link: %v", err)
	}
}

// TestRemoveLinks: those that lead nowhere, or outside, can be removed.
func TestRemoveLinks(t *testing.T) {
	tr := plant(t, "out -> ../S", "broken -> none", "outdir -> ../out", "swapped -> a")
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	var steps []fsroot.Step
	for _, rel := range []string{"out", "broken", "outdir"} {
		_, was, err := tx.LoadLink(rel)
		must(t, err)
		steps = append(steps, fsroot.Step{Rel: rel, Remove: true, Was: was})
	}
	outside := tr.outside(t)
	must(t, tx.Commit(steps))
	if diff := cmp.Diff(outside, tr.outside(t)); diff != "" {
		t.Error(diff)
	}
	_, was, err := tx.LoadLink("swapped")
	must(t, err)
	must(t, os.Remove(tr.root+"/swapped"))
	must(t, os.Symlink("b", tr.root+"/swapped"))
	if err := tx.Commit([]fsroot.Step{{Rel: "swapped", Remove: true, Was: was}}); fsroot.KindOf(err) != fsroot.Stale {
		t.Errorf("another link: %v", err)
	}
	if got := picture(t, tr.root); len(got) != 2 {
		t.Errorf("left: %v", got)
	}
}

// TestStale: what somebody else wrote is never overwritten; GenericAgent#799: nor is it
// where size and time are the same.
func TestStale(t *testing.T) {
	changes := map[string]func(p string, info fs.FileInfo){
		"written":  func(p string, _ fs.FileInfo) { os.WriteFile(p, []byte("somebody else's"), 0o644) },
		"removed":  func(p string, _ fs.FileInfo) { os.Remove(p) },
		"replaced": func(p string, _ fs.FileInfo) { os.WriteFile(p+"x", []byte("a.txt"), 0o644); os.Rename(p+"x", p) },
		"a link":   func(p string, _ fs.FileInfo) { os.Remove(p); os.Symlink("b.txt", p) },
		"same size and time": func(p string, info fs.FileInfo) {
			os.WriteFile(p, []byte("b.txt"), 0o644)
			os.Chtimes(p, time.Time{}, info.ModTime())
		},
		"a directory": func(p string, _ fs.FileInfo) { os.Remove(p); os.Mkdir(p, 0o755) },
	}
	for name, change := range changes {
		for _, remove := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", remove), func(t *testing.T) {
				tr := plant(t, "a.txt", "b.txt")
				tx := tr.begin(t, fsroot.NewSet(tr.root))
				was := load(t, tx, "a.txt")
				info, err := os.Stat(tr.root + "/a.txt")
				must(t, err)
				change(tr.root+"/a.txt", info)
				before := picture(t, tr.root)
				err = tx.Commit([]fsroot.Step{{Rel: "new"}, {Rel: "a.txt", Was: was, Remove: remove}})
				if kind := fsroot.KindOf(err); kind != fsroot.Stale && kind != fsroot.IsDir {
					t.Errorf("%v", err)
				}
				if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestConflicts: steps that contradict each other.
func TestConflicts(t *testing.T) {
	tr := plant(t, "a.txt", "link -> a.txt")
	need(t, os.Link(tr.root+"/a.txt", tr.root+"/hard"))
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	was := load(t, tx, "a.txt")
	x, y := []byte("x"), []byte("y")
	tests := []struct {
		name  string
		steps []fsroot.Step
		kind  fsroot.Kind
	}{
		{"new twice", []fsroot.Step{{Rel: "n"}, {Rel: "n"}}, fsroot.InvalidName},
		{"through a link", []fsroot.Step{{Rel: "a.txt", Was: was}, {Rel: "link", Was: was}}, fsroot.InvalidName},
		{"file and directory", []fsroot.Step{{Rel: "n"}, {Rel: "n/x"}}, fsroot.InvalidName},
		{"directory and file", []fsroot.Step{{Rel: "n/x"}, {Rel: "n"}}, fsroot.InvalidName},
		{"hard links differ", []fsroot.Step{{Rel: "a.txt", Was: was, Content: x}, {Rel: "hard", Was: was, Content: y}}, fsroot.InvalidName},
		{"hard links the same", []fsroot.Step{{Rel: "a.txt", Was: was, Content: x}, {Rel: "hard", Was: was, Content: x}}, 0},
		{"nothing to do at all", nil, 0},
	}
	before := picture(t, tr.root)
	for _, tt := range tests {
		if err := tx.Commit(tt.steps); fsroot.KindOf(err) != tt.kind || (err == nil) != (tt.kind == 0) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, name := range []string{"/a.txt", "/hard"} {
		before[name] = strings.TrimSuffix(before[name], "a.txt") + "x"
	}
	if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
		t.Error(diff)
	}
	must(t, tx.End())
	must(t, tx.End())
	if tx.Commit(nil) == nil {
		t.Error("a commit after the end")
	}
}

// TestKeeps: servers PR 4115, claude-supertool#259, Codewhale PR 4609 (mode), qwen-code PR
// 4431 (owner), and the same for a move.
func TestKeeps(t *testing.T) {
	tr := plant(t, "tool.sh", "old.sh")
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		for _, name := range []string{"/tool.sh", "/old.sh"} {
			must(t, os.WriteFile(tr.root+name, []byte(name), 0o644))
			must(t, os.Chmod(tr.root+name, 0o757))
			need(t, os.Chown(tr.root+name, 12345, 23456))
		}
		os.Remove(tr.root + "/new.sh")
		before, err := os.Stat(tr.root + "/tool.sh")
		must(t, err)
		tx := tr.begin(t, s)
		defer tx.End()
		old := load(t, tx, "old.sh")
		must(t, tx.Commit([]fsroot.Step{
			{Rel: "tool.sh", Was: load(t, tx, "tool.sh")},
			{Rel: "new.sh", Like: old},
			{Rel: "old.sh", Was: old, Remove: true},
		}))
		for _, name := range []string{"/tool.sh", "/new.sh"} {
			after, err := os.Stat(tr.root + name)
			must(t, err)
			if after.Mode() != before.Mode() || owner(after) != owner(before) || after.Size() != 0 {
				t.Errorf("%s has mode %v, owner %v; want %v, %v", name, after.Mode(), owner(after), before.Mode(), owner(before))
			}
		}
		must(t, tx.Commit([]fsroot.Step{{Rel: "tool.sh", Was: load(t, tx, "tool.sh"), Perm: 0o666}}))
		if after, err := os.Stat(tr.root + "/tool.sh"); err != nil || after.Mode() != 0o666 {
			t.Errorf("the mode asked for is 0666: %v, %v", after.Mode(), err)
		}
	})
}

func TestNewMode(t *testing.T) {
	tr := plant(t)
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	must(t, os.WriteFile(tr.root+"/like", nil, 0o666)) // shows the umask
	like, err := os.Stat(tr.root + "/like")
	must(t, err)
	for name, perm := range map[string]os.FileMode{"plain": 0, "program": 0o777} {
		must(t, tx.Commit([]fsroot.Step{{Rel: name, Perm: perm}}))
		is, err := os.Stat(tr.root + "/" + name)
		must(t, err)
		if is.Mode()&0o666 != like.Mode() || (is.Mode()&0o100 != 0) != (perm != 0) {
			t.Errorf("%s has mode %v where %v is usual", name, is.Mode(), like.Mode())
		}
	}
}

// TestHardLinks: gnu patch and most servers part them.
func TestHardLinks(t *testing.T) {
	tr := plant(t, "a", "rest/b")
	need(t, os.Link(tr.root+"/a", tr.root+"/hard"))
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		tx := tr.begin(t, s)
		defer tx.End()
		for _, content := range []string{strings.Repeat("long", 5000), "", "short"} {
			must(t, tx.Commit([]fsroot.Step{{Rel: "a", Was: load(t, tx, "a"), Content: []byte(content)}}))
			if b, err := os.ReadFile(tr.root + "/hard"); err != nil || string(b) != content {
				t.Errorf("the other name holds %d bytes, %v", len(b), err)
			}
		}
	})
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	a := load(t, tx, "a")
	must(t, tx.Commit([]fsroot.Step{{Rel: "a", Was: a, Content: []byte("x")}, {Rel: "hard", Was: a, Remove: true}}))
	if got := picture(t, tr.root); len(got) != 4 || !strings.HasSuffix(got["/a"], " x") {
		t.Errorf("one name written, the other removed: %v", got)
	}
	if left, _ := filepath.Glob(tr.state() + "/*/*"); len(left) != 1 {
		t.Errorf("beside the lock there is: %v", left)
	}
}

// TestManyDirectories: more than are kept open at once.
func TestManyDirectories(t *testing.T) {
	tr := plant(t)
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	for round := range 2 {
		var steps []fsroot.Step
		for i := range 300 {
			step := fsroot.Step{Rel: fmt.Sprintf("d%d/sub/file", i), Content: []byte{byte(i)}}
			if round > 0 {
				step.Was = load(t, tx, step.Rel)
				step.Content = []byte("x")
			}
			steps = append(steps, step)
		}
		before := picture(t, tr.root)
		if err := tx.Commit(append(steps, fsroot.Step{Rel: "d1/sub/file/x"})); err == nil {
			t.Error("a file is no directory")
		}
		if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
			t.Error(diff)
		}
		must(t, tx.Commit(steps))
	}
	if got := picture(t, tr.root); len(got) != 901 || !strings.HasSuffix(got["/d299/sub/file"], " x") {
		t.Errorf("there are %d names", len(got))
	}
}

// TestCommitIsAtomic: a reader finds the old content or the new, whole.
func TestCommitIsAtomic(t *testing.T) {
	tr := plant(t, "a")
	a, b := bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 50_000)
	must(t, os.WriteFile(tr.root+"/a", a, 0o644))
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		tx := tr.begin(t, s)
		defer tx.End()
		swap := func() {
			for _, content := range [][]byte{b, a} {
				_, was, err := tx.Load("a")
				if err == nil {
					err = tx.Commit([]fsroot.Step{{Rel: "a", Was: was, Content: content}})
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
		swapping(t, swap, func() {
			content, _, err := read(s, "a")
			if err != nil && fsroot.KindOf(err) != fsroot.Changed || err == nil && content != string(a) && content != string(b) {
				t.Fatalf("read %d bytes, %v", len(content), err)
			}
		})
	})
}

// TestBegin: one holder at a time, in one process too, whatever the root's spelling.
func TestBegin(t *testing.T) {
	tr := plant(t, "sub/")
	must(t, os.Symlink(tr.root, tr.top+"/l"))
	roots := fsroot.NewSet(tr.root, tr.top+"/l").Roots()
	narrow, err := fsroot.NewSet(tr.root).Narrow([]string{tr.root + "/sub"})
	must(t, err)
	roots = append(roots, narrow.Roots()[0])
	var wg sync.WaitGroup
	var holders, most int
	var mu sync.Mutex
	for i := range 9 {
		wg.Go(func() {
			tx, err := fsroot.Begin(context.Background(), tr.state(), roots[i%3])
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			holders++
			most = max(most, holders)
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			holders--
			mu.Unlock()
			tx.End()
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d held the lock at once", most)
	}
	tx, err := fsroot.Begin(context.Background(), tr.state(), roots[0])
	must(t, err)
	defer tx.End()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = fsroot.Begin(ctx, tr.state(), roots[1])
	if !errors.Is(err, context.DeadlineExceeded) || fsroot.KindOf(err) != fsroot.Busy {
		t.Errorf("a second lock: %v", err)
	}
}

// TestNarrowed: a narrowed root is confined to itself, and its journal is the operator's.
func TestNarrowed(t *testing.T) {
	tr := plant(t, "a.txt", "sub/up -> ../a.txt", "sub/b.txt")
	s, err := fsroot.NewSet(tr.root).Narrow([]string{tr.root + "/sub"})
	must(t, err)
	tx := tr.begin(t, s)
	if _, _, err := tx.Load("up"); fsroot.KindOf(err) != fsroot.Outside {
		t.Error(err)
	}
	must(t, tx.Commit([]fsroot.Step{{Rel: "b.txt", Was: load(t, tx, "b.txt")}, {Rel: "n/c", Content: []byte("c")}}))
	if b, err := os.ReadFile(tr.root + "/sub/n/c"); string(b) != "c" {
		t.Error(err)
	}
}

// TestNoState: the text says what to do.
func TestNoState(t *testing.T) {
	tr := plant(t, "file")
	_, err := fsroot.Begin(context.Background(), tr.root+"/file/state", fsroot.NewSet(tr.root).Roots()[0])
	if fsroot.KindOf(err) != fsroot.NoState || !strings.Contains(visible(err), "--state-dir") {
		t.Errorf("%v", err)
	}
	t.Setenv("XDG_STATE_HOME", tr.top+"/xdg")
	tx, err := fsroot.Begin(context.Background(), "", fsroot.NewSet(tr.root).Roots()[0])
	must(t, err)
	must(t, tx.End())
	if found, _ := filepath.Glob(tr.top + "/xdg/toolhost/*/lock"); len(found) != 1 {
		t.Errorf("the default is elsewhere: %v", found)
	}
}
