package integration_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// Without --root a server of files serves what its client declares, which it has to ask
// the client for in the middle of a call. 2026-07-28 has no such question.
func TestClientsRoots(t *testing.T) {
	root := fileTree(t)
	declared := url.URL{Scheme: "file", Path: filepath.ToSlash(root)}
	eachClient(t, []string{binary(t, "cmd/mcp-files")}, func(t *testing.T, c client, at target) {
		got := c.drive(t, scenario{target: at, Roots: []string{declared.String()}, Steps: []step{
			{Do: "call", Tool: "Read", Args: map[string]any{"file_path": "src/a.go"}},
			{Do: "call", Tool: "Read", Args: map[string]any{"file_path": filepath.Join(root, "README.md")}},
			{Do: "call", Tool: "Read", Args: map[string]any{"file_path": filepath.Join(root, "..", "secret.txt")}},
		}})
		if c.modern {
			if text := got[0].text(t); !got[0].Result.IsError || !strings.Contains(text, "--root DIR") {
				t.Errorf("a client that cannot be asked: %q, want an error that says what to do", text)
			}
			return
		}
		for i, want := range []string{"1\tpackage a", "1\t# Hello"} {
			if text := got[i].text(t); got[i].Result.IsError || !strings.Contains(text, want) {
				t.Errorf("inside the declared root: %q, want %q", text, want)
			}
		}
		if text := got[2].text(t); !got[2].Result.IsError || strings.Contains(text, "1\tsecret") {
			t.Errorf("outside the declared root: %q", text)
		}
	})
}
