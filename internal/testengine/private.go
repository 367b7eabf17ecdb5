package testengine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testneed"
)

// A PrivateEngine is an engine that one test has for itself, to stop, kill and start again. It
// has no network but none.
type PrivateEngine struct {
	Host string // unix:///...
	API  *engineapi.Client

	t      testing.TB
	dir    string // holds all that is its own: data, state, socket, log
	daemon *exec.Cmd
	ended  chan error // of the running daemon; nil: none runs
}

// Private starts an engine with these images, which [Docker] must have. At the end of the test the
// engine ends, and nothing of it stays: no container, process, mount or file. It needs root, and
// takes some seconds.
func Private(t testing.TB, images ...string) *PrivateEngine {
	t.Helper()
	testneed.Root(t)
	testneed.Tool(t, "dockerd")
	testneed.Tool(t, "unshare")
	from := connect(t, Docker(t))
	// Not t.TempDir: the path of a socket has at most 107 bytes.
	dir, err := os.MkdirTemp("", "engine-")
	if err != nil {
		t.Fatal(err)
	}
	host := "unix://" + filepath.Join(dir, "docker.sock")
	e := &PrivateEngine{Host: host, API: connect(t, host), t: t, dir: dir}
	t.Cleanup(e.clean)
	e.Start()
	for _, image := range images {
		if err := e.API.CopyImage(t.Context(), from, image); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// launch starts the daemon. It has a network name space of its own, since it would remove the
// machine's bridge that another engine uses. Its name spaces of containerd keep it apart from
// others where containerd is a service of the machine; elsewhere it starts one of its own.
func (e *PrivateEngine) launch() (*exec.Cmd, error) {
	log, err := os.OpenFile(e.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // once started it has a descriptor of its own
	name := filepath.Base(e.dir)
	cmd := exec.Command(
		"unshare", "--net", "dockerd", "--host", e.Host, "--data-root", e.path("data"), "--exec-root", e.path("exec"), "--pidfile", e.path("pid"),
		"--containerd-namespace", name, "--containerd-plugins-namespace", name+"-plugins",
		"--bridge", "none", "--iptables=false", "--ip6tables=false", "--config-file", e.path("config.json"),
	)
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, cmd.Start()
}

func (e *PrivateEngine) path(name string) string { return filepath.Join(e.dir, name) }

// Start starts the engine and returns when it answers. What was running when it was killed is
// ended by it.
func (e *PrivateEngine) Start() {
	e.t.Helper()
	if e.ended != nil {
		e.t.Fatal("the engine is running")
	}
	if err := e.start(); err != nil {
		e.t.Fatalf("start an engine: %v\n%s", err, e.Log())
	}
}

func (e *PrivateEngine) start() error {
	if err := os.WriteFile(e.path("config.json"), []byte("{}\n"), 0o600); err != nil {
		return err
	}
	cmd, err := e.launch()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	e.daemon, e.ended = cmd, ended
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := e.API.Ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case err := <-ended:
			e.ended = nil
			return fmt.Errorf("dockerd ended: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends the engine as a service manager would; it ends its containers first.
func (e *PrivateEngine) Stop() {
	e.t.Helper()
	e.end(syscall.SIGTERM)
}

// Kill ends the engine at once. Processes in containers live on until it is started again.
func (e *PrivateEngine) Kill() {
	e.t.Helper()
	e.end(syscall.SIGKILL)
}

func (e *PrivateEngine) end(how os.Signal) {
	e.t.Helper()
	if e.ended == nil {
		return
	}
	if err := e.daemon.Process.Signal(how); err != nil {
		e.t.Fatal(err)
	}
	select {
	case <-e.ended:
		e.ended = nil
	case <-time.After(patience):
		e.t.Fatalf("the engine runs %s after %v\n%s", patience, how, e.Log())
	}
	if err := e.forgetContainerd(); err != nil {
		e.t.Fatal(err)
	}
}

// forgetContainerd waits until the daemon's own containerd has ended with it, and removes the file
// that holds its process id. The next daemon would take a zombie that nobody has reaped yet for a
// containerd that runs, and wait for it.
func (e *PrivateEngine) forgetContainerd() error {
	name := e.path("exec/containerd/containerd.pid")
	pid, err := os.ReadFile(name)
	if err != nil {
		return nil // it shares that of the machine
	}
	line := filepath.Join("/proc", strings.TrimSpace(string(pid)), "cmdline")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if text, err := os.ReadFile(line); err != nil || len(text) == 0 {
			return os.Remove(name)
		}
	}
	return fmt.Errorf("containerd, process %s, outlives its engine", pid)
}

// Log returns the end of what the engine wrote.
func (e *PrivateEngine) Log() string {
	log, err := os.ReadFile(e.path("log"))
	if err != nil {
		return err.Error()
	}
	return string(log[max(len(log)-4000, 0):])
}

// clean ends everything. An engine that was killed is started once more, since it knows best what
// it has to end.
func (e *PrivateEngine) clean() {
	if e.ended == nil {
		if err := e.start(); err != nil {
			e.t.Errorf("start an engine to clean up: %v\n%s", err, e.Log())
		}
	}
	removeAll(e.t, e.API, "") // at its end it would give each ten seconds
	e.API.Close()
	e.end(syscall.SIGTERM)
	if err := errors.Join(killAll(e.dir), unmountAll(e.dir), os.RemoveAll(e.dir)); err != nil {
		e.t.Errorf("clean up after an engine: %v", err)
	}
}

// killAll kills the processes on whose command line dir stands, which are those that keep a
// container running when all else has ended, and waits until they are gone.
func killAll(dir string) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		pids := processesOf(dir)
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			p, err := os.FindProcess(pid)
			if err == nil {
				err = p.Kill()
			}
			if err != nil && !errors.Is(err, os.ErrProcessDone) {
				return fmt.Errorf("kill process %d: %w", pid, err)
			}
		}
	}
	return fmt.Errorf("processes of %s do not end: %v", dir, processesOf(dir))
}

// processesOf returns the processes on whose command line dir stands. A zombie has none.
func processesOf(dir string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err == nil && bytes.Contains(line, []byte(dir+"/")) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// unmountAll unmounts what is mounted below dir, the last first.
func unmountAll(dir string) error {
	mounts := mountsBelow(dir)
	for i := len(mounts) - 1; i >= 0; i-- {
		if out, err := exec.Command("umount", "--lazy", mounts[i]).CombinedOutput(); err != nil {
			return fmt.Errorf("umount %s: %w: %s", mounts[i], err, out)
		}
	}
	return nil
}

func mountsBelow(dir string) (mounts []string) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			mounts = append(mounts, fields[4])
		}
	}
	return mounts
}
