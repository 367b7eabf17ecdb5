// Program minimal is the least that a go-sdk server can be: one tool and nothing of ours. It is
// the base line that integration/bench measures our servers against. It uses what the
// SDK offers by itself, so it has none of the manners of package toolkit.
//
// It speaks stdio, or with -http streamable HTTP: with sessions at /mcp, without at
// /stateless, where clients of 2026-07-28 are served.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type echoIn struct {
	Text string `json:"text"`
}

func echo(_ context.Context, _ *mcp.CallToolRequest, in echoIn) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
}

// raw does the same by a handler as the SDK has them at the lowest level: it decodes its arguments
// itself, and nothing checks them.
func raw(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in echoIn
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil
}

const schema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`

func main() {
	address := flag.String("http", "", "serve HTTP on this `HOST:PORT`")
	low := flag.Bool("raw", false, "serve the tool by a handler of the lowest level")
	flag.Parse()
	s := mcp.NewServer(&mcp.Implementation{Name: "minimal", Version: "1"}, nil)
	if *low {
		s.AddTool(&mcp.Tool{Name: "echo", Description: "Returns the text.", InputSchema: json.RawMessage(schema)}, raw)
	} else {
		mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Returns the text."}, echo)
	}
	run := func() error { return s.Run(context.Background(), &mcp.StdioTransport{}) }
	if *address != "" {
		run = func() error { return serve(s, *address) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func serve(s *mcp.Server, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	get := func(*http.Request) *mcp.Server { return s }
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(get, nil))
	mux.Handle("/stateless", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}))
	fmt.Fprintf(os.Stderr, "minimal: serving http://%s/mcp\n", l.Addr())
	return http.Serve(l, mux)
}
