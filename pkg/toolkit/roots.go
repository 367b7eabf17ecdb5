//lint:file-ignore SA1019 clients before 2026-07-28 have roots, and the SDK marks all of them as deprecated

package toolkit

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rootsTimeout bounds the wait for a client's answer to roots/list.
const rootsTimeout = 5 * time.Second

// maxRoots bounds what a client can make every call look at.
const maxRoots = 256

// rootsChanged drops what is remembered of a client's roots.
func (s *sessions) rootsChanged(_ context.Context, req *mcp.RootsListChangedRequest) {
	v := s.of(req.Session)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.roots, v.cached = nil, false
	v.changes++
}

// clientRoots asks the client for its roots, once for each change where it announces
// changes. It asks only clients that declared them: others never answer.
func (s *Server) clientRoots(ctx context.Context, ss *mcp.ServerSession, modern bool) ([]string, bool, error) {
	init := ss.InitializeParams()
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
	res, err := ss.ListRoots(ctx, nil)
	if err != nil {
		return nil, true, Because(err, "the client did not say which roots it allows (roots/list); nothing was done: call again, or start the server with --root DIR and a client without roots")
	}
	if len(res.Roots) > maxRoots {
		return nil, true, Errorf("the client declares %d roots, at most %d are served: declare directories above them", len(res.Roots), maxRoots)
	}
	roots = nil
	for _, r := range res.Roots {
		if r != nil {
			roots = append(roots, r.URI)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changes == changes && init.Capabilities.RootsV2.ListChanged {
		v.roots, v.cached = roots, true
	}
	return roots, true, nil
}
