//go:build unix

package search_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/internal/testneed"
	"golang.org/x/sys/unix"
)

// TestOddEntries holds that what is neither file nor directory changes nothing but a count
// (a pipe named .gitignore once hung servers: MemPalace#2221, MagicNet#171).
func TestOddEntries(t *testing.T) {
	plain := files{"a.txt": "hit\n", "d/b.txt": "hit\n", "d/e/c.txt": "hit\n"}
	dir := build(t, plain)
	add(t, dir, files{"dangling": "-> nowhere", "d/cycle": "-> ..", "d/e/self": "-> self", "out": "-> /etc", "out.txt": "-> /etc/passwd"})
	for _, p := range []string{"pipe", ".gitignore", ".ignore", "d/.git", "d/pipe.txt"} {
		if err := unix.Mkfifo(filepath.Join(dir, p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	special := 5
	if os.Geteuid() == 0 && unix.Mknod(filepath.Join(dir, "null"), unix.S_IFCHR|0o644, int(unix.Mkdev(1, 3))) == nil {
		special++
	}
	want := lines(grep(t, open(t, build(t, plain)), search.GrepQuery{Pattern: "hit"}), search.Content)
	began := time.Now()
	r := grep(t, open(t, dir), search.GrepQuery{Pattern: "hit"})
	equal(t, "grep", want, lines(r, search.Content))
	equal(t, "skipped", search.Skipped{Special: special, Links: 5}, r.Skipped)
	equal(t, "glob", "a.txt d/b.txt d/e/c.txt", paths(glob(t, open(t, dir), search.GlobQuery{Pattern: "*.txt"})))
	equal(t, "links are not followed", "", paths(glob(t, open(t, dir), search.GlobQuery{Pattern: "out/*"})))
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestListOdd(t *testing.T) {
	dir := build(t, files{"a/x": "", "b": "text", "l": "-> a/x", ".git/config": ""})
	if err := unix.Mkfifo(filepath.Join(dir, "p"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := list(t, open(t, dir), search.ListQuery{Depth: 2})
	want := []search.Hit{
		{Path: "a", Kind: search.Dir},
		{Path: "a/x"},
		{Path: "b"},
		{Path: "l", Kind: search.Link, Target: "a/x"},
		{Path: "p", Kind: search.Pipe},
	}
	equal(t, "hits", want, r.Hits)
}

// TestSwaps holds that directories and files that turn into links, pipes and back never
// lead outside and never hang.
func TestSwaps(t *testing.T) {
	outside := build(t, files{"secret.txt": "hit outside\n"})
	dir := build(t, files{"d/sub/a.txt": "hit\n", "d/x.txt": "hit\n"})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { swap(dir, "d/sub", outside, stop) })
	wg.Go(func() { swap(dir, "d/x.txt", filepath.Join(outside, "secret.txt"), stop) })
	deadline := time.Now().Add(time.Second)
	s := open(t, dir)
	for time.Now().Before(deadline) {
		for _, h := range grep(t, s, search.GrepQuery{Pattern: "hit", Mode: search.Content}).Hits {
			if strings.Contains(h.Lines[0].Text, "outside") {
				t.Fatalf("%s shows what lies outside", h.Path)
			}
		}
		if p := paths(glob(t, s, search.GlobQuery{Pattern: "*.txt"})); strings.Contains(p, "secret") {
			t.Fatalf("names from outside: %s", p)
		}
	}
	close(stop)
	wg.Wait()
}

// swap turns the entry into a link to target, into a pipe and back, until stop.
func swap(dir, name, target string, stop <-chan struct{}) {
	p, kept := filepath.Join(dir, name), filepath.Join(dir, "kept"+filepath.Base(name))
	for {
		select {
		case <-stop:
			return
		default:
		}
		os.Rename(p, kept)
		os.Symlink(target, p)
		os.Remove(p)
		unix.Mkfifo(p, 0o644)
		os.Remove(p)
		os.Rename(kept, p)
	}
}

func TestUnreadable(t *testing.T) {
	tree := files{"a.txt": "hit", "b/x.txt": "hit", "c/x.txt": "hit", "d.txt": "hit", "e/y.txt": "hit", "e/.gitignore": "y.txt"}
	out := asNobody(t, "unreadable", tree, map[string]os.FileMode{"b": 0o600, "c": 0o311, "d.txt": 0o600, "e/.gitignore": 0o600})
	equal(t, "output", "a.txt e/y.txt | 4 [b c d.txt e/.gitignore] true\n", out)
}

// TestUnentered holds that what lies in a directory that may be read but not entered is
// counted, and that nobody gets a system's error for starting there.
func TestUnentered(t *testing.T) {
	out := asNobody(t, "unentered", files{"a.txt": "", "b/x.txt": ""}, map[string]os.FileMode{"b": 0o744})
	denied := "start: permission denied: this server may not enter the directory\n"
	want := "glob: a.txt | 1 [b/x.txt]\nglob by name: a.txt b/x.txt | 0 []\nlist: a.txt b search.test | 1 [b/x.txt]\n" + denied
	if strings.Contains(out, "[b]") { // os.Root enters a directory before it lists it
		want = "glob: a.txt | 1 [b]\nglob by name: a.txt | 1 [b]\nlist: a.txt b search.test | 1 [b]\n" + denied
	}
	equal(t, "output", want, out)
}

// asNobody runs a role of the test binary as another user in a tree with the modes given,
// and returns what it prints.
func asNobody(t *testing.T, role string, tree files, modes map[string]os.FileMode) string {
	t.Helper()
	testneed.Root(t)
	dir, err := os.MkdirTemp("/tmp", role)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	add(t, dir, tree)
	modes[""] = 0o755
	for name, mode := range modes {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "search.test")
	copyFile(t, os.Args[0], binary)
	cmd := exec.Command(binary)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), childRole+"="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFewDescriptors searches a tree with more open ends than the search may hold handles.
func TestFewDescriptors(t *testing.T) {
	var lim, low unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	low = lim
	low.Cur = 100
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &lim)
	dir := build(t, nil)
	deep := dir
	for i := range 120 {
		deep = filepath.Join(deep, "d")
		add(t, deep, files{"z/f.txt": "hit", fmt.Sprintf("f%d.txt", i): "hit"})
	}
	r := grep(t, open(t, dir), search.GrepQuery{Pattern: "hit"})
	equal(t, "files", 240, r.TotalHits)
	equal(t, "skipped", search.Skipped{}, r.Skipped)
}
