package toolkit

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// keepAlive is the longest silence towards a client that asked for progress; some end a
// call that is silent for long. minGap bounds how often it hears of it.
const (
	keepAlive = 4 * time.Second
	minGap    = 50 * time.Millisecond
)

// progress returns the reporter of a call and a function that ends it; nothing is sent
// after that has returned.
func progress(ctx context.Context, req *mcp.CallToolRequest) (report Progress, stop func()) {
	token := req.Params.GetProgressToken()
	if !isToken(token) {
		return func(float64, float64, string) {}, func() {}
	}
	r := &reporter{ctx: ctx, req: req, token: token, wake: make(chan struct{}, 1), done: make(chan struct{}), ended: make(chan struct{})}
	go r.loop()
	return r.set, func() { close(r.done); <-r.ended }
}

// isToken reports whether a client asked for progress with a token as the protocol has it:
// a string or a whole number.
func isToken(token any) bool {
	switch t := token.(type) {
	case string, int, int64:
		return true
	case float64:
		return t == math.Trunc(t) && math.Abs(t) <= 1<<53
	}
	return false
}

// A reporter sends the newest state, in a goroutine of its own so that a client that
// does not read cannot hold up the work.
type reporter struct {
	ctx   context.Context // of the call, whose goroutine this is part of
	req   *mcp.CallToolRequest
	token any
	wake  chan struct{}
	done  chan struct{}
	ended chan struct{}

	mu   sync.Mutex
	next mcp.ProgressNotificationParams
	last float64
}

func (r *reporter) set(done, total float64, message string) {
	r.mu.Lock()
	r.next.Progress, r.next.Total, r.next.Message = done, total, message
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *reporter) loop() {
	defer close(r.ended)
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			r.flush()
			return
		case <-r.wake:
			tick.Reset(keepAlive)
		case <-tick.C:
		}
		r.send()
		select {
		case <-r.done:
			r.flush()
			return
		case <-time.After(minGap):
		}
	}
}

// flush sends a last state that has not gone out yet.
func (r *reporter) flush() {
	select {
	case <-r.wake:
		r.send()
	default:
	}
}

// send notifies once. Progress must rise with every notification (MCP, utilities/progress),
// so a state that has not moved rises by a hair.
func (r *reporter) send() {
	r.mu.Lock()
	p := r.next
	if p.Progress <= r.last {
		p.Progress = r.last + 1e-6
	}
	r.last = p.Progress
	r.mu.Unlock()
	p.ProgressToken = r.token
	_ = r.req.Session.NotifyProgress(r.ctx, &p) // a client that has gone cancels the call by itself
}
