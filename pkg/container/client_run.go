package container

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/container/capture"
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// progressEvery is the time between two reports of a running command.
const progressEvery = time.Second

// Run implements [Backend].
func (b *agentBackend) Run(ctx context.Context, c Command, report func(Progress)) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	f, err := b.frame(c, report != nil)
	if err != nil {
		return Result{}, err
	}
	r := &running{b: b, id: f.ID, c: c, dir: c.dirBelow(b.dir), began: time.Now(), report: report}
	if _, err = b.now(); err != nil {
		return Result{}, err
	}
	r.conn = b.current.Load()
	b.jobs.expect(f.ID)
	defer b.jobs.drop(f.ID)
	answers, err := r.conn.send(ctx, f)
	if err != nil {
		return Result{}, err
	}
	defer r.conn.forget(f.ID)
	if r.turn, err = b.now(); err != nil { // not before: a restart meanwhile may have been too early for it
		return Result{}, err
	}
	return r.wait(ctx, answers)
}

func (b *agentBackend) frame(c Command, report bool) (protocol.Frame, error) {
	msg := protocol.Command{
		Argv: c.Argv, Dir: c.dirBelow(b.dir), Stdin: c.Stdin != nil,
		TimeoutMS: max(1, c.Timeout.Milliseconds()), Keep: capture.Room(c.Limit),
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		msg.Env = append(msg.Env, name+"="+c.Env[name])
	}
	if report {
		msg.ProgressMS = progressEvery.Milliseconds()
	}
	var stdin []byte
	if c.Stdin != nil {
		stdin = []byte(*c.Stdin)
	}
	return protocol.Make(protocol.Run, b.ids.Add(1), msg, stdin)
}

// check looks at what the kernel would refuse, or cut.
func (c Command) check() error {
	bad := func(format string, args ...any) error {
		return &StartError{Reason: BadCommand, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return bad("there is no command")
	case c.Timeout <= 0:
		return bad("a timeout of %s: want more than 0", c.Timeout)
	case c.Limit <= 0:
		return bad("an output limit of %d: want more than 0", c.Limit)
	case strings.Contains(c.Dir, "\x00"):
		return bad("the directory holds a NUL byte")
	}
	for _, a := range c.Argv {
		if strings.Contains(a, "\x00") {
			return bad("the command holds a NUL byte, which no program can be given: pass it as standard input")
		}
	}
	for name, value := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return bad("environment variable %q: a name has no = and no NUL, a value no NUL", name)
		}
	}
	return nil
}

func (c Command) dirBelow(base string) string {
	if path.IsAbs(c.Dir) {
		return path.Clean(c.Dir)
	}
	return path.Join(base, c.Dir)
}

// A running is one command on its way.
type running struct {
	b      *agentBackend
	conn   *conn
	turn   int
	id     uint64
	c      Command
	dir    string
	began  time.Time
	report func(Progress)
}

// wait returns the command's end. Where the agent does not end it in time, or not when ctx
// does, the sandbox is restarted.
func (r *running) wait(ctx context.Context, answers <-chan protocol.Frame) (Result, error) {
	late := time.NewTimer(r.c.Timeout + protocol.RestartAt + busyMachine)
	defer late.Stop()
	for {
		select {
		case f := <-answers:
			if f.Kind == protocol.Progress {
				r.progress(f)
				continue
			}
			return r.result(f)
		case <-r.conn.ended:
			return r.cut()
		case <-ctx.Done():
			r.stop(answers)
			return Result{}, context.Cause(ctx)
		case <-late.C:
			emptied, err := r.b.restart(r.turn, "another command could not be ended in any other way")
			if err != nil {
				return Result{}, err
			}
			return r.late(emptied), nil
		}
	}
}

func (r *running) late(emptied bool) Result {
	return Result{TimedOut: true, Restarted: true, Emptied: emptied, Dir: r.dir, Took: time.Since(r.began)}
}

// cut says what becomes of a command whose connection has ended.
func (r *running) cut() (Result, error) {
	err := r.conn.cause()
	var restarted *RestartedError
	if errors.As(err, &restarted) {
		return r.restarted(restarted, r.b.can.Isolated)
	}
	return Result{}, err
}

// restarted says what becomes of a command that a restart ended. If its time was over, that is
// what it died of.
func (r *running) restarted(why *RestartedError, emptied bool) (Result, error) {
	if time.Since(r.began) > r.c.Timeout {
		return r.late(emptied), nil
	}
	return Result{}, why
}

