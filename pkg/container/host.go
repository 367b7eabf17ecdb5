package container

import (
	"context"
	"io"
)

// A host is where an agent runs, once: how it is started, ended and started again. Its methods
// are not called at once.
type host interface {
	// start starts the agent and returns the stream to it.
	start(ctx context.Context) (stream, error)
	// restart ends all processes there and starts the agent again, in a place made anew. The
	// stream of before has ended.
	restart(ctx context.Context) (stream, error)
	// remove ends all processes and leaves nothing behind. It is called once.
	remove(ctx context.Context) error
}

// A stream carries frames to an agent and back. Reading returns io.EOF when the agent has
// ended; closing makes the agent end.
type stream interface {
	io.ReadWriteCloser
	// diagnostics returns the end of what the agent wrote to its standard error.
	diagnostics() string
}
