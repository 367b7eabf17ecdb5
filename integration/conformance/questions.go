//lint:file-ignore SA1019 the suites ask for sampling and roots, which the SDK marks as deprecated

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// arguments are those that go into a question.
type arguments struct {
	Message string `json:"message"`
	Prompt  string `json:"prompt"`
}

// questions returns all questions that there are, by their keys.
func questions(args arguments) mcp.InputRequestMap {
	return mcp.InputRequestMap{
		"form":         form(args.Message, needs("username")),
		"defaults":     form("Is this right?", defaultsSchema),
		"enums":        form("What do you choose?", enumsSchema),
		"user_name":    form("What is your name?", needs("name")),
		"user_context": form("What is this about?", needs("context")),
		"step1":        form("What is your name?", needs("name")),
		"step2":        form("Which colour do you like?", needs("color")),
		"confirm": form("Shall it go on?",
			`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`),
		"prompt":           sample(args.Prompt),
		"capital_question": sample("What is the capital of France?"),
		"greeting":         sample("Write a greeting."),
		"client_roots":     &mcp.ListRootsParams{},
	}
}

func form(message, schema string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)}
}

func sample(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: text(prompt)}},
		MaxTokens: 100,
	}
}

// canAnswer reports whether a client has declared that it answers such a question.
func canAnswer(can *mcp.ClientCapabilities, q mcp.InputRequest) bool {
	if can == nil {
		return false
	}
	switch q.(type) {
	case *mcp.ElicitParams:
		return can.Elicitation != nil
	case *mcp.CreateMessageParams:
		return can.Sampling != nil
	case *mcp.ListRootsParams:
		return can.RootsV2 != nil
	}
	return false
}

// lacking is the error for a client that cannot answer a question.
func lacking(q mcp.InputRequest) error {
	var need mcp.ClientCapabilities
	switch q.(type) {
	case *mcp.ElicitParams:
		need.Elicitation = &mcp.ElicitationCapabilities{}
	case *mcp.CreateMessageParams:
		need.Sampling = &mcp.SamplingCapabilities{}
	case *mcp.ListRootsParams:
		need.RootsV2 = &mcp.RootCapabilities{}
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &need})
	if err != nil {
		return fmt.Errorf("encode capabilities: %w", err)
	}
	return &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Data: data,
		Message: "the client has not declared what this needs",
	}
}

// hear returns what the answers say to the questions, or false where there is none to one
// of them. Answers to what was not asked are left aside.
func hear(asks mcp.InputRequestMap, answers mcp.InputResponseMap) (told []string, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(asks)) {
		said := ""
		switch a := answers[key].(type) {
		case *mcp.ElicitResult:
			said = a.Action
			if a.Action == "accept" {
				said = fmt.Sprint(a.Content)
			}
		case *mcp.CreateMessageWithToolsResult:
			for _, c := range a.Content {
				if t, ok := c.(*mcp.TextContent); ok {
					said += t.Text
				}
			}
		case *mcp.ListRootsResult:
			said = fmt.Sprintf("%d roots", len(a.Roots))
		default:
			return nil, false
		}
		told = append(told, said)
	}
	return told, true
}
