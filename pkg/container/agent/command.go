//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/pkg/container/capture"
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// start starts the command with input as its standard input, and begins to collect its
// output.
func (s *supervisor) start(c protocol.Command, input []byte) *protocol.Failure {
	if err := os.Chdir(c.Dir); err != nil { // children inherit it; nothing here needs another
		return failure(protocol.NoDirectory, err)
	}
	env := environment(os.Environ(), c.Env, c.Dir)
	program, fail := find(c.Argv[0], env)
	if fail != nil {
		return fail
	}
	p, err := openPipes(c.Stdin)
	if err != nil {
		return failure(startReason(err), err)
	}
	ours, err := p.ours(c.Stdin)
	if err != nil {
		return failure(protocol.Internal, err)
	}
	s.oomBefore, s.started = oomKills(), time.Now()
	s.pid, err = syscall.ForkExec(program, c.Argv, &syscall.ProcAttr{
		Env: env, Files: p.theirs(), Sys: &syscall.SysProcAttr{Setsid: true},
	})
	p.closeTheirs()
	if err != nil {
		return failure(startReason(err), err)
	}
	volunteer(s.pid)
	if c.Stdin {
		go feed(ours[0], input)
	}
	for i := range s.streams {
		s.streams[i].kept = capture.NewCollector(c.Keep)
		go s.collect(i, ours[i+1])
	}
	return nil
}

func failure(reason protocol.Reason, err error) *protocol.Failure {
	return &protocol.Failure{Reason: reason, Text: err.Error()}
}

// startReason says why execve or what is before it refused.
func startReason(err error) protocol.Reason {
	switch {
	case outOfResources(err):
		return protocol.NoResources
	case err == syscall.E2BIG:
		return protocol.TooLong
	case err == syscall.ENOENT, err == syscall.ENOTDIR: // a script's interpreter, perhaps
		return protocol.NoProgram
	}
	return protocol.NotRunnable
}

// environment returns base with changes and the working directory; the last of two entries
// for a name counts.
func environment(base, changes []string, dir string) []string {
	at := map[string]int{}
	var env []string
	for _, list := range [][]string{base, changes, {"PWD=" + dir}} {
		for _, entry := range list {
			name, _, _ := strings.Cut(entry, "=")
			if i, known := at[name]; known {
				env[i] = entry
				continue
			}
			at[name] = len(env)
			env = append(env, entry)
		}
	}
	return env
}

// defaultPath is searched where the environment has no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// find looks a program up as a shell does: the first in PATH that may be executed. The
// environment is the command's own.
func find(name string, env []string) (string, *protocol.Failure) {
	if strings.Contains(name, "/") {
		return name, runnable(name)
	}
	path := defaultPath
	for _, entry := range env {
		if p, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = p
		}
	}
	missing := &protocol.Failure{Reason: protocol.NoProgram, Text: name + ": not found in PATH"}
	for _, dir := range filepath.SplitList(path) {
		file := "./" + name // an empty entry is the working directory
		if dir != "" {
			file = dir + "/" + name
		}
		fail := runnable(file)
		if fail == nil {
			return file, nil
		}
		if fail.Reason == protocol.NotRunnable {
			missing = fail
		}
	}
	return "", missing
}

// From fcntl.h and unistd.h.
const (
	atFDCWD = -100
	execOK  = 1
)

func runnable(file string) *protocol.Failure {
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		err = &os.PathError{Op: "execute", Path: file, Err: syscall.EISDIR}
	case err == nil:
		if errno := syscall.Faccessat(atFDCWD, file, execOK, 0); errno != nil {
			err = &os.PathError{Op: "execute", Path: file, Err: errno}
		}
	case os.IsNotExist(err) || strings.HasSuffix(err.Error(), syscall.ENOTDIR.Error()):
		return failure(protocol.NoProgram, err)
	}
	if err != nil {
		return failure(protocol.NotRunnable, err)
	}
	return nil
}

// pipes are the ends of the command's standard streams: [0] to read from, [1] to write to.
type pipes [3][2]int

// openPipes makes them. Without an input the first reads /dev/null.
func openPipes(input bool) (p pipes, err error) {
	p = pipes{{-1, -1}, {-1, -1}, {-1, -1}}
	for i := range p {
		if i == 0 && !input {
			p[0][0], err = syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		} else {
			err = syscall.Pipe2(p[i][:], syscall.O_CLOEXEC)
		}
		if err != nil {
			return p, err // this process ends: nothing needs to be closed
		}
	}
	return p, nil
}

func (p pipes) theirs() []uintptr {
	return []uintptr{uintptr(p[0][0]), uintptr(p[1][1]), uintptr(p[2][1])}
}

func (p pipes) closeTheirs() {
	for _, fd := range p.theirs() {
		syscall.Close(int(fd))
	}
}

// ours returns the ends that are not the command's.
func (p pipes) ours(input bool) (c [3]*conn, err error) {
	for i, name := range []string{"stdin", "stdout", "stderr"} {
		switch {
		case i > 0:
			c[i], err = newConn(p[i][0], name)
		case input:
			c[i], err = newConn(p[i][1], name)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// volunteerAgain is after what time those volunteer that the command started before it did
// itself. Most commands have ended by then.
const volunteerAgain = 20 * time.Millisecond

// volunteerAll makes everything below this process volunteer.
func volunteerAll() {
	for _, p := range below(processes(), os.Getpid(), alive) {
		volunteer(p.pid)
	}
}

// volunteer makes the kernel prefer a process to the agent and the supervisors where memory
// runs out. What it starts from now on inherits that.
func volunteer(pid int) {
	name := "/proc/" + strconv.Itoa(pid) + "/oom_score_adj"
	if fd, err := syscall.Open(name, syscall.O_WRONLY|syscall.O_CLOEXEC, 0); err == nil {
		syscall.Write(fd, []byte("500"))
		syscall.Close(fd)
	}
}

// feed writes input to w. A command that does not want it all is none of our business.
func feed(w *conn, input []byte) {
	defer w.Close()
	w.Write(input)
}

// readSize is the room of a pipe, in bytes.
const readSize = 64 << 10

// collect reads a stream to its end.
func (s *supervisor) collect(i int, r *conn) {
	defer r.Close()
	buf := make([]byte, readSize)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			s.streams[i].kept.Write(buf[:n])
			s.latest.set(i)
		}
		if err != nil {
			s.ended <- i
			return
		}
	}
}

// latest is the index of the stream that was written to last.
type latest struct{ i atomic.Int32 }

func (l *latest) set(i int) { l.i.Store(int32(i)) }
func (l *latest) get() int  { return int(l.i.Load()) }
