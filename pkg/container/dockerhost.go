package container

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// A dockerHost is a container whose first process is the agent, reached over the container's
// own standard streams. It lives as long as its standard input: when that ends, whatever ended
// it, the agent does, and the engine removes the container.
type dockerHost struct {
	engine *Engine
	spec   spec

	mu     sync.Mutex
	id     string // of the container; "" until it is created
	now    *attached
	ran    bool       // it was started
	ended  chan int64 // gets the exit code of the first start
	settle func()     // ends the waiting for it
}

// exitWithin is how long the engine may take to say how a container ended.
const exitWithin = time.Second

// An agentStartError says that the agent did not start, or ended at once: it cannot run in
// this container.
type agentStartError struct {
	why string
	err error
}

func (e *agentStartError) Error() string { return "the agent does not run in this image: " + e.why }
func (e *agentStartError) Unwrap() error { return e.err }

// start makes the container and starts it. It attaches first, so that nothing is lost and
// there is no moment in which nobody holds its standard input.
func (h *dockerHost) start(ctx context.Context) (stream, error) {
	id, err := h.engine.create(ctx, h.spec.config, h.spec.host)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.id = id
	h.mu.Unlock()
	if h.now, err = h.attach(ctx); err != nil {
		return nil, err
	}
	h.listen()
	err = h.engine.api.ContainerStart(ctx, id, container.StartOptions{})
	if err != nil {
		return nil, h.engine.startError(h.spec, err)
	}
	h.ran = true
	return h.now, nil
}

// listen waits for the end of the container, until settle is called.
func (h *dockerHost) listen() {
	ctx, cancel := context.WithCancel(h.engine.live)
	h.ended, h.settle = make(chan int64, 1), cancel
	codes, errs := h.engine.api.ContainerWait(ctx, h.id, container.WaitConditionNextExit)
	go func() {
		select {
		case r := <-codes:
			h.ended <- r.StatusCode
		case <-errs:
		}
	}()
}

// killed is the exit code of a container that was removed while it ran.
const killed = 137

// explain says what became of an agent that gave no greeting, if it ended by itself. The
// container is removed by now.
func (h *dockerHost) explain(err error) error {
	if !h.ran {
		return err
	}
	code, known := h.exitCode()
	if !h.now.over.Load() && (!known || code == killed) {
		return err
	}
	why := "it ended at once"
	if known {
		why = fmt.Sprintf("it ended at once with code %d", code)
	}
	if said := h.now.diagnostics(); said != "" {
		why += ": " + said
	}
	return &agentStartError{why: why, err: err}
}

func (h *dockerHost) exitCode() (code int64, known bool) {
	select {
	case code := <-h.ended:
		return code, true
	case <-time.After(exitWithin):
		return 0, false
	}
}

// restart makes another container in the place of this one. The engine's own restart would keep
// the files, but a container that is removed at its end can be gone before the engine starts it
// again.
func (h *dockerHost) restart(ctx context.Context) (stream, error) {
	if err := h.remove(ctx); err != nil {
		return nil, err
	}
	defer func() { h.settle() }()
	return h.start(ctx)
}

// container returns the id of the container at present.
func (h *dockerHost) container() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.id
}

// remove ends the container and returns when it is gone.
func (h *dockerHost) remove(ctx context.Context) error {
	if h.now != nil {
		h.now.Close()
	}
	if h.id == "" {
		return nil
	}
	return h.engine.removeContainer(ctx, h.id)
}

func (h *dockerHost) attach(ctx context.Context) (*attached, error) {
	conn, err := h.engine.api.ContainerAttach(ctx, h.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, fmt.Errorf("attach to container %.12s: %w", h.id, err)
	}
	return newAttached(conn), nil
}

// An attached is the standard streams of a container over one connection, on which the engine
// interleaves output and errors.
type attached struct {
	conn  types.HijackedResponse
	out   *io.PipeReader
	said  tailBuffer
	over  atomic.Bool // it ended before it was closed
	ours  atomic.Bool // it was closed
	close sync.Once
}

func newAttached(conn types.HijackedResponse) *attached {
	r, w := io.Pipe()
	s := &attached{conn: conn, out: r}
	go func() {
		_, err := stdcopy.StdCopy(w, &s.said, conn.Reader)
		s.over.Store(!s.ours.Load())
		w.CloseWithError(err) // nil: EOF
	}()
	return s
}

// Read reads what the agent writes.
func (s *attached) Read(p []byte) (int, error) { return s.out.Read(p) }

// Write sends p to the agent.
func (s *attached) Write(p []byte) (int, error) { return s.conn.Conn.Write(p) }

// Close ends the agent's standard input, and the agent with it.
func (s *attached) Close() error {
	s.close.Do(func() {
		s.ours.Store(true)
		s.conn.Close()
		s.out.Close()
	})
	return nil
}

func (s *attached) diagnostics() string { return s.said.String() }
