package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/client"
)

// How long an engine may take to answer: one that was named, one that was guessed, and one
// behind ssh, which has to log in first.
const (
	namedWithin   = 5 * time.Second
	guessedWithin = 2 * time.Second
	sshWithin     = 20 * time.Second
)

// A place is where an engine may be found.
type place struct {
	source string // as in [Attempt]
	host   string
	tls    tlsFiles
}

// Connect returns the engine that o names, or looks for one: DOCKER_HOST, DOCKER_CONTEXT,
// the current context of the Docker command line, then the sockets where engines commonly
// listen. One that is named and does not answer is an error: no other is tried then. Where
// none answers, the error is a [*NoEngineError].
func Connect(ctx context.Context, o EngineOptions) (*Engine, error) {
	named, broken := namedPlace(o)
	if broken != nil {
		return nil, &NoEngineError{Tried: []Attempt{*broken}}
	}
	places, within := socketPlaces(), guessedWithin
	if named != nil {
		places, within = []place{*named}, namedWithin
	}
	return firstOf(ctx, places, within)
}

// firstOf returns the first engine that answers.
func firstOf(ctx context.Context, places []place, within time.Duration) (*Engine, error) {
	var tried []Attempt
	for _, p := range places {
		e, err := dial(ctx, p, within)
		if err == nil {
			return e, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("connect to the engine: %w", ctx.Err())
		}
		tried = append(tried, Attempt{Source: p.source, Host: p.host, Err: err})
	}
	return nil, &NoEngineError{Tried: tried}
}

// namedPlace returns the engine that somebody chose, if anybody did, or why the choice
// cannot be read.
func namedPlace(o EngineOptions) (*place, *Attempt) {
	if o.Host != "" {
		return &place{source: "given", host: o.Host, tls: tlsFromEnvironment()}, nil
	}
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		return &place{source: "DOCKER_HOST", host: host, tls: tlsFromEnvironment()}, nil
	}
	name, source, broken := chosenContext()
	if broken != nil || name == "" || name == "default" {
		return nil, broken
	}
	return contextPlace(name, source)
}

// socketPlaces returns where engines listen on this kind of machine.
func socketPlaces() (places []place) {
	if runtime.GOOS == "windows" {
		return []place{{source: "default pipe", host: client.DefaultDockerHost}}
	}
	paths := []string{"/var/run/docker.sock"}
	if home, err := os.UserHomeDir(); err == nil {
		for _, below := range []string{".docker/run/docker.sock", ".colima/default/docker.sock", ".orbstack/run/docker.sock", ".rd/docker.sock"} {
			paths = append(paths, filepath.Join(home, below))
		}
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		paths = append(paths, filepath.Join(dir, "docker.sock"), filepath.Join(dir, "podman/podman.sock"))
	}
	for _, path := range append(paths, "/run/podman/podman.sock") {
		places = append(places, place{source: "default socket", host: "unix://" + path})
	}
	return places
}

// dial connects to the engine at p and agrees with it on a version of the API.
func dial(ctx context.Context, p place, within time.Duration) (*Engine, error) {
	if p.scheme() == "ssh" {
		within = sshWithin
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %s", within))
	defer cancel()
	if err := p.knock(ctx); err != nil {
		return nil, reason(ctx, err)
	}
	api, err := p.client()
	if err != nil {
		return nil, err
	}
	ping, err := api.Ping(ctx)
	if err == nil && ping.APIVersion == "" {
		err = errors.New("what answers there is not a Docker engine")
	}
	if err != nil {
		api.Close()
		return nil, reason(ctx, err)
	}
	api.NegotiateAPIVersionPing(ping)
	return newEngine(api, p), nil
}

// knock opens a connection and closes it, for the system's own words: the client replaces
// them by its own.
func (p place) knock(ctx context.Context) error {
	network, address := p.scheme(), strings.TrimPrefix(p.host, p.scheme()+"://")
	switch network {
	case "unix":
	case "tcp", "http", "https":
		u, err := url.Parse(p.host)
		if err != nil {
			return err
		}
		network, address = "tcp", u.Host
		if proxy, _ := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: u.Host}}); proxy != nil {
			return nil
		}
	default:
		return nil
	}
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return c.Close()
}

// client returns a client of the API at p. It does not connect yet.
func (p place) client() (*client.Client, error) {
	transport := &http.Transport{}
	options := []client.Opt{client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect})}
	switch p.scheme() {
	case "unix", "npipe":
		options = append(options, client.WithHost(p.host))
	case "tcp", "http", "https":
		t, err := p.tls.config()
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = t
		options = append(options, client.WithHost(p.host))
	case "ssh":
		s, err := parseSSH(p.host)
		if err != nil {
			return nil, err
		}
		options = append(options, client.WithHost("http://ssh"), client.WithDialContext(s.dial))
	default:
		return nil, fmt.Errorf("%q is no address of an engine; hint: unix:///path, tcp://host:port, ssh://user@host", p.host)
	}
	return client.NewClientWithOpts(append(options, client.WithAPIVersionNegotiation())...)
}

func (p place) scheme() string {
	scheme, _, _ := strings.Cut(p.host, "://")
	return scheme
}

// remote reports whether the directories that the engine at p sees are not this machine's. A
// port of this machine may be forwarded from another one, so only sockets and pipes are near.
func (p place) remote() bool { return p.scheme() != "unix" && p.scheme() != "npipe" }

// reason says in few words why an engine does not answer.
func reason(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied: is the user in the group docker?")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}
