package container

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/pkg/container/capture"
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

const (
	sweepWithin = 3 * time.Second // sweep and the end of the outputs after it
	codeWithin  = 5 * time.Second
)

// An execBackend runs commands by docker exec, where no agent can run. It costs tens of
// milliseconds a command, and a process that clears its environment outlives a timeout.
type execBackend struct {
	host execHost
	dir  string
	done chan struct{}

	restarting sync.Mutex
	closing    sync.Once

	mu     sync.Mutex
	keeper stream
	epoch  int // counts restarts
	lost   error
}

// newExecBackend starts the container of h. On an error h is removed.
func newExecBackend(ctx context.Context, h execHost, dir string) (Backend, error) {
	b := &execBackend{host: h, dir: dir, done: make(chan struct{})}
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
	b.mu.Lock()
	b.keeper = s
	b.epoch++
	epoch := b.epoch
	b.mu.Unlock()
	go func() {
		_, err := io.Copy(io.Discard, s)
		b.mu.Lock()
		current := b.epoch == epoch
		b.mu.Unlock()
		if current {
			b.lose(&LostError{Why: "its first process ended, as it does when the engine ends the container or when memory runs out", Err: err})
		}
	}()
}

func (b *execBackend) lose(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost == nil {
		b.lost = why
		close(b.done)
	}
}

func (b *execBackend) current() (epoch int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.epoch, b.lost
}

// Name implements [Backend].
func (b *execBackend) Name() string { return "exec" }

// Abilities implements [Backend].
func (b *execBackend) Abilities() Abilities { return Abilities{Isolated: true} }

// Done implements [Backend].
func (b *execBackend) Done() <-chan struct{} { return b.done }

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
func (b *execBackend) Restart(context.Context) error {
	epoch, err := b.current()
	if err != nil {
		return err
	}
	return b.restart(epoch)
}

// restart restarts the container, unless that was done since epoch.
func (b *execBackend) restart(epoch int) error {
	b.restarting.Lock()
	defer b.restarting.Unlock()
	b.mu.Lock()
	lost, other := b.lost, b.epoch != epoch
	if !other {
		b.epoch++ // so that the end of the old keeper is not the sandbox's
	}
	b.mu.Unlock()
	if lost != nil || other {
		return lost
	}
	ctx, cancel := context.WithTimeout(context.Background(), restartWithin)
	defer cancel()
	s, err := b.host.restart(ctx)
	if err != nil {
		err = &LostError{Why: "it could not be restarted", Err: err}
		b.lose(err)
		return err
	}
	b.adopt(s)
	return nil
}

// Close implements [Backend].
func (b *execBackend) Close() (err error) {
	b.closing.Do(func() {
		b.lose(&LostError{Why: "it was closed"})
		b.restarting.Lock()
		defer b.restarting.Unlock()
		b.mu.Lock()
		s := b.keeper
		b.mu.Unlock()
		if s != nil {
			s.Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), removeWithin)
		defer cancel()
		err = b.host.remove(ctx)
	})
	return err
}

// Run implements [Backend].
func (b *execBackend) Run(ctx context.Context, c Command, report func(Progress)) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	epoch, err := b.current()
	if err != nil {
		return Result{}, err
	}
	r := &execRun{
		b: b, c: c, epoch: epoch, token: rand.Text(), dir: c.dirBelow(b.dir), began: time.Now(), report: report,
		out: capture.NewCollector(capture.Room(c.Limit)), errs: capture.NewCollector(capture.Room(c.Limit)),
	}
	p := execProcess{argv: c.Argv, dir: r.dir, env: []string{tokenName + "=" + r.token}, stdin: c.Stdin != nil}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		p.env = append(p.env, name+"="+c.Env[name])
	}
	x, err := b.host.exec(ctx, p)
	if err != nil {
		return Result{}, b.why(ctx, err)
	}
	defer x.hangup()
	return r.wait(ctx, x)
}

// why explains an error of the engine by the end of the sandbox or the call, if that is the
// cause.
func (b *execBackend) why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, lost := b.current(); lost != nil {
		return lost
	}
	return fmt.Errorf("run a command by docker exec: %w", err)
}

// An execRun is one command on its way.
type execRun struct {
	b         *execBackend
	c         Command
	epoch     int
	token     string
	dir       string
	began     time.Time
	report    func(Progress)
	out, errs *capture.Collector
}

