package container_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/container/backendtest"
)

// soon is what takes a moment, with room for a busy machine.
const soon = 10 * time.Second

// engine connects to the engine that tests use.
func engine(t *testing.T) *container.Engine {
	t.Helper()
	e, err := container.Connect(t.Context(), container.EngineOptions{Host: testengine.Docker(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// busybox returns c with the image for most tests, which must not be pulled.
func busybox(t *testing.T, c container.Config) container.Config {
	t.Helper()
	c.Image, c.Pull = testengine.Busybox(t), container.PullNever
	return c
}

// sandbox opens one that is closed at the end of the test, and in which the agent runs.
func sandbox(t *testing.T, e *container.Engine, c container.Config) *container.Sandbox {
	t.Helper()
	s, err := e.Open(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.Info.Degraded != "" {
		t.Fatalf("the agent does not run: %s", s.Info.Degraded)
	}
	return s
}

// output runs a line of shell and returns what it wrote to its standard output.
func output(t *testing.T, b container.Backend, line string) string {
	t.Helper()
	res, err := b.Run(t.Context(), container.Command{Argv: []string{"/bin/sh", "-c", line}, Timeout: time.Minute, Limit: 1 << 16}, nil)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if res.Code != 0 {
		t.Errorf("%q: exit code %d: %s", line, res.Code, res.Stderr.Text)
	}
	return strings.TrimSpace(res.Stdout.Text)
}

// inspect asks the engine itself about a container; false if it has none.
func inspect(t *testing.T, id string, into any) bool {
	t.Helper()
	answer := request(t, "GET", "/containers/"+id+"/json")
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return false
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
	return true
}

// ask returns the status of the engine's answer.
func ask(t *testing.T, method, path string) int {
	t.Helper()
	answer := request(t, method, path)
	answer.Body.Close()
	return answer.StatusCode
}

func removeImage(t *testing.T, image string) {
	t.Helper()
	if status := ask(t, "DELETE", "/images/"+image); status != http.StatusOK && status != http.StatusNotFound {
		t.Errorf("remove image %s: status %d", image, status)
	}
}

// request speaks to the engine by plain HTTP, and to nothing that is tested. It outlives the
// test's context, for what is done at its end.
func request(t *testing.T, method, path string) *http.Response {
	t.Helper()
	network, address, _ := strings.Cut(engineapi.Host(), "://")
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, "http://engine"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// waitGone waits until the engine has removed a container.
func waitGone(t *testing.T, id string) {
	t.Helper()
	for end := time.Now().Add(soon); inspect(t, id, &struct{}{}); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("container %.12s is there after %s", id, soon)
		}
	}
}

// mounted is a sandbox whose directory is one of this machine: files in it outlive a restart.
func mounted(t *testing.T) container.Config {
	return container.Config{Mounts: []container.Mount{{Source: t.TempDir(), Target: "/data"}}}
}

func TestAgentBackend(t *testing.T) {
	e := engine(t)
	backendtest.Run(t, func(t *testing.T) container.Backend { return sandbox(t, e, busybox(t, mounted(t))) })
}

func TestExecBackend(t *testing.T) {
	e := engine(t)
	backendtest.Run(t, func(t *testing.T) container.Backend {
		b, err := e.OpenExec(t.Context(), busybox(t, mounted(t)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	})
}

// Where docker exec cannot start what would end a command, a restart ends it.
func TestExecRestarts(t *testing.T) {
	b, err := engine(t).OpenExec(t.Context(), busybox(t, container.Config{PIDs: 40}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	full := container.Command{
		Argv:    []string{"/bin/sh", "-c", "echo begin; (while sleep 1000 & do :; done) 2>/dev/null; while :; do :; done"},
		Timeout: time.Second, Limit: 100,
	}
	began := time.Now()
	res, err := b.Run(t.Context(), full, nil)
	if err != nil || !res.TimedOut || !res.Restarted || res.Stdout.Text != "begin\n" {
		t.Errorf("after %s got %+v, %v", time.Since(began), res, err)
	}
	if got := output(t, b, "ps | grep -c '[s]leep 1000' || true"); got != "0" {
		t.Errorf("after it there are %s processes of it", got)
	}
}

// A command whose supervisor it has stopped is ended by the agent when its caller goes, and no other
// command loses its sandbox for that.
func TestCancelOfStoppedSupervisor(t *testing.T) {
	s := sandbox(t, engine(t), busybox(t, container.Config{}))
	run := func(ctx context.Context, line string) (container.Result, error) {
		return s.Run(ctx, container.Command{Argv: []string{"/bin/sh", "-c", line}, Timeout: time.Minute, Limit: 100}, nil)
	}
	other := make(chan error, 1)
	go func() {
		res, err := run(t.Context(), "until [ -e /tmp/end ]; do sleep 0.05; done; echo other")
		if err == nil && res.Stdout.Text != "other\n" {
			err = fmt.Errorf("it says %q", res.Stdout.Text)
		}
		other <- err
	}()
	ctx, leave := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() {
		_, err := run(ctx, "kill -STOP $PPID; : >/tmp/stopped; sleep 1000")
		stopped <- err
	}()
	waitFor(t, "the supervisor is stopped", func() bool { return output(t, s, "ls /tmp/stopped 2>/dev/null || true") != "" })
	leave()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the stopped one: %v", err)
	}
	if got := output(t, s, "ps | grep -c '[s]leep 1000' || true; : >/tmp/end"); got != "0" {
		t.Errorf("%s processes of it are left", got)
	}
	if err := <-other; err != nil {
		t.Errorf("the other command: %v", err)
	}
}

func TestInfo(t *testing.T) {
	e := engine(t)
	info, err := e.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Version == "" || info.API == "" || info.Arch == "" || len(info.Runtimes) == 0 {
		t.Errorf("the engine says too little: %+v", info)
	}
}

func TestHasImage(t *testing.T) {
	e := engine(t)
	name := testengine.Busybox(t)
	id, ok, err := e.HasImage(t.Context(), name)
	if err != nil || !ok || !strings.HasPrefix(id, "sha256:") {
		t.Fatalf("%s: %q, %v, %v", name, id, ok, err)
	}
	for _, other := range []string{name + ":latest", id, strings.TrimPrefix(id, "sha256:")[:12]} {
		if got, ok, err := e.HasImage(t.Context(), other); err != nil || !ok || got != id {
			t.Errorf("%s: %q, %v, %v, want %s", other, got, ok, err, id)
		}
	}
	if _, ok, err := e.HasImage(t.Context(), "toolhost-test/none"); err != nil || ok {
		t.Errorf("an image that does not exist: %v, %v", ok, err)
	}
}

// Once its standard input has ended, the container is removed by the engine.
func TestClose(t *testing.T) {
	e := engine(t)
	s := sandbox(t, e, busybox(t, container.Config{}))
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if inspect(t, s.Info.ID, &struct{}{}) {
		t.Error("the container is there after Close")
	}
	t.Logf("closed in %s", time.Since(began))
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// What holds the other end may die without a word: the container goes all the same.
func TestKilledOwner(t *testing.T) {
	image := testengine.Busybox(t)
	child, ids := startHolder(t, image)
	if len(ids) != held {
		t.Fatalf("the other process has %d sandboxes, want %d", len(ids), held)
	}
	began := time.Now()
	if err := child.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		waitGone(t, id)
	}
	t.Logf("all gone after %s", time.Since(began))
}
