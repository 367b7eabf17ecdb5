package approval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/approval"
)

// A fixed evaluator gives one verdict to everything.
type fixed approval.Verdict

func (f fixed) Evaluate(context.Context, approval.Caller, approval.Action) approval.Verdict {
	return approval.Verdict(f)
}

func (fixed) Hides(approval.Caller, string) bool { return false }

func TestDefault(t *testing.T) {
	for effect, want := range map[approval.Effect]approval.Decision{
		approval.ReadFiles:  approval.Allow,
		approval.WriteFiles: approval.Allow,

		approval.RunContained: approval.Allow,
		approval.SeeCommands:  approval.Allow,

		approval.MakePictures: approval.Allow,
		approval.BuyPictures:  approval.Allow,
		approval.RunCommands:  approval.Ask,

		"":               approval.Ask,
		"launch rockets": approval.Ask,
	} {
		got := approval.Default().Evaluate(t.Context(), approval.Caller{}, approval.Action{Effect: effect})
		if got.Decision != want {
			t.Errorf("%q: got %s, want %s", effect, got.Decision, want)
		}
	}
}

func TestModes(t *testing.T) {
	tests := []struct {
		mode string
		want map[approval.Decision]approval.Decision
	}{
		{"", map[approval.Decision]approval.Decision{approval.Deny: approval.Deny, approval.Ask: approval.Ask, approval.Allow: approval.Allow}},
		{"policy", map[approval.Decision]approval.Decision{approval.Deny: approval.Deny, approval.Ask: approval.Ask, approval.Allow: approval.Allow}},
		{"always", map[approval.Decision]approval.Decision{approval.Deny: approval.Deny, approval.Ask: approval.Ask, approval.Allow: approval.Ask}},
		{"never", map[approval.Decision]approval.Decision{approval.Deny: approval.Deny, approval.Ask: approval.Allow, approval.Allow: approval.Allow}},
	}
	for _, tt := range tests {
		mode, err := approval.ParseMode(tt.mode)
		if err != nil {
			t.Fatal(err)
		}
		for d, want := range tt.want {
			ev := approval.WithMode(fixed{Decision: d}, mode)
			if got := ev.Evaluate(t.Context(), approval.Caller{}, approval.Action{}).Decision; got != want {
				t.Errorf("mode %q turns %s into %s, want %s", tt.mode, d, got, want)
			}
		}
	}
	if _, err := approval.ParseMode("sometimes"); err == nil || !strings.Contains(err.Error(), "want policy, always or never") {
		t.Errorf("got %v", err)
	}
}

func TestDecide(t *testing.T) {
	tests := []struct {
		name string
		v    approval.Verdict
		want string // of the error; empty: allowed
	}{
		{"the zero verdict denies", approval.Verdict{}, "Read is denied"},
		{"deny", approval.Verdict{Rule: "r", Reason: "because"}, "Read is denied: because (rule r)"},
		{"ask", approval.Verdict{Decision: approval.Ask, Reason: "because"}, "Read needs approval and nobody can be asked here: because"},
		{"allow", approval.Verdict{Decision: approval.Allow}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := approval.Decide(t.Context(), fixed(tt.v), approval.Caller{}, approval.Action{Tool: "Read"})
			if tt.want == "" {
				if err != nil || !g.Unfiltered() || !g.Shows(approval.Path{Rel: "a"}) {
					t.Errorf("got %v, unfiltered %v", err, g.Unfiltered())
				}
				return
			}
			var denied *approval.DeniedError
			if !errors.As(err, &denied) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if !strings.Contains(denied.Visible(), "Nothing was done") {
				t.Errorf("the model is not told that nothing was done: %q", denied.Visible())
			}
			if g.Shows(approval.Path{Rel: "a"}) || g.Unfiltered() {
				t.Error("a refused call has a grant")
			}
		})
	}
}
