package toolkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
	"github.com/urfave/cli/v2"
)

// ServeHTTP serves MCP over streamable HTTP on l, until ctx is done and the calls in flight
// have ended. Realm and Log of o are the server's own where they are left out.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o streamable.Options) error {
	if o.Realm == "" {
		o.Realm = s.opts.Name
	}
	if o.Log == nil {
		o.Log = newBridge(s.opts.Log)
	}
	e, err := streamable.New(s.mcp, o)
	if err != nil {
		return fmt.Errorf("serve http: %w", err)
	}
	return e.Serve(ctx, l)
}

// serveHTTP is the program with --http.
func (r *run) serveHTTP(c *cli.Context, s *Server) error {
	addr, o, err := r.httpOptions(c)
	if err != nil {
		return usageError{err}
	}
	network := "tcp"
	if addr.IP.To4() != nil { // 0.0.0.0 would else mean IPv6 as well
		network = "tcp4"
	}
	l, err := net.ListenTCP(network, addr)
	if err != nil {
		return fmt.Errorf("serve http: %w", err)
	}
	boundMemory()
	fmt.Fprintf(r.std.Err, "%s: serving http://%s/mcp (%s)\n", r.app.Name, l.Addr(), whoMayCall(o))
	if c.String("approval-keys") == "" {
		s.opts.Log.Warn().Msg("approvals are sealed with a key of this process: one that was asked for here is not known to another replica, nor after a restart; --approval-keys FILE shares keys")
	}
	return s.ServeHTTP(c.Context, l, o)
}

func whoMayCall(o streamable.Options) string {
	switch {
	case len(o.Tokens) > 0:
		return "token required"
	case o.Loopback:
		return "no token, this machine only"
	}
	return "NO TOKEN: whoever reaches this address can call"
}

// httpFinding says what doctor finds of the flags of HTTP.
func (r *run) httpFinding(c *cli.Context) Finding {
	addr, o, err := r.httpOptions(c)
	if err != nil {
		return Finding{What: "HTTP", Text: err.Error()}
	}
	return Finding{What: "HTTP", OK: true, Text: fmt.Sprintf("would serve http://%s/mcp (%s)", addr, whoMayCall(o))}
}

// httpFlags are the flags that mean nothing without --http.
var httpFlags = []string{"token-file", "allowed-hosts", "allowed-origins", "insecure-no-auth"}

// httpOptions reads the flags of HTTP, and refuses what would serve everybody or nobody.
func (r *run) httpOptions(c *cli.Context) (addr *net.TCPAddr, o streamable.Options, err error) {
	given := c.String("http")
	if host, port, err := net.SplitHostPort(given); err != nil || port == "" || strings.Contains(host, "/") {
		return nil, o, fmt.Errorf("--http %q: want HOST:PORT, such as 127.0.0.1:8801", given)
	}
	if addr, err = net.ResolveTCPAddr("tcp", given); err != nil {
		return nil, o, fmt.Errorf("--http %q: %w", given, err)
	}
	o = streamable.Options{Loopback: addr.IP.IsLoopback(), Hosts: commas(c, "allowed-hosts"), Origins: commas(c, "allowed-origins")}
	if o.Tokens, err = r.tokens(c); err != nil {
		return nil, o, err
	}
	if !o.Loopback && len(o.Tokens) == 0 && !c.Bool("insecure-no-auth") {
		return nil, o, fmt.Errorf("--http %s: other machines can reach this address: give --token-file FILE or %s; or --insecure-no-auth, where something in front asks who calls", given, envName(r.app.Name, "TOKEN"))
	}
	if !o.Loopback && len(o.Hosts) == 0 {
		return nil, o, fmt.Errorf("--http %s: name the hosts by which clients call this address: --allowed-hosts tools.example.com; or * for any", given)
	}
	if err := o.Check(); err != nil {
		return nil, o, err
	}
	return addr, o, nil
}

// commas returns the values of a flag that can be repeated, or a list with commas.
func commas(c *cli.Context, flag string) (out []string) {
	for _, list := range c.StringSlice(flag) {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one != "" {
				out = append(out, one)
			}
		}
	}
	return out
}

// tokens returns the bearer tokens of --token-file or the environment; none where neither
// is given.
func (r *run) tokens(c *cli.Context) ([]streamable.Token, error) {
	path, env := c.String("token-file"), envName(r.app.Name, "TOKEN")
	inline, set := os.LookupEnv(env)
	switch {
	case path == "" && c.IsSet("token-file"):
		return nil, errors.New("--token-file is empty: name the file, or leave the flag out")
	case path == "" && set: // the flag wins: the variable may be there for a client
		tokens, err := streamable.ReadTokens(strings.NewReader(inline))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", env, err)
		}
		return tokens, nil
	case path == "":
		return nil, nil
	}
	return readFlag("token-file", path, streamable.ReadTokens)
}

// onlyWithHTTP refuses flags that would silently do nothing over stdio.
func onlyWithHTTP(c *cli.Context) error {
	for _, f := range httpFlags {
		if c.IsSet(f) {
			return usagef("--%s works with --http only", f)
		}
	}
	return nil
}
