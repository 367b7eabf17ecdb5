// Package shelltool is mcp-shell: tools that run commands in a sandbox.
//
// [App] is the program. What a sandbox is and how commands run in it is package container;
// this package says who gets which sandbox and for how long, tells package approval what
// would run and where, and makes results of what came of it.
package shelltool

import (
	"context"
	"fmt"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// App returns mcp-shell.
func App() toolkit.App { return app(connect) }

func app(find connector) toolkit.App {
	return toolkit.App{
		Name:         "mcp-shell",
		Usage:        "run commands in a container, for MCP clients",
		Instructions: instructions,
		Flags:        flags(),
		Setup:        func(c *cli.Context, s *toolkit.Server) error { return setup(c, s, find) },
		Doctor:       func(c *cli.Context) []toolkit.Finding { return doctor(c, find) },
		Writable:     writable,
	}
}

// instructions tell the model what it works in: a client shows it no command line.
func instructions(c *cli.Context) string {
	o, err := readSettings(c)
	if err != nil {
		return "" // setup refuses it
	}
	what := fmt.Sprintf("Runs commands with %s in a container of %s, with %s.", o.shell, o.config.Image, reach(o.config.Network))
	if o.local {
		what = fmt.Sprintf("Runs commands with %s on the machine of the server, as its user; nothing is isolated.", o.shell)
	}
	return what + " " + o.files() +
		" Each command is a shell of its own: cd and export end with it, files stay." +
		" What a command leaves running goes on as a job."
}

func reach(n container.Network) string {
	if n == container.NetworkBridge {
		return "network"
	}
	return "no network"
}

// files says where files lie, as far as that is known before a client comes.
func (o *settings) files() string {
	switch roots := len(o.operator.Roots()); {
	case o.local && roots > 0:
		return "They run in " + toolkit.Inline(o.operator.Roots()[0].Dir()) + "."
	case o.local:
		return "They run in a temporary directory, unless the client declares roots."
	case roots == 1:
		return container.DefaultDir + " is a directory of the user: what is changed there is changed for good."
	case roots > 1:
		return "Below " + container.DefaultDir + " are directories of the user: what is changed there is changed for good."
	}
	return container.DefaultDir + " is empty at first and ends with the sandbox, unless the client declares roots."
}

// writable returns the directories of this machine that commands can write beside the roots.
func writable(c *cli.Context) (dirs []string) {
	o, err := readSettings(c)
	if err != nil {
		return nil // setup refuses it
	}
	for _, m := range o.config.Mounts {
		if !m.ReadOnly {
			dirs = append(dirs, m.Source)
		}
	}
	return dirs
}

// A toolset is what the tools share.
type toolset struct {
	*settings
	link *link
	pool *pool
	pins pins

	jobTool string // what shell_job is called; "" where it is not served
}

func setup(c *cli.Context, s *toolkit.Server, find connector) error {
	o, err := readSettings(c)
	if err != nil {
		return err
	}
	t := &toolset{settings: o, link: newLink(find, o)}
	t.jobTool, _ = s.Shown("shell_job")
	t.pool = newPool(o.limits, t.link.open)
	s.OnClose(func() { t.pool.close(); t.link.close() })
	if err := t.addShell(s); err != nil {
		return err
	}
	return t.addJob(s)
}

// A connector finds an engine.
type connector func(ctx context.Context, o container.EngineOptions) (engine, error)

func connect(ctx context.Context, o container.EngineOptions) (engine, error) {
	e, err := container.Connect(ctx, o)
	if err != nil {
		return nil, err // not e: a nil *container.Engine is no nil engine
	}
	return e, nil
}
