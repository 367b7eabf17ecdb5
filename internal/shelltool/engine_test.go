package shelltool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/shelltool"
	"github.com/toolhost/toolhost/internal/testengine"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// These tests run the tools against a real engine, the way a client does: through the
// protocol, with the sandbox that the flags ask for. Bounds of time are five times what
// is promised, since the machine may be busy.

// withEngine makes a server over a real engine with an image; host may be "".
func withEngine(t *testing.T, host, image string, flags ...string) *harness {
	t.Helper()
	if host == "" {
		host = testengine.Docker(t)
	}
	app := shelltool.App()
	c := parse(t, app, append([]string{"--host=" + host, "--image=" + image, "--pull=never"}, flags...)...)
	s, err := toolkit.NewServer(toolkit.Options{Name: "test", Evaluator: &recorder{decision: approval.Allow}})
	must(t, err)
	must(t, app.Setup(c, s))
	t.Cleanup(s.Close)
	client, end, err := s.Connect(t.Context(), nil)
	must(t, err)
	t.Cleanup(end)
	return &harness{server: s, client: client}
}

// outcomes returns the entries of a result.
func (a answer) outcomes() (out []map[string]any) {
	list, _ := a.result["output"].([]any)
	for _, e := range list {
		out = append(out, e.(map[string]any))
	}
	return out
}

// prompt bounds what takes a second at most, the making of the sandbox included, on a machine that
// does other things beside.
const prompt = 15 * time.Second

// alive says how many processes named sleep there are in the sandbox.
const alive = `n=0; for d in /proc/[0-9]*; do if [ "$(cat $d/comm 2>/dev/null)" = sleep ]; then n=$((n+1)); fi; done; echo $n`

// Whatever a command does to get away, its timeout ends all of it, and what it wrote before
// is there.
func TestTimeoutsEndEverything(t *testing.T) {
	h := withEngine(t, "", testengine.Debian(t))
	h.shell(t, "true")
	for name, command := range map[string]string{
		"plain":          `echo part; sleep 60`,
		"ignores":        `trap "" TERM INT HUP; echo part; sleep 60; sleep 60`,
		"double fork":    `echo part; (setsid sleep 61 >/dev/null 2>&1 </dev/null &) ; sleep 60`,
		"waits":          `echo part; sleep 60 & wait`,
		"holds stdout":   `echo part; setsid sleep 60 & wait`,
		"breeds":         `echo part; while :; do setsid sleep 60 & sleep 0.02; done`,
		"stopped":        `echo part; sleep 60 & kill -STOP $!; wait`,
		"no environment": `echo part; env -i setsid sleep 60`,
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			got := h.call(t, "shell", args{"commands": []string{command, "echo never"}, "timeout_ms": 2000})
			if took := time.Since(begun); took > prompt {
				t.Errorf("it took %s", took)
			}
			all := got.outcomes()
			if len(all) != 1 || all[0]["outcome"].(map[string]any)["type"] != "timeout" || all[0]["stdout"] != "part\n" || got.result["not_run"] != 1.0 {
				t.Errorf("got %q, %v", got.text, got.result)
			}
			if left := h.shell(t, alive); left.text != "0\n" {
				t.Errorf("processes are left: %q", left.text)
			}
		})
	}
}

// Commands that kill what watches over them, or all that they can, harm themselves only.
func TestCommandsThatKillAround(t *testing.T) {
	h := withEngine(t, "", testengine.Debian(t))
	for command, code := range map[string]float64{
		"kill -9 $PPID; sleep 60":                          137,
		"env -i setsid sleep 60 & kill -9 $PPID; sleep 60": 137,
		"sleep 60 & kill -9 -1; sleep 60":                  137,
		"kill -9 1; exit 3":                                3,
	} {
		begun := time.Now()
		got := h.call(t, "shell", args{"command": command, "timeout_ms": 30_000})
		if took := time.Since(begun); got.refused || len(got.outcomes()) != 1 || got.outcomes()[0]["outcome"].(map[string]any)["exit_code"] != code || took > prompt {
			t.Errorf("%s: after %s: %q", command, took, got.text)
		}
		if left := h.shell(t, alive); left.text != "0\n" {
			t.Errorf("after %s processes are left: %q", command, left.text)
		}
		if next := h.shell(t, "echo on"); next.text != "on\n" || next.result["environment_restarted"] != nil {
			t.Errorf("after %s: %q", command, next.text)
		}
	}
}

