package toolkit_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"go.yaml.in/yaml/v3"
)

// parse reads a snippet with the parser of others for its format.
func parse(t *testing.T, s toolkit.Snippet) (doc map[string]any) {
	t.Helper()
	unmarshal, ok := map[string]func([]byte, any) error{
		"json": json.Unmarshal, "toml": toml.Unmarshal, "yaml": yaml.Unmarshal,
	}[s.Format]
	if !ok {
		t.Fatalf("no parser for %q", s.Format)
	}
	if err := unmarshal([]byte(s.Text), &doc); err != nil {
		t.Fatalf("%v in\n%s", err, s.Text)
	}
	return doc
}

// entry returns what a document says of the one server in it.
func entry(t *testing.T, doc map[string]any, name string) map[string]any {
	t.Helper()
	for _, root := range []string{"mcpServers", "mcp_servers", "servers"} {
		switch servers := doc[root].(type) {
		case map[string]any:
			if e, ok := servers[name].(map[string]any); ok && len(servers) == 1 {
				return e
			}
		case []any:
			if e, ok := servers[0].(map[string]any); ok && len(servers) == 1 && e["name"] == name {
				return e
			}
		}
	}
	t.Fatalf("no server %q in %v", name, doc)
	return nil
}

func registrationFor(t *testing.T, r toolkit.Registration, target string) toolkit.Snippet {
	t.Helper()
	s, err := r.For(target)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRegistrations(t *testing.T) {
	type (
		doc  = map[string]any
		list = []any
	)
	program := toolkit.Registration{Name: "files", Command: "/usr/bin/mcp-files", Args: []string{"--root=/a b"}}
	keyed := program
	keyed.Env = []string{"MCP_X_KEY"}
	endpoint := toolkit.Registration{Name: "files", URL: "http://127.0.0.1:8801/mcp"}
	token := endpoint
	token.TokenEnv = "MCP_FILES_TOKEN"
	drawing := toolkit.Builtin{Type: "image_generation", Tool: "draw", Header: "X-Form", Flag: "form", Form: "openai"}
	built, builtFar, told := program, token, program
	built.Builtin, builtFar.Builtin, told.Builtin = &drawing, &drawing, &drawing
	told.Args = []string{"--form=openai", "--root=/a b"}
	far := token
	far.URL = "http://files.example.org:8801/mcp"
	stdio := func(more doc) doc {
		d := doc{"command": "/usr/bin/mcp-files", "args": list{"--root=/a b"}}
		maps.Copy(d, more)
		return d
	}
	bearer := func(value string) doc { return doc{"Authorization": "Bearer " + value} }
	input := func(env string) list {
		return list{doc{"type": "promptString", "id": env, "description": env + " for the MCP server files", "password": true}}
	}
	url := endpoint.URL
	tests := []struct {
		name, target string
		reg          toolkit.Registration
		want         doc
	}{
		{"stdio", "codex", program, doc{"mcp_servers": doc{"files": stdio(nil)}}},
		{"secret", "codex", keyed, doc{"mcp_servers": doc{"files": stdio(doc{"env_vars": list{"MCP_X_KEY"}})}}},
		{"http", "codex", endpoint, doc{"mcp_servers": doc{"files": doc{"url": url}}}},
		{"token", "codex", token, doc{"mcp_servers": doc{"files": doc{"url": url, "bearer_token_env_var": "MCP_FILES_TOKEN"}}}},

		{"stdio", "claude-code", program, doc{"mcpServers": doc{"files": stdio(doc{"type": "stdio"})}}},
		{"secret", "claude-code", keyed, doc{"mcpServers": doc{"files": stdio(doc{"type": "stdio", "env": doc{"MCP_X_KEY": "${MCP_X_KEY}"}})}}},
		{"http", "claude-code", endpoint, doc{"mcpServers": doc{"files": doc{"type": "http", "url": url}}}},
		{"token", "claude-code", token, doc{"mcpServers": doc{"files": doc{"type": "http", "url": url, "headers": bearer("${MCP_FILES_TOKEN}")}}}},

		{"stdio", "claude-desktop", program, doc{"mcpServers": doc{"files": stdio(nil)}}},
		{"secret", "claude-desktop", keyed, doc{"mcpServers": doc{"files": stdio(doc{"env": doc{"MCP_X_KEY": "REPLACE-WITH-MCP_X_KEY"}})}}},
		{"http", "claude-desktop", endpoint, doc{"mcpServers": doc{"files": doc{"command": "npx", "args": list{"-y", "mcp-remote", url}}}}},
		{"token", "claude-desktop", token, doc{"mcpServers": doc{"files": doc{
			"command": "npx", "args": list{"-y", "mcp-remote", url, "--header", "Authorization:${AUTH_HEADER}"},
			"env": doc{"AUTH_HEADER": "Bearer REPLACE-WITH-MCP_FILES_TOKEN"},
		}}}},
		{"far", "claude-desktop", far, doc{"mcpServers": doc{"files": doc{
			"command": "npx", "args": list{"-y", "mcp-remote", far.URL, "--allow-http", "--header", "Authorization:${AUTH_HEADER}"},
			"env": doc{"AUTH_HEADER": "Bearer REPLACE-WITH-MCP_FILES_TOKEN"},
		}}}},

		{"stdio", "vscode", program, doc{"servers": doc{"files": stdio(doc{"type": "stdio"})}}},
		{"secret", "vscode", keyed, doc{
			"servers": doc{"files": stdio(doc{"type": "stdio", "env": doc{"MCP_X_KEY": "${input:MCP_X_KEY}"}})}, "inputs": input("MCP_X_KEY"),
		}},
		{"http", "vscode", endpoint, doc{"servers": doc{"files": doc{"type": "http", "url": url}}}},
		{"token", "vscode", token, doc{
			"servers": doc{"files": doc{"type": "http", "url": url, "headers": bearer("${input:MCP_FILES_TOKEN}")}}, "inputs": input("MCP_FILES_TOKEN"),
		}},

		{"stdio", "cursor", program, doc{"mcpServers": doc{"files": stdio(nil)}}},
		{"secret", "cursor", keyed, doc{"mcpServers": doc{"files": stdio(doc{"env": doc{"MCP_X_KEY": "${env:MCP_X_KEY}"}})}}},
		{"http", "cursor", endpoint, doc{"mcpServers": doc{"files": doc{"url": url}}}},
		{"token", "cursor", token, doc{"mcpServers": doc{"files": doc{"url": url, "headers": bearer("${env:MCP_FILES_TOKEN}")}}}},

		{"stdio", "gemini-cli", program, doc{"mcpServers": doc{"files": stdio(nil)}}},
		{"secret", "gemini-cli", keyed, doc{"mcpServers": doc{"files": stdio(doc{"env": doc{"MCP_X_KEY": "${MCP_X_KEY}"}})}}},
		{"http", "gemini-cli", endpoint, doc{"mcpServers": doc{"files": doc{"httpUrl": url}}}},
		{"token", "gemini-cli", token, doc{"mcpServers": doc{"files": doc{"httpUrl": url, "headers": bearer("${MCP_FILES_TOKEN}")}}}},

		{"stdio", "smg", program, doc{"servers": list{stdio(doc{"name": "files", "protocol": "stdio"})}}},
		{"secret", "smg", keyed, doc{"servers": list{stdio(doc{"name": "files", "protocol": "stdio"})}}},
		{"http", "smg", endpoint, doc{"servers": list{doc{"name": "files", "protocol": "streamable", "url": url}}}},
		{"token", "smg", token, doc{"servers": list{doc{"name": "files", "protocol": "streamable", "url": url, "token": "REPLACE-WITH-MCP_FILES_TOKEN"}}}},

		{"builtin", "smg", built, doc{"servers": list{doc{
			"name": "files", "protocol": "stdio", "command": "/usr/bin/mcp-files", "args": list{"--root=/a b", "--form=openai"},
			"builtin_type": "image_generation", "builtin_tool_name": "draw",
		}}}},
		{"builtin that is told already", "smg", told, doc{"servers": list{doc{
			"name": "files", "protocol": "stdio", "command": "/usr/bin/mcp-files", "args": list{"--form=openai", "--root=/a b"},
			"builtin_type": "image_generation", "builtin_tool_name": "draw",
		}}}},
		{"builtin over http", "smg", builtFar, doc{"servers": list{doc{
			"name": "files", "protocol": "streamable", "url": url, "token": "REPLACE-WITH-MCP_FILES_TOKEN",
			"headers": doc{"X-Form": "openai"}, "builtin_type": "image_generation", "builtin_tool_name": "draw",
		}}}},
		{"builtin elsewhere", "cursor", built, doc{"mcpServers": doc{"files": stdio(nil)}}},
	}
	missing := toolkit.RegistrationTargets()
	for _, tt := range tests {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == tt.target })
		t.Run(tt.target+" "+tt.name, func(t *testing.T) {
			s := registrationFor(t, tt.reg, tt.target)
			if diff := cmp.Diff(tt.want, parse(t, s)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if !strings.HasSuffix(s.Text, "\n") || len(s.Hints) == 0 {
				t.Errorf("want whole lines and a hint where they belong, got %+v", s)
			}
			for _, env := range append(tt.reg.Env, tt.reg.TokenEnv) {
				mustContain(t, strings.Join(s.Hints, "\n"), env) // how its value gets there
			}
		})
	}
	if len(missing) > 0 {
		t.Errorf("nothing tests %v", missing)
	}
}

