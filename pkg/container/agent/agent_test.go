//go:build linux

package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

func TestGreeting(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		g := c.greeting()
		if g.Version != protocol.Version || g.Build != "test" || g.UID != os.Getuid() || g.GID != os.Getgid() {
			t.Errorf("%+v", g)
		}
		if first := strings.HasSuffix(t.Name(), "first"); first != (g.PID == 1) {
			t.Errorf("pid %d", g.PID)
		}
	})
}

func TestExits(t *testing.T) {
	c := startPlain(t)
	type exit struct {
		Code   int
		Signal string
		Reason protocol.Reason
	}
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(c.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in := func(dir string) protocol.Command {
		cmd := c.command("true")
		cmd.Dir = dir
		return cmd
	}
	tests := map[string]struct {
		cmd  protocol.Command
		want exit
	}{
		"success":                {c.command("true"), exit{}},
		"a code":                 {c.sh("exit 7"), exit{Code: 7}},
		"the largest code":       {c.sh("exit 255"), exit{Code: 255}},
		"a signal":               {c.sh("kill -9 $$"), exit{Code: 137, Signal: "SIGKILL"}},
		"a polite signal":        {c.sh("kill $$"), exit{Code: 143, Signal: "SIGTERM"}},
		"a broken pipe":          {c.sh("kill -PIPE $$"), exit{Code: 141, Signal: "SIGPIPE"}},
		"a fault":                {c.sh("kill -SEGV $$"), exit{Code: 139, Signal: "SIGSEGV"}},
		"a real-time signal":     {c.sh("kill -40 $$"), exit{Code: 168, Signal: "signal 40"}},
		"no such program":        {c.command("no-such-program"), exit{Reason: protocol.NoProgram}},
		"no such path":           {c.command("/no/such/program"), exit{Reason: protocol.NoProgram}},
		"below a file":           {c.command("/etc/passwd/program"), exit{Reason: protocol.NoProgram}},
		"no interpreter":         {c.command(file("lost", "#!/no/such/sh\n", 0o755)), exit{Reason: protocol.NoProgram}},
		"not executable":         {c.command(file("text", "x", 0o644)), exit{Reason: protocol.NotRunnable}},
		"a directory":            {c.command("/etc"), exit{Reason: protocol.NotRunnable}},
		"no format":              {c.command(file("noformat", "true\n", 0o755)), exit{Reason: protocol.NotRunnable}},
		"a relative path":        {c.command("./" + filepath.Base(file("here", "#!/bin/sh\nexit 3\n", 0o755))), exit{Code: 3}},
		"a long argument":        {c.command("true", strings.Repeat("x", 1<<18)), exit{Reason: protocol.TooLong}},
		"no such directory":      {in("/no/such/directory"), exit{Reason: protocol.NoDirectory}},
		"a file as directory":    {in("/etc/passwd"), exit{Reason: protocol.NoDirectory}},
		"a relative directory":   {in("etc"), exit{Reason: protocol.BadRequest}},
		"no arguments":           {c.command(), exit{Reason: protocol.BadRequest}},
		"an empty program":       {c.command(""), exit{Reason: protocol.BadRequest}},
		"NUL":                    {c.command("true", "a\x00b"), exit{Reason: protocol.BadRequest}},
		"no timeout":             {protocol.Command{Argv: []string{"true"}, Dir: "/"}, exit{Reason: protocol.BadRequest}},
		"an entry without name":  {protocol.Command{Argv: []string{"true"}, Dir: "/", TimeoutMS: 1000, Env: []string{"=x"}}, exit{Reason: protocol.BadRequest}},
		"an entry without value": {protocol.Command{Argv: []string{"true"}, Dir: "/", TimeoutMS: 1000, Env: []string{"x"}}, exit{Reason: protocol.BadRequest}},
		"a timeout out of range": {protocol.Command{Argv: []string{"true"}, Dir: "/", TimeoutMS: 1 << 62}, exit{Reason: protocol.BadRequest}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := c.run(tc.cmd)
			if diff := cmp.Diff(tc.want, exit{r.Code, r.Signal, r.failure.Reason}); diff != "" {
				t.Errorf("%s%+v", diff, r)
			}
			if (tc.want.Reason != "") != (r.failure.Text != "") {
				t.Errorf("text %q", r.failure.Text)
			}
			if r.OOM || r.TimedOut || r.Left+r.Killed != 0 {
				t.Errorf("%+v", r.Outcome)
			}
		})
	}
}