// How commands end, as a shell says it.
func TestEndsOfCommands(t *testing.T) {
	h := withEngine(t, "", testengine.Debian(t))
	for _, c := range []struct {
		command, stdout, stderr string
		code                    float64
		signal                  any
	}{
		{"echo a; echo b >&2", "a\n", "b\n", 0, nil},
		{"exit 7", "", "", 7, nil},
		{"/etc/passwd", "", "Permission denied", 126, nil},
		{"no-such-program", "", "not found", 127, nil},
		{"kill -9 $$", "", "", 137, "SIGKILL"},
		{"kill -TERM $$", "", "", 143, "SIGTERM"},
		{"cat", "", "", 0, nil},
		{"read x; echo $?", "1\n", "", 0, nil},
		{"python3 -", "", "", 0, nil},
		{`echo 'a  b' "$HOME"`, "a  b /tmp\n", "", 0, nil},
		{`printf 'a\377b\000c'`, "a\uFFFDb\x00c", "", 0, nil},
		{"cd /tmp; export A=1", "", "", 0, nil},
		{"pwd; echo $A", "/data\n\n", "", 0, nil},
	} {
		begun := time.Now()
		got := h.shell(t, c.command)
		e := got.outcomes()[0]
		if e["stdout"] != c.stdout || !strings.Contains(e["stderr"].(string), c.stderr) || (c.stderr == "") != (e["stderr"] == "") ||
			e["outcome"].(map[string]any)["exit_code"] != c.code || e["signal"] != c.signal || e["oom"] != nil {
			t.Errorf("%s: got %v", c.command, e)
		}
		if took := time.Since(begun); took > prompt {
			t.Errorf("%s: took %s", c.command, took)
		}
	}
	if got := h.call(t, "shell", args{"command": "cat", "stdin": "a\nb"}); got.text != "a\nb" {
		t.Errorf("stdin: %q", got.text)
	}
	if got := h.call(t, "shell", args{"command": "pwd; echo $B", "working_directory": "../tmp", "env": args{"B": "x y"}}); got.text != "/tmp\nx y\n" {
		t.Errorf("directory and environment: %q", got.text)
	}
	if got := h.call(t, "shell", args{"command": "ls", "working_directory": "/nowhere"}); !got.refused || !strings.Contains(got.text, "/nowhere") {
		t.Errorf("missing directory: %q", got.text)
	}
	got := h.shell(t, "cd /tmp && echo 1 > f", "cat /tmp/f; exit 5", "pwd")
	if want := "[command 1 of 3: exit code 0, no output]\n[command 2 of 3: exit code 5]\n1\n[command 3 of 3: exit code 0]\n/data"; got.text != want {
		t.Errorf("several: %q", got.text)
	}
}

// What a command leaves running is a job, which can be listed, read and killed.
func TestJobsOfASandbox(t *testing.T) {
	h := withEngine(t, "", testengine.Busybox(t))
	h.shell(t, "true")
	begun := time.Now()
	got := h.shell(t, "echo hi; (while :; do echo tick; sleep 0.1; done) & exit 7")
	if took := time.Since(begun); took > prompt {
		t.Errorf("it took %s", took)
	}
	e := got.outcomes()[0]
	id, _ := e["job_id"].(string)
	if !strings.HasPrefix(e["stdout"].(string), "hi\n") || e["outcome"].(map[string]any)["exit_code"] != 7.0 || id == "" {
		t.Fatalf("got %v", e)
	}
	if list := h.call(t, "shell_job", args{"action": "list"}); !strings.Contains(list.text, "job "+id+": ") || !strings.Contains(list.text, "echo tick") {
		t.Errorf("list: %q", list.text)
	}
	if poll := h.call(t, "shell_job", args{"action": "poll", "job_id": id, "timeout_ms": 500}); !strings.Contains(poll.text, "tick\n") {
		t.Errorf("poll: %q", poll.text)
	}
	if kill := h.call(t, "shell_job", args{"action": "kill", "job_id": id}); kill.refused || !strings.Contains(kill.text, "[job "+id+": ended, ") {
		t.Errorf("kill: %q", kill.text)
	}
	if left := h.shell(t, alive); left.text != "0\n" {
		t.Errorf("left: %q", left.text)
	}
	h.shell(t, "echo 1 > /tmp/kept; echo 2 > /kept 2>/dev/null; sleep 100 &")
	if again := h.call(t, "shell_job", args{"action": "restart"}); again.refused {
		t.Errorf("restart: %q", again.text)
	}
	if left := h.shell(t, alive); left.text != "0\n" || left.result["environment_restarted"] != nil {
		t.Errorf("left after the restart: %q", left.text)
	}
}

