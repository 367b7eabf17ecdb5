//go:build linux

package main_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// program is the agent, built for these tests, with the race detector if they have it.
var program string

func TestMain(m *testing.M) {
	if pid := os.Getenv("TRACE"); pid != "" {
		trace(atoi(pid))
		return
	}
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "agent")
	args := []string{"build", "-ldflags=-X main.build=test", "-o", program}
	if raced {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		panic(string(out))
	}
	os.Chmod(dir, 0o755)
	os.Chmod(program, 0o111) // as in a sandbox
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// patience is how long anything may take. The machine may be busy.
const patience = 30 * time.Second

// A client speaks to an agent of its own.
type client struct {
	t    testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	errs *lockedBuffer

	*answers
	ended chan struct{} // the agent's output has ended
	dir   string
	mark  string // how long commands sleep: a number that no other client has
}

// clients counts them.
var clients atomic.Int64

// answers are where those to each request go.
type answers struct {
	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan protocol.Frame
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// places are where an agent can run: as a plain process, and as the first one.
var places = map[string]func(testing.TB, ...string) *client{"plain": startPlain, "first": startFirst}

// everywhere runs a test in both places.
func everywhere(t *testing.T, test func(*testing.T, *client)) {
	for name, start := range places {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

func startPlain(t testing.TB, args ...string) *client {
	t.Helper()
	return start(t, exec.Command(program, args...))
}

// startFirst starts an agent as the first process of a namespace.
func startFirst(t testing.TB, args ...string) *client {
	t.Helper()
	testneed.Root(t)
	unshare := testneed.Tool(t, "unshare")
	return start(t, exec.Command(unshare, append([]string{"--pid", "--fork", "--kill-child", "--mount-proc", program}, args...)...))
}

// startNobody starts an agent as the first process of a namespace, as a user without rights.
// The wrap is put before the agent's own command line.
func startNobody(t testing.TB, wrap ...string) *client {
	t.Helper()
	testneed.Root(t)
	args := []string{"--pid", "--fork", "--kill-child", "--mount-proc", testneed.Tool(t, "setpriv"), "--reuid", nobody, "--regid", nobody, "--clear-groups"}
	return start(t, exec.Command(testneed.Tool(t, "unshare"), append(append(args, wrap...), program)...))
}

// nobody is a user id that no other process of the machine has.
const nobody = "64733"

func start(t testing.TB, cmd *exec.Cmd) *client {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{
		t: t, cmd: cmd, in: in, errs: &lockedBuffer{}, answers: &answers{waiting: map[uint64]chan protocol.Frame{}},
		ended: make(chan struct{}), dir: t.TempDir(),
		mark: fmt.Sprintf("60.%06d%03d", os.Getpid(), clients.Add(1)),
	}
	for d := c.dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		os.Chmod(d, 0o777) // others run commands there
	}
	cmd.Stderr = c.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.read(out)
	t.Cleanup(c.close)
	return c
}

func (c *client) read(out io.Reader) {
	defer close(c.ended)
	for {
		f, err := protocol.Read(out)
		if err != nil {
			return
		}
		c.mu.Lock()
		ch := c.waiting[f.ID]
		c.mu.Unlock()
		if ch != nil {
			ch <- f
		}
	}
}

// close ends the agent and looks for what it complained about.
func (c *client) close() {
	c.in.Close()
	done := make(chan struct{})
	go func() {
		c.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		c.t.Errorf("the agent does not end with its input")
		c.cmd.Process.Kill()
		<-done
	}
	if text := c.errs.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") {
		c.t.Errorf("the agent's diagnostics:\n%s", text)
	}
	if c.t.Failed() && c.errs.String() != "" {
		c.t.Logf("the agent's diagnostics:\n%s", c.errs)
	}
}

// with returns the client for the use of a test within its own.
func (c *client) with(t testing.TB) *client {
	inner := *c // shares the maps and channels
	inner.t = t
	return &inner
}

// ask sends a request and returns where its answers come.
func (c *client) ask(kind protocol.Kind, header any, body ...[]byte) (uint64, <-chan protocol.Frame) {
	c.t.Helper()
	c.mu.Lock()
	c.next++
	id := c.next
	ch := make(chan protocol.Frame, 256)
	c.waiting[id] = ch
	f, err := protocol.Make(kind, id, header, body...)
	if err == nil {
		_, err = f.WriteTo(c.in)
	}
	c.mu.Unlock()
	if err != nil {
		c.t.Errorf("ask: %v", err)
	}
	return id, ch
}

// wait returns the next frame of one of these kinds.
func (c *client) wait(ch <-chan protocol.Frame, kinds ...protocol.Kind) protocol.Frame {
	c.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case f := <-ch:
			for _, k := range kinds {
				if f.Kind == k {
					return f
				}
			}
		case <-c.ended:
			select {
			case f := <-ch:
				for _, k := range kinds {
					if f.Kind == k {
						return f
					}
				}
			default:
			}
			c.t.Fatalf("the agent ended; its diagnostics:\n%s", c.errs)
		case <-limit:
			c.t.Fatalf("no answer; the agent's diagnostics:\n%s", c.errs)
		}
	}
}

