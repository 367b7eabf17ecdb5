package toolkit

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxDescription keeps tools/list small: every model pays for it on every turn.
const maxDescription = 60 // words

var toolName = regexp.MustCompile(`^[A-Za-z0-9_]{1,24}$`)

// check holds what every definition must have, so that a tool that some client would
// refuse does not start.
func (d *Definition) check() error {
	switch {
	case !toolName.MatchString(d.Name):
		return fmt.Errorf("tool %q: a name has 1 to 24 characters of A-Z, a-z, 0-9 and _", d.Name)
	case d.Title == "":
		return fmt.Errorf("tool %s: no title", d.Name)
	case d.Description == "" || len(strings.Fields(d.Description)) > maxDescription:
		return fmt.Errorf("tool %s: a description has 1 to %d words", d.Name, maxDescription)
	}
	seen := map[string]bool{}
	for i := range d.Params {
		p := &d.Params[i]
		if p.Description == "" || p.Type == "" {
			return fmt.Errorf("tool %s: parameter %q lacks a description or a type", d.Name, p.Name)
		}
		if p.Type == Any && !p.Hidden {
			return fmt.Errorf("tool %s: parameter %q: one that clients see has one type", d.Name, p.Name)
		}
		if len(p.Enum) > 0 && p.Type != String {
			return fmt.Errorf("tool %s: parameter %q: only strings have an enum", d.Name, p.Name)
		}
		for _, k := range append([]string{p.Name}, p.Aliases...) {
			if seen[k] {
				return fmt.Errorf("tool %s: argument key %q stands twice", d.Name, k)
			}
			seen[k] = true
		}
	}
	return nil
}

// wire returns the definition as the protocol has it, under the name that clients see.
// Results that may be larger than usual are announced to clients that would cut them.
func (d *Definition) wire(shown string, maxOutput int) (*mcp.Tool, error) {
	t := &mcp.Tool{
		Name: shown, Title: d.Title, Description: d.Description,
		InputSchema: inputSchema(d.Params),
		Annotations: &mcp.ToolAnnotations{
			Title:           d.Title,
			ReadOnlyHint:    d.Hints.ReadOnly,
			DestructiveHint: pointer(!d.Hints.NonDestructive),
			IdempotentHint:  d.Hints.Idempotent,
			OpenWorldHint:   pointer(!d.Hints.ClosedWorld),
		},
	}
	if d.Output != nil {
		out, err := outputSchema(d.Output)
		if err != nil {
			return nil, fmt.Errorf("tool %s: output schema: %w", d.Name, err)
		}
		t.OutputSchema = out
	}
	if maxOutput > DefaultMaxOutput {
		t.Meta = mcp.Meta{"anthropic/maxResultSizeChars": maxOutput}
	}
	return t, nil
}

func pointer[T any](v T) *T { return &v }

// An object schema in the part of JSON Schema that every model provider takes.
type objectSchema struct {
	Type       string                     `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required,omitempty"`
}

type propertySchema struct {
	Type        Type            `json:"type"`
	Description string          `json:"description,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     *int64          `json:"minimum,omitempty"`
	Items       *propertySchema `json:"items,omitempty"`
}

func inputSchema(params []Param) *objectSchema {
	o := &objectSchema{Type: "object", Properties: map[string]json.RawMessage{}}
	for i := range params {
		p := &params[i]
		if p.Hidden {
			continue
		}
		ps := propertySchema{Type: p.Type, Description: p.Description, Enum: p.Enum}
		if p.Min != nil && *p.Min > 0 {
			ps.Minimum = p.Min // keeps weaker models from 0; other bounds are not worth their place
		}
		if p.Type == Array {
			ps.Items = &propertySchema{Type: p.items()}
		}
		o.Properties[p.Name] = marshal(ps)
		if p.Required {
			o.Required = append(o.Required, p.Name)
		}
	}
	return o
}

// outputSchema adds the member in which a structured result carries warnings.
func outputSchema(raw json.RawMessage) (*objectSchema, error) {
	var o objectSchema
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	if o.Type != "object" || o.Properties == nil {
		return nil, fmt.Errorf("not an object with properties")
	}
	o.Properties["warnings"] = marshal(propertySchema{
		Type: Array, Description: "about arguments", Items: &propertySchema{Type: String},
	})
	return &o, nil
}

// marshal encodes v, which is plain data of ours and cannot fail, without HTML escaping.
func marshal(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
