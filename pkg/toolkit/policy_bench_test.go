package toolkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// BenchmarkGuardedCall is a call by a client in the same process: of a handler that the SDK serves
// without us, and of the same as a tool under a policy of 100 rules.
func BenchmarkGuardedCall(b *testing.B) {
	args := &mcp.CallToolParams{Name: "Read", Arguments: json.RawMessage(`{"paths": {"read": ["src/pkg/main.go"]}}`)}
	b.Run("raw", func(b *testing.B) {
		s := mcp.NewServer(&mcp.Implementation{Name: "raw", Version: "1"}, nil)
		s.AddTool(&mcp.Tool{Name: "Read", InputSchema: json.RawMessage(`{"type": "object"}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in stated
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "it ran"}}}, nil
		})
		near, far := mcp.NewInMemoryTransports()
		ss, err := s.Connect(b.Context(), far, nil)
		if err != nil {
			b.Fatal(err)
		}
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(b.Context(), near, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { cs.Close(); ss.Wait() }()
		callAgainAndAgain(b, cs, args)
	})
	b.Run("guarded", func(b *testing.B) {
		p, _, err := approval.Parse([]byte(hundredRules()), approval.ParseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		s, err := toolkit.NewServer(toolkit.Options{Name: "x", Evaluator: p})
		if err != nil {
			b.Fatal(err)
		}
		if err := addStated(s, "Read"); err != nil {
			b.Fatal(err)
		}
		cs, end, err := s.Connect(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		defer end()
		callAgainAndAgain(b, cs, args)
	})
}

func callAgainAndAgain(b *testing.B, cs *mcp.ClientSession, args *mcp.CallToolParams) {
	b.ReportAllocs()
	for b.Loop() {
		res, err := cs.CallTool(b.Context(), args)
		if err != nil || res.IsError {
			b.Fatal(res, err)
		}
	}
}

// hundredRules are of all kinds but commands, all about the tool Read.
func hundredRules() string {
	var text strings.Builder
	text.WriteString("version: 1\ndefault: ask\nrules:\n  - {id: read, effect: allow, tools: [Read], paths: {globs: ['**']}}\n")
	for i := range 33 {
		fmt.Fprintf(&text, "  - {id: s%d, effect: deny, tools: ['*'], paths: {globs: ['**/.secret%d*', 'private%d/**']}}\n", i, i, i)
		fmt.Fprintf(&text, "  - {id: p%d, effect: deny, tools: [Read], principals: ['team%d:*']}\n", i, i)
		fmt.Fprintf(&text, "  - {id: a%d, effect: ask, tools: [Read], args: {/limit: {min: %d}}}\n", i, i+5000)
	}
	return text.String()
}
