package container_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
)

// writes makes a file in a mount, one in the image and one in memory, and leaves a process.
const writes = "echo 1 >/data/mounted; echo 2 >/etc/kept; echo 3 >/tmp/kept; sleep 1000 >/dev/null 2>&1 &"

// finds says which files of these there are, and how many of the processes.
const finds = "cat /data/mounted /etc/kept /tmp/kept 2>/dev/null; ps | grep -c '[s]leep 1000' || true"

func writable(t *testing.T) container.Config {
	return busybox(t, container.Config{User: "0", Mounts: []container.Mount{{Source: t.TempDir(), Target: "/data"}}})
}

// A restart ends all processes and keeps all files, as often as it is asked for, and needs no
// engine for that.
func TestRestart(t *testing.T) {
	s := sandbox(t, engine(t), writable(t))
	before := firstProcess(t, s)
	for range 20 {
		output(t, s, writes)
		if emptied, err := s.Restart(t.Context()); emptied || err != nil {
			t.Fatalf("emptied: %v, %v", emptied, err)
		}
		if got := output(t, s, finds); got != "1\n2\n3\n0" {
			t.Fatalf("after the restart there is %q, want three files and no process", got)
		}
	}
	if after := firstProcess(t, s); after != before {
		t.Errorf("the first process was %d and is %d", before, after)
	}
}

// Commands that begin while restarts go on are ended by one, or run after it; none is forgotten.
func TestRestartsUnderCommands(t *testing.T) {
	s := sandbox(t, engine(t), writable(t))
	var commands sync.WaitGroup
	ended, ran := 0, 0
	var mu sync.Mutex
	stop := make(chan struct{})
	for range 8 {
		commands.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				res, err := s.Run(t.Context(), container.Command{Argv: []string{"sh", "-c", "sleep 0.02"}, Timeout: time.Minute, Limit: 100}, nil)
				mu.Lock()
				switch {
				case errors.As(err, new(*container.RestartedError)):
					ended++
				case err != nil || res.TimedOut:
					t.Errorf("%+v, %v", res, err)
				default:
					ran++
				}
				mu.Unlock()
			}
		})
	}
	for range 30 {
		if _, err := s.Restart(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	commands.Wait()
	if ended == 0 || ran == 0 {
		t.Errorf("%d commands were ended and %d ran", ended, ran)
	}
	if got := output(t, s, "ps | grep -c '[s]leep' || true"); got != "0" {
		t.Errorf("%s commands go on", got)
	}
}

// A sandbox whose agent does not answer is made anew: processes are gone, and files but for
// those in mounts.
func TestRestartOfSilentAgent(t *testing.T) {
	s := sandbox(t, engine(t), writable(t))
	output(t, s, writes)
	silence(t, s)
	if emptied, err := s.Restart(t.Context()); !emptied || err != nil {
		t.Fatalf("emptied: %v, %v", emptied, err)
	}
	if got := output(t, s, finds); got != "1\n0" {
		t.Errorf("after the restart there is %q, want one file and no process", got)
	}
	if inspect(t, s.Info.ID, &struct{}{}) {
		t.Error("the container of before is there")
	}
}

// The engine resolves a mount's path again when a sandbox is made anew. One that shows another
// directory than the one that was looked at is not used.
func TestMountReplacedUnderASandbox(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"mine", "theirs"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(top, dir, "name"), dir)
	}
	mine := filepath.Join(top, "mine")
	s := sandbox(t, engine(t), busybox(t, container.Config{Mounts: []container.Mount{{Source: mine, Target: "/data"}}}))
	if got := output(t, s, "cat name"); got != "mine" {
		t.Fatalf("got %q", got)
	}
	silence(t, s)
	if emptied, err := s.Restart(t.Context()); err != nil || !emptied {
		t.Fatalf("a restart with the same directory: %v, %v", emptied, err)
	}
	if err := errors.Join(os.Rename(mine, mine+"-moved"), os.Symlink("theirs", mine)); err != nil {
		t.Fatal(err)
	}
	silence(t, s)
	_, err := s.Restart(t.Context())
	if !errors.As(err, new(*container.LostError)) || !strings.Contains(err.Error(), "the mount at /data was replaced") {
		t.Errorf("a restart with another one: %v", err)
	}
	<-s.Done()
}

// firstProcess returns the pid of the agent on this machine.
func firstProcess(t *testing.T, s *container.Sandbox) int {
	t.Helper()
	var c struct{ State struct{ Pid int } }
	id := s.Info.ID
	if found := output(t, s, "hostname"); !strings.HasPrefix(id, found) { // it was made anew
		id = found
	}
	if !inspect(t, id, &c) || c.State.Pid <= 1 {
		t.Fatalf("no first process of %s: %s", id, strconv.Itoa(c.State.Pid))
	}
	return c.State.Pid
}

// silence stops the agent of s.
func silence(t *testing.T, s *container.Sandbox) {
	t.Helper()
	if err := syscall.Kill(firstProcess(t, s), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}
