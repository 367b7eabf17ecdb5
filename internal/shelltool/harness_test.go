package shelltool_test

import (
	"context"
	"encoding/json"
	"flag"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/shelltool"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// A harness is a server over a fake engine.
type harness struct {
	engine *fakeEngine
	server *toolkit.Server
	client *mcp.ClientSession
}

// newHarness makes a server with rules; nil are the usual ones.
func newHarness(t *testing.T, e *fakeEngine, rules approval.Evaluator, flags ...string) *harness {
	t.Helper()
	h := &harness{engine: e, server: newServer(t, e, toolkit.Options{Evaluator: rules}, flags...)}
	client, end, err := h.server.Connect(t.Context(), nil)
	must(t, err)
	t.Cleanup(end)
	h.client = client
	return h
}

func newServer(t *testing.T, e *fakeEngine, o toolkit.Options, flags ...string) *toolkit.Server {
	t.Helper()
	if e.image == "" {
		e.image = "sha256:1"
	}
	app, c := commandLine(t, e, flags...)
	o.Name = "test"
	s, err := toolkit.NewServer(o)
	must(t, err)
	must(t, app.Setup(c, s))
	t.Cleanup(s.Close)
	return s
}

// commandLine returns the program over a fake engine, and flags for it.
func commandLine(t *testing.T, e *fakeEngine, flags ...string) (toolkit.App, *cli.Context) {
	t.Helper()
	app := shelltool.AppWith(func(context.Context, container.EngineOptions) (shelltool.Engine, error) { return e, e.failing() })
	return app, parse(t, app, flags...)
}

// parse reads flags of a program, without what the command line does beside.
func parse(t *testing.T, app toolkit.App, flags ...string) *cli.Context {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	for _, f := range append(app.Flags, &cli.StringSliceFlag{Name: "root"}, &cli.StringFlag{Name: "http"}) {
		must(t, f.Apply(set))
	}
	must(t, set.Parse(flags))
	return cli.NewContext(cli.NewApp(), set, nil)
}

type args map[string]any

// An answer is what came of a call.
type answer struct {
	text    string
	refused bool
	result  map[string]any // structured; nil where there is none
	size    int            // of all, in bytes on the wire
}

func (h *harness) call(t *testing.T, tool string, a args) answer {
	t.Helper()
	return call(t, h.client, tool, a)
}

func call(t *testing.T, client *mcp.ClientSession, tool string, a args) answer {
	t.Helper()
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
	must(t, err)
	if len(res.Content) != 1 {
		t.Fatalf("want one block of text, got %+v", res)
	}
	out := answer{text: res.Content[0].(*mcp.TextContent).Text, refused: res.IsError, size: toolkit.WireSize(res)}
	if res.StructuredContent != nil {
		raw, err := json.Marshal(res.StructuredContent)
		must(t, err)
		must(t, json.Unmarshal(raw, &out.result))
	}
	return out
}

func (h *harness) shell(t *testing.T, commands ...string) answer {
	t.Helper()
	return h.call(t, "shell", args{"commands": commands})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
