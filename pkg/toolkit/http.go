package toolkit

import (
	"context"
	"fmt"
	"net"

	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
	"github.com/urfave/cli/v2"
)

// ServeHTTP serves MCP over streamable HTTP on l, until ctx is done.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o streamable.Options) error {
	e, err := streamable.New(s.mcp, o)
	if err != nil {
		return fmt.Errorf("serve http: %w", err)
	}
	return e.Serve(ctx, l)
}

func (r *run) serveHTTP(c *cli.Context, s *Server) error {
	l, err := net.Listen("tcp", c.String("http"))
	if err != nil {
		return fmt.Errorf("serve http: %w", err)
	}
	fmt.Fprintf(r.std.Err, "%s: serving http://%s/mcp\n", r.app.Name, l.Addr())
	return s.ServeHTTP(c.Context, l, streamable.Options{Loopback: true})
}