// Memory and processes have limits, and what goes over them is told from a plain end.
func TestLimitsOfASandbox(t *testing.T) {
	h := withEngine(t, "", testengine.Debian(t), "--memory=64m", "--pids=64")
	got := h.shell(t, "python3 -c 'x = bytearray(200 << 20)'")
	if e := got.outcomes()[0]; e["oom"] != true || e["outcome"].(map[string]any)["exit_code"] != 137.0 {
		t.Errorf("memory: got %v", e)
	}
	// A plain end of the same kind is no such one, also where the limit was reached before.
	got = h.shell(t, "kill -9 $$")
	if e := got.outcomes()[0]; e["oom"] != nil || e["outcome"].(map[string]any)["exit_code"] != 137.0 {
		t.Errorf("a plain kill after it: got %v", e)
	}
	// It forks wherever it can, and none of it ends by itself.
	const bomb = `python3 -c 'import os, time
while True:
  try: os.fork()
  except OSError: time.sleep(0.01)'`
	begun := time.Now()
	got = h.call(t, "shell", args{"command": bomb, "timeout_ms": 1000})
	if took := time.Since(begun); got.refused || got.outcomes()[0]["outcome"].(map[string]any)["type"] != "timeout" || took > 20*time.Second {
		t.Errorf("fork bomb: after %s: %q", took, got.text)
	}
	if next := h.shell(t, "echo on"); next.refused || !strings.HasPrefix(next.text, "on\n") {
		t.Errorf("after the fork bomb: %q", next.text)
	}
}

// Where no more processes can be started a command says so, and the sandbox can still be
// mended.
func TestFullSandbox(t *testing.T) {
	h := withEngine(t, "", testengine.Busybox(t), "--pids=64")
	got := h.shell(t, "for i in $(seq 100); do sleep 100 & done 2>/dev/null")
	id, _ := got.outcomes()[0]["job_id"].(string)
	if id == "" {
		t.Fatalf("got %q", got.text)
	}
	full := h.shell(t, "true | true | true | true")
	if !full.refused && full.outcomes()[0]["outcome"].(map[string]any)["exit_code"] == 0.0 {
		t.Errorf("it ran: %q", full.text)
	}
	// The first one may have got the one supervisor that there was room for.
	eventually(t, "a command is refused for want of processes", func() bool {
		full = h.shell(t, "true")
		return full.refused
	})
	if !strings.Contains(full.text, "can start no more processes") || !strings.Contains(full.text, "its limit on processes or memory is reached") {
		t.Errorf("it says %q", full.text)
	}
	if kill := h.call(t, "shell_job", args{"action": "kill", "job_id": id}); kill.refused {
		t.Errorf("kill: %q", kill.text)
	}
	if next := h.shell(t, "echo on"); next.text != "on\n" {
		t.Errorf("afterwards: %q", next.text)
	}
}

// A root belongs to its owner inside as well, and nothing else of the host is seen.
func TestRootOfASandbox(t *testing.T) {
	root := realTemp(t)
	must(t, os.Chmod(root, 0o755))
	must(t, os.WriteFile(filepath.Join(root, "in"), []byte("from the host\n"), 0o644))
	want := 0
	if os.Geteuid() == 0 {
		want = 4321
		must(t, os.Chown(root, want, want))
	}
	t.Setenv("OPENAI_API_KEY", "secret-of-the-server")
	h := withEngine(t, "", testengine.Busybox(t), "--root="+root)
	got := h.shell(t, "cat in; echo out > out; pwd; env")
	if !strings.HasPrefix(got.text, "from the host\n/data\n") || strings.Contains(got.text, "secret-of-the-server") {
		t.Errorf("got %q", got.text)
	}
	if want > 0 {
		got = h.shell(t, "stat -c %u:%g out")
		if got.text != fmt.Sprintf("%d:%d\n", want, want) {
			t.Errorf("inside: %q", got.text)
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, "out")); err != nil || string(text) != "out\n" {
		t.Errorf("on the host: %q, %v", text, err)
	}
}

