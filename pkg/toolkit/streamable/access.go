package streamable

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
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
	any      bool   // every host
	hosts    []host // that are served beside
	origins  []string
	tokens   []secret
	realm    string
}

func newAccess(o Options) (access, error) {
	a := access{loopback: o.Loopback, realm: o.Realm}
	for _, h := range o.Hosts {
		if h == "*" {
			a.any = true
			continue
		}
		host, ok := parseHost(h)
		if !ok {
			return a, fmt.Errorf("host %q: want a name, name:port, or * for any", h)
		}
		a.hosts = append(a.hosts, host)
	}
	for _, s := range o.Origins {
		origin, ok := parseOrigin(s)
		if !ok {
			return a, fmt.Errorf("origin %q: want scheme://host or scheme://host:port, as browsers send it", s)
		}
		a.origins = append(a.origins, origin)
	}
	var err error
	a.tokens, err = hashed(o.Tokens)
	return a, err
}

// A host is a name or address in lower case, without brackets, and a port.
type host struct{ name, port string }

var (
	hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$`)
	hostPort = regexp.MustCompile(`^[0-9]{1,5}$`)
)

// parseHost reads a value of Host (RFC 9110, section 7.2). A dot at the end means nothing.
func parseHost(s string) (h host, ok bool) {
	s = strings.ToLower(s)
	name, port, err := net.SplitHostPort(s)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), ""
	} else if !hostPort.MatchString(port) {
		return h, false
	}
	name = strings.TrimSuffix(name, ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return host{ip.String(), port}, ip.Zone() == ""
	}
	return host{name, port}, hostName.MatchString(name)
}

// parseOrigin returns an origin as browsers send it (RFC 6454, section 6.2): lower case, without the
// port that its scheme has anyway.
func parseOrigin(s string) (string, bool) {
	u, err := url.Parse(strings.ToLower(s))
	if err != nil || u.Scheme == "" || u.Host == "" || strings.TrimPrefix(u.String(), u.Scheme+"://") != u.Host {
		return "", false
	}
	for _, r := range u.Host { // other names go over the wire as xn--
		if r > '~' || r <= ' ' {
			return "", false
		}
	}
	switch {
	case u.Scheme == "https":
		u.Host = strings.TrimSuffix(u.Host, ":443")
	case u.Scheme == "http":
		u.Host = strings.TrimSuffix(u.Host, ":80")
	}
	return u.String(), true
}

// serves reports whether a value of Host is one of ours.
func (a access) serves(value string) bool {
	h, ok := parseHost(value)
	if a.any || !ok {
		return a.any && value != ""
	}
	return a.loopback && isLoopback(h.name) ||
		slices.ContainsFunc(a.hosts, func(o host) bool { return o.name == h.name && (o.port == "" || o.port == h.port) })
}

// admits reports whether pages of an origin may call.
func (a access) admits(value string) bool {
	origin, ok := parseOrigin(value)
	if !ok {
		return false
	}
	scheme, rest, _ := strings.Cut(origin, "://")
	h, ok := parseHost(rest)
	own := ok && a.loopback && (scheme == "http" || scheme == "https") && isLoopback(h.name)
	return own || slices.Contains(a.origins, origin)
}

// isLoopback reports whether a name can only mean this machine. An address in Host cannot
// come from rebinding, which needs a name.
func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
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
