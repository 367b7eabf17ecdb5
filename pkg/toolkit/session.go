package toolkit

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
)

// A session is what toolkit remembers of one protocol session.
type session struct {
	mu      sync.Mutex
	era     string   // "", "legacy" or "modern", set by the first request
	roots   []string // as the client said, while cached
	cached  bool
	changes int // announced; an answer from before one is not kept
}

// sessions maps the SDK's sessions to ours, without keeping them alive.
type sessions struct{ m sync.Map } // weak.Pointer[mcp.ServerSession] -> *session

func (s *sessions) of(ss *mcp.ServerSession) *session {
	key := weak.Make(ss)
	if v, ok := s.m.Load(key); ok {
		return v.(*session)
	}
	v, loaded := s.m.LoadOrStore(key, &session{})
	if !loaded {
		runtime.AddCleanup(ss, func(k weak.Pointer[mcp.ServerSession]) { s.m.Delete(k) }, key)
	}
	return v.(*session)
}

// enter refuses a request of one era on a session of the other: what a client may be
// asked, and what it declared, differ between them.
func (v *session) enter(modern bool) error {
	era := "legacy"
	if modern {
		era = "modern"
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.era == "" {
		v.era = era
	}
	if v.era != era {
		return &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("this session began with a request of the %s protocol era; a request of the %s era needs a session of its own", v.era, era),
		}
	}
	return nil
}

// isModern reports whether a request speaks the era that has no handshake.
func isModern(req mcp.Request) bool {
	p := req.GetParams()
	if p == nil || reflect.ValueOf(p).IsNil() { // the SDK passes typed nil pointers
		return false
	}
	v, _ := p.GetMeta()[mcp.MetaKeyProtocolVersion].(string)
	return v >= wire.ModernEra
}

// guard looks at every request before the SDK does: one era a session, no tool that was
// registered round [Add], and no panic that ends the program.
func (s *Server) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if r := recover(); r != nil {
				s.opts.Log.Error().Str("method", method).Interface("panic", r).Bytes("stack", debug.Stack()).Msg("internal error")
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error: the server's log has the cause"}
			}
		}()
		if ss, ok := req.GetSession().(*mcp.ServerSession); ok && !strings.HasPrefix(method, "notifications/") && method != "server/discover" {
			if err := s.sessions.of(ss).enter(isModern(req)); err != nil {
				return nil, err
			}
		}
		if r, ok := req.(*mcp.CallToolRequest); ok && r.Params != nil {
			if err := s.knows(r); err != nil {
				return nil, err
			}
		}
		res, err = next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil && list != nil {
			if r, ok := req.(*mcp.ListToolsRequest); ok {
				res = s.withoutHidden(s.callOf(r.Session, r.Extra, isModern(r)).Caller, list)
			}
		}
		return res, err
	}
}

// knows refuses calls of tools that were not registered by [Add]. It names those that the caller
// may know of.
func (s *Server) knows(r *mcp.CallToolRequest) error {
	if _, ok := s.canonical[r.Params.Name]; ok {
		return nil
	}
	shown := s.shownTo(s.callOf(r.Session, r.Extra, isModern(r)).Caller)
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("unknown tool %s; there are: %s", Inline(shorten(r.Params.Name)), strings.Join(shown, ", ")),
	}
}

// private keeps results that depend on the caller out of shared caches.
func private(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }

// callOf describes the caller of a request on ss.
func (s *Server) callOf(ss *mcp.ServerSession, extra *mcp.RequestExtra, modern bool) *Call {
	caller := approval.Caller{Principal: approval.Local, Session: ss.ID(), Transport: approval.Stdio}
	by := streamable.RequestOf(extra)
	if by != nil {
		caller.Principal, caller.Scopes, caller.Transport = by.Principal, by.Scopes, approval.HTTP
	}
	streams := by == nil || by.Streams
	spoken := ""
	if p := ss.InitializeParams(); p != nil && !modern {
		spoken = p.ProtocolVersion
	}
	var header http.Header
	if extra != nil {
		header = extra.Header
	}
	return &Call{
		Caller: caller,
		header: header,
		spoken: spoken,
		ended:  endOfSession(ss),
		by:     by,
		modern: modern, streams: streams,
		roots: func(ctx context.Context) ([]string, bool, error) {
			if !streams { // in the answer to the call nothing can be asked; on the session's own stream it can
				ctx = apart(ctx)
			}
			uris, declared, err := s.clientRoots(ctx, ss, modern)
			if err == nil {
				err = s.reach.checkRoots(uris)
			} else if !streams {
				err = Because(err, "the client could not be asked which roots it allows (roots/list); nothing was done: accept text/event-stream, or keep the session's GET stream open")
			}
			return uris, declared, err
		},
	}
}

// endOfSession returns what waits for the end of ss, or nil where ss has no id: that one
// lasts as long as its connection, or as one request.
func endOfSession(ss *mcp.ServerSession) func() {
	if ss.ID() == "" {
		return nil
	}
	return func() { _ = ss.Wait() } // however it ended
}

// apart returns a context that ends with ctx and has none of its values. By these the SDK
// would put a question to the client into the answer of the call.
func apart(ctx context.Context) context.Context {
	out, cancel := context.WithCancelCause(context.Background())
	context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return out
}
