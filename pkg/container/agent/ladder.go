//go:build linux

package main

import (
	"syscall"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// A cause is why a command must end.
type cause int

const (
	none cause = iota
	timedOut
	stopped // somebody asked for it
)

// A ladder is by what a tree is ended: SIGTERM to all, and after a while SIGKILL to all that
// are found, again and again until the kernel says that there is no child. Stopping them
// first would make it slower, not surer.
type ladder struct {
	cause  cause
	next   time.Time     // of the next rung
	pause  time.Duration // before /proc is read again; 0 before the first SIGKILL
	killed map[int]bool  // who was sent a signal
}

// Pauses between two rounds of SIGKILL. A tree that grows needs them short, one whose
// processes are slow to die needs the processor for itself.
const (
	shortestPause = 2 * time.Millisecond
	longestPause  = 20 * time.Millisecond
)

// begin sets foot on the ladder. What is on it stays there.
func (s *supervisor) begin(why cause) {
	if s.ladder.cause != none || s.childless {
		return
	}
	s.ladder = ladder{cause: why, next: time.Now().Add(protocol.TermGrace), killed: map[int]bool{}}
	s.signal(syscall.SIGTERM, syscall.SIGCONT) // a stopped process takes no other signal
}

// climb takes the next rung when its time has come.
func (s *supervisor) climb() {
	l := &s.ladder
	if l.cause == none || s.childless || time.Now().Before(l.next) {
		return
	}
	s.signal(syscall.SIGKILL)
	s.reap()
	l.pause = min(max(2*l.pause, shortestPause), longestPause)
	l.next = time.Now().Add(l.pause)
}

// signal sends signals to everything below this process, parents first.
func (s *supervisor) signal(signals ...syscall.Signal) {
	for _, p := range s.alive() {
		s.ladder.killed[p.pid] = true
		for _, sig := range signals {
			syscall.Kill(p.pid, sig)
		}
	}
}

// killEverything kills all processes but the first and this one. Outside of a sandbox
// these would be the user's.
func (s *supervisor) killEverything() {
	if !s.sandboxed || s.ladder.cause == none || s.childless {
		return
	}
	for _, p := range s.alive() {
		s.ladder.killed[p.pid] = true
	}
	syscall.Kill(-1, syscall.SIGKILL)
}
