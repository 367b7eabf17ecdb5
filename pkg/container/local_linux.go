package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"github.com/toolhost/toolhost/pkg/container/agents"
	"golang.org/x/sys/unix"
)

// localEnv names the variables of this process that local commands see: what programs need
// to find their way, and no secret.
var localEnv = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}

// OpenLocal makes a sandbox that isolates nothing: the agent runs as a plain process of this
// machine, and so do commands, as this user. Of c only Dir and Env count; where Dir is "", a
// temporary directory is made that goes with the sandbox.
func OpenLocal(ctx context.Context, c Config) (*Sandbox, error) {
	a, ok := agents.For(runtime.GOARCH)
	if !ok {
		return nil, fmt.Errorf("run commands on this machine: there is no agent for %s", runtime.GOARCH)
	}
	h := &localHost{agent: a, dir: c.Dir, env: localEnviron(c.Env)}
	if c.Dir == "" {
		dir, err := os.MkdirTemp("", "toolhost-local-")
		if err != nil {
			return nil, err
		}
		h.dir, h.temp = dir, dir
	}
	b, err := newAgentBackend(ctx, h, agentOptions{
		name: "local", can: Abilities{ExactKill: true, Jobs: true}, dir: h.dir, build: a.Build,
	})
	if err != nil {
		return nil, fmt.Errorf("run commands on this machine: %w", err)
	}
	info := Info{ID: fmt.Sprintf("process-%d", h.pid()), User: fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), Dir: h.dir}
	return &Sandbox{Backend: b, Info: info}, nil
}

func localEnviron(more map[string]string) (env []string) {
	for _, name := range localEnv {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range more {
		env = append(env, name+"="+v)
	}
	return env
}

// A localHost runs the agent as a child of this process.
type localHost struct {
	agent agents.Agent
	dir   string
	temp  string // to remove at the end
	env   []string

	mu  sync.Mutex
	now *localStream
}

func (h *localHost) pid() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now.cmd.Process.Pid
}

func (h *localHost) start(context.Context) (stream, error) {
	file, err := memoryFile(h.agent)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &localStream{cmd: exec.Command(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))}
	s.cmd.Args, s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = []string{"toolhost-agent"}, h.env, h.dir, &s.said
	if s.cmd.Env == nil {
		s.cmd.Env = []string{} // nil would mean all of this process's
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if s.Reader, err = s.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = s
	return s, nil
}

// memoryFile returns the agent as a file that lies in no directory.
func memoryFile(a agents.Agent) (*os.File, error) {
	data, err := a.Bytes()
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("toolhost-agent", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3 every such file can be executed
		fd, err = unix.MemfdCreate("toolhost-agent", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, fmt.Errorf("create a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "toolhost-agent")
	if _, err := f.Write(data); err != nil {
		f.Close()
		return nil, err
	}
	// A file that is open for writing cannot be executed.
	ro, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
	f.Close()
	return ro, err
}

// restart ends the agent, which takes its commands with it, and starts another.
func (h *localHost) restart(ctx context.Context) (stream, error) {
	h.end()
	return h.start(ctx)
}

func (h *localHost) end() {
	h.mu.Lock()
	s := h.now
	h.mu.Unlock()
	if s != nil {
		s.Close()
		s.wait()
	}
}

func (h *localHost) remove(context.Context) error {
	h.end()
	if h.temp == "" {
		return nil
	}
	return os.RemoveAll(h.temp)
}

// A localStream is the standard streams of an agent.
type localStream struct {
	io.Reader
	in     io.WriteCloser
	cmd    *exec.Cmd
	said   tailBuffer
	waited sync.Once
}

func (s *localStream) Write(p []byte) (int, error) { return s.in.Write(p) }

func (s *localStream) Close() error { return s.in.Close() }

func (s *localStream) wait() { s.waited.Do(func() { _ = s.cmd.Wait() }) } // how it ended does not matter

func (s *localStream) diagnostics() string { return s.said.String() }
