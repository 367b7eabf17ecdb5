package streamable

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The limits that hold where [Options] leaves them out.
const (
	DefaultMaxBody     = 32 << 20 // bytes of one request's body
	DefaultMaxBodies   = 96 << 20 // bytes of all bodies together, until they are answered
	DefaultMaxSessions = 1024     // of clients before 2026-07-28; also of open subscriptions after it
	DefaultSessionIdle = 30 * time.Minute
	DefaultMaxConns    = 4096
	DefaultGrace       = 8 * time.Second // docker stop kills after ten
)

// Options configure an [Endpoint]. The zero value of each field is the documented default.
type Options struct {
	Loopback bool     // only this machine can connect: loopback's own names are served
	Hosts    []string // further values of Host that are served: "name", "name:port", or "*" for any
	Origins  []string // further values of Origin that are served: "scheme://host[:port]"
	Tokens   []Token  // who may call; empty: anybody
	Realm    string   // of WWW-Authenticate
	Log      *slog.Logger

	MaxBody     int64         // bytes; a longer body is answered 413
	MaxBodies   int64         // bytes; while they are in use, further large bodies wait, then get 503
	MaxSessions int           // the least used one ends when another begins
	SessionIdle time.Duration // without a request or an open stream
	MaxConns    int           // beyond it, connections without a request are closed, oldest first
	Grace       time.Duration // for calls in flight at the end
}

func (o Options) withDefaults() Options {
	orElse(&o.MaxBody, DefaultMaxBody)
	orElse(&o.MaxBodies, max(DefaultMaxBodies, o.MaxBody))
	orElse(&o.MaxSessions, DefaultMaxSessions)
	orElse(&o.SessionIdle, DefaultSessionIdle)
	orElse(&o.MaxConns, DefaultMaxConns)
	orElse(&o.Grace, DefaultGrace)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Check reports what is wrong with o, as [New] does.
func (o Options) Check() error {
	_, err := o.withDefaults().check()
	return err
}

func (o Options) check() (access, error) {
	if o.MaxBody < 0 || o.MaxBodies < 0 || o.MaxSessions < 0 || o.MaxConns < 0 || o.SessionIdle < 0 || o.Grace < 0 {
		return access{}, errors.New("a limit must not be negative")
	}
	if o.MaxBody > o.MaxBodies {
		return access{}, fmt.Errorf("one body of %d bytes would exceed the %d for all", o.MaxBody, o.MaxBodies)
	}
	return newAccess(o)
}

func orElse[T comparable](v *T, other T) {
	var zero T
	if *v == zero {
		*v = other
	}
}

// An Endpoint serves one server over HTTP.
type Endpoint struct {
	opts     Options
	access   access
	bodies   *budget
	sessions *sessions
	calls    calls
	listens  calls // that last until somebody ends them
	stopping atomic.Bool
	handler  http.Handler
	eras     struct{ stateful, stateless http.Handler }
}

// New returns an endpoint for s, and adds a middleware to s by which a client that goes
// away ends its calls. It refuses options that do not fit together.
func New(s *mcp.Server, o Options) (*Endpoint, error) {
	o = o.withDefaults()
	access, err := o.check()
	if err != nil {
		return nil, err
	}
	e := &Endpoint{
		opts: o, access: access,
		bodies:   newBudget(o.MaxBody, o.MaxBodies),
		sessions: newSessions(o.MaxSessions, o.SessionIdle),
	}
	s.AddReceivingMiddleware(e.follow)
	get := func(*http.Request) *mcp.Server { return s }
	// Hosts are checked here, bodies are bounded here; the SDK would do both otherwise.
	stateful := mcp.StreamableHTTPOptions{Logger: o.Log, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1}
	stateless := stateful
	stateless.Stateless, stateless.PropagateRequestCancellation = true, true
	known := auth.RequireBearerToken(identify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	e.eras.stateful = known(withoutToken(mcp.NewStreamableHTTPHandler(get, &stateful)))
	e.eras.stateless = known(withoutToken(mcp.NewStreamableHTTPHandler(get, &stateless)))
	e.handler = bounded(e.routes())
	return e, nil
}

// routes tells the paths apart, as they stand: the standard library's mux would redirect
// those that are not clean, to where a proxy that rewrites paths does not lead.
func (e *Endpoint) routes() http.Handler {
	protocol := e.guarded(http.HandlerFunc(e.serve))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/mcp" || r.URL.Path == "/mcp/":
			protocol.ServeHTTP(w, r)
		case r.URL.Path == "/readyz" && e.stopping.Load():
			plain(w, http.StatusServiceUnavailable, "stopping")
		case r.URL.Path == "/healthz" || r.URL.Path == "/readyz":
			plain(w, http.StatusOK, "ok")
		default:
			plain(w, http.StatusNotFound, "not found: the endpoint is /mcp")
		}
	})
}

// ServeHTTP implements [http.Handler].
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.handler.ServeHTTP(w, r) }

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}
