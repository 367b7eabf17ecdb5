package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A resource has the same content at every reading.
type resource struct {
	name, mime string
	text       string
	blob       []byte
}

func addResources(s *mcp.Server) {
	for _, r := range []resource{
		{name: "static-text", mime: "text/plain", text: "a text that does not change"},
		{name: "static-binary", mime: "image/png", blob: dot()},
		{name: "watched-resource", mime: "text/plain", text: "a text to subscribe to"},
	} {
		s.AddResource(&mcp.Resource{Name: r.name, URI: "test://" + r.name, MIMEType: r.mime}, r.read)
	}
	const before, after = "test://template/", "/data"
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "template", URITemplate: before + "{id}" + after, MIMEType: "application/json",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := req.Params.URI
		id := strings.TrimSuffix(strings.TrimPrefix(uri, before), after)
		return contents(&mcp.ResourceContents{URI: uri, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q}`, id)}), nil
	})
}

func (r resource) read(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return contents(&mcp.ResourceContents{URI: req.Params.URI, MIMEType: r.mime, Text: r.text, Blob: r.blob}), nil
}

func contents(c *mcp.ResourceContents) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}
}
