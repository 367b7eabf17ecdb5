//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// slack is by how much a machine with other work may be late.
const slack = 5 * time.Second

// Trees that are hard to end. Each writes "begin" and then never ends.
var stubborn = map[string]string{
	"sleep":                    `sleep 60`,
	"S1 ignores signals":       `trap "" TERM INT HUP; while :; do sleep 1; done`,
	"S2 a daemon":              `setsid sh -c 'setsid sleep 60 </dev/null >/dev/null 2>&1 &'; sleep 60`,
	"S3 background and wait":   `sleep 60 & wait`,
	"S4 a daemon with streams": `setsid sh -c 'sleep 60 &' ; sleep 60`,
	"S5 spawns without end":    `while :; do setsid sleep 60 & sleep 0.01; done`,
	"S6 a stopped child":       `sleep 60 & kill -STOP $!; wait`,
	"stopped itself":           `kill -STOP $$`,
	"an empty environment":     `env -i setsid sleep 60 & env -i setsid sh -c 'trap "" TERM; sleep 60'`,
	"answers TERM with more":   `trap 'setsid sleep 60 & setsid sleep 60 & wait' TERM; while :; do sleep 0.05; done`,
	"floods":                   `yes begin`,
	"closed streams":           `exec >/dev/null 2>&1 </dev/null; sleep 60`,
}

func TestTimeout(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		for name, script := range stubborn {
			t.Run(name, func(t *testing.T) {
				c := c.with(t)
				cmd := c.sh("echo begin; " + script)
				cmd.TimeoutMS = 1000 // on a busy machine a shell takes its time to begin
				r := c.run(cmd)
				c.allGone()
				if !r.TimedOut || r.Stopped || r.Orphaned || r.Killed == 0 || r.Left > 0 {
					t.Errorf("%+v", r.Outcome)
				}
				if !strings.HasPrefix(r.stdout, "begin\n") {
					t.Errorf("what it wrote before is lost: %q", r.stdout)
				}
				if r.took < time.Second || r.took > time.Second+protocol.TermGrace+slack {
					t.Errorf("took %v", r.took)
				}
				c.empty()
			})
		}
	})
}

// A command that ends when asked politely is not killed otherwise.
func TestPoliteTimeout(t *testing.T) {
	c := startPlain(t)
	cmd := c.sh(`trap 'echo bye; exit 5' TERM; echo begin; while :; do sleep 0.01; done`)
	cmd.TimeoutMS = 1000
	if r := c.run(cmd); !r.TimedOut || r.stdout != "begin\nbye\n" || r.Code != 5 {
		t.Errorf("%+v", r)
	}
}

// A kill ends a running command as a timeout does.
func TestKillRunning(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		for name, script := range stubborn {
			t.Run(name, func(t *testing.T) {
				c := c.with(t)
				cmd := c.sh("echo begin; " + script)
				cmd.ProgressMS = 20
				id, frames := c.ask(protocol.Run, cmd)
				for r := (protocol.Report{}); r.Bytes == 0; {
					c.decode(c.wait(frames, protocol.Progress), &r)
				}
				s := c.target(protocol.Kill, id, 0)
				c.allGone()
				if s.failure.Reason != "" || s.Alive > 0 {
					t.Errorf("answer to the kill: %+v", s)
				}
				r := c.result(frames)
				if !r.Stopped || r.TimedOut || r.Orphaned || !strings.HasPrefix(r.stdout, "begin\n") {
					t.Errorf("%+v", r)
				}
				c.empty()
			})
		}
	})
}

// Commands that turn against their supervisor.
var rebels = map[string]struct {
	script    string
	firstOnly bool // elsewhere it would end more than the sandbox
}{
	"kills its supervisor":                 {`kill -9 $PPID; sleep 60`, false},
	"kills it and detaches":                {`setsid sh -c 'trap "" TERM; sleep 60 & sleep 60' & kill -9 $PPID; sleep 60`, false},
	"kills everything":                     {`sleep 60 & kill -9 -1; sleep 60`, true},
	"kills everything, the first one also": {`kill -9 1; kill -9 -1; sleep 60`, true},
}

func TestOrphaned(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		for name, tc := range rebels {
			if tc.firstOnly && strings.HasSuffix(t.Name(), "plain") {
				continue
			}
			t.Run(name, func(t *testing.T) {
				c := c.with(t)
				r := c.run(c.sh(tc.script))
				c.allGone()
				if !r.Orphaned || r.Code != 137 || r.Signal != "SIGKILL" || r.TimedOut {
					t.Errorf("%+v", r)
				}
				if r.took > slack {
					t.Errorf("took %v", r.took)
				}
				c.empty()
				if r := c.run(c.sh("echo next")); r.stdout != "next\n" {
					t.Errorf("the next command: %+v", r)
				}
			})
		}
	})
}

