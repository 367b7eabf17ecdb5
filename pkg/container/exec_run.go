package container

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/container/capture"
)

// Run implements [Backend].
func (b *execBackend) Run(ctx context.Context, c Command, report func(Progress)) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	turn, err := b.now()
	if err != nil {
		return Result{}, err
	}
	r := &execRun{
		b: b, c: c, turn: turn, token: rand.Text(), dir: c.dirBelow(b.dir), began: time.Now(), report: report,
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
	if _, lost := b.now(); lost != nil {
		return lost
	}
	return fmt.Errorf("run a command by docker exec: %w", err)
}

// An execRun is one command on its way.
type execRun struct {
	b         *execBackend
	c         Command
	turn      int
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
			_, _, _ = r.kill(x, ended)
			return Result{}, context.Cause(ctx)
		case <-r.b.done:
			_, err := r.b.now()
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
	if turn, lost := r.b.now(); lost == nil && turn != r.turn {
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
	restarted, emptied, err := r.kill(x, ended)
	if err != nil {
		return Result{}, err
	}
	res := r.texts()
	res.TimedOut, res.Restarted, res.Emptied = true, restarted, emptied
	return res, nil
}

// kill ends the command: its processes are swept, and if its outputs do not end by that the
// container is restarted.
func (r *execRun) kill(x execution, ended <-chan error) (restarted, emptied bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), sweepWithin)
	defer cancel()
	if broom, err := r.b.host.exec(ctx, execProcess{argv: []string{"/bin/sh", "-c", sweep, "sweep", r.token}, dir: "/"}); err == nil {
		defer broom.hangup()
		go func() { _ = broom.copy(io.Discard, io.Discard) }()
	}
	select {
	case <-ended:
		return false, false, nil
	case <-ctx.Done():
	}
	emptied, err = r.b.restart(r.turn)
	x.hangup()
	<-ended
	return true, emptied, err
}
