package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// exec starts a process in the container by the engine's own means.
func (h *dockerHost) exec(ctx context.Context, p execProcess) (execution, error) {
	id := h.container()
	made, err := h.engine.api.ContainerExecCreate(ctx, id, container.ExecOptions{
		Cmd: p.argv, WorkingDir: p.dir, Env: p.env, AttachStdin: p.stdin, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return nil, fmt.Errorf("exec in container %.12s: %w", id, err)
	}
	conn, err := h.engine.api.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, fmt.Errorf("exec in container %.12s: %w", id, err)
	}
	return &dockerExec{engine: h.engine, id: made.ID, fed: p.stdin, conn: conn}, nil
}

// A dockerExec is a process that the engine started in a container.
type dockerExec struct {
	engine *Engine
	id     string
	fed    bool // it has an input
	conn   types.HijackedResponse
}

// Write sends p to the process.
func (x *dockerExec) Write(p []byte) (int, error) { return x.conn.Conn.Write(p) }

// Close ends its standard input.
func (x *dockerExec) Close() error { return x.conn.CloseWrite() }

func (x *dockerExec) copy(out, err io.Writer) error {
	_, e := stdcopy.StdCopy(out, err, x.conn.Reader)
	if x.fed && errors.Is(e, syscall.ECONNRESET) && x.conn.Conn.RemoteAddr().Network() == "unix" {
		// The engine closed its end with input in it that the process did not want. On a Unix socket that is
		// heard of after all output.
		return nil
	}
	return e
}

func (x *dockerExec) hangup() { x.conn.Close() }

// code asks for the exit code until the engine has noticed the end.
func (x *dockerExec) code(ctx context.Context) (int, error) {
	for {
		state, err := x.engine.api.ContainerExecInspect(ctx, x.id)
		if err != nil {
			return 0, fmt.Errorf("ask for an exit code: %w", err)
		}
		if !state.Running {
			return state.ExitCode, nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("ask for an exit code: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
