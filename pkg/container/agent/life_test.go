//go:build linux

package main_test

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// A command's exit is not delayed by what it leaves, which is a job.
func TestJob(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		r := c.run(c.sh("echo hi; sleep 60 & exit 7"))
		if r.Code != 7 || r.stdout != "hi\n" || r.Left != 1 {
			t.Fatalf("%+v", r)
		}
		if r.took > 400*time.Millisecond+slack {
			t.Errorf("took %v", r.took)
		}
		if diff := cmp.Diff([]protocol.Job{{ID: r.job, Alive: 1}}, c.jobs()); diff != "" {
			t.Error(diff)
		}
		if s := c.target(protocol.Poll, r.job, 0); s.Alive != 1 || s.stdout != "" {
			t.Errorf("poll: %+v", s)
		}
		if s := c.target(protocol.Kill, r.job, 0); s.Alive != 0 || s.Killed != 1 {
			t.Errorf("kill: %+v", s)
		}
		c.empty()
		await(t, "no job", func() bool { return len(c.jobs()) == 0 })
		for _, kind := range []protocol.Kind{protocol.Poll, protocol.Kill} {
			if s := c.target(kind, r.job, 0); s.failure.Reason != protocol.NoJob {
				t.Errorf("request %d to a job that has ended: %+v", kind, s)
			}
		}
	})
}

// A job that keeps no stream open does not make its command wait for more.
func TestJobWithoutStreams(t *testing.T) {
	c := startPlain(t)
	r := c.run(c.sh("sleep 60 >/dev/null 2>&1 & echo hi"))
	if r.Left != 1 || r.stdout != "hi\n" {
		t.Errorf("%+v", r)
	}
}

// What ends while the command's output is awaited is not left. On a busy machine it may end later
// than that: then it is asked again.
func TestNoJob(t *testing.T) {
	c := startPlain(t)
	for script, want := range map[string]string{
		"sleep 0.02 & echo hi":                       "hi\n",
		"sleep 0.005 >/dev/null 2>&1 & echo hi":      "hi\n",
		"(sleep 0.02; echo late) & echo hi":          "hi\nlate\n",
		"(sleep 0.02; echo late >&2) >/dev/null & :": "",
	} {
		r := c.run(c.sh(script))
		for range 20 {
			if r.Left == 0 {
				break
			}
			c.empty()
			r = c.run(c.sh(script))
		}
		if r.Left != 0 || r.stdout != want {
			t.Errorf("%s: %+v", script, r)
		}
	}
}

// The output of a job goes to those who ask for it, each part once, and the end to the
// frame that tells of it.
func TestJobOutput(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		for _, word := range []string{"one", "two", "three"} {
			if err := syscall.Mkfifo(c.dir+"/"+word, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r := c.run(c.sh("(read x <one; echo $x; read x <two; echo $x >&2; read x <three; echo $x) & echo begin"))
		if r.stdout != "begin\n" || r.Left != 1 {
			t.Fatalf("%+v", r)
		}
		let := func(word string) {
			if r := c.run(c.sh("echo " + word + " >" + word)); r.Code != 0 {
				t.Fatalf("%+v", r)
			}
		}
		poll := func() (out, errs string) {
			await(t, "output", func() bool {
				s := c.target(protocol.Poll, r.job, 0)
				out, errs = s.stdout, s.stderr
				return out+errs != ""
			})
			return out, errs
		}
		let("one")
		if out, errs := poll(); out != "one\n" || errs != "" {
			t.Errorf("%q and %q", out, errs)
		}
		let("two")
		if out, errs := poll(); out != "" || errs != "two\n" {
			t.Errorf("%q and %q", out, errs)
		}
		let("three")
		if s := c.state(c.wait(r.frames, protocol.Ended)); s.stdout != "three\n" || s.Alive != 0 {
			t.Errorf("the end: %+v", s)
		}
		c.empty()
	})
}

// A poll is answered when the job ends, with its last output.
func TestPollWaits(t *testing.T) {
	c := startPlain(t)
	r := c.run(c.sh("(sleep 0.5; echo late) & echo now"))
	s := c.target(protocol.Poll, r.job, patience)
	if s.Alive != 0 || s.stdout != "late\n" {
		t.Errorf("%+v", s)
	}
	if s := c.state(c.wait(r.frames, protocol.Ended)); s.Bytes() != 0 {
		t.Errorf("the end brings output again: %+v", s)
	}
	r = c.run(c.sh("sleep 60 & echo now"))
	start := time.Now()
	if s := c.target(protocol.Poll, r.job, 200*time.Millisecond); s.Alive != 1 || time.Since(start) < 200*time.Millisecond {
		t.Errorf("after %v: %+v", time.Since(start), s)
	}
	if s := c.target(protocol.Poll, r.job, -1); s.Alive != 1 {
		t.Errorf("a wait below nothing: %+v", s)
	}
}

// A job whose supervisor is killed ends, and the server hears of it.
func TestJobOrphaned(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		r := c.run(c.sh("sleep 60 & setsid sleep 60 & exit 0"))
		if r.Left != 2 {
			t.Fatalf("%+v", r)
		}
		if r := c.run(c.sh("kill -9 " + c.supervisor())); r.Code != 0 {
			t.Fatalf("%+v", r)
		}
		if s := c.state(c.wait(r.frames, protocol.Ended)); s.Alive != 0 {
			t.Errorf("%+v", s)
		}
		c.empty()
	})
}

