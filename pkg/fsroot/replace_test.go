package fsroot_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

// TestReplace is cases 8 to 11 of writing.
func TestReplace(t *testing.T) {
	tests := []struct {
		name, rel, real string
		kind            fsroot.Kind
	}{
		{"existing", "a.txt", "a.txt", 0},
		{"new", "sub/new.txt", "sub/new.txt", 0},
		{"through a link", "rel", "sub/b.txt", 0},
		{"through an absolute link", "abs", "a.txt", 0},
		{"below a linked directory", "dir/new.txt", "sub/new.txt", 0},
		{"8 dangling link", "broken", "", fsroot.Dangling},
		{"9 link out", "out", "", fsroot.Outside},
		{"9 link out to nothing", "gone", "", fsroot.Outside},
		{"10 dots", "sub/../../S2", "", fsroot.Outside},
		{"directory link out", "outdir/S3", "", fsroot.Outside},
		{"directory", "sub", "", fsroot.IsDir},
		{"root", ".", "", fsroot.IsDir},
		{"fifo", "fifo", "", fsroot.NotRegular},
		{"no parent", "none/new.txt", "", fsroot.NotExist},
		{"below a file", "a.txt/new", "", fsroot.NotDir},
	}
	for _, portable := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				tr := plant(t, "a.txt", "sub/b.txt", "rel -> sub/b.txt", "abs -> $R/a.txt", "dir -> sub", "broken -> nowhere",
					"out -> ../S", "gone -> ../S1", "outdir -> ../out")
				must(t, mkfifo(tr.root+"/fifo"))
				s := fsroot.NewSet(tr.root)
				if portable {
					s = fsroot.Portable(s)
				}
				before := tr.names(t)
				real, err := s.Roots()[0].Replace(tt.rel, fsroot.Change{Content: []byte("new")})
				if fsroot.KindOf(err) != tt.kind || (err == nil && real != tt.real) {
					t.Fatalf("wrote %q, %v; want %q, kind %d", real, err, tt.real, tt.kind)
				}
				if err != nil {
					if diff := cmp.Diff(before, tr.names(t)); diff != "" {
						t.Errorf("a refused write changed files (-before +after):\n%s", diff)
					}
					return
				}
				if b, err := os.ReadFile(tr.root + "/" + tt.real); err != nil || string(b) != "new" {
					t.Errorf("content %q, %v", b, err)
				}
				for _, name := range tr.names(t) {
					if strings.Contains(name, fsroot.TempPrefix) {
						t.Errorf("%s is left", name)
					}
				}
			})
		}
	}
}

// names lists everything below the tree's top, with sizes.
func (tr tree) names(t *testing.T) []string {
	t.Helper()
	var names []string
	var visit func(dir string)
	visit = func(dir string) {
		entries, err := os.ReadDir(dir)
		must(t, err)
		for _, e := range entries {
			names = append(names, dir+"/"+e.Name())
			if e.IsDir() {
				visit(dir + "/" + e.Name())
			}
		}
	}
	visit(tr.top)
	return names
}

// TestReplaceKeeps: servers PR 4115, claude-supertool#259, Codewhale PR 4609 (mode) and
// qwen-code PR 4431 (owner).
func TestReplaceKeeps(t *testing.T) {
	tr := plant(t, "tool.sh")
	path := tr.root + "/tool.sh"
	must(t, os.Chmod(path, 0o750))
	need(t, os.Chown(path, 12345, 23456))
	before, err := os.Stat(path)
	must(t, err)
	_, err = fsroot.NewSet(tr.root).Roots()[0].Replace("tool.sh", fsroot.Change{Content: []byte("x"), Perm: 0o600})
	must(t, err)
	after, err := os.Stat(path)
	must(t, err)
	if after.Mode() != before.Mode() || owner(after) != owner(before) {
		t.Errorf("mode %v, owner %v; want %v, %v", after.Mode(), owner(after), before.Mode(), owner(before))
	}
}

func TestReplaceNewMode(t *testing.T) {
	tr := plant(t)
	root := fsroot.NewSet(tr.root).Roots()[0]
	must(t, os.WriteFile(tr.root+"/like", nil, 0o666)) // shows the umask
	for name, perm := range map[string]os.FileMode{"plain": 0, "program": 0o777} {
		_, err := root.Replace(name, fsroot.Change{Perm: perm})
		must(t, err)
		is, err := os.Stat(tr.root + "/" + name)
		must(t, err)
		like, err := os.Stat(tr.root + "/like")
		must(t, err)
		if is.Mode()&0o666 != like.Mode() || (is.Mode()&0o100 != 0) != (perm != 0) {
			t.Errorf("%s has mode %v where %v is usual", name, is.Mode(), like.Mode())
		}
	}
}