func (r *execRun) wait(ctx context.Context, x execution) (Result, error) {
	if r.c.Stdin != nil {
		go func() {
			_, _ = io.WriteString(x, *r.c.Stdin) // a command need not read it
			x.Close()
		}()
	}
	ended := make(chan error, 1)
	go func() { ended <- x.copy(r.out, r.errs) }()
	late := time.NewTimer(r.c.Timeout)
	defer late.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return r.end(ctx, x, err)
		case <-tick.C:
			r.progress()
		case <-late.C:
			return r.timeout(x, ended)
		case <-ctx.Done():
			_, _ = r.kill(x, ended)
			return Result{}, context.Cause(ctx)
		case <-r.b.done:
			_, err := r.b.current()
			return Result{}, err
		}
	}
}

func (r *execRun) progress() {
	if r.report == nil {
		return
	}
	line, n := r.out.Line()
	other, m := r.errs.Line()
	r.report(Progress{Line: cmp.Or(line, other), Bytes: n + m, Took: time.Since(r.began)})
}

func (r *execRun) end(ctx context.Context, x execution, err error) (Result, error) {
	if epoch, lost := r.b.current(); lost == nil && epoch != r.epoch {
		return Result{}, &RestartedError{Why: "another command could not be ended in any other way, or somebody asked for it"}
	}
	if err != nil {
		return Result{}, r.b.why(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, codeWithin)
	defer cancel()
	code, err := x.code(ctx)
	if err != nil {
		return Result{}, r.b.why(ctx, err)
	}
	res := r.texts()
	res.Code = code
	return r.started(res)
}

// started tells a command that the engine could not start from one that exited with 126 or 127.
func (r *execRun) started(res Result) (Result, error) {
	said := res.Stdout.Text + res.Stderr.Text
	if res.Code == 1 && strings.TrimSpace(said) == "exec "+r.c.Argv[0]+": argument list too long" { // runc 1.1
		res.Code, said = 126, "OCI runtime exec failed: "+said
	}
	if res.Code != 126 && res.Code != 127 || !strings.Contains(said, "OCI runtime exec failed") {
		return res, nil
	}
	switch {
	case strings.Contains(said, "chdir") || strings.Contains(said, "Cwd"):
		return Result{}, &StartError{Reason: NoDirectory, Text: fmt.Sprintf("directory %s in the sandbox: it does not exist, or may not be entered", r.dir)}
	case strings.Contains(said, "argument list too long"):
		return Result{}, &StartError{Reason: TooLong, Text: "the command and its environment are longer than the kernel takes: pass the text as standard input, or write it to a file"}
	case strings.Contains(said, "resource temporarily unavailable"):
		return Result{}, &StartError{Reason: NoResources, Text: "the sandbox can start no more processes: end what runs there, or restart it"}
	case strings.Contains(said, "not found"), strings.Contains(said, "no such file"):
		res.Code, res.Stdout.Text, res.Stderr.Text = 127, "", r.c.Argv[0]+": not found\n"
	default:
		res.Code, res.Stdout.Text, res.Stderr.Text = 126, "", r.c.Argv[0]+": cannot be executed\n"
	}
	return res, nil
}

func (r *execRun) texts() Result {
	out, errs := capture.Clip(r.out.Take(true), r.errs.Take(true), r.c.Limit)
	return Result{Stdout: out, Stderr: errs, Dir: r.dir, Took: time.Since(r.began)}
}

func (r *execRun) timeout(x execution, ended <-chan error) (Result, error) {
	restarted, err := r.kill(x, ended)
	if err != nil {
		return Result{}, err
	}
	res := r.texts()
	res.TimedOut, res.Restarted = true, restarted
	return res, nil
}

// kill ends the command: its processes are swept, and if its outputs do not end by that the
// container is restarted.
func (r *execRun) kill(x execution, ended <-chan error) (restarted bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), sweepWithin)
	defer cancel()
	if broom, err := r.b.host.exec(ctx, execProcess{argv: []string{"/bin/sh", "-c", sweep, "sweep", r.token}, dir: "/"}); err == nil {
		defer broom.hangup()
		go func() { _ = broom.copy(io.Discard, io.Discard) }()
	}
	select {
	case <-ended:
		return false, nil
	case <-ctx.Done():
	}
	err = r.b.restart(r.epoch)
	x.hangup()
	<-ended
	return true, err
}
