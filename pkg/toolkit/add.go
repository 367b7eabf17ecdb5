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
	s.tools = append(s.tools, shown)
	s.mcp.AddTool(def, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.serve(ctx, req, &t.Definition, bind(s, &t)), nil
	})
	return nil
}

// A work is a tool's steps with its types left out.
type work func(ctx context.Context, c *Call, args json.RawMessage, report Progress) (Result, []string, error)

// bind strings the steps of t together: decode, plan, decide, run, render.
func bind[In, P, Out any](s *Server, t *Tool[In, P, Out]) work {
	return func(ctx context.Context, c *Call, args json.RawMessage, report Progress) (Result, []string, error) {
		var in In
		taken, warnings, err := decode(args, t.Params, &in)
		if err != nil {
			return Result{}, nil, err
		}
		p, action, err := t.Plan(ctx, c, in)
		if closer, ok := any(p).(io.Closer); ok && err == nil {
			defer closer.Close()
		}
		action.Tool, action.Effect = t.Name, cmp.Or(action.Effect, t.Effect)
		if action.Args == nil {
			action.Args = taken
		}
		grant, err := s.decide(ctx, c, action, err)
		if err != nil {
			return Result{}, warnings, err
		}
		out, err := t.Run(ctx, p, grant, report)
		if err != nil {
			return Result{}, warnings, err
		}
		return t.Render(out, s.budget()), warnings, nil
	}
}

// decide puts a planned action to the policy. Where the plan failed, its error is told only
// to a caller who may do such things: it can say what exists.
func (s *Server) decide(ctx context.Context, c *Call, a approval.Action, planErr error) (approval.Grant, error) {
	if planErr != nil && a.Effect == "" {
		return approval.Grant{}, planErr
	}
	grant, err := approval.Decide(ctx, s.opts.Evaluator, c.Caller, a)
	if err == nil && planErr != nil {
		return approval.Grant{}, told(planErr, grant)
	}
	return grant, err
}

// serve makes one call and turns whatever happens, a panic included, into a result.
func (s *Server) serve(ctx context.Context, req *mcp.CallToolRequest, def *Definition, do work) *mcp.CallToolResult {
	start := time.Now()
	report, stop := progress(ctx, req)
	call := s.callOf(req.Session, req.Extra, isModern(req))
	defer call.deliver()
	res, warnings, err := s.attempt(ctx, def.Deadline, func(ctx context.Context) (Result, []string, error) {
		return do(ctx, call, req.Params.Arguments, report)
	})
	stop()
	if err != nil {
		res = Result{Text: s.explain(ctx, def, err), IsError: true}
	}
	if call.older("2025-06-18") {
		res.Media = withoutLinks(res.Media)
	}
	out := s.conclude(def, call, Outcome{res, err, warnings, req.Params.Arguments})
	s.opts.Log.Debug().Str("tool", def.Name).Dur("took", time.Since(start)).Bool("error", out.IsError).Msg("call")
	return out
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
func (s *Server) attempt(ctx context.Context, deadline time.Duration, do func(context.Context) (Result, []string, error)) (res Result, w []string, err error) {
	if err := s.enter(ctx); err != nil {
		return Result{}, nil, err
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
