package toolkit

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// finish makes the result that goes to the client. It shares nothing with any other
// call's, since the SDK writes into it.
func (s *Server) finish(r Result, warnings []string) *mcp.CallToolResult {
	b := s.budget()
	tail := ""
	for _, w := range warnings {
		tail += "\n[warning: " + w + "]"
	}
	text := Cut(ValidText(r.Text), max(0, b.Text-len(tail))) + tail
	out := &mcp.CallToolResult{IsError: r.IsError, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	size := WireSize(text)
	if r.Structured != nil {
		raw := withWarnings(marshal(r.Structured), warnings)
		size += WireSize(raw)
		out.StructuredContent = raw
	}
	for _, m := range r.Media {
		size += mediaSize(m)
		out.Content = append(out.Content, m)
	}
	if size > b.All {
		return tooLarge(size, b.All)
	}
	return out
}

// whole is a result as it goes out, with nothing added and nothing cut.
func whole(r Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.IsError, Content: []mcp.Content{&mcp.TextContent{Text: ValidText(r.Text)}}}
	out.Content = append(out.Content, r.Media...)
	if r.Structured != nil {
		out.StructuredContent = marshal(r.Structured)
	}
	return out
}

// withoutLinks leaves out the kind of block that came with 2025-06-18: clients of before refuse
// a whole result for it. The text says what it links to.
func withoutLinks(media []mcp.Content) (out []mcp.Content) {
	for _, m := range media {
		if _, link := m.(*mcp.ResourceLink); !link {
			out = append(out, m)
		}
	}
	return out
}

// WireSize returns how many bytes v takes on the wire as JSON, where <, > and & take six each.
func WireSize(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err)) // plain data of ours
	}
	return len(raw)
}

func tooLarge(size, limit int) *mcp.CallToolResult {
	text := fmt.Sprintf("the result has %d bytes, at most %d are sent: ask for less at a time", size, limit)
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// mediaSize is what a block costs on the wire, where bytes are base64.
func mediaSize(c mcp.Content) int {
	switch m := c.(type) {
	case *mcp.ImageContent:
		return len(m.Data) / 3 * 4
	case *mcp.AudioContent:
		return len(m.Data) / 3 * 4
	}
	return 0
}

// withWarnings puts the warnings into a structured result, which some clients show alone.
func withWarnings(obj json.RawMessage, warnings []string) json.RawMessage {
	if len(warnings) == 0 {
		return obj
	}
	body := strings.TrimSuffix(string(obj), "}")
	if body != "{" {
		body += ","
	}
	return json.RawMessage(body + `"warnings":` + string(marshal(warnings)) + "}")
}

// Cut bounds text to limit bytes, the mark that says what is missing included. Tools that
// can say how to get the rest cut by themselves; this is the last resort.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const room = 80 // for the mark
	n := max(0, limit-room)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if i := strings.LastIndexByte(text[:n], '\n'); i > n/2 {
		n = i
	}
	return fmt.Sprintf("%s\n[cut: the first %d of %d bytes are shown]", text[:n], n, len(text))
}

// newID returns a short random name for a log line.
func newID() string { return strings.ToLower(rand.Text()[:8]) }
