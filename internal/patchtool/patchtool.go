// Package patchtool is mcp-patch: the tool that changes files below the roots by a patch.
//
// [App] is the program. What a patch means and how it is applied is package patchapply;
// this package turns the arguments of a call into one, tells package approval which paths
// it would touch, and says what was done.
package patchtool

import (
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// App returns mcp-patch.
func App() toolkit.App {
	return toolkit.App{
		Name:         "mcp-patch",
		Usage:        "apply patches to files below the roots, for MCP clients",
		Instructions: instructions,
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "state-dir", TakesFile: true,
				Usage: "`DIR` of locks and of what undoes a change that died half way; the same for all who write below a root (default: toolhost in the user's state directory)",
			},
		},
		Setup:  setup,
		Doctor: doctor,
	}
}

// instructions tell the model what it works on: a client shows it no command line.
func instructions(c *cli.Context) string {
	text := "Changes files below the roots by patches. A patch is applied as a whole or not at all; " +
		"a refused one says what was found instead, so that it can be mended and sent again."
	for _, r := range operatorRoots(c).Roots() {
		text += "\nRoot: " + toolkit.Inline(r.Dir())
	}
	return text
}

func operatorRoots(c *cli.Context) *fsroot.Set { return fsroot.NewSet(c.StringSlice("root")...) }

func setup(c *cli.Context, s *toolkit.Server) error {
	return addApplyPatch(s, place{operator: operatorRoots(c), state: c.String("state-dir")})
}
