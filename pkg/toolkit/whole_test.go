package toolkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// denying denies calls whose summary is deny.
type denying struct{}

func (denying) Evaluate(_ context.Context, _ approval.Caller, a approval.Action) approval.Verdict {
	if a.Summary == "deny" {
		return approval.Verdict{Reason: "test"}
	}
	return approval.Verdict{Decision: approval.Allow}
}

func (denying) Hides(approval.Caller, string) bool { return false }

// A tool that makes its results whole does so for every outcome; what the log alone may
// hold is not in its text, and neither cuts nor warnings are put to it.
func TestWholeResults(t *testing.T) {
	tool := probe(func(_ context.Context, in kitchen, _ approval.Grant, _ toolkit.Progress) (string, error) {
		switch in.Name {
		case "secret":
			return "", errors.New("/etc/secret")
		case "panic":
			panic("/etc/secret")
		case "long":
			return strings.Repeat("x", 2_000_000), nil
		}
		return in.Name, nil
	})
	plan := tool.Plan
	tool.Plan = func(ctx context.Context, c *toolkit.Call, in kitchen) (kitchen, approval.Action, error) {
		p, a, err := plan(ctx, c, in)
		a.Summary = in.Name
		return p, a, err
	}
	tool.Whole = func(_ *toolkit.Call, o toolkit.Outcome) (toolkit.Result, bool) {
		denied := new(approval.DeniedError)
		text := fmt.Sprintf("{%s|%t|%d}", o.Result.Text, errors.As(o.Err, &denied), len(o.Warnings))
		return toolkit.Result{Text: text, IsError: o.Err != nil}, o.Result.Text != "usual"
	}
	s, err := toolkit.NewServer(toolkit.Options{Evaluator: denying{}, MaxOutput: 5000})
	if err != nil {
		t.Fatal(err)
	}
	if err := toolkit.Add(s, tool); err != nil {
		t.Fatal(err)
	}
	cs := connect(t, s, nil)
	for name, c := range map[string]struct {
		args, want string
		isError    bool
	}{
		"a result":          {`{"name":"x","odd":1}`, "{x|false|1}", false},
		"a long one":        {`{"name":"long"}`, "xxx|false|0}", false},
		"a bad argument":    {`{"name":"x","count":"many"}`, "{count: got", true},
		"a denied call":     {`{"name":"deny"}`, "{probe is denied: test", true},
		"an internal error": {`{"name":"secret"}`, "{internal error in probe", true},
		"a panic":           {`{"name":"panic"}`, "{internal error in probe", true},
		"the usual form":    {`{"name":"usual","odd":1}`, "usual\n[warning: ", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, isError := call(t, cs, c.args)
			if !strings.Contains(got, c.want) || isError != c.isError || strings.Contains(got, "secret") {
				t.Errorf("got %.200s, error %v", got, isError)
			}
		})
	}
}

// Only a client that asks for the end of a call has cancelled it.
func TestCancelled(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan bool, 1)
	wait := func(ctx context.Context, _ kitchen, _ approval.Grant, _ toolkit.Progress) (string, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- toolkit.Cancelled(ctx)
		return "", ctx.Err()
	}
	t.Run("by the client", func(t *testing.T) {
		s, _ := newServer(t, toolkit.Options{}, wait)
		cs := connect(t, s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-began; cancel() }()
		if _, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "probe", Arguments: json.RawMessage(`{"name":"n"}`)}); err == nil {
			t.Error("there was a result")
		}
		if !<-ended {
			t.Error("was not taken for cancelled")
		}
	})
	t.Run("by time", func(t *testing.T) {
		tool := probe(wait)
		tool.Deadline = time.Millisecond
		s, err := toolkit.NewServer(toolkit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := toolkit.Add(s, tool); err != nil {
			t.Fatal(err)
		}
		call(t, connect(t, s, nil), `{"name":"n"}`)
		<-began
		if <-ended {
			t.Error("was taken for cancelled")
		}
	})
}

// An argument of any type is decoded as it came, and no schema shows it.
func TestAnyType(t *testing.T) {
	type loose struct {
		What json.RawMessage `json:"what"`
	}
	def := toolkit.Definition{
		Name: "loose", Title: "Loose", Description: "Answers with its argument.",
		Params: []toolkit.Param{{Name: "what", Type: toolkit.Any, Hidden: true, Description: "anything"}},
	}
	tool := toolkit.Tool[loose, string, string]{
		Definition: def,
		Plan: func(_ context.Context, _ *toolkit.Call, in loose) (string, approval.Action, error) {
			return string(in.What), approval.Action{Effect: approval.ReadFiles}, nil
		},
		Run:    func(_ context.Context, p string, _ approval.Grant, _ toolkit.Progress) (string, error) { return p, nil },
		Render: func(out string, _ toolkit.Budget) toolkit.Result { return toolkit.Result{Text: "got " + out} },
	}
	s, err := toolkit.NewServer(toolkit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shown := tool
	shown.Params = []toolkit.Param{{Name: "what", Type: toolkit.Any, Description: "anything"}}
	if err := toolkit.Add(s, shown); err == nil {
		t.Error("a schema shows an argument without a type")
	}
	if err := toolkit.Add(s, tool); err != nil {
		t.Fatal(err)
	}
	cs := connect(t, s, nil)
	for args, want := range map[string]string{
		`{"what":{"a":[1]}}`: `got {"a":[1]}`, `{"what":"x"}`: `got "x"`, `{"what":["x"]}`: `got ["x"]`, `{"what":null}`: "got ",
	} {
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "loose", Arguments: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Content[0].(*mcp.TextContent).Text; got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
