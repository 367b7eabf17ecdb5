package container_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testengine"
	"github.com/toolhost/toolhost/pkg/container"
)

// The volume with the agent is made and mended by whoever misses it. It needs an engine of its
// own, since the volume is everybody's.
func TestAgentVolume(t *testing.T) {
	own := testengine.Private(t, testengine.Busybox(t))
	config := busybox(t, container.Config{})
	e := connectTo(t, own.Host)
	name, err := e.AgentVolume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	works := func(t *testing.T) {
		t.Helper()
		if got := output(t, sandbox(t, e, config), "echo works"); got != "works" {
			t.Errorf("a command says %q", got)
		}
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("several make it at once", func(t *testing.T) {
		var all sync.WaitGroup
		for range 4 {
			other := connectTo(t, own.Host)
			all.Go(func() {
				s, err := other.Open(t.Context(), config, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				if s.Info.Degraded != "" {
					t.Error(s.Info.Degraded)
				}
			})
		}
		all.Wait()
		works(t)
	})
	t.Run("it was made and not filled", func(t *testing.T) {
		must(t, e.RemoveVolume(t.Context(), name))
		must(t, e.MakeVolume(t.Context(), name, nil, nil))
		works(t)
	})
	for what, program := range map[string]string{
		"another program":            "#!/bin/sh\necho another >&2\nexit 3\n",
		"one that says nothing":      "#!/bin/sh\nexit 0\n",
		"no program":                 "nonsense",
		"one that cannot be started": "#!/none\n",
	} {
		t.Run("it holds "+what, func(t *testing.T) {
			must(t, e.ReplaceAgent(t.Context(), config.Image, program))
			works(t)
		})
	}
	t.Run("no agent can be in it", func(t *testing.T) {
		must(t, e.RemoveVolume(t.Context(), name))
		// What lies in it is lost with each container that used it.
		must(t, e.MakeVolume(t.Context(), name, nil, map[string]string{"type": "tmpfs", "device": "tmpfs", "o": "noexec"}))
		s, err := e.Open(t.Context(), config, nil)
		must(t, err)
		defer s.Close()
		if s.Name() != "exec" || s.Info.ID == "" || !strings.Contains(s.Info.Degraded, "no such file or directory") || !strings.Contains(s.Info.Degraded, "docker exec") {
			t.Errorf("the backend %s of %+v", s.Name(), s.Info)
		}
		if got := output(t, s, "echo works"); got != "works" {
			t.Errorf("a command says %q", got)
		}
	})
}

func connectTo(t *testing.T, host string) *container.Engine {
	t.Helper()
	e, err := container.Connect(t.Context(), container.EngineOptions{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Volumes of other agents go, unless they are in use; what is not an agent's stays.
func TestOldAgents(t *testing.T) {
	own := testengine.Private(t, testengine.Busybox(t))
	e := connectTo(t, own.Host)
	sandbox(t, e, busybox(t, container.Config{}))
	current, err := e.AgentVolume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, labels := range map[string]map[string]string{
		"toolhost-agent-0123456789abcdef": {"toolhost.agent": "0123456789abcdef"},
		"toolhost-agent-unlabelled":       nil,
	} {
		if err := e.MakeVolume(t.Context(), name, labels, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.RemoveOldAgents(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{current: true, "toolhost-agent-0123456789abcdef": false, "toolhost-agent-unlabelled": true} {
		if got := e.HasVolume(t.Context(), name); got != want {
			t.Errorf("volume %s is there: %v, want %v", name, got, want)
		}
	}
}

// Where there is no agent for the engine's kind of machine, commands run by docker exec.
func TestNoAgent(t *testing.T) {
	e := engine(t)
	if err := e.PretendArch(t.Context(), "s390x"); err != nil {
		t.Fatal(err)
	}
	s, err := e.Open(t.Context(), busybox(t, container.Config{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Name() != "exec" || !strings.Contains(s.Info.Degraded, "there is no agent for this kind of machine: s390x") {
		t.Errorf("the backend %s of %+v", s.Name(), s.Info)
	}
}

// An Open that is cancelled leaves nothing.
func TestOpenCancelled(t *testing.T) {
	e := engine(t)
	config := busybox(t, container.Config{})
	sandbox(t, e, config) // so that the next ones are quick
	for i := range 8 {
		ctx, cancel := context.WithCancel(t.Context())
		opened := make(chan error, 1)
		go func() {
			s, err := e.Open(ctx, config, nil)
			if err == nil {
				err = errors.Join(s.Close())
			}
			opened <- err
		}()
		waitABit(i)
		cancel()
		if err := <-opened; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that it was cancelled", err)
		}
	}
}

// waitABit lets an Open come to another of its steps each time. Nothing depends on which.
func waitABit(i int) { time.Sleep(time.Duration(i) * 40 * time.Millisecond) }