// A directory that may not be entered, and a program in PATH that may not be executed, look
// like others to root.
func TestExitsOfOthers(t *testing.T) {
	c := startNobody(t)
	closed := filepath.Join(c.dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := c.command("true")
	cmd.Dir = closed
	if r := c.run(cmd); r.failure.Reason != protocol.NoDirectory {
		t.Errorf("closed directory: %+v", r)
	}
	first, second := filepath.Join(c.dir, "1"), filepath.Join(c.dir, "2")
	for dir, mode := range map[string]os.FileMode{first: 0o644, second: 0o755} {
		os.Mkdir(dir, 0o755)
		if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho "+dir+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd = c.command("tool")
	cmd.Env = []string{"PATH=" + first + ":" + second}
	if r := c.run(cmd); r.stdout != second+"\n" {
		t.Errorf("the one that can be executed comes second: %+v", r)
	}
	cmd.Env = []string{"PATH=" + first + ":/no/such"}
	if r := c.run(cmd); r.failure.Reason != protocol.NotRunnable {
		t.Errorf("none can be executed: %+v", r)
	}
}

func TestStreams(t *testing.T) {
	c := startPlain(t)
	input := func(cmd protocol.Command) protocol.Command {
		cmd.Stdin = true
		return cmd
	}
	big := strings.Repeat("0123456789abcde\n", 1<<18)
	tests := map[string]struct {
		cmd            protocol.Command
		input          string
		stdout, stderr string
	}{
		"apart":                   {c.sh("echo a; echo b >&2"), "", "a\n", "b\n"},
		"no input for cat":        {c.command("cat"), "ignored", "", ""},
		"no input for read":       {c.sh("read x || echo none"), "", "none\n", ""},
		"input":                   {input(c.command("cat")), "abc", "abc", ""},
		"empty input":             {input(c.command("cat")), "", "", ""},
		"large input":             {input(c.command("wc", "-c")), big, "4194304\n", ""},
		"input that nobody reads": {input(c.command("true")), big, "", ""},
		"input that one stops":    {input(c.command("head", "-c", "3")), big, "012", ""},
		"literal arguments":       {c.command("printf", "%s|", "a b", `"$HOME'*`, "", "\n"), "", "a b|\"$HOME'*||\n|", ""},
		"invalid bytes and NUL":   {c.sh(`printf 'a\377\000b'`), "", "a\xff\x00b", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := c.run(tc.cmd, tc.input)
			if r.Code != 0 || r.stdout != tc.stdout || r.stderr != tc.stderr {
				t.Errorf("%q and %q, want %q and %q: %+v", r.stdout, r.stderr, tc.stdout, tc.stderr, r.Outcome)
			}
		})
	}
}

// What is kept has whole runes at its cuts, and numbers that say what is missing.
func TestKept(t *testing.T) {
	c := startPlain(t)
	cmd := c.sh(`i=0; while [ $i -lt 500 ]; do printf '😀'; i=$((i+1)); done; printf err >&2`)
	cmd.Keep = 10
	r := c.run(cmd)
	want := protocol.Output{
		Stdout: protocol.Span{Head: 8, Tail: 8, Bytes: 2000, Runes: 500},
		Stderr: protocol.Span{Head: 3, Bytes: 3, Runes: 3},
	}
	if diff := cmp.Diff(want, r.Output); diff != "" {
		t.Error(diff)
	}
	if r.stdout != "😀😀😀😀" || r.stderr != "err" {
		t.Errorf("%q and %q", r.stdout, r.stderr)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("AGENT_TEST_BASE", "base")
	t.Setenv("AGENT_TEST_BOTH", "base")
	c := startPlain(t)
	cmd := c.command("env")
	cmd.Env = []string{"AGENT_TEST_BOTH=command", "AGENT_TEST_NEW=a=b", "AGENT_TEST_NEW=c"}
	r := c.run(cmd)
	want := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "AGENT_TEST_BOTH=") || strings.HasPrefix(s, "PWD=")
	})
	want = append(want, "AGENT_TEST_BOTH=command", "AGENT_TEST_NEW=c", "PWD="+c.dir)
	got := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A command gets three descriptors, default signals and a session of its own.
func TestInheritance(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		r := c.command("ls", "/proc/self/fd") // the fourth is that of the folder
		if got := c.run(r).stdout; got != "0\n1\n2\n3\n" {
			t.Errorf("descriptors %q", got)
		}
		status := c.run(c.command("cat", "/proc/self/status")).stdout
		for _, set := range []string{"SigBlk", "SigIgn", "SigCgt"} {
			const standard = 1<<31 - 1 // signals 1 to 31; C libraries keep the first ones behind to themselves
			_, mask, _ := strings.Cut(status, set+":\t")
			mask, _, _ = strings.Cut(mask, "\n")
			if bits, err := strconv.ParseUint(mask, 16, 64); err != nil || bits&standard != 0 {
				t.Errorf("%s is %q, %v", set, mask, err)
			}
		}
		f := strings.Fields(c.run(c.command("cat", "/proc/self/stat")).stdout)
		if len(f) < 6 || f[0] != f[4] || f[0] != f[5] {
			t.Errorf("process, group and session: %q", f)
		}
		if got := c.run(c.command("cat", "/proc/self/oom_score_adj")).stdout; got != "500\n" && got != "0\n" {
			t.Errorf("oom_score_adj %q", got)
		}
		if got := c.run(c.sh("sleep 0.1; cat /proc/self/oom_score_adj")).stdout; got != "500\n" {
			t.Errorf("oom_score_adj %q after a while", got)
		}
	})
}

