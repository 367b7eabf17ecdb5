package testengine_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
)

// recorder stands in for a test that is to fail, or to be skipped.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper()               {}
func (r *recorder) Error(...any)          { r.ended = "failed" }
func (r *recorder) Fatalf(string, ...any) { r.ended = "failed"; runtime.Goexit() }
func (r *recorder) Skipf(string, ...any)  { r.ended = "skipped"; runtime.Goexit() }

func record(t *testing.T, f func(testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.ended
}

func TestNoEngine(t *testing.T) {
	t.Setenv("REQUIRE_ALL", "")
	t.Setenv("DOCKER_HOST", "unix://"+t.TempDir()+"/none.sock")
	for require, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("REQUIRE_DOCKER", require)
		if got := record(t, func(t testing.TB) { testengine.Docker(t) }); got != want {
			t.Errorf("with REQUIRE_DOCKER=%q the test was %s, want it %s", require, got, want)
		}
	}
	if err := testengine.Left(engineapi.Host(), "any"); err != nil {
		t.Errorf("containers are left without an engine: %v", err)
	}
}

func TestNoLeaks(t *testing.T) {
	host, image := testengine.Docker(t), testengine.Busybox(t)
	c, err := engineapi.New(host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	label := testengine.Label(t)
	sleeper(t, c, image, label)
	if err := testengine.Left(host, label); err == nil || !strings.Contains(err.Error(), image) {
		t.Errorf("with a container left: %v", err)
	}
	noLeaks := func(t testing.TB) { testengine.NoLeaks(t, host, label) }
	if got := record(t, noLeaks); got != "failed" {
		t.Errorf("with a container left the test was %q, want it failed", got)
	}
	if got := record(t, noLeaks); got != "" {
		t.Errorf("once it was removed the test was %q", got)
	}
}
