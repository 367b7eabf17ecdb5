package toolkit

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// How a call that asks is answered (MCP, client/elicitation):
//
// The first way through decode, Plan and the policy ends with a question. Nothing is held while a
// person thinks about it: no slot, no open file, no deadline. With the answer the call goes the whole
// way again; it runs if what would happen now is, byte for byte, what was shown. Clients
// before 2026-07-28 are asked within the call (ask_legacy.go), the others by a result that they
// answer with a second call (ask_modern.go).

// A question is the error with which a call ends that a person has to approve first.
type question struct {
	action  approval.Action
	verdict approval.Verdict
	text    string
}

func (q *question) Error() string { return "a person has to approve it" }

// shown returns what a yes to q is a yes to.
func (q *question) shown() *approved {
	return &approved{
		rule: q.verdict.Rule, revision: q.verdict.Revision,
		digest: q.action.Digest(), parts: q.action.Parts(),
	}
}

// An approved is what a person has said yes to.
type approved struct {
	rule, revision string
	digest         [sha256.Size]byte
	parts          map[string]string
	session        bool // also for the same call, until the session ends
}

// covers reports whether the yes was said to what v asks for now.
func (y *approved) covers(v approval.Verdict) bool {
	return y != nil && y.rule == v.Rule && y.revision == v.Revision
}

// check refuses an action that is not the one that was shown.
func (y *approved) check(a approval.Action) error {
	if y == nil || y.digest == a.Digest() {
		return nil
	}
	var differ []string
	now := a.Parts()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name] != y.parts[name] {
			differ = append(differ, name)
		}
	}
	if len(differ) == 0 { // how many, or the kind of it
		differ = []string{"extent"}
	}
	return Errorf("call again: what %s would do has changed since it was approved (%s). Nothing was done; the user will be asked about what it would do now.",
		a.Tool, strings.Join(differ, ", "))
}

// admit says whether a call may run that is allowed or asks; [approval.Admit] has refused all
// others. A call that has to be approved first gets a [*question].
func (s *Server) admit(c *Call, p *planned, v approval.Verdict, yes *approved) error {
	a := p.action
	if err := yes.check(a); err != nil {
		return err
	}
	if v.Decision == approval.Allow || yes.covers(v) || s.memory.Remembers(c.Caller, v, a) {
		return nil
	}
	if why := c.unasked(); why != "" {
		return unattended(a.Tool, v, why)
	}
	text, err := promptOf(c.Caller, a, v)
	if err != nil {
		return err
	}
	if p.err != nil {
		text += "\nAs things are, the call would fail; a yes lets the client read why."
	}
	return &question{action: a, verdict: v, text: text}
}

// unattended is what becomes of a call that asks where nobody can be asked, and why.
func unattended(tool string, v approval.Verdict, why string) error {
	if v.Asking.Unattended == approval.Allow {
		return nil
	}
	return &approval.DeniedError{Tool: tool, Verdict: v, Unasked: why}
}

// remember keeps a yes that was meant for the whole session.
func (s *Server) remember(c *Call, a approval.Action, v approval.Verdict, yes *approved) {
	if yes == nil || !yes.session || !yes.covers(v) {
		return
	}
	if s.memory.Remember(c.Caller, v, a) {
		c.AfterSession(func() { s.memory.Forget(c.Caller) })
	}
}

// unasked returns why the client of a call cannot be asked, or "". A client that declares
// elicitation and none of its modes takes forms. Before 2026-07-28 only what it declared when its
// session began counts.
func unasked(req *mcp.CallToolRequest, modern bool) string {
	var can *mcp.ClientCapabilities
	if modern {
		can = req.ClientCapabilities()
	} else if p := req.Session.InitializeParams(); p != nil {
		can = p.Capabilities
	}
	switch {
	case can == nil || can.Elicitation == nil:
		return "this client cannot be asked (it does not declare elicitation)"
	case can.Elicitation.Form == nil && can.Elicitation.URL != nil:
		return "this client cannot be asked (it declares no elicitation by forms)"
	}
	return ""
}

// elicitation returns q as the protocol has it. The form has no required field: with one, clients
// send a person's yes as a cancel (tufantunc/ssh-mcp#91).
func (c *Call) elicitation(q *question) *mcp.ElicitParams {
	schema := `{"type":"object","properties":{}}`
	if c.mayRemember(q.verdict) {
		schema = fmt.Sprintf(`{"type":"object","properties":{"remember":{"type":"string","title":"Remember",`+
			`"description":"once: for this call only; session: also for the very same call, until the session ends or for %s",`+
			`"enum":["once","session"],"default":"once"}}}`, q.verdict.Asking.Session)
	}
	return &mcp.ElicitParams{Mode: "form", Message: q.text, RequestedSchema: json.RawMessage(schema)}
}

// mayRemember reports whether an answer may count for a session: the policy says so, and there
// is one.
func (c *Call) mayRemember(v approval.Verdict) bool {
	_, ok := c.Caller.StateKey()
	return ok && v.Asking.Session > 0
}

// heard returns nil for an explicit yes, and whether it is for the session. Every other answer
// is the error for the model. Clients check their answers, or not: this is where it counts.
func heard(tool string, res *mcp.ElicitResult, mayRemember bool) (session bool, err error) {
	switch res.Action {
	case "accept":
	case "decline":
		return false, Errorf("do not repeat this call: the user was asked about %s and did not approve it. Nothing was done; ask what to do instead.", tool)
	case "cancel":
		return false, undecided(tool, "the question was dismissed")
	default:
		return false, undecided(tool, "the client's answer was neither accept, decline nor cancel")
	}
	switch res.Content["remember"] {
	case nil, "", "once":
		return false, nil
	case "session":
		return mayRemember, nil
	}
	return false, undecided(tool, "the client's answer does not fit the form")
}

// undecided is for the model where a person has said neither yes nor no.
func undecided(tool, why string) error {
	return Errorf("ask the user before you call %s again: it needs approval, and there is no decision, since %s. Nothing was done.", tool, why)
}

// askTime is how long a person may take.
func askTime(v approval.Verdict) (d askTimeout) {
	if d = askTimeout(v.Asking.Timeout); d <= 0 {
		d = askTimeout(approval.DefaultAskTimeout)
	}
	return d
}
