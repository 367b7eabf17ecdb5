package engineapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// A Container is one of an engine's containers.
type Container struct {
	ID     string `json:"Id"`
	Names  []string
	Image  string
	State  string // created, running, exited ...
	Labels map[string]string
}

// A Spec says what container to create.
type Spec struct {
	Image      string
	Cmd        []string
	User       string            `json:",omitempty"`
	Labels     map[string]string `json:",omitempty"`
	StopSignal string            `json:",omitempty"`
	HostConfig HostConfig
}

// A HostConfig is the part of a [Spec] that says what a container may do and use.
type HostConfig struct {
	NetworkMode    string            `json:",omitempty"`
	CapDrop        []string          `json:",omitempty"`
	SecurityOpt    []string          `json:",omitempty"`
	Memory         int64             `json:",omitempty"` // bytes
	MemorySwap     int64             `json:",omitempty"`
	NanoCpus       int64             `json:",omitempty"`
	PidsLimit      int64             `json:",omitempty"`
	Tmpfs          map[string]string `json:",omitempty"`
	IpcMode        string            `json:",omitempty"`
	AutoRemove     bool              `json:",omitempty"`
	ReadonlyRootfs bool              `json:",omitempty"`
	LogConfig      LogConfig
}

// A LogConfig says where a container's output is kept; the type none keeps nothing.
type LogConfig struct {
	Type string `json:",omitempty"`
}

// Containers lists the containers in whatever state that carry a label: its key, or key=value; ""
// for all.
func (c *Client) Containers(ctx context.Context, label string) (list []Container, err error) {
	labels := map[string][]string{}
	if label != "" {
		labels["label"] = []string{label}
	}
	filters, err := json.Marshal(labels)
	if err != nil {
		return nil, err
	}
	err = c.ask(ctx, "GET", "/containers/json?all=1&filters="+url.QueryEscape(string(filters)), nil, &list)
	return list, err
}

// Create makes a container and returns its id.
func (c *Client) Create(ctx context.Context, s Spec) (id string, err error) {
	var made struct{ Id string }
	err = c.ask(ctx, "POST", "/containers/create", s, &made)
	return made.Id, err
}

// Start starts a container.
func (c *Client) Start(ctx context.Context, id string) error {
	return c.ask(ctx, "POST", "/containers/"+id+"/start", nil, nil)
}

// Wait waits until a container has stopped and returns its exit code.
func (c *Client) Wait(ctx context.Context, id string) (code int, err error) {
	var end struct{ StatusCode int }
	err = c.ask(ctx, "POST", "/containers/"+id+"/wait", nil, &end)
	return end.StatusCode, err
}

// Remove ends a container and removes it. It is no error if there is none.
func (c *Client) Remove(ctx context.Context, id string) error {
	err := c.ask(ctx, "DELETE", "/containers/"+id+"?force=1&v=1", nil, nil)
	if isNotFound(err) {
		return nil
	}
	return err
}

// Top returns the command lines of a container's processes.
func (c *Client) Top(ctx context.Context, id string) (commands []string, err error) {
	var top struct{ Processes [][]string }
	if err := c.ask(ctx, "GET", "/containers/"+id+"/top?ps_args=-o+pid,stat,args", nil, &top); err != nil {
		return nil, err
	}
	for _, p := range top.Processes {
		commands = append(commands, p[1]+" "+p[2])
	}
	return commands, nil
}

// Execs returns the ids of commands that the engine runs in a container, or remembers.
func (c *Client) Execs(ctx context.Context, id string) ([]string, error) {
	var state struct{ ExecIDs []string }
	err := c.ask(ctx, "GET", "/containers/"+id+"/json", nil, &state)
	return state.ExecIDs, err
}

// Exec runs a command in a running container, reads what it writes to the end, and returns its exit
// code: what any client of the API has to do for it.
func (c *Client) Exec(ctx context.Context, id string, argv ...string) (code int, err error) {
	var exec struct{ Id string }
	create := map[string]any{"AttachStdout": true, "AttachStderr": true, "Cmd": argv}
	if err := c.ask(ctx, "POST", "/containers/"+id+"/exec", create, &exec); err != nil {
		return 0, err
	}
	if err := c.ask(ctx, "POST", "/exec/"+exec.Id+"/start", map[string]bool{"Detach": false}, nil); err != nil {
		return 0, err
	}
	var end struct {
		Running  bool
		ExitCode int
	}
	if err := c.ask(ctx, "GET", "/exec/"+exec.Id+"/json", nil, &end); err != nil {
		return 0, err
	}
	if end.Running {
		return 0, fmt.Errorf("exec %q: %w", argv, io.ErrUnexpectedEOF)
	}
	return end.ExitCode, nil
}

func isNotFound(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Status == http.StatusNotFound
}
