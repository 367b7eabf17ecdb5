package shelltool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// overrun is how much longer than the timeouts of all its commands a call may take once it
// has its sandbox: by then a sandbox has been restarted, or nothing answers there.
const overrun = 15 * time.Second

// addShell registers shell.
func (t *toolset) addShell(s *toolkit.Server) error {
	return toolkit.Add(s, toolkit.Tool[shellIn, *shellPlan, *shellOut]{
		Definition: toolkit.Definition{
			Name: "shell", Title: "Run commands", Effect: t.effect(),
			Description: "Runs shell commands in order, each as a shell of its own, in a sandbox that stays from call to call. " +
				"A non-zero exit does not stop the list, a timeout does. What is left running becomes a job" + t.ofJobs() + ". " +
				"Long output is cut in the middle, with counts.",
			Params: t.shellParams(), Output: json.RawMessage(shellSchema),
			Hints:    toolkit.Hints{ClosedWorld: t.effect() == approval.RunContained},
			Deadline: t.lastResort(),
		},
		Plan: t.planShell, Run: t.runShell, Render: (*shellOut).render,
	})
}

// ofJobs names the tool for jobs in a description, if it is served.
func (t *toolset) ofJobs() string {
	if t.jobTool == "" {
		return ""
	}
	return " (" + t.jobTool + ")"
}

// lastResort is longer than any call may take; each ends in its own time before.
func (o *settings) lastResort() time.Duration {
	return maxCommands*o.maxTimeout + o.config.PullTimeout + 5*time.Minute
}

// A shellPlan is what a call would run, and where.
type shellPlan struct {
	at       address
	config   container.Config
	commands []container.Command
	echo     *int64 // max_output_length, where it was given
	jobTool  string // as in entry
}

func (t *toolset) planShell(ctx context.Context, call *toolkit.Call, in shellIn) (*shellPlan, approval.Action, error) {
	var a approval.Action
	commands, err := t.commands(in)
	if err != nil {
		return nil, a, err
	}
	s, err := t.setting(ctx, call)
	if err != nil {
		return nil, a, err
	}
	p := &shellPlan{at: addressOf(call, in.SandboxID), config: s.config, commands: commands, jobTool: t.jobTool}
	if n := in.MaxOutputLength; n != nil && *n > 0 {
		p.echo = n
	}
	err = t.resolve(ctx, &s, p.at)
	return p, t.action(in, p, s), err
}

// action says what a call would run.
func (t *toolset) action(in shellIn, p *shellPlan, s setting) approval.Action {
	first := p.commands[0]
	sh := &approval.Shell{
		Commands: in.Commands, Dialect: path.Base(t.shell), Dir: t.dirOf(s.config, first.Dir), Env: first.Env, Stdin: first.Stdin,
		Mounts: mountTexts(s.config.Mounts),
	}
	where := "on this machine itself"
	if !t.local {
		sh.Image, sh.ImageID, sh.Network = s.config.Image, s.image, string(s.config.Network)
		sh.User, sh.Profile = s.config.User, string(s.config.Profile)
		where = fmt.Sprintf("in a container of %s, network %s", sh.Image, sh.Network)
	}
	what := "run a command "
	if n := len(in.Commands); n > 1 {
		what = fmt.Sprintf("run %d commands ", n)
	}
	text := what + where
	if !t.local && s.image == "" {
		text += "; the image " + sh.Image + " would be pulled first"
	}
	for _, c := range in.Commands {
		text += "\n$ " + strings.ReplaceAll(toolkit.Inline(strings.TrimSuffix(c, "\n")), `\n`, "\n  ")
	}
	const most = 4 << 10
	return approval.Action{Effect: s.effect, Shell: sh, Args: in.used(first, sh.Dir), Summary: toolkit.Cut(text, most)}
}

// used are the arguments as they are used, with the operator's defaults and bounds, and with the absolute
// directory. A policy's conditions see these.
func (in shellIn) used(c container.Command, dir string) json.RawMessage {
	return toolkit.UsedArguments(map[string]any{
		"commands": in.Commands, "timeout_ms": c.Timeout.Milliseconds(), "max_output_length": c.Limit,
		"working_directory": cmp.Or(dir, in.WorkingDirectory), "env": c.Env, "stdin": in.Stdin, "sandbox_id": in.SandboxID,
	})
}

// dirOf returns the absolute directory that dir, as a call gave it, is in a sandbox. It is ""
// for the temporary directory of the local backend, which has no name yet.
func (t *toolset) dirOf(c container.Config, dir string) string {
	home := c.Dir
	if !t.local {
		home = cmp.Or(home, container.DefaultDir)
	}
	switch {
	case path.IsAbs(dir):
		return path.Clean(dir)
	case home == "":
		return ""
	}
	return path.Join(home, dir)
}

// A shellOut is what came of a call.
type shellOut struct {
	entries []entry
	notRun  int
	err     error  // that ended the list; nil at a timeout
	echo    *int64 // max_output_length
	place   place
}

// An entry is what came of a command.
type entry struct {
	container.Result
	timeout time.Duration
	jobTool string // what shell_job is called here; "" where it is not served
}

func (t *toolset) runShell(ctx context.Context, p *shellPlan, _ approval.Grant, report toolkit.Progress) (*shellOut, error) {
	v, err := t.pool.enter(ctx, p.at, p.config, func(line string) { report(0, 0, line) })
	if err != nil {
		return nil, err
	}
	defer v.leave()
	out, err := p.run(ctx, v, report)
	if err == nil {
		v.name()
	}
	return out, err
}

// run runs the commands, until one is ended at its timeout or has no result.
func (p *shellPlan) run(ctx context.Context, v *visit, report toolkit.Progress) (*shellOut, error) {
	limit := overrun
	for _, c := range p.commands {
		limit += c.Timeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	out := &shellOut{echo: p.echo, place: placeOf(v, p.at)}
	for i, c := range p.commands {
		res, err := v.Run(ctx, c, progress(report, i, len(p.commands)))
		if err != nil {
			return out.stopped(ctx, v, err, len(p.commands)-i)
		}
		v.count()
		out.place.restarted = out.place.restarted || res.Restarted
		out.entries = append(out.entries, entry{res, c.Timeout, p.jobTool})
		if res.TimedOut {
			out.notRun = len(p.commands) - i - 1
			break
		}
	}
	return out, nil
}

// errSilent is why a call ends whose sandbox does not answer.
var errSilent = &container.LostError{Why: "it did not answer in time"}

// stopped ends a list at a command that has no result. What came of those before it is kept.
func (o *shellOut) stopped(ctx context.Context, v *visit, err error, rest int) (*shellOut, error) {
	if ctx.Err() != nil && context.Cause(ctx) == error(errSilent) {
		err = errSilent
	}
	err = v.check(err)
	if _, visible := toolkit.VisibleText(err); !visible || len(o.entries) == 0 {
		return nil, err
	}
	o.err, o.notRun = err, rest
	return o, nil
}

// progress tells the client which command runs, and the last line that it wrote.
func progress(report toolkit.Progress, i, n int) func(container.Progress) {
	return func(p container.Progress) {
		text := fmt.Sprintf("command %d of %d", i+1, n)
		if p.Line != "" {
			text += ": " + toolkit.Inline(p.Line)
		}
		report(float64(i), float64(n), text)
	}
}
