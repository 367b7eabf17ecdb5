package testengine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
)

const patience = 30 * time.Second

// sleeper starts a container that sleeps.
func sleeper(t *testing.T, c *engineapi.Client, image, label string) (id string) {
	t.Helper()
	id, err := c.Create(t.Context(), engineapi.Spec{
		Image: image, Cmd: []string{"sleep", "1000"}, StopSignal: "SIGKILL", Labels: map[string]string{label: ""},
		HostConfig: engineapi.HostConfig{NetworkMode: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestPrivateEngine(t *testing.T) {
	ends := map[string]func(*testengine.PrivateEngine){
		"stopped": (*testengine.PrivateEngine).Stop,
		"killed":  (*testengine.PrivateEngine).Kill,
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var host string
			t.Run("in use", func(t *testing.T) {
				e := testengine.Private(t, testengine.Busybox(t))
				host = e.Host
				id := sleeper(t, e.API, testengine.Busybox(t), "test")
				end(e)
				if err := e.API.Ping(t.Context()); err == nil {
					t.Error("it answers all the same")
				}
				e.Start()
				states(t, e.API, "exited")
				if err := e.API.Start(t.Context(), id); err != nil {
					t.Error(err)
				}
				states(t, e.API, "running")
				end(e) // what is left is for the end of the test
			})
			nothingLeft(t, host)
		})
	}
}

// states waits until the one container is in a state.
func states(t *testing.T, c *engineapi.Client, want string) {
	t.Helper()
	var list []engineapi.Container
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list, err = c.Containers(t.Context(), "test")
		if err == nil && len(list) == 1 && list[0].State == want {
			return
		}
	}
	t.Errorf("want one container, %s, and there are %+v, %v", want, list, err)
}

// nothingLeft looks for an engine's directory, processes and mounts.
func nothingLeft(t *testing.T, host string) {
	t.Helper()
	dir := strings.TrimSuffix(strings.TrimPrefix(host, "unix://"), "/docker.sock")
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is there", dir)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), dir) {
		t.Errorf("something is mounted below %s, or %v", dir, err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%s/cmdline", e.Name())) // most are no processes, and some just ended
		if strings.Contains(string(line), dir) {
			t.Errorf("process %s is there: %q", e.Name(), line)
		}
	}
}
