package integration_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/integration/load"
	"github.com/toolhost/toolhost/internal/testneed"
)

// These tests have nginx in front of a server, as Debian ships it: it buffers what passes,
// and nothing in its configuration knows of event streams.

// serveNginx starts nginx with the contents of its http block, which has to listen on
// LISTEN, and returns the root of the URLs that it serves.
func serveNginx(t *testing.T, config string) (root string) {
	t.Helper()
	program := testneed.Tool(t, "nginx")
	dir := t.TempDir()
	address := freeAddress(t)
	text := fmt.Sprintf(`
worker_processes 1;
pid %[1]s/pid;
error_log stderr;
events { worker_connections 512; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	%[2]s
}
`, dir, strings.ReplaceAll(config, "LISTEN", address))
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(program, "-p", dir, "-c", file, "-g", "daemon off;")
	if os.Geteuid() == 0 {
		// Its workers would take another user, who may not enter the folder.
		cmd.Args[len(cmd.Args)-1] += " user root;"
	}
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) // its workers end with it
		cmd.Wait()
		if t.Failed() {
			t.Logf("nginx: %s", &stderr)
		}
	})
	waitForListener(t, address)
	return "http://" + address
}

// freeAddress returns an address of loopback on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func waitForListener(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return
		}
	}
	t.Fatalf("nothing listens on %s after %s", address, patience)
}

// proxied returns the URL of a server behind nginx, under a path that is not the server's. The
// directives come beside proxy_pass.
func proxied(t *testing.T, server, directives string) string {
	t.Helper()
	upstream := strings.TrimSuffix(server, "/mcp")
	root := serveNginx(t, fmt.Sprintf(`server {
		listen LISTEN;
		location /tools/fixture/ { proxy_pass %s/; %s }
	}`, upstream, directives))
	return root + "/tools/fixture/mcp"
}

// eachVersion runs test with a client of each generation that is connected to url.
func eachVersion(t *testing.T, url string, test func(*testing.T, *load.Client)) {
	t.Helper()
	for name, version := range map[string]string{"legacy": load.Legacy, "modern": load.Modern} {
		t.Run(name, func(t *testing.T) { test(t, connect(t, url, version)) })
	}
}

// connect returns a client that has opened its session. It has connections of its own.
func connect(t *testing.T, url, version string) *load.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &load.Client{URL: url, Version: version, HTTP: &http.Client{Transport: transport, Timeout: time.Minute}}
	if err := c.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// echoes calls a tool that always works.
func echoes(t *testing.T, c *load.Client) {
	t.Helper()
	m, err := c.Call(t.Context(), "echo", `{"text":"alive"}`, nil)
	if err != nil || m.Text() != "alive" {
		t.Errorf("echo: %s, %v", m.Result, err)
	}
}

func TestProxy(t *testing.T) {
	url := proxied(t, startHTTP(t, fixture(t)), "")
	eachVersion(t, url, func(t *testing.T, c *load.Client) {
		if m, err := c.List(t.Context()); err != nil || !strings.Contains(string(m.Result), `"last_cancel"`) {
			t.Errorf("list: %s, %v", m.Result, err)
		}
		echoes(t, c)
		if c.Version == load.Modern {
			return
		}
		stream, err := c.Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		if kind := stream.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Errorf("the event stream is %q", kind)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		if _, err := c.List(t.Context()); statusOf(err) != http.StatusNotFound {
			t.Errorf("list in a session that was closed: %v, want 404", err)
		}
	})
}

func statusOf(err error) int {
	if e := (*load.StatusError)(nil); errors.As(err, &e) {
		return e.Status
	}
	return 0
}

func TestProxyClients(t *testing.T) {
	node(t)
	url := proxied(t, startHTTP(t, fixture(t)), "")
	for _, c := range clients {
		if c.stdioOnly {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const steps = 4
			got := c.drive(t, scenario{target: target{URL: url}, Steps: []step{
				{Do: "list"},
				{Do: "call", Tool: "echo", Args: map[string]any{"text": "through"}},
				{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 0.4, "steps": steps}, Progress: true},
			}})
			if len(got[0].Result.Tools) == 0 {
				t.Errorf("tools/list is empty")
			}
			if text := got[1].text(t); text != "through" {
				t.Errorf("echo returned %q", text)
			}
			if n := len(got[2].Progress); n < steps-1 {
				t.Errorf("%d notifications for %d steps", n, steps)
			}
		})
	}
}

// Progress arrives while the work goes on, so nothing on the way has kept it back.
func TestProxyPassesProgressAtOnce(t *testing.T) {
	const early = time.Second // of the 3 s between the first step and the end
	url := proxied(t, startHTTP(t, fixture(t)), "")
	eachVersion(t, url, func(t *testing.T, c *load.Client) {
		var first time.Time
		heard := 0
		_, err := c.Call(t.Context(), "slow", `{"seconds":4,"steps":4}`, func(load.Message) {
			if heard++; heard == 1 {
				first = time.Now()
			}
		})
		if err != nil || heard < 3 {
			t.Fatalf("%d notifications for 4 steps, %v", heard, err)
		}
		if before := time.Since(first); before < early {
			t.Errorf("the first step was heard of %s before the end, want %s", before, early)
		}
	})
}

// A client that goes away takes its work with it, though the server sees nginx only.
func TestProxyClientGone(t *testing.T) {
	for name, version := range map[string]string{"legacy": load.Legacy, "modern": load.Modern} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "slow.log")
			c := connect(t, proxied(t, startHTTP(t, fixture(t), "--slow-log", log), ""), version)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			var calling sync.WaitGroup
			calling.Go(func() {
				if m, err := c.Call(ctx, "slow", `{"seconds":30,"steps":1}`, func(load.Message) {}); err == nil {
					t.Errorf("the call returned %s", m.Result)
				}
			})
			waitForText(t, log, "slow began", patience)
			leave()
			calling.Wait()
			waitForText(t, log, "slow was cancelled", goneTime)
			echoes(t, c)
		})
	}
}

// A proxy that passes on the public name needs it allowed: else the name might be one
// that an attacker points at this machine.
func TestProxyHost(t *testing.T) {
	const directive = "proxy_set_header Host public.example;"
	t.Run("allowed", func(t *testing.T) {
		url := proxied(t, startHTTP(t, fixture(t), "--allowed-hosts", "public.example"), directive)
		eachVersion(t, url, func(t *testing.T, c *load.Client) { echoes(t, c) })
	})
	t.Run("not allowed", func(t *testing.T) {
		c := &load.Client{URL: proxied(t, startHTTP(t, fixture(t)), directive), Version: load.Modern}
		_, err := c.List(t.Context())
		if statusOf(err) != http.StatusForbidden || !strings.Contains(err.Error(), "--allowed-hosts") {
			t.Errorf("list: %v, want 403 that names the flag", err)
		}
	})
}
