package fsroot_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

// roleVariable makes the test binary another process of a test: ROLE ROOT STATE.
const roleVariable = "FSROOT_TEST_ROLE"

func play(role string) {
	args := strings.Split(role, "\n")
	set := fsroot.NewSet(args[1])
	if strings.HasSuffix(args[0], "portable") {
		set = fsroot.Portable(set)
	}
	var err error
	switch name, _, _ := strings.Cut(args[0], "-"); name {
	case "churn":
		err = churn(set.Roots()[0], args[2])
	case "edit":
		err = edit(set.Roots()[0], args[2], args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func player(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.Join(args, "\n"))
	cmd.Stderr = os.Stderr
	return cmd
}

// deep is directories to make.
const deep = "/sub/1/2"

// scene is what the tree of the churn holds at time k: a file that changes, one that comes
// and goes, one that moves, one with two names, one behind a link, and one in directories
// that did not exist before.
func scene(k int) map[string]string {
	rng := rand.New(rand.NewPCG(uint64(k), 1))
	text := func() string { return strings.Repeat(fmt.Sprintln(k, rng.Int()), rng.IntN(60)) }
	files := map[string]string{
		"counter": strconv.Itoa(k), "changes": text(), "target": text(), "dir/also": text(),
		"hard1":                                strings.Repeat(fmt.Sprintln(k), rng.IntN(4000)), // long enough to die within
		fmt.Sprintf("moved-%d", k%3):           "moves",
		fmt.Sprintf("new-%d/sub/file", k):      text(),
		fmt.Sprintf("new-%d%s/other", k, deep): text(),
	}
	if k%2 == 1 {
		files["comes"] = text()
	}
	return files
}

// churn commits one scene after the other, and says so.
func churn(root *fsroot.Root, state string) error {
	fmt.Println("start")
	tx, err := fsroot.Begin(context.Background(), state, root)
	if err != nil {
		return err
	}
	counter, _, err := tx.Load("counter")
	if err != nil {
		return err
	}
	k, err := strconv.Atoi(string(counter))
	for is := scene(k); err == nil; k++ {
		var steps []fsroot.Step
		next := scene(k + 1)
		if steps, err = turn(tx, is, next); err == nil {
			fmt.Println("commit")
			err = tx.Commit(steps)
		}
		is = next
		fmt.Println(k + 1)
	}
	return err
}

// turn makes the steps from one scene to another.
func turn(tx *fsroot.Tx, from, to map[string]string) (steps []fsroot.Step, err error) {
	for name := range from {
		step := fsroot.Step{Rel: name}
		if _, step.Was, err = tx.Load(name); err != nil {
			return nil, err
		}
		content, stays := to[name]
		step.Content, step.Remove = []byte(content), !stays
		if name == "target" {
			step.Rel = "link"
		}
		steps = append(steps, step)
	}
	for name, content := range to {
		if _, was := from[name]; !was {
			steps = append(steps, fsroot.Step{Rel: name, Content: []byte(content)})
		}
	}
	return steps, nil
}

// stage plants the scene of time 0.
func stage(t *testing.T) tree {
	tr := plant(t, "link -> target")
	for name, content := range scene(0) {
		must(t, os.MkdirAll(filepath.Dir(tr.root+"/"+name), 0o755))
		must(t, os.WriteFile(tr.root+"/"+name, []byte(content), 0o644))
	}
	need(t, os.Link(tr.root+"/hard1", tr.root+"/hard2"))
	return tr
}

// checkScene wants the tree to be exactly one scene, and returns its time. New directories
// stay when their files go, so those since the time first may be there.
func checkScene(t *testing.T, tr tree, first int) int {
	t.Helper()
	counter, err := os.ReadFile(tr.root + "/counter")
	must(t, err)
	k, err := strconv.Atoi(string(counter))
	must(t, err)
	want := map[string]string{"": "drwxr-xr-x", "/link": "Lrwxrwxrwx -> target", "/dir": "drwxr-xr-x"}
	for name, content := range scene(k) {
		want["/"+name] = "-rw-r--r-- " + content
	}
	want["/hard2"] = want["/hard1"]
	for i := first; i <= k; i++ {
		for dir := fmt.Sprintf("/new-%d%s", i, deep); dir != "/"; dir = filepath.Dir(dir) {
			want[dir] = "drwxr-xr-x"
		}
	}
	if diff := cmp.Diff(want, picture(t, tr.root)); diff != "" {
		t.Fatalf("at %d the tree is in between (-want +got):\n%s", k, diff)
	}
	a, errA := os.Stat(tr.root + "/hard1")
	b, errB := os.Stat(tr.root + "/hard2")
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		t.Fatal("the hard link is broken")
	}
	return k
}

// kill runs a churn, waits until it says that it starts, or that it made its first commit,
// and kills it after a while. It returns the last time that the churn reported, and whether
// it was in a commit.
func kill(t *testing.T, args []string, commits int, after time.Duration) (reported int, inside bool) {
	t.Helper()
	cmd := player(args...)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for range 2*commits + 1 {
		lines.Scan()
	}
	time.Sleep(after)
	cmd.Process.Kill()
	reported = -1
	for lines.Scan() {
		if inside = lines.Text() == "commit"; inside {
			continue
		}
		if reported, err = strconv.Atoi(lines.Text()); err != nil {
			t.Errorf("the process said %q", lines.Text())
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.Exited() {
		t.Fatalf("the process ended by itself: %v", err)
	}
	return reported, inside
}

// phase returns how far a killed commit had come.
func (tr tree) phase() string {
	for _, name := range []string{"done", "journal", "journal.tmp"} {
		if found, _ := filepath.Glob(tr.state() + "/*/" + name); len(found) == 1 {
			text, _ := os.ReadFile(found[0])
			head, _, _ := strings.Cut(string(text), "\n")
			return name + head[strings.LastIndex(head, " ")+1:]
		}
	}
	return "none"
}

// TestKill: whenever a process dies, the next one finds all of its last commit or nothing
// of it.
func TestKill(t *testing.T) {
	kills := map[string]int{"churn": 400, "churn-portable": 100}
	if testing.Short() {
		kills = map[string]int{"churn": 40, "churn-portable": 10}
	}
	for role, n := range kills {
		t.Run(role, func(t *testing.T) {
			inMemory(t)
			tr := stage(t)
			args := []string{role, tr.root, tr.state()}
			spread := dryRun(t, tr)
			phases := map[string]int{}
			k, first, outer, hits, recoveries := 0, 0, 0, 0, 0
			for i := 0; i < n || 4*hits < n && i < 4*n; i++ { // more where a busy machine rarely hits
				reported, inside := kill(t, args, 1, time.Duration(rand.Int64N(int64(spread))))
				outer++
				if inside {
					hits++
				}
				phases[tr.phase()]++
				for ; i%3 == 0 && tr.phase() != "none" && i < 4*n; i++ { // die while recovering, too
					recoveries++
					kill(t, args, 0, time.Duration(rand.Int64N(int64(time.Millisecond))))
				}
				tx, err := fsroot.Begin(context.Background(), tr.state(), fsroot.NewSet(tr.root).Roots()[0])
				must(t, err)
				must(t, tx.End())
				is := checkScene(t, tr, first)
				if is < k || is < reported {
					t.Fatalf("the time went back from %d, %d to %d", k, reported, is)
				}
				tr.sweep(t, is)
				k, first = is, is
			}
			t.Logf("%d commits, %d of %d kills within one: %v; %d more in recovery", k, hits, outer, phases, recoveries)
			if 4*hits < n {
				t.Errorf("only %d of %d kills hit a commit", hits, outer)
			}
		})
	}
}

// inMemory makes t plant its trees in memory, where there is such a directory.
func inMemory(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm")
	}
}

// dryRun measures how long a commit takes, and returns the time within which to kill.
func dryRun(t *testing.T, tr tree) time.Duration {
	tx, err := fsroot.Begin(context.Background(), tr.state(), fsroot.NewSet(tr.root).Roots()[0])
	must(t, err)
	defer tx.End()
	best := time.Hour
	for range 10 {
		steps, err := turn(tx, scene(0), scene(0))
		must(t, err)
		start := time.Now()
		must(t, tx.Commit(steps))
		best = min(best, time.Since(start))
	}
	return 8 * best
}

// sweep removes the directories of old scenes, and looks what is left in the state.
func (tr tree) sweep(t *testing.T, k int) {
	t.Helper()
	dirs, err := filepath.Glob(tr.root + "/new-*")
	must(t, err)
	for _, dir := range dirs {
		if dir != fmt.Sprintf("%s/new-%d", tr.root, k) {
			must(t, os.RemoveAll(dir))
		}
	}
	left, err := filepath.Glob(tr.state() + "/*/*")
	must(t, err)
	for _, name := range left {
		switch filepath.Base(name) {
		case "lock":
		case "journal.tmp": // harmless: no journal yet, or no more
			must(t, os.Remove(name))
		default:
			t.Errorf("%s is left in the state directory", name)
		}
	}
}

// edit changes every line of the file that starts with mark, one a commit.
func edit(root *fsroot.Root, state, mark string) error {
	for changed := true; changed; {
		tx, err := fsroot.Begin(context.Background(), state, root)
		if err != nil {
			return err
		}
		content, was, err := tx.Load("file")
		after := strings.Replace(string(content), mark+" todo", mark+" done", 1)
		if changed = after != string(content); err == nil && changed {
			err = tx.Commit([]fsroot.Step{{Rel: "file", Was: was, Content: []byte(after)}})
		}
		tx.End()
		if err != nil {
			return err
		}
	}
	return nil
}

// TestTwoProcesses: what both write lands (servers: 10 parallel edits, 1 landed).
func TestTwoProcesses(t *testing.T) {
	tr := plant(t)
	must(t, os.WriteFile(tr.root+"/file", []byte(strings.Repeat("a todo\nb todo\n", 50)), 0o644))
	a, b := player("edit", tr.root, tr.state(), "a"), player("edit", tr.root, tr.state(), "b")
	must(t, a.Start())
	must(t, b.Start())
	must(t, a.Wait())
	must(t, b.Wait())
	content, err := os.ReadFile(tr.root + "/file")
	if err != nil || string(content) != strings.Repeat("a done\nb done\n", 50) {
		t.Errorf("some edits are lost: %v\n%s", err, content)
	}
	if names := picture(t, tr.root); len(names) != 2 {
		t.Errorf("left: %v", names)
	}
}
