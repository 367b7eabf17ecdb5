package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addChanges adds the tools that change what the server offers, for subscribers to hear
// of. To add what is there already counts as a change for the SDK.
func addChanges(s *mcp.Server) {
	tool{
		name: "test_trigger_tool_change", does: "Changes the list of tools.",
		call: func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			tool{name: "added_later", does: "Does nothing.", call: returns()}.addTo(s)
			return returns(text("changed"))(ctx, req)
		},
	}.addTo(s)
	tool{
		name: "test_trigger_prompt_change", does: "Changes the list of prompts.",
		call: func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			prompt{name: "added_later", does: "Says nothing."}.addTo(s)
			return returns(text("changed"))(ctx, req)
		},
	}.addTo(s)
}
