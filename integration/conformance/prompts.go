package main

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A prompt is one that answers without asking.
type prompt struct {
	name, does string
	args       []string // all required
	says       func(args map[string]string) []mcp.Content
}

func addPrompts(s *mcp.Server) {
	for _, p := range []prompt{
		{
			name: "test_simple_prompt", does: "Is one text.",
			says: func(map[string]string) []mcp.Content { return []mcp.Content{text("a simple prompt")} },
		},
		{
			name: "test_prompt_with_arguments", does: "Repeats its arguments.", args: []string{"arg1", "arg2"},
			says: func(args map[string]string) []mcp.Content {
				return []mcp.Content{text("arg1 is " + args["arg1"] + " and arg2 is " + args["arg2"])}
			},
		},
		{
			name: "test_prompt_with_embedded_resource", does: "Holds a resource.", args: []string{"resourceUri"},
			says: func(args map[string]string) []mcp.Content {
				return []mcp.Content{embedded(args["resourceUri"]), text("read this")}
			},
		},
		{
			name: "test_prompt_with_image", does: "Holds an image.",
			says: func(map[string]string) []mcp.Content { return []mcp.Content{picture(), text("look at this")} },
		},
	} {
		p.addTo(s)
	}
}

func (p prompt) addTo(s *mcp.Server) {
	def := &mcp.Prompt{Name: p.name, Description: p.does}
	for _, name := range p.args {
		def.Arguments = append(def.Arguments, &mcp.PromptArgument{Name: name, Required: true})
	}
	s.AddPrompt(def, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return messages(p.says(req.Params.Arguments)...), nil
	})
}

func messages(content ...mcp.Content) *mcp.GetPromptResult {
	r := &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{}}
	for _, c := range content {
		r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return r
}

// complete knows two words, and offers those that begin as the argument does.
func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	for _, word := range []string{"paris", "parma"} {
		if strings.HasPrefix(word, req.Params.Argument.Value) {
			values = append(values, word)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}