// Commands of the agent's own user get at nothing of it.
func TestHidden(t *testing.T) {
	c := startNobody(t)
	for _, script := range []string{
		"ls /proc/1/fd", "ls -l /proc/1/fd/64", "cat /proc/1/environ", "head -c 1 /proc/1/mem", "cat /proc/1/maps",
		"echo x > /proc/1/fd/65", "readlink /proc/1/exe",
		"ls /proc/$PPID/fd/", "cat /proc/$PPID/environ", "cat /proc/$PPID/maps",
	} {
		t.Run(script, func(t *testing.T) {
			if r := c.run(c.sh(script)); r.Code == 0 || r.stdout != "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	c := startPlain(t)
	cmd := c.sh("echo one; sleep 0.4; echo two >&2; sleep 0.4; echo three; sleep 0.4")
	cmd.ProgressMS = 50
	_, frames := c.ask(protocol.Run, cmd)
	var seen []protocol.Report
	for {
		f := c.wait(frames, protocol.Progress, protocol.Result)
		if f.Kind == protocol.Result {
			break
		}
		var r protocol.Report
		c.decode(f, &r)
		seen = append(seen, r)
	}
	if len(seen) < 4 {
		t.Fatalf("%d reports in more than a second", len(seen))
	}
	if last := seen[len(seen)-1]; last != (protocol.Report{Line: "three", Bytes: 14}) {
		t.Errorf("last report %+v", last)
	}
	if !slices.Contains(seen, protocol.Report{Line: "two", Bytes: 8}) {
		t.Errorf("no report of two lines in %+v", seen)
	}
}

// 1 GB goes through, and neither process grows.
func TestFlood(t *testing.T) {
	c := startPlain(t)
	size := int64(1 << 30)
	if raced { // which is ten times as slow
		size >>= 3
	}
	cmd := c.sh("head -c " + itoa(int(size)) + " /dev/zero; grep VmHWM /proc/$PPID/status >&2")
	cmd.Keep = 128 << 10
	r := c.run(cmd)
	if want := (protocol.Span{Head: 128 << 10, Tail: 128 << 10, Bytes: size, Runes: size}); r.Stdout != want {
		t.Errorf("%+v", r)
	}
	limit := 16 << 10 // KiB
	if raced {
		limit *= 10
	}
	if got := highWater(r.stderr); got == 0 || got > limit {
		t.Errorf("the supervisor's memory: %q, at most %d KiB", r.stderr, limit)
	}
	status, err := os.ReadFile("/proc/" + itoa(c.pid()) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	if got := highWater(string(status)); got == 0 || got > limit {
		t.Errorf("the agent's memory: %d KiB, at most %d", got, limit)
	}
	t.Logf("%d bytes in %v; supervisor %d KiB, agent %d KiB", size, r.took, highWater(r.stderr), highWater(string(status)))
}

// highWater returns VmHWM of a text like /proc/<pid>/status, in KiB.
func highWater(status string) int {
	_, rest, _ := strings.Cut(status, "VmHWM:")
	return atoi(strings.TrimSpace(strings.Split(rest, "kB")[0]))
}

func TestManyAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		const n = 200
		start := time.Now()
		var answers []<-chan protocol.Frame
		for i := range n {
			_, frames := c.ask(protocol.Run, c.sh("echo "+itoa(i)+"; sleep 0.5; exit "+itoa(i%256)))
			answers = append(answers, frames)
		}
		for i, frames := range answers {
			if r := c.result(frames); r.Code != i%256 || r.stdout != itoa(i)+"\n" {
				t.Errorf("command %d: %+v", i, r)
			}
		}
		t.Logf("%d commands of half a second in %v", n, time.Since(start))
		c.empty()
	})
}

// After many commands nothing is left of them.
func TestManyInARow(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		pid := c.pid()
		c.run(c.command("true"))
		c.empty()
		before := descriptors(t, pid)
		start := time.Now()
		const n = 500
		for range n {
			if r := c.run(c.sh("true & exit 3")); r.Code != 3 {
				t.Fatalf("%+v", r)
			}
		}
		t.Logf("%v a command", time.Since(start)/n)
		c.empty()
		await(t, "no more descriptors than before", func() bool { return descriptors(t, pid) <= before }) // fewer: the spare was being started
		await(t, "no job is left", func() bool { return len(c.jobs()) == 0 })
	})
}

func descriptors(t *testing.T, pid int) int {
	t.Helper()
	testneed.Root(t)
	names, err := os.ReadDir("/proc/" + itoa(pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
