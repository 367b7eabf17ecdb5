package integration_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A killing is a tree that servers change until they are killed. All files hold the same,
// but for one that tells how often the tree was put in order.
type killing struct {
	t             *testing.T
	root, state   string
	holds         string
	recovered     int
	usual         time.Duration // of a patch; follows the load of the machine
	halfway, made int           // how often a journal was left, and how often all was as it was to be
}

const killedFiles = 60

func killedFile(i int) string { return fmt.Sprintf("d%d/f%d", i%7, i) }

func newKilling(t *testing.T) *killing {
	top := t.TempDir()
	k := &killing{t: t, root: filepath.Join(top, "root"), state: filepath.Join(top, "state"), holds: "old"}
	plant(t, k.root, map[string]string{"order": "0\n", k.extra("old"): "old\n"})
	for i := range killedFiles {
		plant(t, k.root, map[string]string{killedFile(i): "old\n"})
	}
	return k
}

// start starts a server and waits until it serves.
func (k *killing) start(folder string, flags ...string) *server {
	s := start(k.t, modern, binary(k.t, folder), append(flags, "--root", k.root, "--state-dir", k.state)...)
	s.send(modern.request("ready", "tools/list", ""))
	s.answer("ready")
	return s
}

// patch changes all files; one of them is new each time, and one goes.
func (k *killing) patch(to string) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Delete File: " + k.extra(k.holds) + "\n*** Add File: " + k.extra(to) + "\n+" + to + "\n")
	for i := range killedFiles {
		fmt.Fprintf(&b, "*** Update File: %s\n@@\n-%s\n+%s\n", killedFile(i), k.holds, to)
	}
	return fmt.Sprintf(`{"patch":%s}`, marshal(b.String()+"*** End Patch\n"))
}

func (k *killing) extra(holds string) string { return "only-" + strings.ReplaceAll(holds, " ", "-") }

// looksLike is the picture of the tree when its files hold this.
func (k *killing) looksLike(holds string) map[string]string {
	files := map[string]string{"order": fmt.Sprintln(k.recovered), k.extra(holds): holds + "\n"}
	for i := range killedFiles {
		files[killedFile(i)] = holds + "\n"
	}
	return planted(k.t, files)
}

// kill kills a patch somewhere on its way.
func (k *killing) kill(to string) {
	s := k.start("cmd/mcp-patch")
	s.send(modern.call(1, "apply_patch", k.patch(to)))
	time.Sleep(time.Duration(rand.Int64N(int64(k.usual) * 5 / 4)))
	s.cmd.Process.Kill()
	s.end(patience)
	for _, name := range []string{"journal", "done"} {
		if left, _ := filepath.Glob(filepath.Join(k.state, "*", name)); len(left) > 0 {
			k.halfway++
		}
	}
}

// recover makes another call, by which a server puts the tree in order first.
func (k *killing) recover(s *server, id int) {
	now, next := k.recovered, k.recovered+1
	tool, args := "Edit", fmt.Sprintf(`{"file_path":"order","old_string":"%d","new_string":"%d"}`, now, next)
	if strings.HasSuffix(s.cmd.Path, "mcp-patch") {
		tool, args = "apply_patch", fmt.Sprintf(`{"type":"update_file","path":"order","diff":"@@\n-%d\n+%d\n"}`, now, next)
	}
	s.send(modern.call(id, tool, args))
	if m := s.answer(id); m.Result == nil || m.Result.IsError {
		k.t.Fatalf("the next call: %+v %s", m.Error, m.text())
	}
	k.recovered = next
}

// check looks which of its two contents the tree has.
func (k *killing) check(next string) {
	k.t.Helper()
	got := picture(k.t, k.root)
	switch {
	case maps.Equal(got, k.looksLike(next)):
		k.holds = next
		k.made++
		k.usual = k.usual * 3 / 4
	case maps.Equal(got, k.looksLike(k.holds)):
		k.usual = k.usual * 4 / 3
	default:
		k.t.Fatalf("from %q to %q the tree is in between (-before +now):\n%s", k.holds, next, cmp.Diff(k.looksLike(k.holds), got))
	}
	settled(k.t, k.state)
}

// A server that is killed in the middle of a patch leaves nothing half done: the next call,
// of either program, finds the tree as it was, or as it was to be.
func TestKilledPatches(t *testing.T) {
	t.Parallel()
	rounds := 100
	if testing.Short() {
		rounds = 12
	}
	k := newKilling(t)
	s := k.start("cmd/mcp-patch")
	begin := time.Now()
	s.send(modern.call(1, "apply_patch", k.patch("one")))
	if m := s.answer(1); m.Result == nil || m.Result.IsError {
		t.Fatalf("%+v %s", m.Error, m.text())
	}
	k.usual, k.holds = time.Since(begin), "one"
	others := []*server{k.start("cmd/mcp-files", "--write"), s}
	for round := range rounds {
		next := fmt.Sprintf("round %d", round)
		k.kill(next)
		k.recover(others[round%2], 2+round)
		k.check(next)
	}
	t.Logf("of %d patches that were killed %d left a journal, and %d were made", rounds, k.halfway, k.made)
	if k.halfway == 0 && !testing.Short() { // a few may all miss it
		t.Error("no process died in the middle of a commit")
	}
}
