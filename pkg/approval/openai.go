package approval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Requests are approval settings that come with a request, by the name of tools: OpenAI's
// require_approval, and the form with two lists that others made of it. They are read at
// least as strictly as they are meant: a tool that is named twice asks, and so does one that is not named at all.

// A Request says which tools a request wants to be asked about. [Combine] holds it together
// with the policy of the server.
type Request struct {
	asks func(tool string) bool
}

// Asks reports whether calls of a tool ask.
func (r *Request) Asks(tool string) bool { return r.asks(tool) }

// FromOpenAI reads require_approval of OpenAI's Responses API: "always", "never", or an object with
// always and never, each a filter with tool_names, read_only or both. Null, and nothing at all, mean always.
//
// readOnly says which tools only read: those that are annotated so here, not what a request
// believes. In always, a filter with both members means the tools that fit either, and an empty one all;
// in never, those that fit both, and an empty one none. What neither names asks.
func FromOpenAI(requireApproval []byte, readOnly func(tool string) bool) (*Request, error) {
	raw := bytes.TrimSpace(requireApproval)
	if len(raw) == 0 || string(raw) == "null" {
		return FromLists("always", nil, nil)
	}
	if raw[0] != '{' {
		var mode string
		if err := json.Unmarshal(raw, &mode); err != nil || mode == "" {
			return nil, errApproval
		}
		return FromLists(mode, nil, nil)
	}
	members, err := object(raw, "require_approval", "always", "never")
	if err != nil {
		return nil, err
	}
	always, err := parseFilter(members, "always")
	if err != nil {
		return nil, err
	}
	never, err := parseFilter(members, "never")
	if err != nil {
		return nil, err
	}
	return &Request{func(tool string) bool { return always.either(tool, readOnly) || !never.both(tool, readOnly) }}, nil
}

var errApproval = errors.New(`require_approval: want "always", "never", or an object such as {"never": {"tool_names": ["Read"]}}`)

// FromLists reads the form with a mode, "always", "never" or "", and lists of tool names. A name in a list is
// stronger than the mode, and always is stronger than never; with no mode, what is not in a list asks.
func FromLists(mode string, always, never []string) (*Request, error) {
	if mode != "" && mode != "always" && mode != "never" {
		return nil, fmt.Errorf("%w, not %q", errApproval, mode)
	}
	always, never = slices.Clone(always), slices.Clone(never)
	return &Request{func(tool string) bool {
		return slices.Contains(always, tool) || mode != "never" && !slices.Contains(never, tool)
	}}, nil
}

// A filter selects tools.
type filter struct {
	given    bool
	named    bool
	names    []string
	readOnly *bool
}

func parseFilter(of map[string]json.RawMessage, name string) (f filter, err error) {
	raw, ok := of[name]
	if !ok || string(raw) == "null" {
		return f, nil
	}
	members, err := object(raw, name, "tool_names", "read_only")
	if err != nil {
		return f, err
	}
	f.given = true
	if raw, ok := members["tool_names"]; ok && string(raw) != "null" {
		f.named = true
		if err := json.Unmarshal(raw, &f.names); err != nil {
			return f, fmt.Errorf(`require_approval: %s: tool_names: want a list of names, such as ["Read"]`, name)
		}
	}
	if raw, ok := members["read_only"]; ok {
		if err := json.Unmarshal(raw, &f.readOnly); err != nil {
			return f, fmt.Errorf("require_approval: %s: read_only: want true or false", name)
		}
	}
	return f, nil
}

func (f filter) either(tool string, readOnly func(string) bool) bool {
	if f.given && !f.named && f.readOnly == nil {
		return true
	}
	return slices.Contains(f.names, tool) || f.readOnly != nil && is(readOnly, tool) == *f.readOnly
}

func (f filter) both(tool string, readOnly func(string) bool) bool {
	if !f.named && f.readOnly == nil {
		return false
	}
	return (!f.named || slices.Contains(f.names, tool)) && (f.readOnly == nil || is(readOnly, tool) == *f.readOnly)
}

// is holds readOnly, which may be nil: then no tool only reads.
func is(readOnly func(string) bool, tool string) bool { return readOnly != nil && readOnly(tool) }

// object reads a JSON object that has known members only, each once and by its exact name.
func object(raw []byte, what string, known ...string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("require_approval: %s: want an object", what)
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("require_approval: no valid JSON: %w", err)
		}
		key, _ := t.(string) // in an object nothing else comes here
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("require_approval: no valid JSON: %w", err)
		}
		if _, twice := out[key]; twice || !slices.Contains(known, key) {
			return nil, fmt.Errorf("require_approval: %s: member %q is unknown or given twice: there are %q", what, key, known)
		}
		out[key] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("require_approval: no valid JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("require_approval: more follows the object")
	}
	return out, nil
}

// ruleOfRequest names what a request asked for.
const ruleOfRequest = "request"

type combined struct {
	ev  Evaluator
	req *Request
}

// Combine returns ev as tightened by a request. What ev denies stays denied, and what a rule or a
// limit of ev asks for still asks. What ev allows asks if the request says so; where only the default of
// ev asks, a request that never wants to be asked is followed.
func Combine(ev Evaluator, req *Request) Evaluator { return combined{ev, req} }

// Evaluate implements [Evaluator].
func (c combined) Evaluate(ctx context.Context, who Caller, a Action) Verdict {
	v := c.ev.Evaluate(ctx, who, a)
	asks := c.req.Asks(a.Tool)
	switch {
	case v.Decision == Allow && asks:
		v.Decision, v.Rule, v.Reason = Ask, ruleOfRequest, "the request wants to be asked about "+a.Tool
		v.Rules = append(slices.Clone(v.Rules), ruleOfRequest)
	case v.Decision == Ask && v.Rule == ruleOfDefault && !asks:
		v.Decision, v.Rule, v.Reason = Allow, ruleOfRequest, "the request wants not to be asked about "+a.Tool
		v.Rules = append(slices.Clone(v.Rules), ruleOfRequest)
	}
	return v
}

// Hides implements [Evaluator].
func (c combined) Hides(who Caller, tool string) bool { return c.ev.Hides(who, tool) }
