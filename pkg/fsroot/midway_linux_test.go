package fsroot_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"golang.org/x/sys/unix"
)

// TestRestoresModes: a file of two names whose mode a commit had changed when a later file
// did not fit gets it back, and the time of its last write.
func TestRestoresModes(t *testing.T) {
	tr := plant(t)
	mount(t, "none", tr.root, "tmpfs", 0, "size=1m")
	for _, name := range []string{"run", "hard"} {
		must(t, os.WriteFile(tr.root+"/"+name, []byte(name), 0o644))
		must(t, os.Link(tr.root+"/"+name, tr.root+"/"+name+"2"))
	}
	// Large enough that its room, once given back, would be taken by what is written behind.
	must(t, os.WriteFile(tr.root+"/hard", bytes.Repeat([]byte("old "), 50<<10), 0o644))
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	must(t, os.Chtimes(tr.root+"/run", long, long))
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		tx := tr.begin(t, s)
		defer tx.End()
		tr.refused(t, tx, []fsroot.Step{
			{Rel: "run", Was: load(t, tx, "run"), Content: []byte("other"), Perm: 0o755},
			{Rel: "hard", Was: load(t, tx, "hard"), Content: bytes.Repeat([]byte("x"), 2<<20)},
		}, "hard", "no space left on device")
		if info, err := os.Stat(tr.root + "/run"); err != nil || !info.ModTime().Equal(long) {
			t.Errorf("last written at %v, %v; want %v", info.ModTime(), err, long)
		}
	})
}

// TestCommitRecovers: what an earlier commit of the same transaction left is put in order
// before the next one.
func TestCommitRecovers(t *testing.T) {
	tr := plant(t, "a.txt", temp)
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	tr.forge(t, "done", sealed("toolhost-journal 1 true", `dir "." -1 %d %d`,
		`item 1 0 "a.txt" "`+temp+`" "" 420 9 9 0 0 9 8 0 0`))
	must(t, tx.Commit([]fsroot.Step{{Rel: "new"}}))
	for name := range picture(t, tr.root) {
		if strings.Contains(name, fsroot.TempPrefix) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestChangedAfterTheCheck: what somebody else writes between the check and the change is
// not overwritten, even where size and time are the same.
func TestChangedAfterTheCheck(t *testing.T) {
	for _, hard := range []bool{false, true} {
		tr := plant(t, "a.txt")
		p := tr.root + "/a.txt"
		if hard {
			must(t, os.Link(p, tr.root+"/twin"))
		}
		tx := tr.begin(t, fsroot.NewSet(tr.root))
		info, err := os.Stat(p)
		must(t, err)
		steps := []fsroot.Step{{Rel: "new"}, {Rel: "a.txt", Was: load(t, tx, "a.txt"), Content: []byte("mine")}}
		var before map[string]string
		err = fsroot.CommitAfter(tx, steps, func() {
			if hard {
				must(t, os.WriteFile(p, []byte("b.txt"), 0o644))
				must(t, os.Chtimes(p, time.Time{}, info.ModTime()))
			} else {
				must(t, os.WriteFile(p+"x", []byte("b.txt"), 0o644))
				must(t, os.Rename(p+"x", p))
			}
			before = picture(t, tr.root)
		})
		if fsroot.KindOf(err) != fsroot.Stale {
			t.Errorf("hard %v: %v", hard, err)
		}
		if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
			t.Errorf("hard %v: %s", hard, diff)
		}
	}
}

// TestMadeAfterTheCheck: nor is a file that somebody else makes meanwhile.
func TestMadeAfterTheCheck(t *testing.T) {
	tr := plant(t, "a.txt")
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		os.Remove(tr.root + "/new")
		tx := tr.begin(t, s)
		defer tx.End()
		steps := []fsroot.Step{{Rel: "a.txt", Was: load(t, tx, "a.txt"), Content: []byte("mine")}, {Rel: "new", Content: []byte("mine")}}
		var before map[string]string
		err := fsroot.CommitAfter(tx, steps, func() {
			must(t, os.WriteFile(tr.root+"/new", []byte("theirs"), 0o644))
			before = picture(t, tr.root)
		})
		if fsroot.KindOf(err) != fsroot.Exists {
			t.Errorf("%v", err)
		}
		if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestWhatCannotBeRestored is named, and the next commit tries again: a file with holes
// takes more room when it is written again than the disk has.
func TestWhatCannotBeRestored(t *testing.T) {
	tr := plant(t)
	mount(t, "none", tr.root, "tmpfs", 0, "size=1m")
	for _, name := range []string{"holes", "hard"} {
		must(t, os.WriteFile(tr.root+"/"+name, []byte(name), 0o644))
		must(t, os.Link(tr.root+"/"+name, tr.root+"/"+name+"2"))
	}
	must(t, os.Truncate(tr.root+"/holes", 2<<20))
	before := picture(t, tr.root)
	tx := tr.begin(t, fsroot.NewSet(tr.root))
	err := tx.Commit([]fsroot.Step{
		{Rel: "holes", Was: load(t, tx, "holes"), Content: []byte("x")},
		{Rel: "hard", Was: load(t, tx, "hard"), Content: bytes.Repeat([]byte("x"), 2<<20)},
	})
	var e *fsroot.Error
	if !errors.As(err, &e) || len(e.Lost) != 1 || !strings.HasPrefix(e.Lost[0], `"holes" (no space left on device`) {
		t.Fatalf("%v", err)
	}
	if text := visible(err); !strings.Contains(text, `"hard"`) && !strings.Contains(text, `"holes"`) {
		t.Errorf("the text names neither what failed nor what is lost: %s", text)
	}
	err = tx.Commit([]fsroot.Step{{Rel: "new"}})
	if fsroot.KindOf(err) != fsroot.HalfDone {
		t.Errorf("the next commit goes on as if nothing were: %v", err)
	}
	need(t, unix.Mount("none", tr.root, "tmpfs", unix.MS_REMOUNT, "size=8m"))
	must(t, tx.Commit([]fsroot.Step{{Rel: "new", Perm: 0o600}}))
	before["/new"] = "-rw------- "
	if diff := cmp.Diff(before, picture(t, tr.root)); diff != "" {
		t.Errorf("(-before +after):\n%.500s", diff)
	}
}

// TestRecoverFromBelow: whoever may write a part of the root only still puts all of it in
// order, under the same lock.
func TestRecoverFromBelow(t *testing.T) {
	tr := plant(t, "a.txt", temp, "sub/x")
	top := fsroot.NewSet(tr.root)
	part, err := top.Narrow([]string{"file://" + tr.root + "/sub"})
	must(t, err)
	tr.forge(t, "done", sealed("toolhost-journal 1 true", `dir "." -1 %d %d`,
		`item 1 0 "a.txt" "`+temp+`" "" 420 9 9 0 0 9 8 0 0`))
	tx := tr.begin(t, part)
	if _, is := picture(t, tr.root)["/"+temp]; is {
		t.Errorf("%s is left", temp)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := fsroot.Begin(ctx, tr.state(), top.Roots()[0]); fsroot.KindOf(err) != fsroot.Busy {
		t.Errorf("two hold the lock: %v", err)
	}
	must(t, tx.End())
}
