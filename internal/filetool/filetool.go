// Package filetool is mcp-files: the tools that read, search and change files below the
// roots.
//
// [App] is the program. Each tool lies in a file of its own, with its definition, plan,
// run and rendering apart; searching is package search, confinement is package fsroot.
// The package holds no rule about who may read what: it tells package approval which
// paths a call touches, and shows what the grant shows.
package filetool

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// App returns mcp-files.
func App() toolkit.App {
	return toolkit.App{
		Name:         "mcp-files",
		Usage:        "read, search and with --write change files below the roots, for MCP clients",
		Instructions: instructions,
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "names", Value: "pascal",
				Usage: "`STYLE` of the tool names: pascal (Read, Glob) or snake (read_file, glob)",
			},
			&cli.BoolFlag{Name: "write", Usage: "serve Write and Edit too"},
			&cli.StringFlag{
				Name: "state-dir", TakesFile: true,
				Usage: "`DIR` of locks, the same for all servers that write below a root; default " +
					"toolhost in $XDG_STATE_HOME or ~/.local/state",
			},
		},
		Names:  names,
		Setup:  setup,
		Doctor: doctor,
	}
}

// instructions tell the model what it works on: a client shows it no command line.
func instructions(c *cli.Context) string {
	does := "Reads and searches"
	if c.Bool("write") {
		does = "Reads, searches and changes"
	}
	text := does + " files below the roots. Search first, then read what matters; " +
		"results are capped and say how to continue."
	for _, r := range fsroot.NewSet(c.StringSlice("root")...).Roots() {
		text += "\nRoot: " + toolkit.Inline(r.Dir())
	}
	return text
}

// snakeNames are for gateways that forbid capitals, or whose clients have tools of the
// same names.
var snakeNames = map[string]string{
	"Read": "read_file", "Glob": "glob", "Grep": "grep", "List": "list_dir", "Stat": "stat",
	"Write": "write_file", "Edit": "edit_file",
}

// writing are the tools that --write adds.
var writing = []string{"Write", "Edit"}

func names(c *cli.Context) map[string]string {
	out := map[string]string{}
	if c.String("names") == "snake" {
		for canonical, shown := range snakeNames {
			if c.Bool("write") || !slices.Contains(writing, canonical) {
				out[canonical] = shown
			}
		}
	}
	return out
}

// setup adds the tools.
func setup(c *cli.Context, s *toolkit.Server) error {
	// An empty variable in the environment is no style, and no mistake.
	if style := c.String("names"); style != "" && style != "pascal" && style != "snake" {
		return fmt.Errorf("--names %q: want pascal or snake", style)
	}
	r := roots{operator: fsroot.NewSet(c.StringSlice("root")...)}
	for _, add := range []func(*toolkit.Server, roots) error{
		addRead, addGlob, addGrep, addList, addStat, addResources,
	} {
		if err := add(s, r); err != nil {
			return err
		}
	}
	if !c.Bool("write") {
		return nil
	}
	w := writer{r, c.String("state-dir")}
	return errors.Join(addWrite(s, w), addEdit(s, w))
}
