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
	// resetWithin is how long an agent may take to end everything else.
	resetWithin = 4 * time.Second
	// restartWithin bounds the time in which a host makes its place anew.
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
	life

	restarting sync.Mutex // held while the sandbox starts again
	closing    sync.Once

	current atomic.Pointer[conn]
	why     atomic.Pointer[RestartedError] // of the last restart
}

// newAgentBackend starts the agent of h and waits for its greeting. Build is that of the agent
// that must answer: another one is a [*staleAgentError]. On an error h is removed.
func newAgentBackend(ctx context.Context, h host, o agentOptions) (Backend, error) {
	b := &agentBackend{name: o.name, can: o.can, dir: o.dir, build: o.build, host: h, mounts: o.mounts, life: newLife()}
	s, err := h.start(ctx)
	if err == nil {
		err = b.connect(ctx, s)
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
// Where that fails, s is closed.
func (b *agentBackend) connect(ctx context.Context, s stream) error {
	c := newConn(s, b.late)
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	if err := b.greet(ctx, c); err != nil {
		c.end(err)
		return err
	}
	b.current.Store(c)
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

// Name implements [Backend].
func (b *agentBackend) Name() string { return b.name }

// Abilities implements [Backend].
func (b *agentBackend) Abilities() Abilities { return b.can }

// Restart implements [Backend].
func (b *agentBackend) Restart(context.Context) (emptied bool, err error) {
	turn, err := b.now()
	if err != nil {
		return false, err
	}
	return b.restart(turn, "as was asked for")
}

// restart ends everything in the sandbox, unless that was done since turn. The agent does that,
// and stays; where it does not answer, the host makes the place anew. It goes on when callers
// give up, since what it has begun must be ended.
func (b *agentBackend) restart(turn int, why string) (emptied bool, err error) {
	b.restarting.Lock()
	defer b.restarting.Unlock()
	if begun, err := b.next(turn); !begun { // before the agent is asked: what is sent later is of the next turn
		return false, err
	}
	c, cause := b.current.Load(), &RestartedError{Why: why}
	b.why.Store(cause)
	b.jobs.clear()
	if b.reset(c) {
		return false, nil
	}
	c.end(cause)
	if err := c.cause(); err != error(cause) { // the sandbox had ended before
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), restartWithin)
	defer cancel()
	s, err := b.host.restart(ctx)
	if err == nil {
		err = b.connect(ctx, s)
	}
	if err != nil {
		err = &LostError{Why: "it could not be restarted", Err: err}
		b.lose(err)
		return false, err
	}
	return b.can.Isolated, nil
}

// reset asks the agent to end everything else, and reports whether it did.
func (b *agentBackend) reset(c *conn) bool {
	ctx, cancel := context.WithTimeout(context.Background(), resetWithin)
	defer cancel()
	f, err := c.ask(ctx, protocol.Frame{Kind: protocol.Reset, ID: b.ids.Add(1)})
	return err == nil && f.Kind == protocol.Reset
}

// Close implements [Backend].
func (b *agentBackend) Close() (err error) {
	b.closing.Do(func() {
		gone := &LostError{Why: "it was closed"}
		b.lose(gone)
		b.restarting.Lock() // a restart on its way would start what is removed here
		defer b.restarting.Unlock()
		if c := b.current.Load(); c != nil {
			c.end(gone)
			c.work.Wait()
		}
		ctx, cancel := context.WithTimeout(context.Background(), removeWithin)
		defer cancel()
		err = b.host.remove(ctx)
	})
	return err
}
