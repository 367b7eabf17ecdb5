package integration_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/integration/load"
)

// httpGrace is what a call in flight gets when a server over HTTP is told to end.
const httpGrace = 8 * time.Second

// A call that ends within the grace is answered, one that does not is cancelled and then
// answered; a second signal waits for neither.
func TestEndHTTP(t *testing.T) {
	tests := []struct {
		name     string
		signals  []os.Signal
		seconds  string
		answer   string // part of the result's text; empty: none
		from, to time.Duration
		clean    bool
	}{
		{"SIGTERM, short call", []os.Signal{syscall.SIGTERM}, "2", "1 steps", time.Second, 4 * time.Second, true},
		{"SIGINT, short call", []os.Signal{syscall.SIGINT}, "2", "1 steps", time.Second, 4 * time.Second, true},
		{"SIGHUP, short call", []os.Signal{syscall.SIGHUP}, "2", "1 steps", time.Second, 4 * time.Second, true},
		{"long call", []os.Signal{syscall.SIGTERM}, "60", "cancelled", httpGrace - time.Second, httpGrace + 2*time.Second, true},
		{"twice", []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, "60", "", 0, 3 * time.Second, false},
	}
	for _, tc := range tests {
		for version, name := range map[string]string{load.Legacy: "legacy", load.Modern: "modern"} {
			t.Run(tc.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				log := filepath.Join(t.TempDir(), "slow.log")
				stderr := &httpLog{url: make(chan string, 1)}
				cmd := exec.Command(fixture(t), "--http", "127.0.0.1:0", "--slow-log", log)
				cmd.Stderr = stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { cmd.Process.Kill() })
				c := connect(t, <-stderr.url, version)
				answered := make(chan string, 1)
				go func() {
					m, _ := c.Call(context.Background(), "slow", `{"seconds":`+tc.seconds+`,"steps":1}`, nil)
					answered <- string(m.Result)
				}()
				waitForText(t, log, "slow began", patience)
				begun := time.Now()
				for _, s := range tc.signals {
					cmd.Process.Signal(s)
					time.Sleep(300 * time.Millisecond)
				}
				err := cmd.Wait()
				if took := time.Since(begun); took < tc.from || took > tc.to || (err == nil) != tc.clean {
					t.Errorf("it ended with %v after %s\n%s", err, took, stderr)
				}
				if got := <-answered; tc.answer != "" && !strings.Contains(got, tc.answer) || tc.answer == "" && got != "" {
					t.Errorf("the call was answered %q, want %q in it", got, tc.answer)
				}
			})
		}
	}
}

// With few descriptors silent connections take three quarters at most: others are still let in.
func TestFewDescriptors(t *testing.T) {
	stderr := &httpLog{url: make(chan string, 1)}
	cmd := exec.Command("sh", "-c", `ulimit -n 100 && exec "$0" --http 127.0.0.1:0`, fixture(t))
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	at := <-stderr.url
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	begun := time.Now()
	echoes(t, connect(t, at, load.Modern))
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("another client was served after %s", took)
	}
}
