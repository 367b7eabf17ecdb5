package shelltool_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// serve serves a server over HTTP without a token, and returns its address.
func serve(t *testing.T, s *toolkit.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.ServeHTTP(ctx, l, streamable.Options{Loopback: true}) }()
	t.Cleanup(func() {
		stop()
		must(t, <-done)
	})
	return "http://" + l.Addr().String() + "/mcp"
}

// connect makes a session that speaks a protocol version: the newest has no sessions.
func connect(t *testing.T, url, version string) (session *mcp.ClientSession, end func()) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	hc := &http.Client{Transport: &http.Transport{}}
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: hc}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	must(t, err)
	var once sync.Once
	end = func() { once.Do(func() { cs.Close(); hc.CloseIdleConnections() }) }
	t.Cleanup(end)
	return cs, end
}

const (
	legacy = "2025-06-18"
	modern = "2026-07-28"
)

// Calls of one session share a sandbox, and know nothing of that of another.
func TestOneSandboxASession(t *testing.T) {
	e := &fakeEngine{}
	url := serve(t, newServer(t, e, toolkit.Options{}, "--http=x"))
	a, endA := connect(t, url, legacy)
	b, _ := connect(t, url, legacy)
	first := call(t, a, "shell", args{"command": "ls"})
	again := call(t, a, "shell", args{"command": "ls"})
	other := call(t, b, "shell", args{"command": "ls"})
	id := first.result["sandbox_id"].(string)
	if id != again.result["sandbox_id"] || id == other.result["sandbox_id"] || len(e.sandboxes()) != 2 {
		t.Errorf("%d sandboxes: %v, %v, %v", len(e.sandboxes()), first.result, again.result, other.result)
	}
	if first.text != "ls\n" {
		t.Errorf("a session needs no id, got %q", first.text)
	}
	if got := call(t, a, "shell", args{"command": "ls", "sandbox_id": id}); got.refused || got.result["sandbox_id"] != id {
		t.Errorf("its own id: %q", got.text)
	}
	for _, tool := range []args{{"command": "ls", "sandbox_id": id}, {"action": "status", "sandbox_id": id}} {
		name := "shell"
		if tool["action"] != nil {
			name = "shell_job"
		}
		if got := call(t, b, name, tool); !got.refused || !strings.Contains(got.text, "there is no sandbox "+id+" of yours") {
			t.Errorf("the id of another: %q", got.text)
		}
	}
	endA()
	eventually(t, "the session's sandbox ends with it", func() bool { return e.open() == 1 })
}

// Who has neither a session nor a name gets an id with each result, and comes back with it.
func TestSandboxByID(t *testing.T) {
	e := &fakeEngine{}
	url := serve(t, newServer(t, e, toolkit.Options{}, "--http=x"))
	c, _ := connect(t, url, modern)
	first := call(t, c, "shell", args{"command": "ls"})
	id := first.result["sandbox_id"].(string)
	if want := "ls\n[sandbox_id: " + id + "; send it with the next call to go on in this sandbox]"; first.text != want || len(id) < 20 {
		t.Errorf("got %q, want %q", first.text, want)
	}
	if got := call(t, c, "shell", args{"command": "ls", "sandbox_id": id}); got.result["sandbox_id"] != id || len(e.sandboxes()) != 1 {
		t.Errorf("%d sandboxes, got %q", len(e.sandboxes()), got.text)
	}
	if got := call(t, c, "shell_job", args{"action": "status", "sandbox_id": id}); !regexp.MustCompile(`up for \d+s, 2 commands run, 0 jobs`).MatchString(got.text) {
		t.Errorf("got %q", got.text)
	}
	if got := call(t, c, "shell", args{"command": "ls"}); got.result["sandbox_id"] == id || len(e.sandboxes()) != 2 {
		t.Errorf("%d sandboxes, got %q", len(e.sandboxes()), got.text)
	}
	if got := call(t, c, "shell_job", args{"action": "status"}); got.refused || !strings.HasPrefix(got.text, "there is no sandbox yet") {
		t.Errorf("got %q", got.text)
	}
	// A sandbox that ended leaves its id: the next call with it gets a new one and is told.
	e.sandboxes()[0].Close()
	if got := call(t, c, "shell", args{"command": "ls", "sandbox_id": id}); got.result["sandbox_id"] != id || got.result["environment_restarted"] != true {
		t.Errorf("got %q", got.text)
	}
}