// ways are how an agent ends; with it ends everything below.
func TestEnd(t *testing.T) {
	ways := map[string]struct {
		args []string
		end  func(*client)
		code int // -1: ended by a signal
	}{
		"EOF":             {nil, func(c *client) { c.in.Close() }, 0},
		"lease":           {[]string{"3s"}, func(*client) {}, 3},
		"half a frame":    {nil, func(c *client) { c.in.Write([]byte{0, 0, 0, 1, 0}); c.in.Close() }, 4},
		"a frame too big": {nil, func(c *client) { c.in.Write([]byte(strings.Repeat("\xff", 17))) }, 4},
		"SIGKILL":         {nil, func(c *client) { syscall.Kill(c.pid(), syscall.SIGKILL) }, -1},
		"SIGTERM":         {nil, func(c *client) { syscall.Kill(c.pid(), syscall.SIGTERM) }, 0},
	}
	for place, start := range places {
		for name, tc := range ways {
			if place == "first" && strings.HasPrefix(name, "SIG") {
				continue // the kernel ends its namespace; SIGTERM it does not take
			}
			t.Run(place+"/"+name, func(t *testing.T) {
				c := start(t, tc.args...)
				cmd := c.sh(`trap "" TERM; sleep 60 & setsid setsid sleep 60 & echo ready; wait`)
				cmd.ProgressMS = 50
				_, frames := c.ask(protocol.Run, cmd)
				for r := (protocol.Report{}); r.Bytes == 0; {
					c.decode(c.wait(frames, protocol.Progress), &r)
				}
				below := c.tree(c.cmd.Process.Pid)
				if len(below) < 3 {
					t.Fatalf("%d processes", len(below))
				}
				tc.end(c)
				select {
				case <-c.ended:
				case <-time.After(patience):
					t.Fatal("the agent does not end")
				}
				c.cmd.Wait()
				if got := c.cmd.ProcessState.ExitCode(); got != tc.code {
					t.Errorf("exit code %d, want %d", got, tc.code)
				}
				for _, pid := range below {
					await(t, "the end of a process", func() bool { return gone(pid) })
				}
			})
		}
	}
}

func TestLeaseIsRenewed(t *testing.T) {
	c := startPlain(t, "2s")
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_, frames := c.ask(protocol.Ping, nil)
		c.wait(frames, protocol.Ping)
	}
}

// Nonsense is answered, and the agent lives.
func TestNonsense(t *testing.T) {
	c := startPlain(t)
	reason := func(kind protocol.Kind, header string) protocol.Reason {
		c.mu.Lock()
		c.next++
		ch := make(chan protocol.Frame, 1)
		c.waiting[c.next] = ch
		f := protocol.Frame{Kind: kind, ID: c.next, Header: []byte(header), Body: []byte("body")}
		if _, err := f.WriteTo(c.in); err != nil {
			t.Fatal(err)
		}
		c.mu.Unlock()
		var failure protocol.Failure
		c.decode(c.wait(ch, protocol.Failed), &failure)
		return failure.Reason
	}
	tests := []struct {
		kind   protocol.Kind
		header string
		want   protocol.Reason
	}{
		{protocol.Run, "", protocol.BadRequest},
		{protocol.Run, "{", protocol.BadRequest},
		{protocol.Run, `{"argv":"x"}`, protocol.BadRequest},
		{protocol.Run, `{"argv":["true"],"dir":"/","timeout_ms":1000,"keep":-1}`, protocol.BadRequest},
		{protocol.Run, `{"argv":["true"],"dir":"/","timeout_ms":1000,"progress":-1}`, protocol.BadRequest},
		{protocol.Poll, "", protocol.BadRequest},
		{protocol.Poll, `{"job":77}`, protocol.NoJob},
		{protocol.Kill, `{"job":-1}`, protocol.BadRequest},
		{protocol.Kill, `{}`, protocol.NoJob},
		{protocol.Result, `{}`, protocol.BadRequest},
		{protocol.Alone, ``, protocol.BadRequest},
		{0, ``, protocol.BadRequest},
		{255, "\xff", protocol.BadRequest},
	}
	for _, tc := range tests {
		if got := reason(tc.kind, tc.header); got != tc.want {
			t.Errorf("kind %d, header %q: %q, want %q", tc.kind, tc.header, got, tc.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		header := make([]byte, r.IntN(20))
		for i := range header {
			header[i] = `{}[]"0:,a`[r.IntN(9)]
		}
		if got := reason(protocol.Run, string(header)); got != protocol.BadRequest {
			t.Errorf("header %q: %q", header, got)
		}
	}
}

// Two commands cannot have one id.
func TestIDInUse(t *testing.T) {
	c := startPlain(t)
	id, _ := c.ask(protocol.Run, c.sh("sleep 0.5; echo first"))
	c.mu.Lock()
	c.next = id - 1
	c.mu.Unlock()
	_, second := c.ask(protocol.Run, c.sh("echo second")) // hears the answers to both
	if r := c.result(second); r.failure.Reason != protocol.BadRequest {
		t.Errorf("%+v", r)
	}
	if r := c.result(second); r.stdout != "first\n" {
		t.Errorf("the first: %+v", r)
	}
}

// Bytes returns how much a state brings.
func (s state) Bytes() int64 { return s.Stdout.Bytes + s.Stderr.Bytes }

// A program's name may look like the fields behind it in /proc.
func TestMisleadingName(t *testing.T) {
	c := startPlain(t)
	r := c.run(c.sh(`cp "$(command -v sleep)" "./x) Z 1 1 ("; "./x) Z 1 1 (" 60 >/dev/null 2>&1 & exit 0`))
	if r.Left != 1 {
		t.Fatalf("%+v", r)
	}
	if s := c.target(protocol.Kill, r.job, 0); s.failure.Reason != "" || s.Killed != 1 {
		t.Errorf("%+v", s)
	}
	c.empty()
}
