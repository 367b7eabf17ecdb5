package toolkit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// An askTimeout says that a person took too long.
type askTimeout time.Duration

func (e askTimeout) Error() string { return "nobody answered within " + time.Duration(e).String() }

// ask puts a question to a client of before 2026-07-28, within its call, and waits for the
// answer. It returns a yes, or the error with which the call ends.
func (s *Server) ask(ctx context.Context, ss *mcp.ServerSession, c *Call, q *question) (*approved, error) {
	tool, yes := q.action.Tool, q.shown()
	key, _ := c.Caller.StateKey()
	most := q.verdict.Asking.MaxPending
	if most <= 0 {
		most = approval.DefaultMaxPending
	}
	if !s.pending.enter(key, most) {
		// The user can be asked, though not now: what unattended says is not about that. A model
		// could else ask much, to have the rest run.
		return nil, Errorf("call again when the user has answered: %s needs approval, and no more questions can be asked now (%d are waiting for an answer). Nothing was done.", tool, most)
	}
	defer s.pending.leave(key)
	wait := askTime(q.verdict)
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(wait), wait)
	defer cancel()
	if !c.streams { // in the answer to the call nothing can be asked; on the session's own stream it can
		ctx = apart(ctx)
	}
	res, err := ss.Elicit(ctx, c.elicitation(q))
	switch {
	case errors.Is(context.Cause(ctx), wait):
		return nil, undecided(tool, wait.Error())
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil: // whatever it is, it is no yes, and no sign that nobody can be asked
		return nil, Because(err, "%s", undecided(tool, "the client did not ask the user, or its answer is not valid"))
	}
	yes.session, err = heard(tool, res, c.mayRemember(q.verdict))
	return yes, err
}

// A pending counts questions that wait for an answer, by the key of who is asked. Only those
// count that a call waits for: what lies sealed with a client waits nowhere, and may be
// answered at another server.
type pending struct {
	mu    sync.Mutex
	count map[string]int
}

// enter counts one more, if there are not that many already.
func (p *pending) enter(key string, most int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count[key] >= most {
		return false
	}
	if p.count == nil {
		p.count = map[string]int{}
	}
	p.count[key]++
	return true
}

func (p *pending) leave(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count[key]--; p.count[key] == 0 {
		delete(p.count, key)
	}
}
