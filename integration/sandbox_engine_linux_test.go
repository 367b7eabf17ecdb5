package integration_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
)

// A command under which the engine is restarted ends with an error, and the next one runs, and says
// that the environment is another.
func TestEngineRestarted(t *testing.T) {
	ends := map[string]func(*testengine.PrivateEngine){
		"stopped": (*testengine.PrivateEngine).Stop,
		"killed":  (*testengine.PrivateEngine).Kill,
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := testengine.Private(t, testengine.Busybox(t))
			s := startShell(t, e.Host)
			s.run("echo before > /tmp/mark")
			id := s.ask("sleep 1000")
			s.runs("sleep 1000", true, patience)
			end(e)
			m := s.answer(id)
			if m.Result == nil || !m.Result.IsError {
				t.Errorf("the call of before is answered by %+v %s", m.Error, m.text())
			}
			t.Logf("the call under which it ended: %s", m.text())
			e.Start()
			m = s.answer(s.ask("test -e /tmp/mark || echo new"))
			if m.Result == nil || m.Result.IsError {
				t.Fatalf("the next call: %+v %s", m.Error, m.text())
			}
			if r := shellResultOf(t, m); !r.Restarted || len(r.Output) != 1 || r.Output[0].Stdout != "new\n" {
				t.Errorf("the next call: %s", m.Result.StructuredContent)
			}
			if !strings.Contains(m.text(), "the environment was restarted") {
				t.Errorf("the text of the next call does not say what happened:\n%s", m.text())
			}
			if m = s.answer(s.ask("true")); shellResultOf(t, m).Restarted {
				t.Errorf("the call after it says so again: %s", m.text())
			}
			s.in.Close()
			noneLeft(t, e.API, "toolhost.sandbox", patience)
		})
	}
}

