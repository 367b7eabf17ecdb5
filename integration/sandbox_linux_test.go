package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
)

// This file starts mcp-shell as its users do, and looks at its sandboxes from the engine's side.

// A sandboxed is an mcp-shell over stdio, and the engine that it uses.
type sandboxed struct {
	*server
	t     *testing.T
	api   *engineapi.Client
	calls int
}

// startShell starts mcp-shell with an engine, on the small image.
func startShell(t *testing.T, host string, env ...string) *sandboxed {
	t.Helper()
	api, err := engineapi.New(host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	cmd := exec.Command(binary(t, "cmd/mcp-shell"), "--host", host, "--image", testengine.Busybox(t), "--pull", "never")
	cmd.Env = append(os.Environ(), env...)
	return &sandboxed{server: startCommand(t, legacy, cmd), t: t, api: api}
}

// ask sends a call of shell and returns its id.
func (s *sandboxed) ask(commands ...string) (id string) {
	s.t.Helper()
	s.calls++
	id = fmt.Sprint("call ", s.calls)
	s.send(legacy.call(id, "shell", fmt.Sprintf(`{"commands":%s}`, marshal(commands))))
	return id
}

// run runs commands, all of which must succeed, and returns what they wrote.
func (s *sandboxed) run(commands ...string) (stdout string) {
	s.t.Helper()
	m := s.answer(s.ask(commands...))
	if m.Result == nil || m.Result.IsError {
		s.t.Fatalf("%q: %+v %s", commands, m.Error, m.text())
	}
	r := shellResultOf(s.t, m)
	for i, o := range r.Output {
		if o.Outcome.ExitCode == nil || *o.Outcome.ExitCode != 0 {
			s.t.Fatalf("%q: %s", commands[i], m.text())
		}
		stdout += o.Stdout
	}
	return stdout
}

// A shellResult is what the tests look at in a structured result of shell.
type shellResult struct {
	Output []struct {
		Stdout  string
		Outcome struct {
			ExitCode *int `json:"exit_code"`
		}
	}
	Restarted bool `json:"environment_restarted"`
}

func shellResultOf(t *testing.T, m message) (r shellResult) {
	t.Helper()
	if err := json.Unmarshal(m.Result.StructuredContent, &r); err != nil {
		t.Fatalf("structured result %s: %v", m.Result.StructuredContent, err)
	}
	return r
}

// label is what all containers of the server carry.
func (s *sandboxed) label() string { return labelOf(s.cmd.Process) }

func labelOf(p *os.Process) string { return fmt.Sprintf("toolhost.pid=%d", p.Pid) }

// container is the server's one container.
func (s *sandboxed) container() engineapi.Container {
	s.t.Helper()
	list := containers(s.t, s.api, s.label())
	if len(list) != 1 {
		s.t.Fatalf("there are %d containers of the server, want 1: %+v", len(list), list)
	}
	return list[0]
}

func containers(t *testing.T, api *engineapi.Client, label string) []engineapi.Container {
	t.Helper()
	list, err := api.Containers(t.Context(), label)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// processes are the states and command lines of what runs in the container.
func (s *sandboxed) processes() []string {
	s.t.Helper()
	all, err := s.api.Top(s.t.Context(), s.container().ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// runs waits until a command runs in the container, or does not, and says how long that took.
func (s *sandboxed) runs(command string, want bool, within time.Duration) (took time.Duration) {
	s.t.Helper()
	begin := time.Now()
	for {
		all := s.processes()
		if strings.Contains(strings.Join(all, "\n")+"\n", " "+command+"\n") == want {
			return time.Since(begin)
		}
		if time.Since(begin) > within {
			s.t.Fatalf("%s later %q runs: %v; there are %q", within, command, !want, all)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// noneLeft waits until no container carries a label.
func noneLeft(t *testing.T, api *engineapi.Client, label string, within time.Duration) (took time.Duration) {
	t.Helper()
	begin := time.Now()
	for {
		list := containers(t, api, label)
		if len(list) == 0 {
			return time.Since(begin)
		}
		if time.Since(begin) > within {
			t.Fatalf("%s later %d containers are left: %+v", within, len(list), list)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A sandbox ends with its server, however that ends.
func TestSandboxEnds(t *testing.T) {
	const limit = 2 * time.Second
	ends := map[string]func(*sandboxed) error{
		"killed":       func(s *sandboxed) error { return s.cmd.Process.Kill() },
		"input closed": func(s *sandboxed) error { return s.in.Close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startShell(t, testengine.Docker(t))
			s.run("true")
			s.ask("trap '' TERM HUP INT; sleep 1000 & wait")
			s.runs("sleep 1000", true, patience)
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			t.Logf("its container was gone after %s", noneLeft(t, s.api, s.label(), limit+5*slack))
		})
	}
}

// Twenty sandboxes of one server end when it is killed.
func TestManySandboxesEnd(t *testing.T) {
	t.Parallel()
	const n, limit = 20, 5 * time.Second
	api, err := engineapi.New(testengine.Docker(t))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	log := &httpLog{url: make(chan string, 1)}
	cmd := exec.Command(binary(t, "cmd/mcp-shell"), "--http", "127.0.0.1:0", "--host", api.Host, "--image", testengine.Busybox(t), "--pull", "never", "--max-sandboxes", fmt.Sprint(n))
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	url := receive(t, log.url)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	openSandboxes(ctx, t, url, n)
	label := labelOf(cmd.Process)
	if list := containers(t, api, label); len(list) != n {
		t.Fatalf("there are %d containers, want %d\n%s", len(list), n, log)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d containers were gone after %s", n, noneLeft(t, api, label, 5*limit)) // a busy engine takes its time
}

// Commands can read nothing of the server's environment, and reach no engine.
func TestNothingOfTheServerInside(t *testing.T) {
	t.Parallel()
	const secret = "sk-not-for-commands"
	var env []string
	for _, name := range []string{"OPENAI_API_KEY", "DOCKER_HOST", "DOCKER_CONFIG", "HTTP_PROXY", "https_proxy", "MCP_SHELL_SECRET", "PATH_TO_NOTHING"} {
		env = append(env, name+"="+secret)
	}
	s := startShell(t, testengine.Docker(t), env...)
	out := s.run("env", "cat /proc/self/environ", "cat /proc/self/mountinfo", "cat /proc/1/cmdline; cat /proc/1/environ 2>/dev/null; true")
	if strings.Contains(out, secret) {
		t.Errorf("the value of a variable of the server is seen inside:\n%q", out)
	}
	if strings.Contains(out, "docker.sock") || strings.Contains(s.run("find / -name '*.sock' -o -type s 2>/dev/null; true"), "/") {
		t.Errorf("a socket is seen inside:\n%s", out)
	}
	m := s.answer(s.ask("printenv OPENAI_API_KEY DOCKER_HOST"))
	if r := shellResultOf(t, m); len(r.Output) != 1 || r.Output[0].Stdout != "" {
		t.Errorf("they are set inside: %s", m.text())
	}
}

// Without an engine all is as always until a call, which says what is missing.
func TestNoEngine(t *testing.T) {
	t.Parallel()
	nowhere := "unix://" + t.TempDir() + "/none.sock"
	s := start(t, legacy, binary(t, "cmd/mcp-shell"), "--host", nowhere)
	s.send(legacy.request(1, "tools/list", ""))
	if m := s.answer(1); m.Error != nil {
		t.Errorf("tools/list: %+v", m.Error)
	}
	s.send(legacy.call(2, "shell", `{"commands":["true"]}`))
	m := s.answer(2)
	if m.Result == nil || !m.Result.IsError {
		t.Fatalf("a call without an engine: %+v %s", m.Error, m.text())
	}
	for _, want := range []string{"no Docker engine answers", nowhere, "--host", "hint: "} {
		if !strings.Contains(m.text(), want) {
			t.Errorf("the answer does not hold %q:\n%s", want, m.text())
		}
	}
}
