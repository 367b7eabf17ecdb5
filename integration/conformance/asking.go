//lint:file-ignore SA1019 the suites ask for sampling and roots, which the SDK marks as deprecated

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An asker is a tool or a prompt that needs answers from the client before it can do its
// work. It returns its questions and is called again with the answers (SEP-2322); clients
// before 2026-07-28 are asked by the SDK, which then makes the second call itself.
//
// Nothing but the state that the client holds for it lasts from one call to the next.
type asker struct {
	name, does string
	schema     string     // of its arguments, as in tool
	rounds     [][]string // what it asks in each, by the keys of questions
	stateful   bool       // also has a state where one round needs none
	says       string     // in the end, before what it was told
	seal       seal
}

func addAskers(s *mcp.Server) {
	once := func(keys ...string) [][]string { return [][]string{keys} }
	seal := newSeal()
	for _, a := range []asker{
		{name: "test_elicitation", does: "Asks the user.", schema: needs("message"), rounds: once("form"), says: "the user says"},
		{name: "test_elicitation_sep1034_defaults", does: "Asks with a form that has defaults.", rounds: once("defaults"), says: "the user says"},
		{name: "test_elicitation_sep1330_enums", does: "Asks with a form that has lists.", rounds: once("enums"), says: "the user says"},
		{name: "test_sampling", does: "Asks the model.", schema: needs("prompt"), rounds: once("prompt"), says: "the model says"},
		{name: "test_missing_capability", does: "Asks the model, which not every client lets a server do.", rounds: once("greeting"), says: "the model says"},
		{name: "test_streaming_elicitation", does: "Asks the user.", rounds: once("user_name"), says: "hello"},
		{name: "test_input_required_result_elicitation", does: "Asks the user.", rounds: once("user_name"), says: "hello"},
		{name: "test_input_required_result_sampling", does: "Asks the model.", rounds: once("capital_question"), says: "the model says"},
		{name: "test_input_required_result_list_roots", does: "Asks for the roots.", rounds: once("client_roots"), says: "the roots are"},
		{name: "test_input_required_result_capabilities", does: "Asks what the client can answer.", rounds: once("user_name", "greeting"), says: "the client says"},
		{
			name: "test_input_required_result_multiple_inputs", does: "Asks three things at once.", stateful: true,
			rounds: once("user_name", "greeting", "client_roots"), says: "the client says",
		},
		{
			name: "test_input_required_result_multi_round", does: "Asks one thing after the other.",
			rounds: [][]string{{"step1"}, {"step2"}}, says: "the client says",
		},
		{name: "test_input_required_result_request_state", does: "Asks, and knows its state again.", stateful: true, rounds: once("confirm"), says: "state-ok"},
		{name: "test_input_required_result_tampered_state", does: "Asks, and knows a state that is not its own.", stateful: true, rounds: once("confirm"), says: "state-ok"},
	} {
		a.seal = seal
		tool{name: a.name, does: a.does, schema: a.schema, call: a.call}.addTo(s)
	}
	p := asker{name: "test_input_required_result_prompt", does: "Asks for its context.", rounds: once("user_context"), says: "the context is", seal: seal}
	s.AddPrompt(&mcp.Prompt{Name: p.name, Description: p.does}, p.get)
}

// needs is the schema of one text.
func needs(name string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%[1]q:{"type":"string"}},"required":[%[1]q]}`, name)
}

func (a asker) call(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args arguments
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, invalid("arguments: %v", err)
	}
	o, err := a.answer(turn{args, req.Params.InputResponses, req.Params.RequestState, req.ClientCapabilities()})
	if err != nil || o.questions != nil {
		return &mcp.CallToolResult{InputRequests: o.questions, RequestState: o.state}, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{text(o.text)}}, nil
}

func (a asker) get(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	o, err := a.answer(turn{arguments{}, req.Params.InputResponses, req.Params.RequestState, req.ClientCapabilities()})
	if err != nil || o.questions != nil {
		return &mcp.GetPromptResult{InputRequests: o.questions, RequestState: o.state}, err
	}
	return messages(text(o.text)), nil
}

// A turn is one call of an asker.
type turn struct {
	args    arguments
	answers mcp.InputResponseMap
	state   string
	can     *mcp.ClientCapabilities
}

// An outcome is either questions, and the state to hold meanwhile, or the text of the end.
type outcome struct {
	questions mcp.InputRequestMap
	state     string
	text      string
}

// answer takes the answers of the round that the state is in, and goes on to the next.
func (a asker) answer(t turn) (outcome, error) {
	var m memory
	if t.state != "" {
		var err error
		if m, err = a.seal.open(a.name, t.state); err != nil {
			return outcome{}, invalid("requestState: %v", err)
		}
	}
	asks, err := a.asks(m.Round, t)
	if err != nil {
		return outcome{}, err
	}
	if told, ok := hear(asks, t.answers); ok {
		m = memory{m.Round + 1, append(m.Told, told...)}
		if m.Round == len(a.rounds) {
			return outcome{text: a.says + " " + strings.Join(m.Told, ", ")}, nil
		}
		if asks, err = a.asks(m.Round, t); err != nil {
			return outcome{}, err
		}
	}
	o := outcome{questions: asks}
	if a.stateful || len(a.rounds) > 1 {
		o.state = a.seal.close(a.name, m)
	}
	return o, nil
}

// asks returns the questions of a round that the client can answer, or an error where that
// is none of them.
func (a asker) asks(round int, t turn) (mcp.InputRequestMap, error) {
	all, asks := questions(t.args), mcp.InputRequestMap{}
	for _, key := range a.rounds[round] {
		if canAnswer(t.can, all[key]) {
			asks[key] = all[key]
		}
	}
	if len(asks) == 0 {
		return nil, lacking(all[a.rounds[round][0]])
	}
	return asks, nil
}

func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
