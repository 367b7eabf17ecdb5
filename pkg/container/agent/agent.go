//go:build linux

package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// An agent serves one server.
type agent struct {
	first bool // it is the first process: everything else may be killed, and nobody may end it

	outMu sync.Mutex
	out   *conn

	mu       sync.Mutex
	jobs     map[uint64]*job // by the id of their Run, until their last frame is written
	pids     map[int]*job    // those whose supervisor lives
	spare    *spare          // a supervisor without a command yet; nil while there is none
	starts   chan struct{}   // has room for the supervisors that may be started at once: each holds a thread
	forking  int             // supervisors that are being started; their pids are not known yet
	early    map[int]syscall.WaitStatus
	purging  int // jobs whose supervisor may kill everything: no other may start
	unpurged sync.Cond

	cleanings chan cleaning
	ends      chan int // the exit code, once
}

// agentMain serves until the input ends, and returns the exit code.
func agentMain(lease time.Duration) int {
	closeOnExec()
	in, err := claim(0, "input")
	if err != nil {
		complain("%v", err)
		return exitIO
	}
	out, err := claim(1, "output")
	if err != nil {
		complain("%v", err)
		return exitIO
	}
	a := &agent{
		first: os.Getpid() == 1, out: out,
		jobs: map[uint64]*job{}, pids: map[int]*job{}, early: map[int]syscall.WaitStatus{},
		starts: make(chan struct{}, maxStarts), cleanings: make(chan cleaning), ends: make(chan int, 1),
	}
	a.unpurged.L = &a.mu

	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	a.takeSignals()
	warm(agentThreads)
	go a.reap(children)
	go a.makeSpare()
	go func() { a.end(a.read(in, lease)) }()

	code := <-a.ends
	if !a.first { // for the first process the kernel does that
		killBelow()
	}
	return code
}

// takeSignals ends the agent at the usual ones, unless it is the first process: then commands
// can send them too, and must not end it; who may end it closes its input or kills it.
func (a *agent) takeSignals() {
	signal.Notify(make(chan os.Signal, 1)) // all, faults that others send too: nobody reads, nothing happens
	untaken(ignored)
	if a.first {
		return
	}
	polite := make(chan os.Signal, 1)
	signal.Notify(polite, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-polite
		a.end(exitEOF)
	}()
}

// read takes requests until there are no more.
func (a *agent) read(in io.Reader, lease time.Duration) int {
	expiry := time.AfterFunc(lease, func() {
		complain("no frame for %v: end", lease)
		a.end(exitLease)
	})
	for {
		f, err := protocol.Read(in)
		if errors.Is(err, io.EOF) {
			return exitEOF
		}
		if err != nil {
			complain("%v", err)
			return exitIO
		}
		expiry.Reset(lease)
		a.take(f)
	}
}

// take carries out a request, or gives it to those who do.
func (a *agent) take(f protocol.Frame) {
	switch f.Kind {
	case protocol.Hello:
		a.greet(f)
	case protocol.Ping:
		a.send(frame(protocol.Ping, f.ID, nil))
	case protocol.Run:
		a.run(f)
	case protocol.Poll, protocol.Kill:
		a.relay(f)
	case protocol.List:
		go a.list(f.ID)
	case protocol.Reset:
		go a.reset(f.ID)
	default:
		a.send(failed(f.ID, protocol.BadRequest, "this kind of frame is no request"))
	}
}

// greet says who this agent is, and what it finds where the server wants it to look.
func (a *agent) greet(f protocol.Frame) {
	g := protocol.Greeting{
		Version: protocol.Version, Build: build, PID: os.Getpid(), UID: os.Getuid(), GID: os.Getgid(), Boot: bootID(),
	}
	var s protocol.Salutation
	if len(f.Header) > 0 && f.Decode(&s) != nil {
		a.send(failed(f.ID, protocol.BadRequest, "this is no salutation"))
		return
	}
	for _, path := range s.Look {
		var st syscall.Stat_t // zero where there is nothing
		syscall.Stat(path, &st)
		g.Found = append(g.Found, protocol.File{Device: st.Dev, Inode: st.Ino})
	}
	a.send(frame(protocol.Hello, f.ID, g))
}

// send writes f to the server. Where the server does not read, it waits.
func (a *agent) send(f protocol.Frame) {
	a.outMu.Lock()
	defer a.outMu.Unlock()
	if _, err := f.WriteTo(a.out); err != nil {
		complain("answer: %v", err)
		a.end(exitIO)
	}
}

// end lets the agent exit. The first call counts.
func (a *agent) end(code int) {
	select {
	case a.ends <- code:
	default:
	}
}

func (a *agent) run(f protocol.Frame) {
	var c protocol.Command
	if err := f.Decode(&c); err != nil {
		a.send(failed(f.ID, protocol.BadRequest, err.Error()))
		return
	}
	if wrong := fault(c); wrong != "" {
		a.send(failed(f.ID, protocol.BadRequest, wrong))
		return
	}
	j := newJob(a, f, time.Duration(c.TimeoutMS)*time.Millisecond)
	a.mu.Lock()
	_, taken := a.jobs[f.ID]
	if !taken {
		a.jobs[f.ID] = j
	}
	a.mu.Unlock()
	if taken {
		a.send(failed(f.ID, protocol.BadRequest, "the id is in use"))
		return
	}
	go j.live()
}

// maxTimeout keeps times well inside of what a duration holds.
const maxTimeout = 1 << 40 // milliseconds

// fault returns what is wrong with c, or "".
func fault(c protocol.Command) string {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return "no program"
	case !strings.HasPrefix(c.Dir, "/"):
		return "the directory is not absolute"
	case c.TimeoutMS <= 0 || c.TimeoutMS > maxTimeout:
		return "no timeout"
	case c.Keep < 0 || c.Keep > protocol.MaxFrame/8 || c.ProgressMS < 0:
		return "a number is out of range"
	}
	for _, s := range append(append([]string{c.Dir}, c.Argv...), c.Env...) {
		if strings.IndexByte(s, 0) >= 0 {
			return "a text holds NUL"
		}
	}
	for _, e := range c.Env {
		if strings.IndexByte(e, '=') < 1 {
			return "the environment holds an entry without a name"
		}
	}
	return ""
}

// relay gives a request about a job to its supervisor.
func (a *agent) relay(f protocol.Frame) {
	var t protocol.Target
	if err := f.Decode(&t); err != nil {
		a.send(failed(f.ID, protocol.BadRequest, err.Error()))
		return
	}
	a.mu.Lock()
	j := a.jobs[t.Job]
	ok := j != nil && j.ask(f)
	a.mu.Unlock()
	if !ok {
		a.send(failed(f.ID, protocol.NoJob, "there is no such job"))
		return
	}
	if f.Kind == protocol.Kill {
		j.climb(monotonic(), func() bool { return true })
	}
}

// list counts what lives below each supervisor.
func (a *agent) list(id uint64) {
	all := processes()
	list := protocol.JobList{Jobs: []protocol.Job{}}
	a.mu.Lock()
	for _, j := range a.jobs {
		if j.pid != 0 {
			list.Jobs = append(list.Jobs, protocol.Job{ID: j.id, Running: !j.answered, Alive: len(below(all, j.pid, alive))})
		}
	}
	a.mu.Unlock()
	a.send(frame(protocol.Jobs, id, list))
}
