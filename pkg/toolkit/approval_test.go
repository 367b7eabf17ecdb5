package toolkit_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// An evaluator is an approval.Evaluator made of a function.
type evaluator func(approval.Caller, approval.Action) approval.Verdict

func (f evaluator) Evaluate(_ context.Context, c approval.Caller, a approval.Action) approval.Verdict {
	return f(c, a)
}

func (evaluator) Hides(approval.Caller, string) bool { return false }

func TestDecisionComesBeforeTheRun(t *testing.T) {
	verdict := func(v approval.Verdict) approval.Evaluator {
		return evaluator(func(approval.Caller, approval.Action) approval.Verdict { return v })
	}
	tests := []struct {
		name     string
		ev       approval.Evaluator
		wantRuns int32
		want     string
	}{
		{"built-in", nil, 1, "ran"},
		{"deny", verdict(approval.Verdict{Rule: "r1", Reason: "no reading today"}), 0, "probe is denied: no reading today (rule r1)"},
		{"ask", verdict(approval.Verdict{Decision: approval.Ask, Reason: "careful"}), 0, "probe needs approval and this client cannot be asked (it does not declare elicitation): careful"},
		{"always", approval.WithMode(approval.Default(), approval.Always), 0, "--require-approval always"},
		{"never runs what asks", approval.WithMode(verdict(approval.Verdict{Decision: approval.Ask}), approval.Never), 1, "ran"},
		{"never keeps denials", approval.WithMode(verdict(approval.Verdict{}), approval.Never), 0, "probe is denied"},
		{"a panic denies", evaluator(func(approval.Caller, approval.Action) approval.Verdict { panic("x") }), 0, "could not be evaluated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var runs atomic.Int32
			s, _ := newServer(t, toolkit.Options{Evaluator: tt.ev}, func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
				runs.Add(1)
				return "ran", nil
			})
			got, isError := call(t, connect(t, s, nil), `{"name":"n"}`)
			mustContain(t, got, tt.want)
			if runs.Load() != tt.wantRuns || isError != (tt.wantRuns == 0) {
				t.Errorf("%d runs, isError %v", runs.Load(), isError)
			}
		})
	}
}

func TestPolicyHearsTheCanonicalName(t *testing.T) {
	var got []string
	ev := evaluator(func(c approval.Caller, a approval.Action) approval.Verdict {
		got = append(got, a.Tool, c.Principal)
		return approval.Verdict{Decision: approval.Allow}
	})
	s, _ := newServer(t, toolkit.Options{Evaluator: ev, Names: toolkit.Names{Prefix: "my_"}}, nil)
	if _, err := connect(t, s, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "my_probe", Arguments: map[string]any{"name": "n"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"probe", "local"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestGrantCarriesThePathFilter(t *testing.T) {
	ev := evaluator(func(approval.Caller, approval.Action) approval.Verdict {
		return approval.Verdict{Decision: approval.Allow, Visible: func(p approval.Path) approval.Decision {
			if p.Rel == ".env" {
				return approval.Ask
			}
			return approval.Allow
		}}
	})
	s, _ := newServer(t, toolkit.Options{Evaluator: ev}, func(_ context.Context, _ kitchen, g approval.Grant, _ toolkit.Progress) (string, error) {
		if g.Unfiltered() || g.Shows(approval.Path{Rel: ".env"}) || !g.Shows(approval.Path{Rel: "a.txt"}) {
			t.Error("the filter did not reach the run")
		}
		return "ran", nil
	})
	call(t, connect(t, s, nil), `{"name":"n"}`)
	if (approval.Grant{}).Shows(approval.Path{Rel: "a.txt"}) {
		t.Error("the zero grant shows something")
	}
}

// A plan is a tool's P that tells when it is closed.
type plan struct{ closed *atomic.Int32 }

func (p plan) Close() error { p.closed.Add(1); return nil }

func TestPlanIsClosedWhateverHappens(t *testing.T) {
	deny := evaluator(func(approval.Caller, approval.Action) approval.Verdict { return approval.Verdict{} })
	tests := []struct {
		name string
		ev   approval.Evaluator
		run  func() (string, error)
	}{
		{"run", nil, func() (string, error) { return "", nil }},
		{"failed", nil, func() (string, error) { return "", toolkit.Errorf("no") }},
		{"panicked", nil, func() (string, error) { panic("x") }},
		{"denied", deny, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var closed atomic.Int32
			s, err := toolkit.NewServer(toolkit.Options{Evaluator: tt.ev})
			if err != nil {
				t.Fatal(err)
			}
			err = toolkit.Add(s, toolkit.Tool[struct{}, plan, string]{
				Definition: toolkit.Definition{Name: "probe", Title: "Probe", Description: "Opens something."},
				Plan: func(context.Context, *toolkit.Call, struct{}) (plan, approval.Action, error) {
					return plan{&closed}, approval.Action{Effect: approval.ReadFiles}, nil
				},
				Run:    func(context.Context, plan, approval.Grant, toolkit.Progress) (string, error) { return tt.run() },
				Render: func(out string, _ toolkit.Budget) toolkit.Result { return toolkit.Result{Text: out} },
			})
			if err != nil {
				t.Fatal(err)
			}
			call(t, connect(t, s, nil), `{}`)
			if closed.Load() != 1 {
				t.Errorf("closed %d times", closed.Load())
			}
		})
	}
}

// What a plan finds out, a missing file and its neighbours, is told only to those who may
// read at all.
func TestPlanErrorsAreNotToldToTheDenied(t *testing.T) {
	deny := evaluator(func(approval.Caller, approval.Action) approval.Verdict { return approval.Verdict{Reason: "no"} })
	tests := []struct {
		name string
		ev   approval.Evaluator
		want string
	}{
		{"allowed", nil, "similar names: secret.txt"},
		{"denied", deny, "probe is denied: no"},
		{"would be asked", approval.WithMode(approval.Default(), approval.Always), "needs approval"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := probe(nil)
			tool.Effect = approval.ReadFiles
			tool.Plan = func(context.Context, *toolkit.Call, kitchen) (kitchen, approval.Action, error) {
				return kitchen{}, approval.Action{}, toolkit.Errorf("similar names: secret.txt")
			}
			s, err := toolkit.NewServer(toolkit.Options{Evaluator: tt.ev})
			if err != nil {
				t.Fatal(err)
			}
			if err := toolkit.Add(s, tool); err != nil {
				t.Fatal(err)
			}
			got, isError := call(t, connect(t, s, nil), `{"name":"n"}`)
			mustContain(t, got, tt.want)
			if !isError || (tt.ev != nil && strings.Contains(got, "secret.txt")) {
				t.Errorf("isError %v: %s", isError, got)
			}
		})
	}
}