// smg ignores keys that it does not know, so a wrong one would be found only in use.
func TestSMGKeys(t *testing.T) {
	known := map[string][]string{
		"stdio":      {"name", "protocol", "command", "args", "envs", "proxy", "required", "internal", "builtin_type", "builtin_tool_name", "tools"},
		"streamable": {"name", "protocol", "url", "token", "headers", "proxy", "required", "internal", "builtin_type", "builtin_tool_name", "tools"},
	}
	for protocol, r := range map[string]toolkit.Registration{
		"stdio":      {Name: "files", Command: "/b", Args: []string{"-a"}, Env: []string{"K"}, Builtin: &toolkit.Builtin{}},
		"streamable": {Name: "files", URL: "http://h/mcp", TokenEnv: "T", Builtin: &toolkit.Builtin{}},
	} {
		e := entry(t, parse(t, registrationFor(t, r, "smg")), "files")
		if e["protocol"] != protocol {
			t.Errorf("protocol %v, want %s", e["protocol"], protocol)
		}
		for key := range e {
			if !slices.Contains(known[protocol], key) {
				t.Errorf("%s: smg knows no key %q", protocol, key)
			}
		}
	}
}

// nasty are strings that an encoder can get wrong.
var nasty = []string{
	"", " ", "a b", "-", "--root=-x", `C:\Program Files\mcp\new\table.exe`, `"`, `\`, `\\`, `\"`, `'`, `'''`, `"""`, "`", "#", ": ", "- a", "[", "{}", "|", "&a", "*a", "!a", "%", "%TEMP%", "@",
	"null", "true", "1", "~", "${X}", "${X:-y}", "$X", "$$", "{{x}}", "<&>", "\t", "\n", "\r\n", "a\n  b", "\x00", "\x01", "\x1b[31m", "\x7f", "\u0080", "\u0085", "a\u0085b", "\u009f", "\u00a0", "\u00ad",
	"é", "e\u0301", "日本語", "\u2028", "\u2029", "\u200b", "\u202e", "\ufeff", "\ufeffa", "\ufffd", "\ufffe", "\uffff", "\ue000", "\U0001F600", "\U000E0001", "\U0010FFFF",
}