// A sandbox whose id nobody was told does not stay.
func TestUnnamedSandboxes(t *testing.T) {
	e := &fakeEngine{run: func(ctx context.Context, c container.Command, _ func(container.Progress)) (container.Result, error) {
		if c.Argv[2] == "wait" {
			<-ctx.Done()
			return container.Result{}, ctx.Err()
		}
		return container.Result{}, &container.StartError{Reason: container.NoDirectory, Text: "no such directory"}
	}}
	url := serve(t, newServer(t, e, toolkit.Options{}, "--http=x"))
	c, _ := connect(t, url, modern)
	if got := call(t, c, "shell", args{"command": "ls"}); !got.refused || got.text != "no such directory" {
		t.Errorf("got %q", got.text)
	}
	eventually(t, "the first has ended", func() bool { return len(e.sandboxes()) == 1 && e.open() == 0 })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "shell", Arguments: args{"command": "wait"}})
		done <- err
	}()
	eventually(t, "a command runs", func() bool { return len(e.sandboxes()) == 2 && len(e.sandboxes()[1].ran()) == 1 })
	cancel()
	if err := <-done; err == nil {
		t.Error("the call was not cancelled")
	}
	eventually(t, "the second has ended", func() bool { return e.open() == 0 })
}

// Calls that come while a sandbox is made wait for the same one, also when the call that
// wanted it first has gone.
func TestSharedMaking(t *testing.T) {
	e := &fakeEngine{gate: make(chan struct{})}
	h := newHarness(t, e, nil)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := h.client.CallTool(ctx, &mcp.CallToolParams{Name: "shell", Arguments: args{"command": "first"}})
		gone <- err
	}()
	answers := make(chan answer, 3)
	for range 3 {
		go func() { answers <- h.shell(t, "ls") }()
	}
	cancel()
	if err := <-gone; err == nil {
		t.Error("the first call was not cancelled")
	}
	e.gate <- struct{}{}
	for range 3 {
		if a := <-answers; a.text != "ls\n" {
			t.Errorf("got %q", a.text)
		}
	}
	if n := len(e.sandboxes()); n != 1 {
		t.Errorf("%d sandboxes", n)
	}
	for _, c := range e.sandboxes()[0].ran() {
		if c.Argv[2] == "first" {
			t.Error("the cancelled call ran")
		}
	}
}

// A sandbox that cannot be made is an error for all who wait, and the next call tries again.
func TestMakingFails(t *testing.T) {
	e := &fakeEngine{}
	h := newHarness(t, e, nil)
	e.openFail = &container.ImageError{Image: "ubuntu:latest", Pull: container.PullMissing, Why: "the registry cannot be reached"}
	if got := h.shell(t, "ls"); !got.refused || got.text != "image ubuntu:latest: the registry cannot be reached (pull policy missing)" {
		t.Errorf("got %q", got.text)
	}
	e.openFail = nil
	if got := h.shell(t, "ls"); got.text != "ls\n" || got.result["environment_restarted"] != nil {
		t.Errorf("got %q", got.text)
	}
}

// An engine that fails is looked for again, and the connection to it of before is closed.
func TestFailingEngineIsLeft(t *testing.T) {
	e := &fakeEngine{openFail: errAway}
	h := newHarness(t, e, nil)
	if got := h.shell(t, "ls"); !got.refused || e.closed != 1 {
		t.Errorf("connections closed: %d, got %q", e.closed, got.text)
	}
	e.openFail = nil
	if got := h.shell(t, "ls"); got.text != "ls\n" || e.closed != 1 {
		t.Errorf("connections closed: %d, got %q", e.closed, got.text)
	}
}

// An idle sandbox ends, and one that is old; the next call says that there is a new one.
func TestEndOfSandboxes(t *testing.T) {
	for flag, why := range map[string]string{
		"--idle-timeout=20ms": "it was idle for 20ms (--idle-timeout)",
		"--max-lifetime=20ms": "it had lived for 20ms (--max-lifetime)",
	} {
		e := &fakeEngine{}
		h := newHarness(t, e, nil, flag)
		h.shell(t, "ls")
		eventually(t, flag, func() bool { return e.open() == 0 })
		if got := h.call(t, "shell_job", args{"action": "list"}); got.text != "there is no sandbox any more ("+why+"); the next call of shell makes one" {
			t.Errorf("%s: got %q", flag, got.text)
		}
		got := h.shell(t, "ls")
		if want := "ls\n[note: the environment was restarted: " + why + "; processes and files of before are gone, but for files in roots and mounts]"; got.text != want {
			t.Errorf("%s: got %q", flag, got.text)
		}
	}
}

// A sandbox at work is neither idle nor old.
func TestBusySandboxesStay(t *testing.T) {
	e := &fakeEngine{}
	begun, finish := make(chan struct{}), make(chan struct{})
	e.run = func(context.Context, container.Command, func(container.Progress)) (container.Result, error) {
		close(begun)
		<-finish
		return wrote("done\n", ""), nil
	}
	h := newHarness(t, e, nil, "--idle-timeout=1ms", "--max-lifetime=1ms")
	answers := make(chan answer)
	go func() { answers <- h.shell(t, "ls") }()
	<-begun
	time.Sleep(30 * time.Millisecond) // many times what would end it
	if e.open() != 1 {
		t.Error("it was ended at work")
	}
	close(finish)
	if got := <-answers; got.text != "done\n" {
		t.Errorf("got %q", got.text)
	}
	eventually(t, "it ends afterwards", func() bool { return e.open() == 0 })
}

