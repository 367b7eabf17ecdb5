package shelltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// The actions of shell_job.
const (
	listJobs  = "list"
	pollJob   = "poll"
	killJob   = "kill"
	restart   = "restart"
	getStatus = "status"
)

// addJob registers shell_job.
func (t *toolset) addJob(s *toolkit.Server) error {
	return toolkit.Add(s, toolkit.Tool[jobIn, *jobPlan, *jobOut]{
		Definition: toolkit.Definition{
			Name: "shell_job", Title: "Jobs and the sandbox", Effect: t.effect(),
			Description: "For what commands of shell left running, and for the sandbox: list the jobs; poll one for its output since the last time; " +
				"kill one; restart the sandbox, which ends all processes and keeps files; status says what the sandbox is.",
			Params: t.jobParams(), Output: json.RawMessage(jobSchema),
			Hints:    toolkit.Hints{ClosedWorld: t.effect() == approval.RunContained},
			Deadline: t.lastResort(),
		},
		Plan: t.planJob, Run: t.runJob, Render: (*jobOut).render,
	})
}

func (o *settings) jobParams() []toolkit.Param {
	return []toolkit.Param{
		{
			Name: "action", Type: toolkit.String, Required: true, Enum: []string{listJobs, pollJob, killJob, restart, getStatus},
			Description: "What to do.",
		},
		{
			Name: "job_id", Type: toolkit.String, Aliases: []string{"jobId", "id"}, Example: `"j1"`,
			Description: "The job, for poll and kill.",
		},
		{
			Name: "timeout_ms", Type: toolkit.Integer, Aliases: []string{"timeoutMs", "timeout"}, Max: toolkit.Bound(o.maxTimeout.Milliseconds()), Example: "10000",
			Description: fmt.Sprintf("For poll: how long to wait for the end of the job; 0 unless given, at most %d.", o.maxTimeout.Milliseconds()),
		},
		{
			Name: "max_output_length", Type: toolkit.Integer, Aliases: []string{"maxOutputLength"}, Max: toolkit.Bound(maxLimit), Example: "10000",
			Description: fmt.Sprintf("For poll and kill: characters of output; %d unless given.", o.limit),
		},
		sandboxParam(),
	}
}

type jobIn struct {
	Action          string `json:"action"`
	JobID           string `json:"job_id"`
	TimeoutMS       int64  `json:"timeout_ms"`
	MaxOutputLength *int64 `json:"max_output_length"`
	SandboxID       string `json:"sandbox_id"`
}

// A jobPlan is what a call would do, and in which sandbox.
type jobPlan struct {
	at     address
	action string
	job    string
	wait   time.Duration
	limit  int
}

func (t *toolset) planJob(ctx context.Context, call *toolkit.Call, in jobIn) (p *jobPlan, a approval.Action, err error) {
	a = approval.Action{Effect: approval.SeeCommands, Summary: "look at jobs and the sandbox (" + in.Action + ")"}
	p = &jobPlan{at: addressOf(call, in.SandboxID), action: in.Action, job: in.JobID}
	switch in.Action {
	case killJob:
		a.Effect, a.Summary = t.effect(), "kill the job "+toolkit.Inline(in.JobID)
	case restart:
		a.Effect, a.Summary = t.effect(), "restart the sandbox, which ends all its processes"
	}
	if a.Effect == approval.RunContained {
		// What the roots mean for commands, they mean for their end.
		s, err := t.setting(ctx, call)
		if err != nil {
			return nil, a, err
		}
		a.Effect = s.effect
	}
	if p.wait, err = t.timeoutOf(in.TimeoutMS, 0); err != nil {
		return nil, a, err
	}
	if p.limit, err = t.limitOf(in.MaxOutputLength); err != nil {
		return nil, a, err
	}
	if in.JobID == "" && (in.Action == pollJob || in.Action == killJob) {
		return nil, a, toolkit.Errorf(`job_id is missing: %s needs the id that shell or list named, for example {"action": %q, "job_id": "j1"}`, in.Action, in.Action)
	}
	_, _, err = t.pool.look(p.at)
	return p, a, err
}

// A jobOut is what came of a call.
type jobOut struct {
	action  string
	none    string // what to say where there is no sandbox
	place   place
	emptied bool // by a restart
	jobs    []container.Job
	state   container.JobState
	status  *status
	shell   string
}

func (t *toolset) runJob(ctx context.Context, p *jobPlan, _ approval.Grant, _ toolkit.Progress) (*jobOut, error) {
	out := &jobOut{action: p.action, shell: t.shell}
	v, lost, err := t.pool.revisit(p.at)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return out, t.without(out, p, lost)
	}
	defer v.leave()
	out.place = placeOf(v, p.at)
	return out, v.check(t.act(ctx, v, p, out))
}

// act does what a call asks for in a sandbox.
func (t *toolset) act(ctx context.Context, v *visit, p *jobPlan, out *jobOut) (err error) {
	switch p.action {
	case listJobs:
		out.jobs, err = v.Jobs(ctx)
	case pollJob:
		out.state, err = v.Poll(ctx, p.job, p.wait, p.limit)
	case killJob:
		out.state, err = v.Kill(ctx, p.job, p.limit)
	case restart:
		out.place.restarted = true
		if out.emptied, err = v.Restart(ctx); err != nil && ctx.Err() == nil {
			v.abandon("it could not be restarted")
		}
	case getStatus:
		jobs, err := v.Jobs(ctx)
		var unable *container.UnableError
		if err != nil && !errors.As(err, &unable) {
			return err
		}
		out.status = t.statusOf(v, len(jobs))
	}
	return err
}

// without is for callers who have no sandbox at the moment; none is made for this.
func (t *toolset) without(out *jobOut, p *jobPlan, lost string) error {
	none := "there is no sandbox yet; the next call of shell makes one"
	if lost != "" {
		none = "there is no sandbox any more (" + lost + "); the next call of shell makes one"
	}
	if p.action == pollJob || p.action == killJob {
		return toolkit.Errorf("%s, and so no job %s", none, toolkit.Inline(toolkit.Cut(p.job, 100)))
	}
	if out.none = none; p.action == getStatus {
		out.status = t.statusOf(nil, 0)
	}
	return nil
}

// revisit returns the sandbox that a has, or nil and how its last one ended. It makes none.
func (p *pool) revisit(a address) (v *visit, lost string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, err := p.find(a)
	switch {
	case err != nil || t == nil:
		return nil, "", err
	case t.box == nil || !t.box.isReady():
		return nil, t.lost, nil
	case t.box.isOver():
		p.discard(t, "it ended by itself")
		return nil, t.lost, nil
	}
	t.box.users++
	if t.box.expiry != nil {
		t.box.expiry.Stop()
	}
	return &visit{box: t.box, pool: p, tenant: t}, "", nil
}

// textOf returns the command line that an argv of ours holds.
func textOf(argv []string, shell string) string {
	if len(argv) == 3 && argv[0] == shell && argv[1] == "-c" {
		return argv[2]
	}
	return fmt.Sprintf("%q", slices.Clone(argv))
}