// A result is an answer to Run, with its text.
type result struct {
	protocol.Outcome
	failure        protocol.Failure // where it was not run
	stdout, stderr string
	took           time.Duration
	job            uint64
	frames         <-chan protocol.Frame
}

// command returns a command with the usual limits.
func (c *client) command(argv ...string) protocol.Command {
	return protocol.Command{Argv: argv, Dir: c.dir, TimeoutMS: patience.Milliseconds(), Keep: 64 << 10}
}

// sh returns a script. Each "sleep 60" in it bears the client's mark.
func (c *client) sh(script string) protocol.Command {
	return c.command("/bin/sh", "-c", strings.ReplaceAll(script, "sleep 60", "sleep "+c.mark))
}

// marked returns the processes of this machine that bear the client's mark and live.
func (c *client) marked() (pids []string) {
	c.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, f := range files {
		if text, _ := os.ReadFile(f); strings.Contains(string(text), c.mark) { // a zombie has none
			pids = append(pids, filepath.Dir(f))
		}
	}
	return pids
}

// allGone wants that nothing that was started lives, wherever it went.
func (c *client) allGone() {
	c.t.Helper()
	if left := c.marked(); len(left) > 0 {
		c.t.Errorf("these still live: %q", left)
	}
}

// run runs cmd to its Result.
func (c *client) run(cmd protocol.Command, input ...string) result {
	c.t.Helper()
	start := time.Now()
	id, frames := c.ask(protocol.Run, cmd, []byte(strings.Join(input, "")))
	r := c.result(frames)
	r.job, r.took = id, time.Since(start)
	return r
}

func (c *client) result(frames <-chan protocol.Frame) (r result) {
	c.t.Helper()
	f := c.wait(frames, protocol.Result, protocol.Failed)
	r.frames = frames
	if f.Kind == protocol.Failed {
		c.decode(f, &r.failure)
		return r
	}
	c.decode(f, &r.Outcome)
	r.stdout, r.stderr = texts(f, r.Output)
	return r
}

func (c *client) decode(f protocol.Frame, v any) {
	c.t.Helper()
	if err := f.Decode(v); err != nil {
		c.t.Fatal(err)
	}
}

// texts takes a body apart.
func texts(f protocol.Frame, o protocol.Output) (stdout, stderr string) {
	n := o.Stdout.Head + o.Stdout.Tail
	return string(f.Body[:n]), string(f.Body[n : n+o.Stderr.Head+o.Stderr.Tail])
}

// A state is an answer to Poll or Kill, or the end of a job.
type state struct {
	protocol.JobState
	failure        protocol.Failure
	stdout, stderr string
}

func (c *client) target(kind protocol.Kind, job uint64, wait time.Duration) state {
	c.t.Helper()
	_, frames := c.ask(kind, protocol.Target{Job: job, WaitMS: wait.Milliseconds()})
	return c.state(c.wait(frames, protocol.State, protocol.Failed))
}

func (c *client) state(f protocol.Frame) (s state) {
	c.t.Helper()
	if f.Kind == protocol.Failed {
		c.decode(f, &s.failure)
		return s
	}
	c.decode(f, &s.JobState)
	s.stdout, s.stderr = texts(f, s.Output)
	return s
}

func (c *client) jobs() []protocol.Job {
	c.t.Helper()
	_, frames := c.ask(protocol.List, nil)
	var l protocol.JobList
	c.decode(c.wait(frames, protocol.Jobs), &l)
	return l.Jobs
}

func (c *client) greeting() (g protocol.Greeting) {
	c.t.Helper()
	_, frames := c.ask(protocol.Hello, nil)
	c.decode(c.wait(frames, protocol.Hello), &g)
	return g
}

// pid returns the agent's, as this process sees it.
func (c *client) pid() int {
	c.t.Helper()
	if c.cmd.Path == program {
		return c.cmd.Process.Pid
	}
	c.greeting() // it has started
	for _, p := range c.tree(c.cmd.Process.Pid) {
		return p
	}
	c.t.Fatal("the agent's process is not found")
	return 0
}

// tree returns the processes below root, zombies too, the nearest first.
func (c *client) tree(root int) (pids []int) {
	level := []int{root}
	for len(level) > 0 {
		var next []int
		for _, pid := range level {
			threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
			for _, file := range threads {
				text, _ := os.ReadFile(file)
				for _, child := range strings.Fields(string(text)) {
					var n int
					fmt.Sscan(child, &n)
					next = append(next, n)
				}
			}
		}
		pids, level = append(pids, next...), next
	}
	return pids
}

// empty waits until nothing is below the agent but its spare.
func (c *client) empty() {
	c.t.Helper()
	pid := c.pid()
	await(c.t, "an agent without children", func() bool {
		below := c.tree(pid)
		return len(below) == 1 && isSpare(below[0])
	})
}

// isSpare reports whether a process without children is a living supervisor.
func isSpare(pid int) bool {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.HasPrefix(string(line), "agent\x00supervise\x00")
}

func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: waited in vain", what)
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// gone reports whether a process has ended.
func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }
