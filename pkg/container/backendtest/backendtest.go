// Package backendtest holds what every [container.Backend] must do, as tests.
//
//	backendtest.Run(t, func(t *testing.T) container.Backend { ... })
//
// It needs a POSIX shell at /bin/sh of the environment, and cat, sleep, kill and /proc. What a
// backend says that it cannot do is tested to be refused.
package backendtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
)

// Open returns a new environment, and closes it when the test ends.
type Open func(t *testing.T) container.Backend

// Run runs all tests. Each gets an environment of its own.
func Run(t *testing.T, open Open) {
	tests := map[string]func(*testing.T, env){
		"commands":         commands,
		"bad commands":     badCommands,
		"environment":      environment,
		"standard input":   standardInput,
		"output is cut":    cutOutput,
		"timeouts":         timeouts,
		"cancelled":        cancelled,
		"at once":          atOnce,
		"progress":         progress,
		"jobs":             jobs,
		"a job ends":       jobEnds,
		"restart":          restart,
		"restart under it": restartUnder,
		"closed":           closed,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, env{t, open(t)}) })
	}
}

// generous bounds what ought to take milliseconds, on a busy machine.
const generous = 10 * time.Second

// An env is a backend in a test.
type env struct {
	t *testing.T
	b container.Backend
}

// sh makes a command of a line of shell.
func sh(line string) container.Command {
	return container.Command{Argv: []string{"/bin/sh", "-c", line}, Timeout: time.Minute, Limit: 1000}
}

// run runs c, which must start and end.
func (e env) run(c container.Command) container.Result {
	e.t.Helper()
	res, err := e.b.Run(e.t.Context(), c, nil)
	if err != nil {
		e.t.Fatalf("%q: %v", c.Argv, err)
	}
	return res
}

// marker returns a time to sleep that no other process sleeps.
func marker() string { return "77" + strconv.Itoa(int(time.Now().UnixNano()%1e9)) + "." + digits() }

func digits() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%d%d%d", b[0], b[1], b[2])
}

// alive counts the processes that sleep for a time.
func (e env) alive(marker string) string {
	e.t.Helper()
	res := e.run(sh(`n=0; for p in /proc/[0-9]*; do
		case "$(tr '\0' ' ' 2>/dev/null <$p/cmdline)" in "sleep ` + marker + ` ") n=$((n+1)) ;; esac
	done 2>/dev/null; echo $n`))
	return strings.TrimSpace(res.Stdout.Text)
}

// none wants nothing to sleep for a time any more.
func (e env) none(marker string) {
	e.t.Helper()
	n := ""
	for end := time.Now().Add(generous); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if n = e.alive(marker); n == "0" {
			return
		}
	}
	e.t.Errorf("%s processes are left", n)
}

func commands(t *testing.T, e env) {
	tests := []struct {
		line        string
		out, errs   string
		code        int
		signal      string
		oneOfSignal bool // only backends with ExactKill see what ended the command itself
	}{
		{line: "echo a; echo b >&2", out: "a\n", errs: "b\n"},
		{line: "true"},
		{line: "printf 'no end'", out: "no end"},
		{line: "exit 7", code: 7},
		{line: "exit 255", code: 255},
		{line: "nosuchprogram 2>/dev/null", code: 127},
		{line: "/etc 2>/dev/null", code: 126},
		{line: "kill -TERM $$", code: 143, signal: "SIGTERM", oneOfSignal: true},
		{line: "kill -KILL $$", code: 137, signal: "SIGKILL", oneOfSignal: true},
		{line: `printf 'a\000b'`, out: "a\x00b"},
		{line: `printf '\377\303\244'`, out: "\uFFFDä"},
		{line: "false; echo $?", out: "1\n"},
		{line: `echo "$0 'x' \"y\""`, out: "/bin/sh 'x' \"y\"\n"},
	}
	for _, tt := range tests {
		res := e.run(sh(tt.line))
		if res.Stdout.Text != tt.out || res.Stderr.Text != tt.errs || res.Code != tt.code || res.TimedOut || res.OOM {
			t.Errorf("%s: got %+v", tt.line, res)
		}
		if tt.oneOfSignal && e.b.Abilities().ExactKill && res.Signal != tt.signal {
			t.Errorf("%s: got signal %q, want %q", tt.line, res.Signal, tt.signal)
		}
	}
	res := e.run(container.Command{Argv: []string{"echo", "$HOME", "a b", "'"}, Timeout: time.Minute, Limit: 100})
	if res.Stdout.Text != "$HOME a b '\n" {
		t.Errorf("arguments are not passed as they are: %q", res.Stdout.Text)
	}
	for name, code := range map[string]int{"nosuchprogram": 127, "/no/such": 127, "/etc": 126} {
		c := sh("")
		c.Argv = []string{name}
		if res := e.run(c); res.Code != code || !strings.HasPrefix(res.Stderr.Text, name+": ") {
			t.Errorf("%s: got %+v, want code %d", name, res, code)
		}
	}
}

