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

// isFence reports whether a line opens or closes a block of code in Markdown. It counts in
// the first column only: behind a blank it is a line of a hunk.
func isFence(line string) bool { return strings.HasPrefix(line, "```") }

// isClosing reports whether a line ends what a patch may be wrapped in: a fence, or the
// word of a heredoc.
func isClosing(line string) bool {
	if isFence(line) {
		return strings.Trim(line, "` \t") == ""
	}
	return line != "" && strings.Trim(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// noteWrapper notes that a line outside of hunks opens a fence or a heredoc.
func (p *parser) noteWrapper(line string) {
	p.wrapped = p.wrapped || isFence(line)
	if _, word, ok := strings.Cut(line, "<<"); ok {
		word, _, _ = strings.Cut(strings.TrimLeft(word, "- \t"), " ")
		p.heredoc = strings.Trim(word, `'"\`)
	}
}

// endsDiff reports whether the parser's line closes what was opened, so that behind it may
// stand anything. It must not be a line of a hunk that has lost its blank: then the fence that
// does close is still to come.
func (p *parser) endsDiff(end int) bool {
	if line := p.line(p.pos); !isFence(line) {
		return line == p.heredoc
	}
	fences, next := 0, 0
	for i := p.pos + 1; i < end; i++ {
		if p.startsFile(i) {
			next = 1 // which has a fence of its own
			break
		}
		if isFence(p.line(i)) {
			fences++
		}
	}
	return p.wrapped && fences%2 == next
}