func FuzzRegistrationStrings(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, target := range toolkit.RegistrationTargets() {
			program := toolkit.Registration{Name: "n", Command: "/bin/" + s, Args: []string{s, "--root=" + s, "last"}}
			for _, r := range []toolkit.Registration{program, {Name: "n" + s, Command: "c", Args: []string{s}}} {
				got, err := r.For(target)
				if !utf8.ValidString(s) {
					if err == nil {
						t.Errorf("%s: %q was taken, and cannot be in a file", target, s)
					}
					continue
				}
				if err != nil && strings.Contains(r.Command, "$") {
					continue // the target would replace it in the program's path
				} else if err != nil {
					t.Fatal(err)
				}
				e := entry(t, parse(t, got), r.Name)
				var args []any
				for _, a := range r.Args {
					args = append(args, a)
				}
				if diff := cmp.Diff([]any{r.Command, args}, []any{e["command"], e["args"]}); diff != "" {
					t.Errorf("%s: %q -want +got\n%s\n%s", target, s, diff, got.Text)
				}
			}
		}
	})
}

func TestRegistrationsOfOtherSystems(t *testing.T) {
	r := toolkit.Registration{Name: "files", Command: `C:\Program Files\toolhost\mcp-files.exe`, Args: []string{`--root=C:\Users\u\new`, `--root=\\srv\share`}}
	for _, target := range toolkit.RegistrationTargets() {
		e := entry(t, parse(t, registrationFor(t, r, target)), "files")
		if diff := cmp.Diff([]any{r.Command, []any{r.Args[0], r.Args[1]}}, []any{e["command"], e["args"]}); diff != "" {
			t.Errorf("%s -want +got\n%s", target, diff)
		}
	}
}

func TestWhatTargetsReplace(t *testing.T) {
	const workspace, plain = "${workspaceFolder}", "$HOME"
	tests := map[string][]string{ // what is replaced in the strings of each file
		"codex": nil, "claude-desktop": nil, "smg": nil,
		"claude-code": {workspace}, "vscode": {workspace}, "cursor": {workspace}, "gemini-cli": {workspace, plain},
	}
	for target, replaced := range tests {
		for _, ref := range []string{workspace, plain} {
			s := registrationFor(t, toolkit.Registration{Name: "n", Command: "/b", Args: []string{"--root=" + ref}}, target)
			hinted := strings.Contains(strings.Join(s.Hints, "\n"), "replaces "+ref)
			_, err := toolkit.Registration{Name: "n", Command: "/opt/" + ref + "/b"}.For(target)
			if want := slices.Contains(replaced, ref); hinted != want || (err != nil) != want {
				t.Errorf("%s replaces %s: hinted %t, error %v, want %t", target, ref, hinted, err, want)
			}
		}
	}
}

func TestNoSuchTarget(t *testing.T) {
	if _, err := (toolkit.Registration{}).For("emacs"); err == nil || !strings.Contains(err.Error(), "there are: codex, ") {
		t.Errorf("got %v", err)
	}
}