// What would end other programs is no more than a nuisance to the agent and its supervisors.
func TestSignals(t *testing.T) {
	t.Run("supervisor", func(t *testing.T) {
		everywhere(t, func(t *testing.T, c *client) {
			r := c.run(c.sh("for s in TERM INT HUP QUIT USR1 USR2 PIPE ALRM ABRT CHLD TSTP TTIN WINCH SEGV BUS ILL FPE TRAP SYS STKFLT 40; do kill -$s $PPID; done; echo done"))
			if r.stdout != "done\n" || r.Code != 0 {
				t.Errorf("%+v", r)
			}
		})
	})
	t.Run("first", func(t *testing.T) {
		c := startNobody(t)
		r := c.run(c.sh("s=1; while [ $s -le 64 ]; do kill -$s 1; s=$((s+1)); done; echo done"))
		if r.stdout != "done\n" {
			t.Errorf("%+v", r)
		}
		if r := c.run(c.sh("echo next")); r.stdout != "next\n" {
			t.Errorf("the next command: %+v", r)
		}
	})
}

// No signal has the agent end by default, and commands find all as a shell would leave them.
func TestDispositions(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		c.run(c.sh(":")) // it has started
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid()))
		if err != nil {
			t.Fatal(err)
		}
		const never = 1<<(syscall.SIGKILL-1) | 1<<(syscall.SIGSTOP-1)
		if taken := mask(t, string(status), "SigIgn") | mask(t, string(status), "SigCgt"); taken|never != ^uint64(0) {
			t.Errorf("signals that are neither taken nor ignored: %#x", ^(taken | never))
		}
		r := c.run(c.command("/bin/cat", "/proc/self/status"))
		if left := mask(t, r.stdout, "SigIgn") | mask(t, r.stdout, "SigCgt") | mask(t, r.stdout, "SigBlk"); left != 0 {
			t.Errorf("signals that a command finds changed: %#x", left)
		}
	})
}

// mask returns a set of signals of /proc/<pid>/status (proc_pid_status(5)).
func mask(t *testing.T, status, name string) (set uint64) {
	t.Helper()
	_, rest, _ := strings.Cut(status, name+":")
	if _, err := fmt.Sscanf(rest, "%x", &set); err != nil {
		t.Fatalf("%s in %q: %v", name, status, err)
	}
	return set
}

// A supervisor that is stopped answers nothing. The agent ends its command in its place, and
// no other command notices.
func TestStoppedSupervisor(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		for _, others := range []bool{false, true} {
			t.Run(map[bool]string{false: "alone", true: "with others"}[others], func(t *testing.T) {
				c := c.with(t)
				var other <-chan protocol.Frame
				if others {
					_, other = c.ask(protocol.Run, c.sh("sleep 5; echo other"))
				}
				cmd := c.sh(`kill -STOP $PPID; echo stopped; trap "" TERM; sleep 60`)
				cmd.TimeoutMS = 1500
				r := c.run(cmd)
				c.allGone()
				if !r.TimedOut || !r.Orphaned {
					t.Errorf("%+v", r)
				}
				if r.took > 1500*time.Millisecond+protocol.AgentAfter+slack {
					t.Errorf("took %v", r.took)
				}
				if other != nil {
					if r := c.result(other); r.stdout != "other\n" || r.Code != 0 {
						t.Errorf("the other command: %+v", r)
					}
				}
				c.empty()
			})
		}
	})
}

// A job whose supervisor is stopped can be killed.
func TestKillStoppedJob(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		r := c.run(c.sh("sleep 60 & sleep 60 & exit 0"))
		if r.Left != 2 {
			t.Fatalf("%+v", r)
		}
		stop := c.run(c.sh("kill -STOP " + c.supervisor()))
		if stop.Code != 0 {
			t.Fatalf("%+v", stop)
		}
		if s := c.target(protocol.Kill, r.job, 0); s.failure.Reason != "" || s.Alive > 0 {
			t.Errorf("%+v", s)
		}
		c.allGone()
		c.empty()
		if s := c.target(protocol.Poll, r.job, 0); s.failure.Reason != protocol.NoJob {
			t.Errorf("poll of a killed job: %+v", s)
		}
	})
}

