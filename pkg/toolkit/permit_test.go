package toolkit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// A hiding evaluator refuses one tool to everybody but alice.
type hiding struct{ tool string }

func (h hiding) Hides(who approval.Caller, tool string) bool {
	return tool == h.tool && who.Principal != "alice"
}

func (h hiding) Evaluate(_ context.Context, who approval.Caller, a approval.Action) approval.Verdict {
	if h.Hides(who, a.Tool) {
		return approval.Verdict{Rule: "no-probe", Reason: "not for you", Revision: "r1"}
	}
	return approval.Verdict{Decision: approval.Allow}
}

// What is always refused is not shown, and refused as any call that the policy denies, whatever
// its arguments.
func TestHiddenTool(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s, runs := counting(t, toolkit.Options{Evaluator: hiding{"probe"}, Names: toolkit.Names{Prefix: "my_"}})
		other := probe(nil)
		other.Name = "other"
		if err := toolkit.Add(s, other); err != nil {
			t.Fatal(err)
		}
		cs, _ := w.dial(t, s, nil)
		list, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if diff := cmp.Diff([]string{"my_other"}, names); diff != "" {
			t.Error(diff)
		}
		for _, args := range []map[string]any{{"name": "n"}, {"count": "many"}} {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "my_probe", Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			mustContain(t, textOf(t, res), "probe is denied: not for you (rule no-probe)")
			if !res.IsError || runs.Load() != 0 {
				t.Errorf("isError %v after %d runs", res.IsError, runs.Load())
			}
		}
		_, err = cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "my_absent"})
		if err == nil || strings.Contains(err.Error(), "my_probe") || !strings.Contains(err.Error(), "there are: my_other") {
			t.Errorf("a tool that is not there: %v", err)
		}
	})
}

// Who may see a tool depends on who asks.
func TestHiddenFromOthers(t *testing.T) {
	s, _ := counting(t, toolkit.Options{Evaluator: hiding{"probe"}})
	w := newWeb(t, s, streamable.Options{Tokens: []streamable.Token{{Name: "alice", Secret: secret}, {Name: "bob", Secret: secret + "b"}}})
	for token, want := range map[string]string{secret: "ran", secret + "b": "probe is denied"} {
		header := w.session("", "Authorization", "Bearer "+token)
		text, res := w.post(strings.Replace(probed, `"probe"`, `"probe","arguments":{"name":"n"}`, 1), header...)
		if !strings.Contains(text, want) {
			t.Errorf("%s: got %q, want %q", res.Status, text, want)
		}
	}
}

// A tool that was registered round Add is refused also where its name could not be hidden.
func TestToolRoundAddIsRefused(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s, _ := counting(t, toolkit.Options{Evaluator: always(approval.Verdict{Decision: approval.Allow})})
		s.MCP().AddTool(&mcp.Tool{Name: "sneaky", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			t.Error("it ran")
			return &mcp.CallToolResult{}, nil
		})
		cs, _ := w.dial(t, s, says("accept").options())
		if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "sneaky"}); err == nil || !strings.Contains(err.Error(), "unknown tool sneaky") {
			t.Errorf("got %v", err)
		}
	})
}
