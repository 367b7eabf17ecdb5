package container

import (
	"context"
	"errors"
	"io"
)

// A ScriptedHost is a host whose agents are functions of a test.
type ScriptedHost struct {
	Agent   func(in io.Reader, out io.Writer) // one for each start; the stream ends when it returns
	Err     error                             // of the next start or restart
	Starts  int
	Removed int
}

func (h *ScriptedHost) start(context.Context) (stream, error) {
	h.Starts++
	if h.Err != nil {
		return nil, h.Err
	}
	fromServer, in := io.Pipe()
	out, toServer := io.Pipe()
	go func() {
		h.Agent(fromServer, toServer)
		fromServer.Close()
		toServer.Close()
	}()
	return &scriptedStream{out, in}, nil
}

func (h *ScriptedHost) restart(ctx context.Context) (stream, error) { return h.start(ctx) }

func (h *ScriptedHost) remove(context.Context) error {
	h.Removed++
	return nil
}

type scriptedStream struct {
	*io.PipeReader
	in *io.PipeWriter
}

func (s *scriptedStream) Write(p []byte) (int, error) { return s.in.Write(p) }

func (s *scriptedStream) Close() error {
	s.in.Close()
	return s.PipeReader.Close()
}

func (s *scriptedStream) diagnostics() string { return "said before the end" }

// NewAgentBackend returns a backend whose agent must be of build "b".
func NewAgentBackend(ctx context.Context, h *ScriptedHost) (Backend, error) {
	return newAgentBackend(ctx, h, agentOptions{
		name: "agent", can: Abilities{ExactKill: true, Jobs: true, OOM: true}, dir: "/data", build: "b",
	})
}

// Remembered returns how many commands an agent backend has not forgotten, and how many answers it
// waits for.
func Remembered(b Backend) (commands, answers int) {
	a := b.(*agentBackend)
	a.jobs.mu.Lock()
	defer a.jobs.mu.Unlock()
	c := a.current.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(a.jobs.jobs), len(c.waiting)
}

// IsStale reports whether err says that the agent is of another build.
func IsStale(err error) bool {
	return errors.As(err, new(*staleAgentError))
}
