package toolkit

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// permit is where a planned call gets its grant, or the error with which it ends.
func (s *Server) permit(ctx context.Context, c *Call, p *planned, yes *approved) (approval.Grant, error) {
	if p.err != nil && p.action.Effect == "" {
		return approval.Grant{}, p.err
	}
	return approval.Admit(ctx, s.opts.Evaluator, c.Caller, p.action, func(v approval.Verdict, g approval.Grant) error {
		if err := s.admit(c, p, v, yes); err != nil {
			return err
		}
		if p.err != nil { // told to those only who may do such things: it can say what exists
			return told(p.err, g)
		}
		s.remember(c, p.action, v, yes)
		return nil
	})
}

// decide is permit where nobody is asked: what asks is refused.
func (s *Server) decide(ctx context.Context, c *Call, a approval.Action, planErr error) (approval.Grant, error) {
	if planErr != nil && a.Effect == "" {
		return approval.Grant{}, planErr
	}
	return approval.Admit(ctx, s.opts.Evaluator, c.Caller, a, func(v approval.Verdict, g approval.Grant) error {
		if v.Decision != approval.Allow {
			v.Decision, v.Reason = approval.Deny, "it would have to be approved, and nobody is asked about resources: "+v.Reason
			return &approval.DeniedError{Tool: a.Tool, Verdict: v}
		}
		return told(planErr, g)
	})
}

// refuseHidden is the error of a call of a tool that the caller is not shown: a denial, as of
// any call that the policy refuses, before its arguments are looked at.
func (s *Server) refuseHidden(ctx context.Context, x *exchange) error {
	a := approval.Action{Tool: x.def.Name, Effect: x.def.Effect}
	refuse := func(v approval.Verdict, _ approval.Grant) error {
		v.Decision, v.Reason = approval.Deny, "the policy refuses all calls of it"
		return &approval.DeniedError{Tool: a.Tool, Verdict: v}
	}
	_, err := approval.Admit(ctx, s.opts.Evaluator, x.call.Caller, a, refuse)
	return err
}

// shownTo returns the names of the tools that who may call at least in some way.
func (s *Server) shownTo(who approval.Caller) (names []string) {
	for _, name := range s.tools {
		if !s.opts.Evaluator.Hides(who, s.canonical[name]) {
			names = append(names, name)
		}
	}
	return names
}

// withoutHidden leaves out of a list what the policy refuses the caller in any case. Tools that
// are not registered by [Add] stay: they are refused when called.
func (s *Server) withoutHidden(who approval.Caller, list *mcp.ListToolsResult) *mcp.ListToolsResult {
	shown := s.shownTo(who)
	out := *list
	out.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *mcp.Tool) bool {
		_, ours := s.canonical[t.Name]
		return ours && !slices.Contains(shown, t.Name)
	})
	return &out
}