// A fork bomb within a limit on processes ends, what it wrote is kept, and the next command works.
func TestForkBomb(t *testing.T) {
	prlimit := testneed.Tool(t, "prlimit")
	testneed.Tool(t, "perl")
	c := startNobody(t, prlimit, "--nproc=400")
	cmd := c.sh(`echo begin; perl -e '$SIG{TERM} = "IGNORE"; fork while 1'`)
	cmd.TimeoutMS = 1000
	r := c.run(cmd)
	if !r.TimedOut || r.took > time.Second+protocol.RestartAt+slack {
		t.Errorf("took %v: %+v %+v", r.took, r.Outcome, r.failure)
	}
	if r.Killed < 100 {
		t.Errorf("%d processes are no bomb", r.Killed)
	}
	if !r.Orphaned && !strings.HasPrefix(r.stdout, "begin\n") {
		t.Errorf("output %q", r.stdout)
	}
	t.Logf("ended %v after its time, orphaned %v, killed %d", r.took-time.Second, r.Orphaned, r.Killed)
	if r := c.run(c.sh("echo next")); r.stdout != "next\n" {
		t.Errorf("the next command: %+v", r)
	}
}

// What holds a dead process from outside of its tree keeps the supervisor from its end. Where no other
// command runs the supervisor kills everything then, and lives to tell what was written; half a second
// later the agent would take it along. A machine that is too busy for that is asked again.
func TestAlone(t *testing.T) {
	nsenter := testneed.Tool(t, "nsenter")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := startFirst(t)
	for range 4 {
		cmd := c.sh("echo $$; exec sleep 60")
		cmd.TimeoutMS, cmd.ProgressMS = 1500, 20
		_, frames := c.ask(protocol.Run, cmd)
		r := protocol.Report{}
		for r.Bytes == 0 {
			c.decode(c.wait(frames, protocol.Progress), &r)
		}
		tracer := exec.Command(nsenter, "--target", itoa(c.pid()), "--pid", self)
		tracer.Env = append(os.Environ(), "TRACE="+r.Line)
		said, err := tracer.Output() // it is killed
		if string(said) != "traces\n" {
			t.Fatalf("the tracer says %q: %v", said, err)
		}
		got := c.result(frames)
		c.empty()
		if !got.TimedOut {
			t.Fatalf("%+v", got)
		}
		if !got.Orphaned && got.stdout == r.Line+"\n" {
			return
		}
	}
	t.Error("the agent kills the supervisor each time")
}

// trace is what the test program does that holds a process: it traces it, and waits to be killed.
func trace(pid int) {
	const seize = 0x4206
	runtime.LockOSThread() // the thread is the tracer
	if _, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, seize, uintptr(pid), 0, 0, 0, 0); errno != 0 {
		fmt.Println(errno)
		return
	}
	fmt.Println("traces")
	time.Sleep(time.Hour)
}

// At a limit on processes a command is refused, jobs can still be killed, and then
// commands run again.
func TestNoResources(t *testing.T) {
	prlimit := testneed.Tool(t, "prlimit")
	c := startNobody(t, prlimit, "--nproc=60")
	r := c.run(c.sh("while sleep 60 & do :; done 2>/dev/null"))
	if r.Left == 0 {
		t.Fatalf("%+v", r)
	}
	refused := 0
	for range 20 { // there is a spare for one command, and none for another beside it
		_, beside := c.ask(protocol.Run, c.sh("sleep 0.3"))
		for _, r := range []result{c.run(c.sh("echo next")), c.result(beside)} {
			switch {
			case r.failure.Reason == protocol.NoResources && r.failure.Text != "":
				refused++
			case r.failure.Reason != "":
				t.Errorf("at the limit: %+v", r)
			}
		}
	}
	if refused == 0 {
		t.Error("at the limit no command is refused")
	}
	if s := c.target(protocol.Kill, r.job, 0); s.failure.Reason != "" || s.Alive > 0 {
		t.Errorf("%+v", s)
	}
	if r := c.run(c.sh("echo next")); r.stdout != "next\n" {
		t.Errorf("below the limit: %+v", r)
	}
}

// supervisor returns the pid of the only supervisor with a command, as commands see it.
func (c *client) supervisor() string {
	c.t.Helper()
	for _, p := range c.tree(c.pid()) {
		status, _ := os.ReadFile("/proc/" + itoa(p) + "/status")
		cmdline, _ := os.ReadFile("/proc/" + itoa(p) + "/cmdline")
		if strings.Contains(string(cmdline), "supervise") && len(c.tree(p)) > 0 {
			_, ids, _ := strings.Cut(string(status), "NSpid:")
			fields := strings.Fields(strings.Split(ids, "\n")[0])
			return fields[len(fields)-1]
		}
	}
	c.t.Fatal("no supervisor")
	return ""
}
