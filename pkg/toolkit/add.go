package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// Add registers t with s, under the name and only if the server's options say so. It is
// the one way to serve a tool: it decodes, asks the policy, bounds and renders every call.
func Add[In, P, Out any](s *Server, t Tool[In, P, Out]) error {
	if err := t.Definition.check(); err != nil {
		return err
	}
	s.known = append(s.known, t.Name)
	s.facts[t.Name] = t.Definition.facts()
	shown, ok := s.opts.Names.shown(t.Name)
	if !ok {
		return nil
	}
	if slices.Contains(s.tools, shown) {
		return fmt.Errorf("tool %s: the name %s is taken", t.Name, shown)
	}
	def, err := t.Definition.wire(shown, s.opts.MaxOutput)
	if err != nil {
		return err
	}
	do := bind(s, &t)
	s.tools, s.canonical[shown], s.works[t.Name] = append(s.tools, shown), t.Name, do
	s.mcp.AddTool(def, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.serve(ctx, req, &t.Definition, do)
	})
	return nil
}

// A work is a tool's steps with its types left out. It decodes the arguments of a call.
type work func(args json.RawMessage) (*decoded, error)

// A decoded call can be planned, as often as it is needed.
type decoded struct {
	args     json.RawMessage // as they were understood, by their own names
	warnings []string
	plan     func(ctx context.Context, c *Call) *planned
}

// A planned call waits for its decision. It is closed in any case.
type planned struct {
	action approval.Action
	err    error // why it cannot run
	run    func(ctx context.Context, g approval.Grant, report Progress) (Result, error)
	close  func()
}

// bind strings the steps of t together.
func bind[In, P, Out any](s *Server, t *Tool[In, P, Out]) work {
	return func(args json.RawMessage) (*decoded, error) {
		var in In
		taken, warnings, err := decode(args, t.Params, &in)
		if err != nil {
			return nil, err
		}
		return &decoded{taken, warnings, func(ctx context.Context, c *Call) *planned {
			p, action, err := t.Plan(ctx, c, in)
			action.Tool, action.Effect = t.Name, cmp.Or(action.Effect, t.Effect)
			if action.Args == nil {
				action.Args = taken
			}
			out := &planned{action: action, err: err, close: func() {}}
			if closer, ok := any(p).(io.Closer); ok && err == nil {
				out.close = func() { closer.Close() }
			}
			out.run = func(ctx context.Context, g approval.Grant, report Progress) (Result, error) {
				result, err := t.Run(ctx, p, g, report)
				if err != nil {
					return Result{}, err
				}
				return t.Render(result, s.budget()), nil
			}
			return out
		}}, nil
	}
}

// An exchange is one call, and what has become known of it on its way.
type exchange struct {
	def    *Definition
	do     work
	req    *mcp.CallToolRequest
	call   *Call
	report Progress

	args     json.RawMessage // as decoded
	warnings []string
	retry    *retry    // what it brings of an earlier call, until that is redeemed
	yes      *approved // what a person has said
}

// serve makes one call and turns whatever happens, a panic included, into a result. An error is
// one of the protocol.
func (s *Server) serve(ctx context.Context, req *mcp.CallToolRequest, def *Definition, do work) (*mcp.CallToolResult, error) {
	start := time.Now()
	x := &exchange{def: def, do: do, req: req, call: s.callOf(req.Session, req.Extra, isModern(req))}
	x.call.unasked = func() string { return unasked(req, x.call.modern) }
	defer x.call.deliver()
	report, stop := progress(ctx, req)
	x.report = report
	res, err := s.converse(ctx, x)
	stop()
	if bad, ok := errors.AsType[*stateError](err); ok {
		return nil, s.refuseState(def.Name, bad)
	}
	if q, ok := errors.AsType[*question](err); ok {
		return s.inputRequired(x.call, q, x.args)
	}
	if err != nil {
		res = Result{Text: s.explain(ctx, def, err), IsError: true}
	}
	if x.call.older("2025-06-18") {
		res.Media = withoutLinks(res.Media)
	}
	out := s.conclude(def, x.call, Outcome{res, err, x.warnings, req.Params.Arguments})
	s.opts.Log.Debug().Str("tool", def.Name).Dur("took", time.Since(start)).Bool("error", out.IsError).Msg("call")
	return out, nil
}

