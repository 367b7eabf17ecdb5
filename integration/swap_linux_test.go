package integration_test

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// canary is in all files outside the root, and in some of their names.
const canary = "c4n4ry"

// While a directory is swapped for a link to outside and back, calls of all kinds that
// change files run in both programs. Nothing outside is made, changed or read.
func TestSwapsDuringChanges(t *testing.T) {
	t.Parallel()
	lasts := 30 * time.Second
	if testing.Short() {
		lasts = 5 * time.Second
	}
	top := t.TempDir()
	root, state, outside := filepath.Join(top, "root"), filepath.Join(top, "state"), filepath.Join(top, "outside")
	inside := map[string]string{}
	for _, name := range []string{"passwd", "edited", "written", "moves", "victim", "other"} {
		inside["d/"+name] = "inside\n"
		plant(t, outside, map[string]string{name: canary + "\ninside\n", "sub/" + canary + ".txt": canary})
	}
	plant(t, root, inside)
	plant(t, root, map[string]string{"evil": "-> ../outside", "plain": "inside\n"})
	before := picture(t, outside)
	paths := unread(t, outside)
	timesBefore := times(t, paths)

	w, seen := startWriters(t, root, state, nil), &answers{t: t}
	end := time.Now().Add(lasts)
	var all sync.WaitGroup
	all.Go(func() { swapUntil(end, filepath.Join(root, "d"), filepath.Join(root, "evil")) })
	all.Go(func() { seen.collect(w["apply_patch"], end, patchUnderSwap) })
	all.Go(func() { seen.collect(w["Edit"], end, changeUnderSwap) })
	all.Wait()

	t.Logf("%d calls done, %d refused", seen.done.Load(), seen.refused.Load())
	if seen.done.Load() == 0 || seen.refused.Load() == 0 {
		t.Error("the race was never run")
	}
	if diff := cmp.Diff(timesBefore, times(t, paths)); diff != "" {
		t.Errorf("times outside (-before +after):\n%s", diff)
	}
	looks(t, outside, before)
	for name, content := range picture(t, root) {
		if strings.Contains(name+content, canary) {
			t.Errorf("%s came into the root: %s", name, content)
		}
		if strings.Contains(name, ".toolhost") {
			t.Errorf("left: %s", name)
		}
	}
	settled(t, state)
}

// swapUntil exchanges two names over and over. The pauses differ, so that it happens at all
// places of a call, and leave the processor to others.
func swapUntil(end time.Time, a, b string) {
	for time.Now().Before(end) {
		unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		time.Sleep(time.Duration(rand.Float64() * rand.Float64() * float64(10*time.Millisecond)))
	}
}

// never are what no answer may hold: what is outside, and that a change was made in part.
var never = []string{canary, "internal error", "put back", "cut short"}

// answers looks at what servers say.
type answers struct {
	t             *testing.T
	done, refused atomic.Int64
}

// collect makes calls, a few at once, until the end.
func (a *answers) collect(s *server, end time.Time, next func(i int) (tool, args string)) {
	const atOnce = 2
	waiting := 0
	for i := 0; time.Now().Before(end) || waiting > 0; {
		for ; waiting < atOnce && time.Now().Before(end); waiting, i = waiting+1, i+1 {
			tool, args := next(i)
			if _, err := io.WriteString(s.in, modern.call(i, tool, args)+"\n"); err != nil {
				a.t.Errorf("write to the server: %v\n%s", err, &s.stderr)
				return
			}
		}
		select {
		case m, ok := <-s.lines:
			if !ok || m.Result == nil {
				a.t.Errorf("the server says %+v\n%s", m.Error, &s.stderr)
				return
			}
			waiting--
			a.look(m)
		case <-time.After(patience):
			a.t.Errorf("no message within %s", patience)
			return
		}
	}
}

func (a *answers) look(m message) {
	if text := m.text(); slices.ContainsFunc(never, func(s string) bool { return strings.Contains(text, s) }) {
		a.t.Errorf("an answer: %s", text)
	}
	if m.Result.IsError {
		a.refused.Add(1)
	} else {
		a.done.Add(1)
	}
}

// patchUnderSwap returns calls that update, make, move and remove files, alone and together,
// and one that does not fit, whose answer shows what is in the file.
func patchUnderSwap(i int) (tool, args string) {
	const update = "*** Update File: "
	patches := []string{
		update + "d/passwd\n@@\n-inside\n+inside!\n",
		update + "d/passwd\n@@\n-inside!\n+inside\n",
		update + "d/passwd\n@@\n-insidious\n+x\n",
		update + "d/passwort\n@@\n-inside\n+x\n",
		fmt.Sprintf("*** Add File: d/new%d/file.txt\n+new\n", i),
		fmt.Sprintf("*** Delete File: d/new%d/file.txt\n", i-1),
		update + "d/moves\n*** Move to: moved\n",
		update + "moved\n*** Move to: d/moves\n",
		"*** Delete File: d/victim\n",
		"*** Add File: d/victim\n+inside\n",
		update + "plain\n@@\n-inside\n+both\n" + update + "d/other\n@@\n-inside\n+both\n",
		update + "d/other\n@@\n-both\n+inside\n" + update + "plain\n@@\n-both\n+inside\n",
	}
	patch := "*** Begin Patch\n" + patches[i%len(patches)] + "*** End Patch\n"
	return "apply_patch", fmt.Sprintf(`{"patch":%s}`, marshal(patch))
}

func changeUnderSwap(i int) (tool, args string) {
	calls := []struct {
		tool string
		args map[string]any
	}{
		{"Edit", map[string]any{"file_path": "d/edited", "old_string": "inside\n", "new_string": "changed\n"}},
		{"Edit", map[string]any{"file_path": "d/edited", "old_string": "changed\n", "new_string": "inside\n"}},
		{"Edit", map[string]any{"file_path": "d/edited", "old_string": "insidious", "new_string": "x"}},
		{"Edit", map[string]any{"file_path": "d/edit", "old_string": "inside", "new_string": "x"}},
		{"Write", map[string]any{"file_path": "d/written", "content": fmt.Sprintf("inside %d\n", i)}},
		{"Write", map[string]any{"file_path": fmt.Sprintf("d/w%d/file.txt", i), "content": "new\n"}},
		{"Write", map[string]any{"file_path": fmt.Sprintf("evil/v%d.txt", i), "content": "new\n"}},
	}
	c := calls[i%len(calls)]
	return c.tool, marshal(c.args)
}

// unread makes all that is below dir look as if it had been read an hour ago and changed
// since, so that most file systems note when it is read again. It returns the paths.
func unread(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, path := range paths {
		if err := os.Chtimes(path, now.Add(-time.Hour), now.Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// times returns which files the paths lead to, and when they were read, written and changed.
func times(t *testing.T, paths []string) map[string][]int64 {
	t.Helper()
	all := map[string][]int64{}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			t.Error(err)
			continue
		}
		st := info.Sys().(*syscall.Stat_t)
		all[path] = []int64{int64(st.Ino), st.Atim.Nano(), st.Mtim.Nano(), st.Ctim.Nano()}
	}
	return all
}
