// Package streamable serves an [mcp.Server] over streamable HTTP, to clients of both
// protocol eras at one endpoint.
package streamable

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configure an [Endpoint].
type Options struct {
	Loopback bool     // the listener is on a loopback address
	Hosts    []string // other values of Host that are served
	Origins  []string // other values of Origin that are served
}

// An Endpoint serves one server.
type Endpoint struct{ handler http.Handler }

// New returns an endpoint for s.
func New(s *mcp.Server, _ Options) (*Endpoint, error) {
	get := func(*http.Request) *mcp.Server { return s }
	old := mcp.NewStreamableHTTPHandler(get, nil)
	now := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" && r.Header.Get("Mcp-Session-Id") == "" {
			now.ServeHTTP(w, r)
			return
		}
		old.ServeHTTP(w, r)
	})
	return &Endpoint{handler: mux}, nil
}

// ServeHTTP implements [http.Handler].
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.handler.ServeHTTP(w, r) }

// Serve serves connections from l until ctx is done.
func (e *Endpoint) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
