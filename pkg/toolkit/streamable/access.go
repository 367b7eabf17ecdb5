package streamable

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// An access says which requests are looked at at all. Without these checks a web page could use
// the server through its visitor's browser: directly, where Origin gives it away, or
// under a name that it points at this machine (DNS rebinding), where Host does.
// See MCP 2025-11-25, basic/transports, security warning.
type access struct {
	loopback bool
	hosts    []string // lower case
	origins  []string // lower case
	tokens   []secret
	realm    string
}

func newAccess(o Options) (access, error) {
	a := access{loopback: o.Loopback, realm: o.Realm}
	for _, h := range o.Hosts {
		if h == "" || h != "*" && strings.ContainsAny(h, "/@* ") {
			return a, fmt.Errorf("host %q: want a name, name:port, or * for any", h)
		}
		a.hosts = append(a.hosts, strings.ToLower(h))
	}
	for _, s := range o.Origins {
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
			return a, fmt.Errorf("origin %q: want scheme://host or scheme://host:port, as browsers send it", s)
		}
		a.origins = append(a.origins, strings.ToLower(s))
	}
	var err error
	a.tokens, err = hashed(o.Tokens)
	return a, err
}

// serves reports whether a value of Host is one of ours.
func (a access) serves(host string) bool {
	host = strings.ToLower(host)
	name := hostname(host)
	return a.loopback && isLoopback(name) ||
		slices.ContainsFunc(a.hosts, func(h string) bool { return h == "*" && host != "" || h == host || h == name })
}

// admits reports whether pages of an origin may call.
func (a access) admits(origin string) bool {
	origin = strings.ToLower(origin)
	scheme, host, _ := strings.Cut(origin, "://")
	own := a.loopback && (scheme == "http" || scheme == "https") && isLoopback(hostname(host))
	return own || slices.Contains(a.origins, origin)
}

// hostname returns host without its port; IPv6 addresses lose their brackets.
func hostname(host string) string {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return "" // no name is
		}
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// isLoopback reports whether a name can only mean this machine. An address in Host cannot
// come from rebinding, which needs a name.
func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// guarded lets through to next what may be looked at, in the order in which a stranger learns least.
func (e *Endpoint) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.access.serves(r.Host) {
			refuse(w, http.StatusForbidden, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the host %q is not served here: start the server with --allowed-hosts, or call it by a name that it serves", cut(r.Host)))
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" || len(r.Header.Values("Origin")) > 1 {
			if len(r.Header.Values("Origin")) > 1 || !e.access.admits(origin) {
				refuse(w, http.StatusForbidden, jsonrpc.CodeInvalidRequest, fmt.Sprintf("pages of the origin %q may not call this server: start it with --allowed-origins", cut(origin)))
				return
			}
			shareWith(w.Header(), origin)
			if r.Method == http.MethodOptions {
				preflight(w, r)
				return
			}
		}
		holder, ok := e.access.holder(r)
		if !ok {
			e.access.challenge(w, r)
			return
		}
		next.ServeHTTP(w, withHolder(r, holder))
	})
}

// shareWith lets pages of origin read the answer (Fetch standard, CORS protocol).
func shareWith(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After")
	h.Add("Vary", "Origin")
}

// preflight answers a browser that asks before it sends. It has no token to show yet.
func preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE, OPTIONS")
	// Mcp-Param-* are named after the arguments of tools, so there is no list to give.
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// cut bounds what a message repeats of a request.
func cut(s string) string {
	const limit = 100
	if len(s) > limit {
		return s[:limit] + "..."
	}
	return s
}
