package streamable

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
)

// A Request is what a handler may know of the HTTP request that brought its message.
type Request struct {
	Principal string   // who holds the token; [Anonymous] where none is asked for
	Scopes    []string // of the token
	Streams   bool     // the client takes an event stream: it hears of progress, and can be asked

	by      *Endpoint
	session *session        // before 2026-07-28
	ctx     context.Context // done when the client has gone, or the endpoint ends

	delivery delivery
}

// RequestOf returns the HTTP request behind a message, or nil where another transport
// brought it.
func RequestOf(extra *mcp.RequestExtra) *Request {
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	r, _ := extra.TokenInfo.Extra[requestKey].(*Request)
	return r
}

// cause returns why the request is over.
func (r *Request) cause() error {
	if cause := context.Cause(r.ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return errGone
}

// errGone is why a call ends whose client does not wait for it any more. Nothing can be
// resumed without an event store, so its answer has nowhere to go.
var errGone = errors.New("the client has gone")

// follow ends calls whose client has gone. The SDK does so only from 2026-07-28 on.
func (e *Endpoint) follow(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		r := RequestOf(req.GetExtra())
		// The POST of a notification is over before what it brought has been handled.
		if r == nil || r.by != e || strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, req)
		}
		if r.session == nil {
			// Without a session the SDK ends the context when the client goes, and leaves no cause;
			// no notification can end it.
			ctx = context.WithoutCancel(ctx)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(r.ctx, func() { cancel(r.cause()) })()
		res, err := next(ctx, method, req)
		r.answering()
		if ss, ok := req.GetSession().(*mcp.ServerSession); ok && method == "initialize" && err == nil {
			e.sessions.add(ss, r.Principal)
		}
		return res, wire.Coded(err)
	}
}