// Where there are too many, the one that is idle for longest goes; where none is idle, the
// call says so.
func TestTooManySandboxes(t *testing.T) {
	e := &fakeEngine{}
	finish := make(chan struct{})
	e.run = func(_ context.Context, c container.Command, _ func(container.Progress)) (container.Result, error) {
		if c.Argv[2] == "wait" {
			<-finish
		}
		return wrote("ok\n", ""), nil
	}
	url := serve(t, newServer(t, e, toolkit.Options{}, "--http=x", "--max-sandboxes=2"))
	var clients []*mcp.ClientSession
	for range 3 {
		c, _ := connect(t, url, legacy)
		clients = append(clients, c)
	}
	for _, c := range clients {
		call(t, c, "shell", args{"command": "ls"})
	}
	eventually(t, "two of three are open", func() bool { return e.open() == 2 && len(e.sandboxes()) == 3 })
	got := call(t, clients[0], "shell", args{"command": "ls"})
	if !strings.Contains(got.text, "the environment was restarted: it was idle and another was needed (--max-sandboxes 2)") {
		t.Errorf("got %q", got.text)
	}
	if got := call(t, clients[2], "shell", args{"command": "ls"}); got.text != "ok\n" {
		t.Errorf("the one used last did not stay: %q", got.text)
	}
	var busy sync.WaitGroup
	for _, i := range []int{0, 2} {
		busy.Go(func() { call(t, clients[i], "shell", args{"command": "wait"}) })
	}
	eventually(t, "both are at work", func() bool {
		n := 0
		for _, b := range e.sandboxes() {
			for _, c := range b.ran() {
				if c.Argv[2] == "wait" {
					n++
				}
			}
		}
		return n == 2
	})
	if got := call(t, clients[1], "shell", args{"command": "ls"}); !got.refused || !strings.HasPrefix(got.text, "all 2 sandboxes are at work (--max-sandboxes)") {
		t.Errorf("got %q", got.text)
	}
	close(finish)
	busy.Wait()
}

// A spare is there before anybody asks for it, and another follows when it is taken.
func TestWarm(t *testing.T) {
	e := &fakeEngine{}
	url := serve(t, newServer(t, e, toolkit.Options{}, "--http=x", "--warm"))
	a, _ := connect(t, url, legacy)
	if len(e.sandboxes()) != 0 {
		t.Error("one was made before the first call")
	}
	call(t, a, "shell", args{"command": "ls"})
	eventually(t, "a spare", func() bool { return len(e.sandboxes()) == 2 })
	b, _ := connect(t, url, legacy)
	if got := call(t, b, "shell", args{"command": "b"}); got.text != "b\n" {
		t.Errorf("got %q", got.text)
	}
	if ran := e.sandboxes()[1].ran(); len(ran) != 1 {
		t.Errorf("the spare ran %v", ran)
	}
	eventually(t, "another spare", func() bool { return len(e.sandboxes()) == 3 })
}

// With the server all sandboxes end, what is being made included.
func TestEndOfServer(t *testing.T) {
	e := &fakeEngine{}
	s := newServer(t, e, toolkit.Options{}, "--http=x", "--warm")
	url := serve(t, s)
	a, _ := connect(t, url, legacy)
	call(t, a, "shell", args{"command": "ls"})
	eventually(t, "a spare", func() bool { return len(e.sandboxes()) == 2 })
	s.Close()
	if n := e.open(); n != 0 || e.closed == 0 {
		t.Errorf("%d are open, connections closed: %d", n, e.closed)
	}
	if got := call(t, a, "shell", args{"command": "ls"}); !got.refused || e.open() != 0 {
		t.Errorf("got %q", got.text)
	}
}

// One root is /data, several are below it under names of their own.
func TestRoots(t *testing.T) {
	top := realTemp(t)
	one, two := filepath.Join(top, "a", "src"), filepath.Join(top, "b", "src")
	must(t, os.MkdirAll(one, 0o755))
	must(t, os.MkdirAll(two, 0o755))
	link := filepath.Join(top, "link")
	must(t, os.Symlink(one, link))
	for name, c := range map[string]struct {
		flags []string
		want  []container.Mount
	}{
		"none":    {nil, nil},
		"one":     {[]string{"--root=" + one}, []container.Mount{{Source: one, Target: "/data"}}},
		"a link":  {[]string{"--root=" + link}, []container.Mount{{Source: one, Target: "/data"}}},
		"several": {[]string{"--root=" + one, "--root=" + two}, []container.Mount{{Source: one, Target: "/data/src"}, {Source: two, Target: "/data/src-2"}}},
		"a mount": {[]string{"--root=" + one, "--mount=" + two + ":/two:ro"}, []container.Mount{{Source: one, Target: "/data"}, {Source: two, Target: "/two", ReadOnly: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &fakeEngine{}
			newHarness(t, e, &recorder{decision: approval.Allow}, c.flags...).shell(t, "ls")
			if got := e.sandboxes()[0].config.Mounts; !equal(got, c.want) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func equal(a, b []container.Mount) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
