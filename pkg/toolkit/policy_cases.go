package toolkit

import (
	"context"
	"fmt"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/urfave/cli/v2"
)

// policyTest holds a policy against cases, and prints those that it decides otherwise.
func (r *run) policyTest(c *cli.Context, words []string) error {
	s, err := r.build(c)
	if err != nil {
		return err
	}
	policy, _, err := approval.Load(words[0], s.parsing(false))
	if err != nil {
		return fmt.Errorf("policy test:\n%s", inFile(words[0], err))
	}
	cases, err := approval.LoadCases(words[1])
	if err != nil {
		return fmt.Errorf("policy test:\n%s", inFile(words[1], err))
	}
	failed := 0
	for i := range cases {
		if why := s.fails(c.Context, policy, &cases[i]); why != "" {
			failed++
			fmt.Fprintf(r.std.Out, "%s:%d: %s: %s\n", words[1], cases[i].Line, cases[i].Tool, why)
		}
	}
	fmt.Fprintf(r.std.Out, "%d cases, %d failed\n", len(cases), failed)
	if failed > 0 {
		r.code = exitFailure
	}
	return nil
}

// fails says how a policy decides a case otherwise than it should, or nothing.
func (s *Server) fails(ctx context.Context, policy *approval.Policy, c *approval.Case) string {
	a, err := s.actionOf(ctx, c)
	if err != nil {
		return fmt.Sprintf("it cannot be planned here: %v; state what it touches, by paths or commands", err)
	}
	v := policy.Evaluate(ctx, c.Caller, a)
	if v.Decision == c.Want {
		return ""
	}
	return fmt.Sprintf("got %s, want %s (rule %s: %s)", v.Decision, c.Want, v.Rule, v.Reason)
}

// actionOf returns the action of a case: as it states it, or else, for a tool that is served here,
// as it is planned.
func (s *Server) actionOf(ctx context.Context, c *approval.Case) (approval.Action, error) {
	if c.Stated() || s.works[c.Tool] == nil {
		return c.Action(), nil
	}
	p, _, err := s.planFor(ctx, c.Caller, c.Tool, c.Args)
	if err != nil {
		return approval.Action{}, err
	}
	defer p.close()
	if p.err != nil && p.action.Shell == nil && len(p.action.Paths) == 0 {
		return approval.Action{}, p.err
	}
	return p.action, nil
}
