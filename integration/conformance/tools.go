//lint:file-ignore SA1019 the suites ask for logging, which the SDK marks as deprecated

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pause is how far apart messages are that a client is to see one by one.
const pause = 50 * time.Millisecond

// A tool is one that answers without asking.
type tool struct {
	name, does string
	schema     string // of its arguments; empty: none
	call       mcp.ToolHandler
}

func addTools(s *mcp.Server) {
	for _, t := range []tool{
		{name: "test_simple_text", does: "Returns a text.", call: returns(text("a simple text"))},
		{name: "test_image_content", does: "Returns an image.", call: returns(picture())},
		{name: "test_audio_content", does: "Returns a sound.", call: returns(sound())},
		{name: "test_embedded_resource", does: "Returns a resource.", call: returns(embedded("test://embedded"))},
		{
			name: "test_multiple_content_types", does: "Returns three kinds of content.",
			call: returns(text("three kinds"), picture(), embedded("test://one-of-three")),
		},
		{name: "test_error_handling", does: "Always fails.", call: fails},
		{name: "test_tool_with_logging", does: "Logs while it works.", call: logs},
		{name: "test_logging_tool", does: "Logs, also to a client that does not want it.", call: logs},
		{name: "test_tool_with_progress", does: "Reports its progress.", call: reports},
		{name: "test_reconnection", does: "Ends its stream before it has answered.", call: breaksOff},
		{name: "json_schema_2020_12_tool", does: "Has a schema of many keywords.", schema: richSchema, call: returns(text("called"))},
		{name: "test_x_mcp_header", does: "Has an argument that clients repeat in a header.", schema: headerSchema, call: returns(text("called"))},
	} {
		t.addTo(s)
	}
}

func (t tool) addTo(s *mcp.Server) {
	if t.schema == "" {
		t.schema = `{"type":"object"}`
	}
	s.AddTool(&mcp.Tool{Name: t.name, Description: t.does, InputSchema: json.RawMessage(t.schema)}, t.call)
}

func returns(content ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func fails(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text("it is meant to fail")}}, nil
}

func logs(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, stage := range []string{"started", "working", "done"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: stage}); err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
		time.Sleep(pause)
	}
	return returns(text("logged"))(ctx, req)
}

func reports(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for done := 0.0; done <= 100; done += 50 {
		if token := req.Params.GetProgressToken(); token != nil {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: done, Total: 100,
			}); err != nil {
				return nil, fmt.Errorf("report progress: %w", err)
			}
		}
		time.Sleep(pause)
	}
	return returns(text("reported"))(ctx, req)
}

// breaksOff leaves a client that wants the answer to come back for it (SEP-1699), where
// the transport keeps answers.
func breaksOff(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: pause})
	}
	time.Sleep(2 * pause)
	return returns(text("answered after the break"))(ctx, req)
}
