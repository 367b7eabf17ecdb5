package integration_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/integration/load"
	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
)

// openSandboxes opens n sessions at once and runs a command in each, so that each has a sandbox.
func openSandboxes(ctx context.Context, t *testing.T, url string, n int) {
	t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			c := &load.Client{URL: url, Version: load.Legacy}
			if errs[i] = c.Open(ctx); errs[i] != nil {
				return
			}
			m, err := c.Call(ctx, "shell", `{"commands":["sleep 1000 & echo up"]}`, nil)
			if err == nil && m.Text() == "" {
				err = fmt.Errorf("session %d: %s", i, m.Result)
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// receive waits for a value.
func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatalf("nothing came within %s", patience)
	}
	return v
}

// A command whose caller's connection is gone ends, although nobody cancelled it.
func TestCommandOfGoneCallerEnds(t *testing.T) {
	for _, version := range []string{load.Legacy, load.Modern} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			api, err := engineapi.New(testengine.Docker(t))
			if err != nil {
				t.Fatal(err)
			}
			defer api.Close()
			url, p := launchHTTP(t, nil, binary(t, "cmd/mcp-shell"), "--host", api.Host, "--image", testengine.Busybox(t), "--pull", "never")
			s := &sandboxed{server: &server{cmd: &exec.Cmd{Process: p}}, t: t, api: api}
			c := &load.Client{URL: url, Version: version, HTTP: &http.Client{Transport: &http.Transport{}}}
			if version == load.Legacy {
				if err := c.Open(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			called := make(chan error, 1)
			go func() {
				_, err := c.Call(ctx, "shell", `{"commands":["yes"]}`, nil)
				called <- err
			}()
			s.appears("yes")
			leave()
			if err := receive(t, called); err == nil {
				t.Error("the call was answered")
			}
			t.Logf("it had ended after %s", s.ends("yes", 5*time.Second))
		})
	}
}

// appears waits until the server has a container in which a command runs.
func (s *sandboxed) appears(command string) {
	s.t.Helper()
	for end := time.Now().Add(patience); len(containers(s.t, s.api, s.label())) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("there is no container within %s", patience)
		}
	}
	settle(s.t, func() string {
		all, err := s.api.Top(s.t.Context(), s.container().ID) // an error: it is not started yet
		return cmp.Diff(true, err == nil && strings.Contains(strings.Join(all, "\n")+"\n", " "+command+"\n"))
	})
}

// ends waits until a command does not run, or its container is gone, and says how long that took.
func (s *sandboxed) ends(command string, within time.Duration) (took time.Duration) {
	s.t.Helper()
	begin := time.Now()
	for {
		list := containers(s.t, s.api, s.label())
		if len(list) == 0 {
			return time.Since(begin)
		}
		all, err := s.api.Top(s.t.Context(), list[0].ID) // an error: it is on its way out
		if err == nil && !strings.Contains(strings.Join(all, "\n")+"\n", " "+command+"\n") {
			return time.Since(begin)
		}
		if time.Since(begin) > within {
			s.t.Fatalf("%s later %q runs: %q, %v", within, command, all, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
