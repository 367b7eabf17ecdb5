package container

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// An execHost is a container whose first process does nothing, and in which the engine runs
// commands by itself.
type execHost interface {
	host
	// exec starts a process there.
	exec(ctx context.Context, p execProcess) (execution, error)
}

// An execProcess is what to start.
type execProcess struct {
	argv  []string
	dir   string
	env   []string
	stdin bool
}

// An execution is a process that the engine has started. Closing it does not end the process.
type execution interface {
	io.WriteCloser                 // of its standard input; Close ends only that
	copy(out, err io.Writer) error // until both outputs end, or hang up
	hangup()
	code(ctx context.Context) (int, error) // once the outputs have ended
}

// keeper is the program that keeps a container alive for as long as its standard input is
// open, in the words of any shell.
var keeper = []string{"/bin/sh", "-c", "while read -r line; do :; done"}

// tokenName is the variable by which processes of one command are found again.
const tokenName = "TOOLHOST_COMMAND"

// sweep kills the processes that have a token in their environment: the script's $1. It
// looks until it finds none, and gives up after a while: new ones may be made faster than it looks.
const sweep = `i=0
while [ $i -lt 20 ]; do
  found=
  for p in /proc/[0-9]*; do
    case $(cat $p/environ 2>/dev/null) in
    *` + tokenName + `=$1*) kill -KILL ${p#/proc/} 2>/dev/null && found=1 ;;
    esac
  done
  [ -n "$found" ] || exit 0
  i=$((i + 1))
done`

// killAll kills every process but the first and its own, until kill finds none, and fails if some
// are left. They can be dead: the first process reaps only its own, and the others count for the
// limit on processes.
const killAll = `i=0
while kill -KILL -1 2>/dev/null && [ $i -lt 200 ]; do
  i=$((i + 1))
done
set -- /proc/[0-9]*
[ $# -le 2 ]`

const (
	sweepWithin = 3 * time.Second // sweep and the end of the outputs after it
	codeWithin  = 5 * time.Second
)

// An execBackend runs commands by docker exec, where no agent can run. It costs tens of
// milliseconds a command, and a process that clears its environment outlives a timeout.
type execBackend struct {
	host execHost
	dir  string
	life

	restarting sync.Mutex
	closing    sync.Once

	keeper atomic.Pointer[stream]
}

// newExecBackend starts the container of h. On an error h is removed.
func newExecBackend(ctx context.Context, h execHost, dir string) (Backend, error) {
	b := &execBackend{host: h, dir: dir, life: newLife()}
	s, err := h.start(ctx)
	if err != nil {
		b.lose(err)
		return nil, errors.Join(err, b.Close())
	}
	b.adopt(s)
	return b, nil
}

// adopt makes s the stream whose end is the container's.
func (b *execBackend) adopt(s stream) {
	mine := &s
	b.keeper.Store(mine)
	go func() {
		_, err := io.Copy(io.Discard, s)
		if b.keeper.Load() == mine {
			b.lose(&LostError{Why: "its first process ended, as it does when the engine ends the container or when memory runs out", Err: err})
		}
	}()
}

// Name implements [Backend].
func (b *execBackend) Name() string { return "exec" }

// Abilities implements [Backend].
func (b *execBackend) Abilities() Abilities { return Abilities{Isolated: true} }

// Jobs implements [Backend].
func (b *execBackend) Jobs(context.Context) ([]Job, error) {
	return nil, &UnableError{"exec", "list what commands left running"}
}

// Poll implements [Backend].
func (b *execBackend) Poll(context.Context, string, time.Duration, int) (JobState, error) {
	return JobState{}, &UnableError{"exec", "read what jobs write"}
}

// Kill implements [Backend].
func (b *execBackend) Kill(context.Context, string, int) (JobState, error) {
	return JobState{}, &UnableError{"exec", "kill jobs; a restart ends everything"}
}

// Restart implements [Backend].
func (b *execBackend) Restart(context.Context) (emptied bool, err error) {
	turn, err := b.now()
	if err != nil {
		return false, err
	}
	return b.restart(turn)
}

// restart ends everything in the container, unless that was done since turn; where that does
// not work, the container is made anew.
func (b *execBackend) restart(turn int) (emptied bool, err error) {
	b.restarting.Lock()
	defer b.restarting.Unlock()
	if begun, err := b.next(turn); !begun {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), restartWithin)
	defer cancel()
	if b.reset(ctx) {
		return false, nil
	}
	b.keeper.Store(nil) // so that its end is not the sandbox's
	s, err := b.host.restart(ctx)
	if err != nil {
		err = &LostError{Why: "it could not be restarted", Err: err}
		b.lose(err)
		return false, err
	}
	b.adopt(s)
	return true, nil
}

// reset kills everything but the first process, and reports whether that is done.
func (b *execBackend) reset(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, resetWithin)
	defer cancel()
	x, err := b.host.exec(ctx, execProcess{argv: []string{"/bin/sh", "-c", killAll}, dir: "/"})
	if err != nil {
		return false
	}
	defer x.hangup()
	ended := make(chan error, 1)
	go func() { ended <- x.copy(io.Discard, io.Discard) }()
	select {
	case err := <-ended:
		if err != nil {
			return false
		}
	case <-ctx.Done():
		return false
	}
	code, err := x.code(ctx)
	return err == nil && code == 0
}

// Close implements [Backend].
func (b *execBackend) Close() (err error) {
	b.closing.Do(func() {
		b.lose(&LostError{Why: "it was closed"})
		b.restarting.Lock()
		defer b.restarting.Unlock()
		if s := b.keeper.Load(); s != nil {
			(*s).Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), removeWithin)
		defer cancel()
		err = b.host.remove(ctx)
	})
	return err
}
