package toolkit_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"
	"github.com/toolhost/toolhost/internal/testleak"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

func TestMain(m *testing.M) { testleak.Main(m) }

// A kitchen is the input of the tool "probe", with an argument of every kind.
type kitchen struct {
	Name  string         `json:"name"`
	Note  *string        `json:"note"`
	Exact *string        `json:"exact,omitempty"`
	Count *int           `json:"count"`
	Ratio *float64       `json:"ratio"`
	Loud  *bool          `json:"loud"`
	Tags  []string       `json:"tags"`
	Sizes []int          `json:"sizes"`
	Extra map[string]any `json:"extra"`
	Mode  string         `json:"mode"`
}

// probe returns a tool that answers with its decoded arguments as JSON, or does what act
// does when act is not nil.
func probe(act func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error)) toolkit.Tool[kitchen, kitchen, string] {
	return toolkit.Tool[kitchen, kitchen, string]{
		Definition: toolkit.Definition{
			Name: "probe", Title: "Probe", Description: "Answers with its arguments.",
			Params: []toolkit.Param{
				{Name: "name", Type: toolkit.String, Description: "a name", Required: true, Aliases: []string{"title"}, Example: `"x"`},
				{Name: "note", Type: toolkit.String, Description: "a note"},
				{Name: "count", Type: toolkit.Integer, Description: "a count", Min: toolkit.Bound(1), Max: toolkit.Bound(10)},
				{Name: "ratio", Type: toolkit.Number, Description: "a ratio"},
				{Name: "loud", Type: toolkit.Boolean, Description: "a switch"},
				{Name: "tags", Type: toolkit.Array, Description: "some tags"},
				{Name: "sizes", Type: toolkit.Array, Items: toolkit.Integer, Description: "some sizes"},
				{Name: "extra", Type: toolkit.Object, Description: "anything"},
				{Name: "mode", Type: toolkit.String, Enum: []string{"fast", "slow"}, Description: "a mode"},
				{Name: "exact", Type: toolkit.String, Description: "a text", Hidden: true, Verbatim: true},
			},
		},
		Plan: func(_ context.Context, _ *toolkit.Call, in kitchen) (kitchen, approval.Action, error) {
			return in, approval.Action{Effect: approval.ReadFiles}, nil
		},
		Run: func(ctx context.Context, in kitchen, g approval.Grant, report toolkit.Progress) (string, error) {
			if act != nil {
				return act(ctx, in, g, report)
			}
			b, err := json.Marshal(in)
			return string(b), err
		},
		Render: func(out string, _ toolkit.Budget) toolkit.Result { return toolkit.Result{Text: out} },
	}
}

// newServer returns a server with the probe, and its log.
func newServer(t *testing.T, o toolkit.Options, act func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error)) (*toolkit.Server, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	o.Log = zerolog.New(zerolog.SyncWriter(log)).Level(zerolog.ErrorLevel)
	s, err := toolkit.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := toolkit.Add(s, probe(act)); err != nil {
		t.Fatal(err)
	}
	return s, log
}

// connect returns a client session of the newest protocol, ended with the test.
func connect(t *testing.T, s *toolkit.Server, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	cs, end, err := s.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return cs
}

// call calls the probe and returns the text of the result.
func call(t *testing.T, cs *mcp.ClientSession, args string) (text string, isError bool) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "probe", Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("call %s: %v", args, err)
	}
	return textOf(t, res), res.IsError
}

func textOf(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	if len(res.Content) == 0 {
		t.Fatal("result without content")
	}
	tc, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("first block is %T, want text", res.Content[0])
	}
	return tc.Text
}

func mustContain(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("got %q, want it to contain %q", got, w)
		}
	}
}

// A talk is a client by hand: it writes lines and answers roots/list with its roots.
type talk struct {
	t     *testing.T
	in    io.Writer
	out   *bufio.Scanner
	roots string
	asked int
}

func newTalk(t *testing.T, s *toolkit.Server, capabilities string) *talk {
	t.Helper()
	in, feed := io.Pipe()
	outR, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(t.Context(), in, out) }()
	t.Cleanup(func() {
		feed.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	fmt.Fprintf(feed, hello, capabilities)
	k := &talk{t: t, in: feed, out: bufio.NewScanner(outR)}
	k.out.Buffer(nil, toolkit.MaxFrame)
	k.answer(`"hello"`)
	return k
}

// answer reads until the answer with an id comes.
func (k *talk) answer(id string) answer {
	k.t.Helper()
	for k.out.Scan() {
		var a answer
		if err := json.Unmarshal(k.out.Bytes(), &a); err != nil {
			k.t.Fatal(err)
		}
		if a.Method == "roots/list" {
			k.asked++
			fmt.Fprintf(k.in, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", a.ID, k.roots)
			continue
		}
		if string(a.ID) == id {
			return a
		}
	}
	k.t.Fatalf("no answer with id %s: %v", id, k.out.Err())
	return answer{}
}