// A server that starts removes what a dead one of this machine left, and nothing else.
func TestOrphansAreRemoved(t *testing.T) {
	t.Parallel()
	host := testengine.Docker(t)
	living := startShell(t, host)
	living.run("true")
	of := living.container().Labels
	test := testengine.Label(t)
	orphans := map[string]map[string]string{
		"a dead owner":                 {"toolhost.pid": deadProcess(t)},
		"a pid that is used again":     {"toolhost.pid-start": "1"},
		"a dead owner, other machine":  {"toolhost.pid": deadProcess(t), "toolhost.host": "another"},
		"a living owner":               {},
		"over its lifetime, elsewhere": {"toolhost.host": "another", "toolhost.created": "2020-01-01T00:00:00Z", "toolhost.lifetime": "1h0m0s"},
		"not ours":                     nil,
	}
	for name, change := range orphans {
		labels := map[string]string{test: name}
		if change != nil {
			maps.Copy(labels, of)
			maps.Copy(labels, change)
		}
		sleep(t, living.api, labels)
	}
	startShell(t, host).run("true")
	want := []string{"a dead owner, other machine", "a living owner", "not ours"}
	var got []string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		got = nil
		for _, c := range containers(t, living.api, test) {
			got = append(got, c.Labels[test])
		}
		if slices.Sort(got); len(got) <= len(want) {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	living.run("true")
}

// sleep starts a container that sleeps.
func sleep(t *testing.T, api *engineapi.Client, labels map[string]string) {
	t.Helper()
	s := engineapi.Spec{Image: testengine.Busybox(t), Cmd: []string{"sleep", "1000"}, Labels: labels}
	s.HostConfig.NetworkMode = "none"
	id, err := api.Create(t.Context(), s)
	if err == nil {
		err = api.Start(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// deadProcess returns the id of a process that has ended.
func deadProcess(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(cmd.Process.Pid)
}

// A thousand commands leave nothing behind, neither in the server nor in its sandbox.
func TestThousandCommands(t *testing.T) {
	t.Parallel()
	s := startShell(t, testengine.Docker(t))
	v := &victim{t: t, pid: s.cmd.Process.Pid}
	s.rows(2) // what is kept for later is there then
	before, processes := v.descriptors(), s.processes()
	begin := time.Now()
	s.rows(1000 / inRow)
	t.Logf("1000 commands took %s", time.Since(begin))
	v.dropsTo(before, patience)
	settle(t, func() string { return cmp.Diff(len(processes), len(s.processes())) })
	for _, p := range s.processes() {
		if strings.HasPrefix(p, "Z") {
			t.Errorf("a zombie is left: %s", p)
		}
	}
	if execs, err := s.api.Execs(t.Context(), s.container().ID); err != nil || len(execs) > 0 {
		t.Errorf("the engine remembers commands: %q, %v", execs, err)
	}
}

// inRow is how many commands run at once.
const inRow = 25

// rows runs n rows of commands that end in different ways, and wants an answer to each.
func (s *sandboxed) rows(n int) {
	s.t.Helper()
	for range n {
		var want, got []string
		for i := range inRow {
			want = append(want, marshal(s.ask([]string{"true", "echo x; exit 3", "kill -9 $$", "no-such-program"}[i%4])))
		}
		for range inRow {
			m := s.next()
			if m.Result == nil || m.Result.IsError {
				s.t.Fatalf("%s: %+v %s", m.ID, m.Error, m.text())
			}
			got = append(got, string(m.ID))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			s.t.Fatalf("the answers (-want +got):\n%s", diff)
		}
	}
}

// settle waits until there is no difference.
func settle(t *testing.T, diff func() string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		d := diff()
		if d == "" {
			return
		}
		if time.Now().After(end) {
			t.Errorf("not back at the base line (-before +now):\n%s", d)
			return
		}
	}
}

// A command whose call is cancelled ends, however busy it is.
func TestCancelledCommandEnds(t *testing.T) {
	t.Parallel()
	s := startShell(t, testengine.Docker(t))
	s.run("true")
	id := s.ask("yes")
	s.runs("yes", true, patience)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + marshal(id) + `}}`)
	t.Logf("it had ended after %s", s.runs("yes", false, 5*time.Second))
}

// A gigabyte of output is dropped where it is written: the server's memory does not notice, and the
// answer holds the beginning, the end and the exact count between them.
func TestFloodTakesNoMemory(t *testing.T) {
	t.Parallel()
	s := startShell(t, testengine.Docker(t))
	s.run("true")
	const size, limit, growth = 1_000_000_000, 1000, 10_000 // bytes, characters, KiB
	before := s.memory("VmRSS:")
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte("5"), 0); err != nil {
		t.Fatalf("reset the peak of memory: %v", err)
	}
	line := fmt.Sprintf("echo first; yes 0123456789abcde | head -c %d; echo last", size)
	s.send(legacy.call("flood", "shell", fmt.Sprintf(`{"commands":%s,"timeout_ms":600000,"max_output_length":%d}`, marshal([]string{line}), limit)))
	var m message
	select {
	case m = <-s.lines: // nothing else is asked, and no progress
	case <-time.After(10 * time.Minute):
		t.Fatal("no answer")
	}
	if m.Result == nil || m.Result.IsError {
		t.Fatalf("%+v %s", m.Error, m.text())
	}
	var r struct {
		Output []struct {
			Stdout  string
			Omitted int `json:"stdout_omitted"`
		}
	}
	if err := json.Unmarshal(m.Result.StructuredContent, &r); err != nil || len(r.Output) != 1 {
		t.Fatalf("%s: %v", m.Result.StructuredContent, err)
	}
	out := r.Output[0]
	mark := fmt.Sprintf("\n[... %d characters omitted ...]\n", out.Omitted)
	if !strings.HasPrefix(out.Stdout, "first\n0123") || !strings.HasSuffix(out.Stdout, "\nlast\n") || !strings.Contains(out.Stdout, mark) ||
		len(out.Stdout) > limit || len(out.Stdout)-len(mark)+out.Omitted != size+len("first\nlast\n") {
		t.Errorf("%d characters are shown and %d omitted: %q", len(out.Stdout), out.Omitted, out.Stdout)
	}
	peak := s.memory("VmHWM:")
	t.Logf("the server's memory grew from %d to at most %d KiB", before, peak)
	if peak-before > growth {
		t.Errorf("the server's memory grew by %d KiB, want at most %d", peak-before, growth)
	}
}

// memory returns a size of the server's memory, in KiB.
func (s *sandboxed) memory(name string) (kib int) {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), name)
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		s.t.Fatalf("read %s %v", name, err)
	}
	return kib
}