// Without a network what asks for one fails at once, whatever is written.
func TestNoNetwork(t *testing.T) {
	h := withEngine(t, "", testengine.Busybox(t), "--read-only-rootfs")
	for _, command := range []string{"wget -q -O - http://example.com/", "wget -q -O - http://192.0.2.1/", "ping -c 1 192.0.2.1"} {
		begun := time.Now()
		got := h.call(t, "shell", args{"command": command, "timeout_ms": 60_000})
		e := got.outcomes()[0]
		if code, _ := e["outcome"].(map[string]any)["exit_code"].(float64); code == 0 || code > 125 || e["stderr"] == "" || time.Since(begun) > prompt {
			t.Errorf("%s: after %s: %q", command, time.Since(begun), got.text)
		}
	}
	if got := h.shell(t, "echo x > f && cat f /data/f"); got.text != "x\nx\n" {
		t.Errorf("a command that needs none: %q", got.text)
	}
}

// After a thousand commands the server has the goroutines and descriptors of before.
func TestThousandCommands(t *testing.T) {
	h := withEngine(t, "", testengine.Busybox(t))
	row := func() {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				command := []string{"true", "exit 3", "kill -9 $$", "no-such-program"}[i%4]
				res, err := h.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "shell", Arguments: args{"command": command}})
				if err != nil || res.IsError {
					t.Errorf("%s: %v, %+v", command, err, res)
				}
			})
		}
		all.Wait()
	}
	row()
	descriptors := func() int {
		names, _ := os.ReadDir("/proc/self/fd") // none on systems that do not tell
		return len(names)
	}
	files, routines := descriptors(), runtime.NumGoroutine()
	for range 50 {
		row()
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > routines || descriptors() > files; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("goroutines: %d before, %d after; descriptors: %d and %d", routines, runtime.NumGoroutine(), files, descriptors())
		}
	}
}

// Of a flood the beginning, the end and the exact count between them arrive.
func TestFlood(t *testing.T) {
	h := withEngine(t, "", testengine.Busybox(t))
	const size = 200 << 20
	got := h.call(t, "shell", args{"command": fmt.Sprintf("echo first; yes | head -c %d; echo last", size), "max_output_length": 1000})
	e := got.outcomes()[0]
	text := e["stdout"].(string)
	mark := fmt.Sprintf("\n[... %.0f characters omitted ...]\n", e["stdout_omitted"])
	shown := len(text) - len(mark)
	if !strings.HasPrefix(text, "first\ny\n") || !strings.HasSuffix(text, "y\nlast\n") || !strings.Contains(text, mark) || len(text) > 1000 ||
		shown+int(e["stdout_omitted"].(float64)) != size+len("first\nlast\n") {
		t.Errorf("%d characters, %v left out: %q", len(text), e["stdout_omitted"], got.text)
	}
}

// Commands at once do not wait for each other.
func TestAtOnce(t *testing.T) {
	h := withEngine(t, "", testengine.Busybox(t))
	h.shell(t, "true")
	for command, most := range map[string]time.Duration{"true": 5 * time.Second, "sleep 0.5": 10 * time.Second} {
		begun := time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				res, err := h.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "shell", Arguments: args{"command": command}})
				if err != nil || res.IsError {
					t.Errorf("%s: %v, %+v", command, err, res)
				}
			})
		}
		all.Wait()
		took := time.Since(begun)
		t.Logf("50 times %s: %s", command, took)
		if took > most {
			t.Errorf("50 times %s took %s", command, took)
		}
	}
}

// An engine that ends in the middle of a command is an error that says so; the next call has
// a new sandbox, and says that too.
func TestEngineRestarts(t *testing.T) {
	image := testengine.Busybox(t)
	e := testengine.Private(t, image)
	h := withEngine(t, e.Host, image)
	h.shell(t, "true")
	answers := make(chan answer, 1)
	go func() {
		res, err := h.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "shell", Arguments: args{"commands": []string{"echo kept", "echo begun > /tmp/begun; sleep 60"}}})
		if err != nil {
			t.Error(err)
			answers <- answer{}
			return
		}
		answers <- answer{text: res.Content[0].(*mcp.TextContent).Text, refused: res.IsError}
	}()
	eventually(t, "the command has begun", func() bool { return h.shell(t, "cat /tmp/begun").text == "begun\n" })
	e.Stop()
	got := <-answers
	if !got.refused || !strings.Contains(got.text, "stopped at command 2 of 2: the sandbox is gone: ") || !strings.Contains(got.text, "\nkept\n") {
		t.Errorf("got %q", got.text)
	}
	if got := h.shell(t, "echo on"); !got.refused || !strings.Contains(got.text, "no Docker engine answers") {
		t.Errorf("while it is away: %q", got.text)
	}
	e.Start()
	if got := h.shell(t, "echo on"); got.refused || got.result["environment_restarted"] != true {
		t.Errorf("after it came back: %q", got.text)
	}
}
