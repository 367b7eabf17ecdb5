package approval

import (
	"context"
	"fmt"
	"time"
)

// A Mode loosens or tightens an evaluator as a whole (--require-approval).
type Mode string

// The modes.
const (
	AsDecided Mode = "policy" // the evaluator's decisions as they are; the default
	Always    Mode = "always" // everything that is not denied asks
	Never     Mode = "never"  // what would ask runs; denials stay
)

// ParseMode returns the mode named s; "" is [AsDecided].
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case "":
		return AsDecided, nil
	case AsDecided, Always, Never:
		return m, nil
	default:
		return "", fmt.Errorf("unknown mode %q: want %s, %s or %s", s, AsDecided, Always, Never)
	}
}

// defaults is what each effect gets without a policy; an effect that is not listed asks.
var defaults = map[Effect]Decision{
	ReadFiles:  Allow,
	WriteFiles: Allow,

	RunContained: Allow,
	SeeCommands:  Allow,

	MakePictures: Allow,
	BuyPictures:  Allow,
}

// The ids of what decides where no rule does.
const (
	ruleOfDefault = "default"
	ruleOfMode    = "require-approval"
)

// The limit of pictures that are paid for, without a policy.
const (
	boughtPictures = 20
	boughtPer      = time.Hour
)

// builtin decides by effects; what it counts it counts as a policy does.
type builtin struct{ bought Policy }

// Default returns the evaluator that holds without a policy: reading and writing below
// the configured roots, running commands in a container without network and making pictures are
// allowed, everything else asks. Of pictures that may cost money a principal has 20 an hour; more ask.
func Default() Evaluator {
	return &builtin{bought: Policy{limits: []*limit{{
		id: "bought-pictures", max: boughtPictures, per: boughtPer, over: Ask, buckets: newBuckets(),
	}}}}
}

// Evaluate implements [Evaluator].
func (b *builtin) Evaluate(_ context.Context, who Caller, a Action) Verdict {
	d, known := defaults[a.Effect]
	if !known {
		d = Ask
	}
	v := Verdict{Decision: d, Rule: ruleOfDefault, Reason: fmt.Sprintf("the built-in default for %q is %s", a.Effect, d)}
	if a.Effect == BuyPictures {
		b.bought.spending(who, &a, &v)
	}
	return v
}

// Hides implements [Evaluator].
func (*builtin) Hides(Caller, string) bool { return false }

type moded struct {
	ev   Evaluator
	mode Mode
}

// WithMode returns ev under mode m.
func WithMode(ev Evaluator, m Mode) Evaluator {
	if m == AsDecided || m == "" {
		return ev
	}
	return moded{ev, m}
}

func (e moded) Evaluate(ctx context.Context, who Caller, a Action) Verdict {
	v := e.ev.Evaluate(ctx, who, a)
	switch {
	case e.mode == Always && v.Decision == Allow:
		v.Decision, v.Rule, v.Reason = Ask, ruleOfMode, "the server was started with --require-approval always"
	case e.mode == Never && v.Decision == Ask:
		v.Decision = Allow
	}
	if visible := v.Visible; visible != nil && e.mode == Never {
		v.Visible = func(p Path) Decision {
			if visible(p) == Deny {
				return Deny
			}
			return Allow
		}
	}
	return v
}

// Hides implements [Evaluator].
func (e moded) Hides(who Caller, tool string) bool { return e.ev.Hides(who, tool) }
