//go:build linux

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/pkg/container/capture"
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// A supervisor runs one command and looks after what descends from it. One goroutine owns
// everything here; the others bring it frames, signals and the ends of streams.
type supervisor struct {
	sandboxed bool // everything else may be killed if the agent says so
	id        uint64
	out       *queue
	requests  <-chan protocol.Frame // closed when the agent is gone
	children  <-chan os.Signal

	streams [2]stream // standard output and standard error
	ended   chan int  // indices of streams that have ended
	latest  latest    // which stream was written to last

	pid       int // of the command
	started   time.Time
	took      time.Duration
	oomBefore int64
	exited    bool
	status    syscall.WaitStatus
	childless bool      // nothing descends from this process any more
	until     time.Time // when to stop waiting for output and for processes on their way out
	answered  bool      // the Run

	ladder ladder
	polls  []poll
	kills  []uint64 // requests that wait for the end
}

// A poll is a request that waits for the job's end.
type poll struct {
	id    uint64
	until time.Time
}

// supervisorMain runs the command that the agent names on descriptor 0, which may be long after
// it has started, and returns the exit code: 0 where nothing is left behind.
func supervisorMain(inSandbox bool) int {
	link, err := claim(0, "link")
	if err != nil {
		complain("%v", err)
		return exitIO
	}
	children := make(chan os.Signal, 1)
	untaken(byDefault)                                // as commands want to find them
	signal.Notify(make(chan os.Signal, 1), deadly...) // nobody reads: a command that signals everything does not end its supervisor
	signal.Notify(children, syscall.SIGCHLD)
	warm(supervisorThreads)
	began, err := protocol.Read(link)
	if err != nil {
		return exitEOF // the agent has ended
	}
	run, err := protocol.Read(link)
	if err != nil {
		return exitEOF
	}
	s := &supervisor{
		sandboxed: inSandbox, id: run.ID, out: newQueue(),
		requests: requests(link), children: children, ended: make(chan int, 2),
	}
	go s.out.run(link)
	defer s.out.flush()
	var c protocol.Command
	if err := run.Decode(&c); err != nil {
		s.out.send(failed(s.id, protocol.BadRequest, err.Error()))
		return exitEOF
	}
	s.out.send(frame(protocol.Hello, s.id, nil))
	s.out.flush()
	if failure := s.start(c, run.Body); failure != nil {
		s.out.send(frame(protocol.Failed, s.id, failure))
		return exitEOF
	}
	return s.look(c, deadline(c, began))
}

// deadly are the signals that end or stop a Go program by default, but for the two that
// nobody can take. Each costs time at the start, so no others are taken.
var deadly = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT,
	syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
	syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGSTKFLT,
}

// requests returns the frames of link, until it ends.
func requests(link *conn) <-chan protocol.Frame {
	c := make(chan protocol.Frame)
	go func() {
		defer close(c)
		for {
			f, err := protocol.Read(link)
			if err != nil {
				return
			}
			c <- f
		}
	}()
	return c
}

// A beginning is what the agent says before the Run: when it got that, on the monotonic clock.
type beginning struct {
	At time.Duration `json:"at"`
}

// deadline returns how long c may still run.
func deadline(c protocol.Command, began protocol.Frame) time.Duration {
	timeout := time.Duration(c.TimeoutMS) * time.Millisecond
	var b beginning
	if began.Decode(&b) == nil {
		timeout -= monotonic() - b.At
	}
	return timeout
}

// look waits for what happens until nothing is left to look after.
func (s *supervisor) look(c protocol.Command, timeout time.Duration) int {
	deadline, wake := time.NewTimer(timeout), time.NewTimer(time.Hour)
	again := time.NewTimer(volunteerAgain)
	var progress <-chan time.Time
	if c.ProgressMS > 0 {
		progress = time.NewTicker(time.Duration(c.ProgressMS) * time.Millisecond).C
	}
	s.reap()
	for !s.settle() {
		wake.Reset(time.Until(s.next()))
		select {
		case f, ok := <-s.requests:
			if !ok {
				s.abandon()
				return exitIO
			}
			s.take(f)
		case <-s.children:
			s.reap()
		case i := <-s.ended:
			s.streams[i].ended = true
			if s.open() == 0 && s.exited {
				s.hasten()
			}
		case <-deadline.C:
			if !s.exited {
				s.begin(timedOut)
			}
		case <-again.C:
			volunteerAll()
		case <-progress:
			s.report()
		case <-wake.C:
		}
	}
	return exitEOF
}

// take carries out a request.
func (s *supervisor) take(f protocol.Frame) {
	switch f.Kind {
	case protocol.Poll:
		var t protocol.Target
		if err := f.Decode(&t); err != nil {
			s.out.send(failed(f.ID, protocol.BadRequest, err.Error()))
			return
		}
		s.polls = append(s.polls, poll{f.ID, time.Now().Add(time.Duration(min(t.WaitMS, maxTimeout)) * time.Millisecond)})
	case protocol.Kill:
		s.kills = append(s.kills, f.ID)
		s.begin(stopped)
	case protocol.Alone:
		s.killEverything()
	}
}

