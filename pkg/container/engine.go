package container

import (
	"context"
	"sync"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
)

// An Engine is a connection to a Docker engine, or to one that speaks its API.
type Engine struct {
	api   *client.Client
	at    place
	owner owner
	pulls pulls
	reap  sync.Once

	live context.Context // ends with Close
	end  context.CancelFunc

	mu    sync.Mutex
	facts *system.Info // nil until the engine was asked
}

// EngineOptions say which engine to use. The zero value looks for one.
type EngineOptions struct {
	Host string // such as unix:///run/docker.sock, tcp://host:2376 or ssh://host; "": see [Connect]
}

// An EngineInfo is what an engine says of itself.
type EngineInfo struct {
	Source   string // where its address was found, as in [Attempt]
	Host     string
	Version  string
	API      string
	Arch     string // as Go names it
	Remote   bool   // its directories are not this machine's
	Rootless bool   // uid 0 in a container is the user who runs the engine
	Runtimes []string
	Notes    []string // what does not work here as it should, one line each
}

func newEngine(api *client.Client, at place) *Engine {
	e := &Engine{api: api, at: at, owner: thisOwner()}
	e.live, e.end = context.WithCancel(context.Background())
	return e
}

// Close ends the connection, and pulls. Sandboxes stay until they are closed.
func (e *Engine) Close() error {
	e.end()
	return e.api.Close()
}
