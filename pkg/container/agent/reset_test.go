//go:build linux

package main_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// reset asks for the end of everything.
func (c *client) reset() {
	c.t.Helper()
	_, frames := c.ask(protocol.Reset, nil)
	c.wait(frames, protocol.Reset)
}

// After a reset nothing lives that ran before it, however it hides; who waits is told, and the
// agent serves on.
func TestReset(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		left := c.run(c.sh("sleep 60 & setsid sleep 60 & exit 0"))
		if left.Left != 2 {
			t.Fatalf("%+v", left)
		}
		var waiting []<-chan protocol.Frame
		for _, script := range []string{
			"sleep 60",
			"trap '' TERM; setsid sleep 60 & wait",
			"sleep 60 & kill -STOP $PPID; wait", // its supervisor
			"sleep 60 & kill -STOP $!; kill -STOP $$",
		} {
			_, frames := c.ask(protocol.Run, c.sh(script))
			waiting = append(waiting, frames)
		}
		await(t, "all commands", func() bool { return len(c.marked()) >= 2+len(waiting) })
		_, poll := c.ask(protocol.Poll, protocol.Target{Job: left.job, WaitMS: patience.Milliseconds()})
		c.reset()
		for i, frames := range waiting {
			if r := c.result(frames); r.failure.Reason != protocol.Restarted {
				t.Errorf("command %d: %+v", i, r)
			}
		}
		if s := c.state(c.wait(poll, protocol.State, protocol.Failed)); s.failure.Reason != protocol.NoJob {
			t.Errorf("a poll that waited: %+v", s)
		}
		c.allGone()
		c.empty()
		if jobs := c.jobs(); len(jobs) > 0 {
			t.Errorf("jobs: %+v", jobs)
		}
		if r := c.run(c.sh("echo on")); r.stdout != "on\n" || r.Code != 0 {
			t.Errorf("after it: %+v", r)
		}
	})
}

// Each command that is sent around resets has one answer, and none runs that a reset ended.
func TestResetsUnderCommands(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		var before []<-chan protocol.Frame
		for range 10 {
			for range 4 {
				_, frames := c.ask(protocol.Run, c.sh("sleep 60"))
				before = append(before, frames)
			}
			_, frames := c.ask(protocol.Reset, nil)
			c.wait(frames, protocol.Reset)
		}
		for i, frames := range before {
			if r := c.result(frames); r.failure.Reason != protocol.Restarted {
				t.Errorf("command %d: %+v", i, r)
			}
			select {
			case f := <-frames:
				t.Errorf("command %d has a second answer: %+v", i, f)
			default:
			}
		}
		c.allGone()
		c.empty()
	})
}

// A bomb is ended as well.
func TestResetOfBomb(t *testing.T) {
	c := startFirst(t)
	command := c.sh("i=0; while [ $i -lt 60 ]; do (trap '' TERM; while :; do sleep 60 & wait; done) & i=$((i+1)); done; wait")
	_, frames := c.ask(protocol.Run, command)
	await(t, "many processes", func() bool { return len(c.marked()) > 50 })
	start := time.Now()
	c.reset()
	t.Logf("reset in %s", time.Since(start))
	if r := c.result(frames); r.failure.Reason != protocol.Restarted {
		t.Errorf("%+v", r)
	}
	c.allGone()
}