// reap collects the dead.
func (s *supervisor) reap() {
	if s.childless {
		return
	}
	others := reaped(func(pid int, status syscall.WaitStatus) {
		if pid == s.pid {
			s.exited, s.status, s.took = true, status, time.Since(s.started)
			s.until = time.Now().Add(protocol.Drain)
			if s.open() == 0 {
				s.hasten()
			}
		}
	})
	if !others {
		s.childless = true
		s.until = time.Now().Add(lastWords)
	}
}

// abandon kills everything since the agent is gone.
func (s *supervisor) abandon() {
	go func() {
		for range s.children {
			s.reap()
		}
	}()
	killBelow()
}

// open counts the streams that may still bring output.
func (s *supervisor) open() (n int) {
	for i := range s.streams {
		if !s.streams[i].ended {
			n++
		}
	}
	return n
}

// How long to wait for what should come at once: for the end of the streams when nothing
// lives that could write to them, and for the end of processes when their streams have
// ended.
const (
	lastWords = time.Second
	straggler = 20 * time.Millisecond
)

// hasten shortens the wait for processes that are left, since they write nothing more.
func (s *supervisor) hasten() {
	if soon := time.Now().Add(straggler); !s.childless && soon.Before(s.until) {
		s.until = soon
	}
}

// next returns when something must be done without a cause from outside.
func (s *supervisor) next() time.Time {
	next := time.Now().Add(time.Hour)
	consider := func(t time.Time) {
		if t.Before(next) {
			next = t
		}
	}
	if s.childless || s.exited && !s.answered && s.ladder.cause == none {
		consider(s.until)
	}
	if s.ladder.cause != none && !s.childless {
		consider(s.ladder.next)
	}
	for _, p := range s.polls {
		consider(p.until)
	}
	return next
}

// settle answers what can be answered now, and reports whether all is done.
func (s *supervisor) settle() (done bool) {
	s.climb()
	over := s.childless && (s.open() == 0 || !time.Now().Before(s.until))
	switch {
	case over && !s.answered:
		s.answer(0)
		s.answerAll()
		return true
	case over:
		s.answerAll()
		if s.ladder.cause == none {
			s.sendState(protocol.Ended, s.id)
		}
		return true
	case !s.answered && s.drained():
		left := len(s.alive())
		if left == 0 { // zombies only: their end is near
			s.until = time.Now().Add(straggler)
			return false
		}
		s.answer(left)
	}
	s.answerPolls()
	return false
}

// drained reports whether the command has exited, of itself, and its output is complete or
// has been waited for.
func (s *supervisor) drained() bool {
	return s.exited && !s.childless && s.ladder.cause == none && !time.Now().Before(s.until)
}

// alive returns the processes below this one.
func (s *supervisor) alive() []process { return below(processes(), os.Getpid(), alive) }

// answer sends the Result.
func (s *supervisor) answer(left int) {
	s.answered = true
	o := protocol.Outcome{
		Left: left, Killed: len(s.ladder.killed), TookUS: s.took.Microseconds(),
		TimedOut: s.ladder.cause == timedOut, Stopped: s.ladder.cause == stopped,
		OOM: s.oom(),
	}
	o.Code, o.Signal = exitCode(s.status)
	output, body := s.output()
	o.Output = output
	s.out.send(frame(protocol.Result, s.id, o, body...))
}

// answerAll answers all requests, since the job has ended. Who wants it ended gets the output.
func (s *supervisor) answerAll() {
	for _, id := range s.kills {
		s.sendState(protocol.State, id)
	}
	for _, p := range s.polls {
		s.sendState(protocol.State, p.id)
	}
	s.kills, s.polls = nil, nil
}

// answerPolls answers those that have waited long enough. What was written before the Result
// belongs to that.
func (s *supervisor) answerPolls() {
	now, waiting := time.Now(), s.polls[:0]
	for _, p := range s.polls {
		if now.Before(p.until) {
			waiting = append(waiting, p)
			continue
		}
		s.sendState(protocol.State, p.id)
	}
	s.polls = waiting
}

func (s *supervisor) sendState(kind protocol.Kind, id uint64) {
	state := protocol.JobState{OOM: s.oom(), Killed: len(s.ladder.killed)}
	if !s.childless {
		state.Alive = len(s.alive())
	}
	var body [][]byte
	if s.answered {
		state.Output, body = s.output()
	}
	s.out.send(frame(kind, id, state, body...))
}

// report says how far the command is, while it runs.
func (s *supervisor) report() {
	if s.answered {
		return
	}
	var r protocol.Report
	for i := range s.streams {
		line, n := s.streams[i].kept.Line()
		r.Bytes += n
		if i == s.latest.get() {
			r.Line = line
		}
	}
	s.out.offer(frame(protocol.Progress, s.id, r))
}

// output takes what the streams brought since the last time.
func (s *supervisor) output() (protocol.Output, [][]byte) {
	var spans [2]protocol.Span
	var body [][]byte
	for i := range s.streams {
		k := s.streams[i].kept.Take(s.streams[i].ended)
		spans[i] = protocol.Span{Head: len(k.Head), Tail: len(k.Tail), Bytes: k.Bytes, Runes: k.Runes}
		body = append(body, k.Head, k.Tail)
	}
	return protocol.Output{Stdout: spans[0], Stderr: spans[1]}, body
}

// oom reports whether the memory limit killed a process since the command was started.
func (s *supervisor) oom() bool { return oomKills() > s.oomBefore }

// A stream is one of the command's outputs.
type stream struct {
	kept  *capture.Collector
	ended bool
}