func TestStale(t *testing.T) {
	tr := plant(t, "a.txt", "b.txt")
	root := fsroot.NewSet(tr.root).Roots()[0]
	f, err := root.Open("a.txt")
	must(t, err)
	defer f.Close()
	must(t, os.WriteFile(tr.root+"/a.txt", []byte("somebody else's"), 0o644))
	if _, err := root.Replace("a.txt", fsroot.Change{Was: f.Info}); fsroot.KindOf(err) != fsroot.Stale {
		t.Errorf("replace: %v", err)
	}
	if err := root.Remove("a.txt", f.Info); fsroot.KindOf(err) != fsroot.Stale {
		t.Errorf("remove: %v", err)
	}
	must(t, os.Rename(tr.root+"/b.txt", tr.root+"/a.txt"))
	if err := root.Remove("a.txt", f.Info); fsroot.KindOf(err) != fsroot.Stale {
		t.Errorf("remove another file: %v", err)
	}
}

// TestReplaceIsAtomic: a reader finds the old content or the new, whole.
func TestReplaceIsAtomic(t *testing.T) {
	tr := plant(t, "a")
	s := fsroot.NewSet(tr.root)
	a, b := bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 50_000)
	_, err := s.Roots()[0].Replace("a", fsroot.Change{Content: a})
	must(t, err)
	swap := func() {
		for _, content := range [][]byte{b, a} {
			if _, err := s.Roots()[0].Replace("a", fsroot.Change{Content: content}); err != nil {
				t.Error(err)
			}
		}
	}
	swapping(t, swap, func() {
		content, _, err := read(s, "a")
		if err == nil && content != string(a) && content != string(b) {
			t.Fatalf("read %d bytes", len(content))
		}
	})
}

func TestRemove(t *testing.T) {
	tr := plant(t, "a.txt", "link -> ../S", "d/x", "dirlink -> ../out")
	root := fsroot.NewSet(tr.root).Roots()[0]
	must(t, root.Remove("a.txt", nil))
	must(t, root.Remove("link", nil))
	if _, err := os.Stat(tr.top + "/S"); err != nil {
		t.Error("removing a link removed what it leads to")
	}
	for rel, want := range map[string]fsroot.Kind{
		"a.txt": fsroot.NotExist, "d": fsroot.IsDir, "dirlink/passwd": fsroot.Outside, "../S": fsroot.Outside,
	} {
		if err := root.Remove(rel, nil); fsroot.KindOf(err) != want {
			t.Errorf("%s: %v", rel, err)
		}
	}
}

// TestMkdirAll is case 11.
func TestMkdirAll(t *testing.T) {
	tr := plant(t, "have/", "file", "in -> have", "outdir -> ../out", "gone -> ../nothing")
	root := fsroot.NewSet(tr.root).Roots()[0]
	tests := []struct {
		rel  string
		made []string
		kind fsroot.Kind
	}{
		{".", nil, 0},
		{"have", nil, 0},
		{"have/a/b", []string{"have/a", "have/a/b"}, 0},
		{"in/c", []string{"in/c"}, 0},
		{"file/x", nil, fsroot.NotDir},
		{"outdir/x/y", nil, fsroot.Outside},
		{"gone/x", nil, fsroot.Outside},
		{"../x", nil, fsroot.Outside},
	}
	for _, tt := range tests {
		made, err := root.MkdirAll(tt.rel)
		if diff := cmp.Diff(tt.made, made); diff != "" || fsroot.KindOf(err) != tt.kind {
			t.Errorf("%s: %v\n%s", tt.rel, err, diff)
		}
	}
	if entries, _ := os.ReadDir(tr.top + "/out"); len(entries) != 1 {
		t.Errorf("something was made outside: %v", entries)
	}
}

// TestLock: one holder at a time, in one process too, whatever the root's spelling.
func TestLock(t *testing.T) {
	tr := plant(t)
	must(t, os.Symlink(tr.root, tr.top+"/l"))
	roots := fsroot.NewSet(tr.root, tr.top+"/l").Roots()
	state := tr.top + "/state"
	var wg sync.WaitGroup
	var holders, most int
	var mu sync.Mutex
	for i := range 8 {
		wg.Go(func() {
			l, err := fsroot.AcquireLock(context.Background(), state, roots[i%2])
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
			l.Release()
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d held the lock at once", most)
	}
	l, err := fsroot.AcquireLock(context.Background(), state, roots[0])
	must(t, err)
	defer l.Release()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := fsroot.AcquireLock(ctx, state, roots[1]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second lock: %v", err)
	}
}