func badCommands(t *testing.T, e env) {
	with := func(change func(*container.Command)) container.Command {
		c := sh("echo it ran")
		change(&c)
		return c
	}
	tests := map[string]struct {
		c    container.Command
		want container.StartReason
	}{
		"no argument":          {with(func(c *container.Command) { c.Argv = nil }), container.BadCommand},
		"an empty program":     {with(func(c *container.Command) { c.Argv[0] = "" }), container.BadCommand},
		"NUL in the command":   {with(func(c *container.Command) { c.Argv[2] = "echo \x00" }), container.BadCommand},
		"NUL in the directory": {with(func(c *container.Command) { c.Dir = "/\x00" }), container.BadCommand},
		"no timeout":           {with(func(c *container.Command) { c.Timeout = 0 }), container.BadCommand},
		"a negative timeout":   {with(func(c *container.Command) { c.Timeout = -1 }), container.BadCommand},
		"no limit":             {with(func(c *container.Command) { c.Limit = 0 }), container.BadCommand},
		"a name with =":        {with(func(c *container.Command) { c.Env = map[string]string{"A=B": ""} }), container.BadCommand},
		"NUL in a value":       {with(func(c *container.Command) { c.Env = map[string]string{"A": "\x00"} }), container.BadCommand},
		"no such directory":    {with(func(c *container.Command) { c.Dir = "/no/such/directory" }), container.NoDirectory},
		"a file as directory":  {with(func(c *container.Command) { c.Dir = "/etc/passwd" }), container.NoDirectory},
		"1 MB":                 {with(func(c *container.Command) { c.Argv[2] = ":" + strings.Repeat(" ", 1<<20) }), container.TooLong},
	}
	for name, tt := range tests {
		res, err := e.b.Run(t.Context(), tt.c, nil)
		var start *container.StartError
		if !errors.As(err, &start) || start.Reason != tt.want {
			t.Errorf("%s: got %v (%+v), want reason %q", name, err, res, tt.want)
		}
	}
	if res := e.run(sh("echo fine")); res.Stdout.Text != "fine\n" {
		t.Errorf("after bad commands: %+v", res)
	}
}

func environment(t *testing.T, e env) {
	c := sh(`echo "$A|$B|$PATH|$(pwd)"`)
	c.Env = map[string]string{"A": "one two", "B": "$A 'x'\nnew line"}
	c.Dir = "/"
	res := e.run(c)
	parts := strings.Split(strings.TrimSuffix(res.Stdout.Text, "\n"), "|")
	if len(parts) != 4 || parts[0] != "one two" || parts[1] != "$A 'x'\nnew line" || parts[2] == "" || parts[3] != "/" || res.Dir != "/" {
		t.Errorf("got %q in %q", parts, res.Dir)
	}
	if res := e.run(sh(`echo "$A"; pwd`)); strings.TrimSpace(res.Stdout.Text) != res.Dir {
		t.Errorf("another command's environment stays, or the directory is not what is said: %+v", res)
	}
	c = sh("pwd")
	c.Dir = "below/it/.."
	base := e.run(sh("mkdir -p below/it; pwd")).Stdout.Text
	if res := e.run(c); res.Stdout.Text != strings.TrimSpace(base)+"/below\n" {
		t.Errorf("a relative directory is not below %q: %+v", base, res)
	}
}

func standardInput(t *testing.T, e env) {
	give := func(s string) *string { return &s }
	large := strings.Repeat("0123456789abcde\n", 1<<16) // 1 MiB
	tests := map[string]struct {
		line  string
		stdin *string
		want  string
	}{
		"none":           {"cat; read x || echo end", nil, "end\n"},
		"some":           {"cat", give("a\x00b\n"), "a\x00b\n"},
		"empty":          {"cat; echo end", give(""), "end\n"},
		"large":          {"wc -c | tr -d ' '", give(large), strconv.Itoa(len(large)) + "\n"},
		"nobody reads":   {"echo done", give(large), "done\n"},
		"read in part":   {"read x; echo $x", give(large), "0123456789abcde\n"},
		"a shell's text": {"sh", give("echo from stdin\n"), "from stdin\n"},
	}
	for name, tt := range tests {
		c := sh(tt.line)
		c.Stdin = tt.stdin
		if res := e.run(c); res.Stdout.Text != tt.want || res.Code != 0 {
			t.Errorf("%s: got %+v", name, res)
		}
	}
}

func cutOutput(t *testing.T, e env) {
	const line = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n" // 64
	c := sh(`echo head; i=0; while [ $i -lt 400 ]; do echo 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde; i=$((i+1)); done; echo tail; echo fault >&2`)
	c.Limit = 200
	res := e.run(c)
	total := int64(len("head\ntail\n") + 400*len(line))
	shown := int64(len([]rune(res.Stdout.Text)))
	mark := fmt.Sprintf("\n[... %d characters omitted ...]\n", res.Stdout.Omitted)
	if !strings.HasPrefix(res.Stdout.Text, "head\n") || !strings.HasSuffix(res.Stdout.Text, "tail\n") || !strings.Contains(res.Stdout.Text, mark) {
		t.Errorf("head, mark or tail is missing: %q", res.Stdout.Text)
	}
	if shown+int64(len(res.Stderr.Text)) > 200 || shown-int64(len(mark))+res.Stdout.Omitted != total {
		t.Errorf("%d characters are shown and %d omitted, of %d", shown, res.Stdout.Omitted, total)
	}
	if res.Stderr.Text != "fault\n" || res.Stderr.Omitted != 0 {
		t.Errorf("the other stream is cut: %+v", res.Stderr)
	}
}

// ctxError is what a call returns whose context ended.
func ctxError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
