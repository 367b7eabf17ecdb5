package patchapply

import (
	"encoding/json"
	"strings"
)

// bom is the UTF-8 byte order mark.
const bom = "\ufeff"

// unwrapJSON returns the patch that is a string in JSON: the string itself, or the input of a
// tool call, {"input": "..."} or {"command": ["apply_patch", "..."]}.
func unwrapJSON(text []byte) (string, bool) {
	trimmed := strings.TrimSpace(string(text[:min(len(text), 64)]))
	switch {
	case strings.HasPrefix(trimmed, `"`):
		var s string
		return s, json.Unmarshal(text, &s) == nil && s != ""
	case strings.HasPrefix(trimmed, "{"):
		return unwrapObject(text)
	}
	return "", false
}

func unwrapObject(text []byte) (string, bool) {
	var call struct {
		Input     string   `json:"input"`
		Patch     string   `json:"patch"`
		PatchText string   `json:"patchText"`
		Command   []string `json:"command"`
	}
	if json.Unmarshal(text, &call) != nil {
		return "", false
	}
	if n := len(call.Command); n > 1 {
		return call.Command[n-1], true
	}
	for _, s := range []string{call.Input, call.Patch, call.PatchText} {
		if s != "" {
			return s, true
		}
	}
	return "", false
}

// isFence reports whether a line opens or closes a block of code in Markdown.
func isFence(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "```") }

// isClosing reports whether a line ends what a patch may be wrapped in: a fence, or the
// word of a heredoc.
func isClosing(line string) bool {
	if isFence(line) {
		return true
	}
	return line != "" && strings.Trim(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}
