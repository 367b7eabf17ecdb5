package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// silence is how long an agent may say nothing at all before it is taken for dead.
const silence = 3 * protocol.PingEvery

// A conn speaks with one agent over one stream, for as long as that lasts. Requests are
// matched to answers by their ids.
type conn struct {
	s    stream
	out  chan protocol.Frame
	late func(protocol.Frame) // gets the frames that nobody waits for, and Ended ones

	mu      sync.Mutex
	waiting map[uint64]chan protocol.Frame
	err     error // why it ended

	ended chan struct{} // closed when it has ended
	heard atomic.Int64  // when the last frame came, in nanoseconds since the epoch
	work  sync.WaitGroup
}

func newConn(s stream, late func(protocol.Frame)) *conn {
	c := &conn{s: s, late: late, out: make(chan protocol.Frame), waiting: map[uint64]chan protocol.Frame{}, ended: make(chan struct{})}
	c.heard.Store(time.Now().UnixNano())
	c.work.Go(c.read)
	c.work.Go(c.write)
	c.work.Go(c.ping)
	return c
}

// end ends the connection with the reason that those who wait are given. Only the first
// reason counts.
func (c *conn) end(why error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = why
		close(c.ended)
	}
	c.mu.Unlock()
	c.s.Close()
}

// cause returns why the connection ended.
func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *conn) read() {
	for {
		f, err := protocol.Read(c.s)
		if err != nil {
			c.end(&LostError{Why: "its first process ended, as it does when the engine ends the container or when memory runs out", Err: c.explain(err)})
			return
		}
		c.heard.Store(time.Now().UnixNano())
		c.deliver(f)
	}
}

// explain adds to an error what the agent said last.
func (c *conn) explain(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.EOF
	}
	if said := c.s.diagnostics(); said != "" {
		return fmt.Errorf("%w; the agent said: %s", err, said)
	}
	return err
}

// deliver hands f to who waits for it. Who waits takes every frame until it has its answer,
// so that its channel never stays full for long.
func (c *conn) deliver(f protocol.Frame) {
	c.mu.Lock()
	to := c.waiting[f.ID]
	c.mu.Unlock()
	switch {
	case f.Kind == protocol.Ended || to == nil:
		c.late(f)
	case f.Kind == protocol.Progress:
		select {
		case to <- f:
		default: // the next one tells more
		}
	default:
		select {
		case to <- f:
		case <-c.ended:
		}
	}
}

func (c *conn) write() {
	for {
		select {
		case f := <-c.out:
			if _, err := f.WriteTo(c.s); err != nil {
				c.end(&LostError{Why: "its agent takes no requests", Err: c.explain(err)})
				return
			}
		case <-c.ended:
			return
		}
	}
}

// ping renews the lease, and ends the connection to an agent that has fallen silent.
func (c *conn) ping() {
	tick := time.NewTicker(protocol.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-tick.C:
		}
		if quiet := time.Since(time.Unix(0, c.heard.Load())); quiet > silence {
			c.end(&LostError{Why: fmt.Sprintf("its agent has not answered for %s", quiet.Round(time.Second))})
			return
		}
		select {
		case c.out <- protocol.Frame{Kind: protocol.Ping}:
		case <-c.ended:
			return
		case <-time.After(protocol.PingEvery): // the writer is stuck: the next round looks again
		}
	}
}

// send sends a request. The answers come over the channel; forget must be called when no
// more are wanted.
func (c *conn) send(ctx context.Context, f protocol.Frame) (<-chan protocol.Frame, error) {
	answers := make(chan protocol.Frame, 4)
	c.mu.Lock()
	c.waiting[f.ID] = answers
	c.mu.Unlock()
	select {
	case c.out <- f:
		return answers, nil
	case <-c.ended:
		c.forget(f.ID)
		return nil, c.cause()
	case <-ctx.Done():
		c.forget(f.ID)
		return nil, context.Cause(ctx)
	}
}

func (c *conn) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// ask sends a request that has one answer, and returns that.
func (c *conn) ask(ctx context.Context, f protocol.Frame) (protocol.Frame, error) {
	answers, err := c.send(ctx, f)
	if err != nil {
		return protocol.Frame{}, err
	}
	defer c.forget(f.ID)
	select {
	case a := <-answers:
		return a, nil
	case <-c.ended:
		return protocol.Frame{}, c.cause()
	case <-ctx.Done():
		return protocol.Frame{}, context.Cause(ctx)
	}
}