// maxQuestions is how often a person is asked within one call: again only if what is asked has
// changed meanwhile.
const maxQuestions = 2

// converse takes a call through its steps, and asks between one time and the next. To clients
// from 2026-07-28 on the question itself is what comes of the call.
func (s *Server) converse(ctx context.Context, x *exchange) (res Result, err error) {
	if x.retry, err = s.retryOf(x.req, x.def.Name, x.call); err != nil {
		return Result{}, err
	}
	for asked := 0; ; asked++ {
		res, err := s.attempt(ctx, x.def.Deadline, func(ctx context.Context) (Result, error) { return s.turn(ctx, x) })
		q, asks := errors.AsType[*question](err)
		switch {
		case !asks || x.call.modern:
			return res, err
		case asked == maxQuestions:
			return Result{}, undecided(x.def.Name, "the policy changes all the time")
		}
		if x.yes, err = s.ask(ctx, x.req.Session, x.call, q); err != nil {
			return Result{}, err
		}
	}
}

// turn takes a call through its steps once: decode, plan, decide, run, render.
func (s *Server) turn(ctx context.Context, x *exchange) (Result, error) {
	if s.opts.Evaluator.Hides(x.call.Caller, x.def.Name) {
		return Result{}, s.refuseHidden(ctx, x)
	}
	d, err := x.do(x.req.Params.Arguments)
	if err != nil && x.retry != nil {
		err = &stateError{err} // what it was sealed for could be decoded
	}
	if err != nil {
		return Result{}, err
	}
	x.args, x.warnings = d.args, d.warnings
	if x.retry != nil {
		x.yes, err = s.redeem(ctx, x)
		if x.retry = nil; err != nil {
			return Result{}, err
		}
	}
	p := d.plan(ctx, x.call)
	defer p.close()
	grant, err := s.permit(ctx, x.call, p, x.yes)
	if err != nil {
		return Result{}, err
	}
	return p.run(ctx, grant, x.report)
}

// conclude makes what the client gets of an outcome.
func (s *Server) conclude(def *Definition, call *Call, o Outcome) *mcp.CallToolResult {
	if def.Whole != nil {
		if res, ok := def.Whole(call, o); ok {
			return whole(res)
		}
	}
	return s.finish(o.Result, o.Warnings)
}

// A deadlineError says that a call was stopped after a time.
type deadlineError time.Duration

func (e deadlineError) Error() string { return "stopped after " + time.Duration(e).String() }

// attempt waits for a slot and runs do in it, under the deadline. A panic becomes an error.
func (s *Server) attempt(ctx context.Context, deadline time.Duration, do func(context.Context) (Result, error)) (res Result, err error) {
	if err := s.enter(ctx); err != nil {
		return Result{}, err
	}
	defer s.leave()
	if deadline == 0 {
		deadline = DefaultDeadline
	}
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, deadlineError(deadline))
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		} else if err != nil && ctx.Err() != nil {
			err = errors.Join(err, context.Cause(ctx))
		}
	}()
	return do(ctx)
}

// Cancelled reports whether ctx, which is that of a call, ended because the client asked for
// the end of the call. It is false where the client has gone, where the call took too long, and
// where the server stops.
func Cancelled(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return cause == context.Canceled // not errors.Is: other causes may wrap it
}

// enter waits for a slot. Planning needs one too: it opens files.
func (s *Server) enter(ctx context.Context) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Server) leave() { <-s.slots }

// explain returns the text of a failed call. What is not made for the model goes to the
// log, under an id that both have.
func (s *Server) explain(ctx context.Context, def *Definition, err error) string {
	if text, ok := VisibleText(err); ok {
		s.opts.Log.Debug().Str("tool", def.Name).Err(err).Msg("refused")
		return text
	}
	var late deadlineError
	switch {
	case errors.As(err, &late):
		return fmt.Sprintf("%s took longer than %s and was stopped: ask for less at a time", def.Name, time.Duration(late))
	case ctx.Err() != nil:
		return fmt.Sprintf("%s was cancelled", def.Name)
	}
	id := newID()
	s.opts.Log.Error().Str("tool", def.Name).Str("id", id).Err(err).Msg("internal error")
	return fmt.Sprintf("internal error in %s (id %s): the server's log has the cause; the same call is likely to fail again", def.Name, id)
}
