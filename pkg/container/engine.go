package container

import (
	"context"
	"errors"

	"github.com/docker/docker/client"
	_ "github.com/docker/docker/pkg/stdcopy"
)

// An Engine is a connection to a Docker engine, or to one that speaks its API.
type Engine struct {
	api *client.Client
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

// Connect returns the engine that o names, or looks for one: DOCKER_HOST, DOCKER_CONTEXT,
// the current context of the Docker command line, then the sockets where engines commonly
// listen. Where none answers, the error is a [*NoEngineError].
func Connect(ctx context.Context, o EngineOptions) (*Engine, error) {
	return nil, errors.New("not built yet")
}

// Info asks the engine about itself.
func (e *Engine) Info(ctx context.Context) (EngineInfo, error) { return EngineInfo{}, nil }

// HasImage returns the id of an image if the engine has it. It never pulls.
func (e *Engine) HasImage(ctx context.Context, image string) (id string, ok bool, err error) {
	return "", false, nil
}

// Open makes a sandbox. Pulling its image, where the policy says so, is reported line by line;
// report may be nil. Several calls that need the same pull share it, and it goes on when the one
// that began it is cancelled. Before the first sandbox it removes what dead owners left.
func (e *Engine) Open(ctx context.Context, c Config, report func(line string)) (*Sandbox, error) {
	return nil, errors.New("not built yet")
}

// Reap removes the sandboxes that a dead process of this machine left behind, and those older
// than their lifetime, and says how many.
func (e *Engine) Reap(ctx context.Context) (removed int, err error) { return 0, nil }

// Close ends the connection. Sandboxes stay until they are closed.
func (e *Engine) Close() error { return e.api.Close() }
