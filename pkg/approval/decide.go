package approval

import (
	"context"
	"fmt"
)

// A Grant is the permission with which a call runs. The zero Grant shows nothing.
type Grant struct {
	allowed bool
	exact   bool
	visible PathFilter
}

// Exact reports whether the call was to be approved by a person: what was shown may happen, and
// nothing else. Where that has changed since, nothing may.
func (g Grant) Exact() bool { return g.exact }

// Unfiltered reports whether the grant shows every path, so that a search need not ask
// for each one.
func (g Grant) Unfiltered() bool { return g.allowed && g.visible == nil }

// Shows reports whether a search under this grant may show p.
func (g Grant) Shows(p Path) bool {
	return g.allowed && (g.visible == nil || g.visible(p) == Allow)
}

// judgements bounds how often an action is judged whose limits others use up at the same time.
const judgements = 3

// Admit puts a to ev and returns the grant of a call that may run. What is denied is refused; what
// else the verdict may be, admit has the last word: it returns an error where the call must not
// run, such as one that asks and was not approved; the grant that it gets is the one that the call
// would have. Then what limits count is spent; where that fails, all is judged again. An evaluator
// that panics denies.
func Admit(ctx context.Context, ev Evaluator, who Caller, a Action, admit func(Verdict, Grant) error) (Grant, error) {
	var v Verdict
	for range judgements {
		v = evaluate(ctx, ev, who, a)
		if v.Decision != Allow && v.Decision != Ask {
			return Grant{}, &DeniedError{Tool: a.Tool, Verdict: v}
		}
		g := Grant{allowed: true, exact: v.Decision == Ask, visible: v.Visible}
		if err := admit(v, g); err != nil {
			return Grant{}, err
		}
		if v.Spend == nil || v.Spend() {
			return g, nil
		}
	}
	v.Decision, v.Reason = Deny, "a limit of the policy is being used up by other calls"
	return Grant{}, &DeniedError{Tool: a.Tool, Verdict: v}
}

// Decide is Admit where nobody is asked: what asks is refused.
func Decide(ctx context.Context, ev Evaluator, who Caller, a Action) (Grant, error) {
	return Admit(ctx, ev, who, a, func(v Verdict, _ Grant) error {
		if v.Decision == Allow {
			return nil
		}
		return &DeniedError{Tool: a.Tool, Verdict: v}
	})
}

func evaluate(ctx context.Context, ev Evaluator, who Caller, a Action) (v Verdict) {
	defer func() {
		if recover() != nil {
			v = Verdict{Decision: Deny, Reason: "the policy could not be evaluated"}
		}
	}()
	return ev.Evaluate(ctx, who, a)
}

// A DeniedError is the refusal of a call.
type DeniedError struct {
	Tool    string
	Verdict Verdict // Decision is Deny, or Ask where nobody could be asked
	Unasked string  // of an Ask: why nobody could be, such as "this client cannot be asked"
}

// Error says what was refused, by which rule and why.
func (e *DeniedError) Error() string {
	why := e.Verdict.Reason
	if e.Verdict.Rule != "" {
		why += " (rule " + e.Verdict.Rule + ")"
	}
	if e.Verdict.Decision != Ask {
		return fmt.Sprintf("%s is denied: %s", e.Tool, why)
	}
	unasked := e.Unasked
	if unasked == "" {
		unasked = "nobody can be asked here"
	}
	return fmt.Sprintf("%s needs approval and %s: %s", e.Tool, unasked, why)
}

// Visible returns the text for the model; a refusal holds nothing that it may not read.
func (e *DeniedError) Visible() string {
	return e.Error() + "\nNothing was done. Do not repeat the call; " + e.mend()
}

// mend says what the operator can write to allow the call. An allow rule does not help
// against one that asks or denies.
func (e *DeniedError) mend() string {
	v := e.Verdict
	rule := fmt.Sprintf("{id: allow-%s, effect: allow, tools: [%s]}", e.Tool, e.Tool)
	switch {
	case v.Limit && v.Revision != "":
		return fmt.Sprintf("wait, or the operator can raise the limit %s in the policy file.", v.Rule)
	case v.Decision != Ask:
		return "the operator can allow it."
	case v.Rule == ruleOfUndecided:
		return "write the command in plain words, without variables and what else is computed when it runs; or the operator can set unattended: allow for all that asks where nobody can be asked."
	case v.Rule == ruleOfMode:
		return "the operator can allow it: start the server without --require-approval always."
	case v.Revision == "":
		return "the operator can allow it: --require-approval never for all that would ask, or --policy FILE with the rule " + rule + "."
	case v.Rule == "" || v.Rule == ruleOfDefault:
		return "the operator can allow it in the policy file: the rule " + rule + ", or unattended: allow for all that asks where nobody can be asked."
	}
	return fmt.Sprintf("the operator can allow it in the policy file: effect: allow in the rule %s, or unattended: allow for all that asks where nobody can be asked.", v.Rule)
}
