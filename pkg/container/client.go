package container

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

const (
	// helloWithin is how long an agent may take from its start to its first answer.
	helloWithin = 20 * time.Second
	// restartWithin bounds the restart of a sandbox.
	restartWithin = 30 * time.Second
	// removeWithin bounds the removal of one.
	removeWithin = 10 * time.Second
	// busyMachine is added to the time after which the server acts in the agent's place: the
	// agent counts from the start of a command, the server from its request.
	busyMachine = time.Second
)

// A staleAgentError says that the agent is not the one that was wanted.
type staleAgentError struct{ got, want string }

func (e *staleAgentError) Error() string {
	return fmt.Sprintf("the agent is of build %q, want %q", e.got, e.want)
}

// An agentBackend runs commands through the agent of a host.
type agentBackend struct {
	name  string
	can   Abilities
	dir   string // where commands run that do not say
	build string // of the agent
	host  host

	mounts seenMounts
	ids    atomic.Uint64
	jobs   jobTable
	done   chan struct{}

	restarting sync.Mutex // held while the sandbox starts again
	closing    sync.Once

	mu   sync.Mutex
	conn *conn
	lost error // set once, when done is closed
}

// newAgentBackend starts the agent of h and waits for its greeting. Build is that of the agent
// that must answer: another one is a [*staleAgentError]. On an error h is removed.
func newAgentBackend(ctx context.Context, h host, o agentOptions) (Backend, error) {
	b := &agentBackend{name: o.name, can: o.can, dir: o.dir, build: o.build, host: h, mounts: o.mounts, done: make(chan struct{})}
	s, err := h.start(ctx)
	if err == nil {
		if err = b.connect(ctx, s, helloWithin); err != nil {
			s.Close()
		}
	}
	if err != nil {
		b.lose(err)
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// agentOptions are what an agentBackend is made with.
type agentOptions struct {
	name  string
	can   Abilities
	dir   string
	build string

	mounts seenMounts // that must be there
}

// connect makes s the current connection, once the agent at its end has said who it is.
// Where that fails, s stays open.
func (b *agentBackend) connect(ctx context.Context, s stream, within time.Duration) error {
	c := newConn(s, b.late)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := b.greet(ctx, c)
	if err != nil {
		c.leave(err)
		return err
	}
	b.mu.Lock()
	b.conn = c
	b.mu.Unlock()
	go b.watch(c)
	return nil
}

func (b *agentBackend) greet(ctx context.Context, c *conn) error {
	hello, err := protocol.Make(protocol.Hello, b.ids.Add(1), protocol.Salutation{Look: b.mounts.targets()})
	if err != nil {
		return err
	}
	f, err := c.ask(ctx, hello)
	if err != nil {
		return err
	}
	var g protocol.Greeting
	if err := f.Decode(&g); err != nil {
		return err
	}
	if g.Build != b.build || g.Version != protocol.Version {
		return &staleAgentError{got: g.Build, want: b.build}
	}
	return b.mounts.compare(g)
}

// watch notices that the sandbox is gone. A connection that a restart ends is none of its
// business.
func (b *agentBackend) watch(c *conn) {
	<-c.ended
	c.work.Wait()
	var restarted *RestartedError
	if why := c.cause(); !errors.As(why, &restarted) {
		b.lose(why)
	}
}

// lose marks the sandbox as gone.
func (b *agentBackend) lose(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost == nil {
		b.lost = why
		close(b.done)
	}
}

// current returns the connection to use.
func (b *agentBackend) current() (*conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost != nil {
		return nil, b.lost
	}
	return b.conn, nil
}

// Name implements [Backend].
func (b *agentBackend) Name() string { return b.name }

// Abilities implements [Backend].
func (b *agentBackend) Abilities() Abilities { return b.can }

// Done implements [Backend].
func (b *agentBackend) Done() <-chan struct{} { return b.done }

// Restart implements [Backend].
func (b *agentBackend) Restart(context.Context) error {
	c, err := b.current()
	if err != nil {
		return err
	}
	return b.restart(c, "as was asked for")
}

// restart ends everything in the sandbox and starts its agent again, unless c is no longer
// the current connection: then somebody else has done it. It goes on when callers give up,
// since what it has begun must be ended.
func (b *agentBackend) restart(c *conn, why string) error {
	b.restarting.Lock()
	defer b.restarting.Unlock()
	if now, err := b.current(); err != nil || now != c {
		return err
	}
	c.leave(&RestartedError{Why: why}) // its end would end the container before the engine restarts it
	defer c.s.Close()
	b.jobs.clear()
	ctx, cancel := context.WithTimeout(context.Background(), restartWithin)
	defer cancel()
	err := b.startAgain(ctx)
	if err != nil {
		err = &LostError{Why: "it could not be restarted", Err: err}
		b.lose(err)
	}
	return err
}

// startAgain restarts the sandbox, and once more if its agent does not answer: an engine can
// lose a stream between two starts. The streams of what failed stay open until the end, since
// a container lives by them.
func (b *agentBackend) startAgain(ctx context.Context) (err error) {
	for range 2 {
		s, failed := b.host.restart(ctx)
		if failed != nil {
			return failed
		}
		if err = b.connect(ctx, s, helloWithin/2); err == nil {
			return nil
		}
		defer s.Close()
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return err
}

// Close implements [Backend].
func (b *agentBackend) Close() (err error) {
	b.closing.Do(func() {
		gone := &LostError{Why: "it was closed"}
		b.lose(gone)
		b.restarting.Lock() // a restart on its way would start what is removed here
		defer b.restarting.Unlock()
		b.mu.Lock()
		c := b.conn
		b.mu.Unlock()
		if c != nil {
			c.end(gone)
			c.work.Wait()
		}
		ctx, cancel := context.WithTimeout(context.Background(), removeWithin)
		defer cancel()
		err = b.host.remove(ctx)
	})
	return err
}