// stop kills the command of a caller who has gone.
func (r *running) stop(answers <-chan protocol.Frame) {
	ctx, cancel := context.WithTimeout(context.Background(), protocol.RestartAt+busyMachine) // the agent acts just before
	defer cancel()
	f, err := protocol.Make(protocol.Kill, r.b.ids.Add(1), protocol.Target{Job: r.id})
	if err == nil {
		_, err = r.conn.send(ctx, f)
		defer r.conn.forget(f.ID)
	}
	for err == nil {
		select {
		case f := <-answers:
			if f.Kind != protocol.Progress {
				return
			}
		case <-r.conn.ended:
			return
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	_, _ = r.b.restart(r.turn, "a command whose caller had gone could not be ended in any other way") // if it is lost, the next call says so
}

func (r *running) progress(f protocol.Frame) {
	var p protocol.Report
	if r.report == nil || f.Decode(&p) != nil {
		return
	}
	r.report(Progress{Line: p.Line, Bytes: p.Bytes, Took: time.Since(r.began)})
}

func (r *running) result(f protocol.Frame) (Result, error) {
	if f.Kind == protocol.Failed {
		return r.failed(f)
	}
	var o protocol.Outcome
	if err := decode(f, protocol.Result, &o); err != nil {
		return Result{}, r.broken(err)
	}
	out, errs, err := texts(o.Output, f.Body, r.c.Limit)
	if err != nil {
		return Result{}, r.broken(err)
	}
	res := Result{
		Stdout: out, Stderr: errs, Code: o.Code, Signal: o.Signal, TimedOut: o.TimedOut, OOM: o.OOM && r.b.can.OOM,
		Left: o.Left, Killed: o.Killed, Orphaned: o.Orphaned, Dir: r.dir, Took: time.Duration(o.TookUS) * time.Microsecond,
	}
	if o.Left > 0 {
		res.Job = r.b.jobs.keep(r.id, Job{Argv: r.c.Argv, Started: r.began, Alive: o.Left}, r.c.Limit)
	}
	return res, nil
}

// broken ends a connection over which nonsense came.
func (r *running) broken(err error) error {
	lost := &LostError{Why: "its agent sent what cannot be read", Err: err}
	r.conn.end(lost)
	return lost
}

// failed turns the agent's refusal into a result as a shell gives it, or an error.
func (r *running) failed(f protocol.Frame) (Result, error) {
	var why protocol.Failure
	if err := f.Decode(&why); err != nil {
		return Result{}, r.broken(err)
	}
	program := r.c.Argv[0]
	switch why.Reason {
	case protocol.NoProgram:
		return r.refused(127, fmt.Sprintf("%s: not found", program)), nil
	case protocol.NotRunnable:
		return r.refused(126, fmt.Sprintf("%s: %s", program, why.Text)), nil
	case protocol.NoDirectory:
		return Result{}, &StartError{Reason: NoDirectory, Text: fmt.Sprintf("directory %s in the sandbox: %s", r.dir, why.Text)}
	case protocol.TooLong:
		return Result{}, &StartError{Reason: TooLong, Text: "the command and its environment are longer than the kernel takes (128 KiB for one argument): pass the text as standard input, or write it to a file"}
	case protocol.Restarted:
		return r.restarted(r.b.why.Load(), false)
	case protocol.NoResources:
		return Result{}, &StartError{Reason: NoResources, Text: "the sandbox can start no more processes (" + why.Text + "): its limit on processes or memory is reached; end what runs there, or restart it"}
	}
	return Result{}, fmt.Errorf("run a command: the agent says: %s: %s", why.Reason, why.Text)
}

func (r *running) refused(code int, text string) Result {
	return Result{Code: code, Stderr: capture.Text{Text: text + "\n"}, Dir: r.dir, Took: time.Since(r.began)}
}

func decode(f protocol.Frame, kind protocol.Kind, v any) error {
	if f.Kind != kind {
		return fmt.Errorf("a frame of kind %d came instead of %d", f.Kind, kind)
	}
	return f.Decode(v)
}

// texts makes the texts of a frame's body.
func texts(o protocol.Output, body []byte, limit int) (out, errs capture.Text, err error) {
	a, body, err := kept(o.Stdout, body)
	if err != nil {
		return out, errs, err
	}
	b, _, err := kept(o.Stderr, body)
	if err != nil {
		return out, errs, err
	}
	out, errs = capture.Clip(a, b, limit)
	return out, errs, nil
}

func kept(s protocol.Span, body []byte) (capture.Kept, []byte, error) {
	if s.Head < 0 || s.Tail < 0 || s.Head+s.Tail > len(body) {
		return capture.Kept{}, nil, fmt.Errorf("a span of %d and %d bytes in a body of %d", s.Head, s.Tail, len(body))
	}
	k := capture.Kept{Head: body[:s.Head:s.Head], Tail: body[s.Head : s.Head+s.Tail], Bytes: s.Bytes, Runes: s.Runes}
	return k, body[s.Head+s.Tail:], nil
}
