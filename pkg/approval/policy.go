package approval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

// ruleOfUndecided is the id of what decides where it cannot be said what a command line would run.
const ruleOfUndecided = "undecided"

// A Policy is an [Evaluator] made of rules. Of all that match, a deny decides before an ask, and an
// ask before an allow; their order and how specific they are mean nothing. Make one with [Parse] or [Load].
type Policy struct {
	fallback Decision // where no rule matches
	asking   Asking
	rules    []*rule  // by id
	limits   []*limit // by id
	revision string
	byTool   sync.Map // tool -> *toolRules; grows to maxTools
	tools    int
	mu       sync.Mutex // of tools
}

// maxTools bounds the tools whose rules are looked up only once.
const maxTools = 256

// toolRules are the rules about one tool.
type toolRules struct {
	rules []*rule
	sight []*rule // those that can say what a search may show
}

// compile puts rules and limits in an order that does not depend on the file.
func (p *Policy) compile() {
	slices.SortFunc(p.rules, func(a, b *rule) int { return cmp.Compare(a.id, b.id) })
	slices.SortFunc(p.limits, func(a, b *limit) int { return cmp.Compare(a.id, b.id) })
}

// Revision names the version of the policy's text: the beginning of its SHA-256, in hexadecimal.
func (p *Policy) Revision() string { return p.revision }

func (p *Policy) of(tool string) *toolRules {
	if t, ok := p.byTool.Load(tool); ok {
		return t.(*toolRules)
	}
	t := &toolRules{}
	for _, r := range p.rules {
		if !r.tools.match(tool) {
			continue
		}
		t.rules = append(t.rules, r)
		if r.command == nil && (r.paths == nil || r.paths.ops == 0 || r.paths.ops&seeing != 0) {
			t.sight = append(t.sight, r)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tools < maxTools {
		p.tools++
		p.byTool.Store(tool, t)
	}
	return t
}

// Evaluate implements [Evaluator]. What cannot be evaluated is denied.
func (p *Policy) Evaluate(_ context.Context, who Caller, a Action) (v Verdict) {
	defer func() {
		if recover() != nil {
			v = Verdict{Decision: Deny, Rule: ruleOfDefault, Reason: "the policy could not be evaluated for this call"}
		}
	}()
	a.Paths = allComposed(a.Paths)
	e := evaluation{who: who, action: &a}
	e.gather(p.of(a.Tool).rules)
	v = e.verdict(p.fallback)
	v.Revision, v.Asking = p.revision, p.asking
	if v.Decision != Deny {
		p.spending(who, &a, &v)
	}
	if v.Decision != Deny && (a.Effect == ReadFiles || a.Effect == WriteFiles || len(a.Paths) > 0) {
		v.Visible = p.visible(&e)
	}
	return v
}

// An evaluation is that of one action.
type evaluation struct {
	who      Caller
	action   *Action
	args     *arguments // of the action, once one is looked at
	broken   bool       // they cannot be read
	matched  []*rule
	commands []command.Rule
	runs     command.Judgement
}

// gather finds the rules that match, commands aside, and judges the commands by those about them.
func (e *evaluation) gather(rules []*rule) {
	for _, r := range rules {
		if r.command != nil && e.action.Shell == nil || !e.candidate(r) {
			continue
		}
		if r.command != nil {
			e.commands = append(e.commands, *r.command)
			continue
		}
		e.matched = append(e.matched, r)
	}
	if len(e.commands) == 0 {
		return
	}
	sh := e.action.Shell
	e.runs = command.Judge(command.Input{Commands: sh.Commands, Dialect: sh.Dialect, Dir: sh.Dir, Env: sh.Env, Stdin: sh.Stdin}, e.commands)
	for _, r := range rules {
		if r.command != nil && decides(e.runs, r.id) {
			e.matched = append(e.matched, r)
		}
	}
	slices.SortFunc(e.matched, func(a, b *rule) int { return cmp.Compare(a.id, b.id) })
}

// candidate reports whether all that r says holds, its tools and its command aside.
func (e *evaluation) candidate(r *rule) bool {
	return r.about(e.who) && (r.paths == nil || r.paths.holds(e.action.Paths)) && e.argsHold(r)
}

// about reports whether r is about a caller.
func (r *rule) about(who Caller) bool {
	return r.principals.match(who.Principal) && r.scopes.matchAny(who.Scopes) &&
		(r.transports == nil || slices.Contains(r.transports, who.Transport))
}

func (e *evaluation) argsHold(r *rule) bool {
	if len(r.args) == 0 {
		return true
	}
	if e.args == nil {
		args, err := parseArgs(e.action.Args)
		e.args, e.broken = args, err != nil
	}
	for i := range r.args {
		if !r.args[i].holds(e.args) {
			return false
		}
	}
	return true
}

// verdict combines what was gathered.
func (e *evaluation) verdict(fallback Decision) Verdict {
	v := Verdict{Commands: e.runs.Parts}
	for _, r := range e.matched {
		v.Rules = append(v.Rules, r.id)
	}
	switch by := e.strictest(); {
	case e.broken:
		v.Decision, v.Rule, v.Reason = Deny, ruleOfDefault, "the arguments cannot be read, and rules depend on them"
	case e.runs.Limit != "":
		v.Decision, v.Rule, v.Reason = Deny, ruleOfUndecided, "the command is too much to look at: "+e.runs.Limit
	case by == nil:
		v.Decision, v.Rule, v.Reason = fallback, ruleOfDefault, "no rule matches, and the policy's default is "+fallback.String()
	default:
		v.Decision, v.Rule, v.Reason = by.effect, by.id, e.reason(by)
	}
	if e.runs.Undecided != "" && (v.Decision == Allow || v.Decision == Ask && v.Rule == ruleOfDefault) && e.restricts() {
		v.Decision, v.Rule, v.Reason = Ask, ruleOfUndecided, "it cannot be said what would run: "+e.runs.Undecided
	}
	return v
}

// strictest returns the first of the strictest rules that match, or nil.
func (e *evaluation) strictest() (by *rule) {
	for _, r := range e.matched {
		if by == nil || r.effect < by.effect {
			by = r
		}
	}
	return by
}

// restricts reports whether a rule that denies or asks looks at the commands.
func (e *evaluation) restricts() bool {
	return slices.ContainsFunc(e.commands, func(c command.Rule) bool { return c.Effect != command.Allow })
}

// maxShown bounds the part of a command that a reason shows, in bytes.
const maxShown = 200

// reason returns a rule's own words, and the part of the command that it matched.
func (e *evaluation) reason(r *rule) string {
	text := cmp.Or(r.reason, fmt.Sprintf("the policy says %s", r.effect))
	for _, m := range slices.Concat(e.runs.Denied, e.runs.Asked) {
		if m.Rule == r.id && m.Command != "" {
			return text + ": " + strconv.Quote(m.Command[:min(len(m.Command), maxShown)])
		}
	}
	return text
}

// Hides implements [Evaluator]: a deny that depends on the caller alone hides a tool, and so does a default
// of deny where no rule for the caller could say anything else.
func (p *Policy) Hides(who Caller, tool string) bool {
	hidden := p.fallback == Deny
	for _, r := range p.of(tool).rules {
		switch {
		case !r.about(who):
		case r.effect != Deny:
			hidden = false
		case r.command == nil && r.paths == nil && len(r.args) == 0:
			return true
		}
	}
	return hidden
}
