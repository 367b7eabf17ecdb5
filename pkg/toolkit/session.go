package toolkit

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// modernEra is the first protocol version without a handshake, in which every request
// says its version in _meta.
const modernEra = "2026-07-28"

// rootsTimeout bounds the wait for a client's answer to roots/list.
const rootsTimeout = 5 * time.Second

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

// rootsChanged drops what is remembered of a client's roots.
func (s *sessions) rootsChanged(_ context.Context, req *mcp.RootsListChangedRequest) {
	v := s.of(req.Session)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.roots, v.cached = nil, false
	v.changes++
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
	return v >= modernEra
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
			if err := s.knows(r.Params.Name); err != nil {
				return nil, err
			}
		}
		return next(ctx, method, req)
	}
}

func (s *Server) knows(name string) error {
	for _, t := range s.tools {
		if t == name {
			return nil
		}
	}
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("unknown tool %s; there are: %s", Inline(shorten(name)), strings.Join(s.tools, ", ")),
	}
}

// private keeps results that depend on the caller out of shared caches.
func private(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }

// callOf describes the caller of a request on ss.
func (s *Server) callOf(ss *mcp.ServerSession, modern bool) *Call {
	return &Call{
		Caller: approval.Caller{Principal: "local", Session: ss.ID(), Transport: "stdio"},
		roots:  func(ctx context.Context) ([]string, bool, error) { return s.clientRoots(ctx, ss, modern) },
	}
}

// clientRoots asks the client for its roots, once for each change where it announces
// changes. It asks only clients that declared them: others never answer.
func (s *Server) clientRoots(ctx context.Context, ss *mcp.ServerSession, modern bool) ([]string, bool, error) {
	init := ss.InitializeParams()
	//lint:ignore SA1019 clients of the eras before 2026-07-28 have roots
	if modern || init == nil || init.Capabilities == nil || init.Capabilities.RootsV2 == nil {
		return nil, false, nil
	}
	v := s.sessions.of(ss)
	v.mu.Lock()
	roots, cached, changes := v.roots, v.cached, v.changes
	v.mu.Unlock()
	if cached {
		return roots, true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	//lint:ignore SA1019 as above
	res, err := ss.ListRoots(ctx, nil)
	if err != nil {
		return nil, true, Because(err, "the client did not say which roots it allows (roots/list); nothing was done: call again, or start the server with --root DIR and a client without roots")
	}
	roots = make([]string, len(res.Roots))
	for i, r := range res.Roots {
		roots[i] = r.URI
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	//lint:ignore SA1019 as above
	if v.changes == changes && init.Capabilities.RootsV2.ListChanged {
		v.roots, v.cached = roots, true
	}
	return roots, true, nil
}
