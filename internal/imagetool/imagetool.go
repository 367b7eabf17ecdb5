// Package imagetool is mcp-image: the tool that makes pictures, and the resources that they are.
//
// [App] is the program. Who makes a picture is package provider and those below it; this
// package turns the arguments of a call into a request that is sound before it is sent, sees to
// it that nobody pays twice (jobs.go), saves what comes back (store.go), and shows it in the
// form that the client reads (mcpform.go, openaiform.go).
package imagetool

import (
	"context"
	"fmt"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// App returns mcp-image.
func App() toolkit.App { return app(nil) }

// app returns mcp-image with a provider other than the flags say, if p is not nil.
func app(p provider.Provider) toolkit.App {
	return toolkit.App{
		Name:         "mcp-image",
		Usage:        "make pictures, for MCP clients",
		Instructions: instructions,
		Flags:        flags(),
		Setup:        func(c *cli.Context, s *toolkit.Server) error { return setup(c, s, p) },
		Doctor:       doctor,
		Builtin:      &toolkit.Builtin{Type: "image_generation", Tool: toolName, Header: formHeader, Flag: "result-format", Form: string(formOpenAI)},
	}
}

// instructions tell the model what it works with: a client shows it no command line.
func instructions(c *cli.Context) string {
	s, err := readSettings(c)
	if err != nil {
		return "" // setup refuses it
	}
	text := "Makes pictures from a prompt, or from other pictures and a prompt. " + s.maker()
	text += " Each picture is saved, and can be read again as the resource image://ID, or given as an input of the next call."
	for _, r := range s.operator.Roots() {
		text += "\nInputs may lie below " + toolkit.Inline(r.Dir())
	}
	return text
}

// maker says who makes the pictures.
func (s *settings) maker() string {
	if s.sketches() {
		return "There is no image model: pictures are sketches drawn by rule, offline, labelled as such."
	}
	return fmt.Sprintf("They are made by %s at %s.", s.rules.Model(s.model).Name, s.host)
}

// A toolset is what the tool and the resources share.
type toolset struct {
	*settings
	source *source
	store  *store
	jobs   *jobs
}

func setup(c *cli.Context, server *toolkit.Server, p provider.Provider) error {
	s, err := readSettings(c)
	if err != nil {
		return err
	}
	if p != nil {
		s.rules, s.keyFile, s.needsKey = p, "", false
	}
	t := &toolset{settings: s, source: &source{settings: s}, store: &store{dir: s.dir, keep: s.keep}}
	ctx, stop := context.WithCancel(context.Background())
	t.jobs = newJobs(ctx, s.upstream)
	server.OnClose(func() { stop(); t.jobs.wait(); t.source.close() })
	if err := t.addTool(server); err != nil {
		return err
	}
	t.addResources(server)
	return nil
}
