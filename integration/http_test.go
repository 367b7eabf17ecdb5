package integration_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startHTTP starts a program of the suite with --http on a free port and returns its URL.
// When the test is over it is told to end, and has to do so cleanly and in time.
func startHTTP(t *testing.T, program string, args ...string) (url string) {
	t.Helper()
	return startHTTPEnv(t, nil, program, args...)
}

// startHTTPEnv is startHTTP with variables, as NAME=value, added to the environment.
func startHTTPEnv(t *testing.T, env []string, program string, args ...string) (url string) {
	t.Helper()
	url, _ = launchHTTP(t, env, program, args...)
	return url
}

// launchHTTP is startHTTPEnv that returns the process too, to be looked at.
func launchHTTP(t *testing.T, env []string, program string, args ...string) (url string, p *os.Process) {
	t.Helper()
	stderr := &httpLog{url: make(chan string, 1)}
	cmd := exec.Command(program, append([]string{"--http", "127.0.0.1:0"}, args...)...)
	cmd.Stderr, cmd.Env = stderr, append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { endHTTP(t, cmd.Process, ended, stderr) })
	select {
	case url := <-stderr.url:
		return url, cmd.Process
	case err := <-ended:
		ended <- err
		t.Fatalf("%s ended before it served: %v\n%s", program, err, stderr)
	case <-time.After(patience):
		t.Fatalf("%s says no address within %s\n%s", program, patience, stderr)
	}
	panic("unreachable")
}

func endHTTP(t *testing.T, p *os.Process, ended <-chan error, stderr *httpLog) {
	p.Signal(syscall.SIGTERM)
	start := time.Now()
	select {
	case err := <-ended:
		if took := time.Since(start); err != nil || took > endTime+slack {
			t.Errorf("after SIGTERM the server ended with %v after %s\n%s", err, took, stderr)
		}
	case <-time.After(patience):
		p.Kill()
		t.Errorf("the server still runs %s after SIGTERM\n%s", patience, stderr)
	}
}

// An httpLog is a server's standard error, in which it says where it serves.
type httpLog struct {
	mu   sync.Mutex
	text bytes.Buffer
	url  chan string
}

var serving = regexp.MustCompile(`(?m)^[\w-]+: serving (http://\S+).*\n`)

func (l *httpLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if m := serving.FindSubmatch(l.text.Bytes()); m != nil {
		select {
		case l.url <- string(m[1]):
		default:
		}
	}
	return len(p), nil
}

func (l *httpLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
