package integration_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pelletier/go-toml/v2"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"go.yaml.in/yaml/v3"
)

// A program is what the stdio form of a registration starts.
type program struct {
	Command string
	Args    []string
}

// registered runs config in dir and returns the program that a target would start.
func registered(t *testing.T, dir, target string, command ...string) program {
	t.Helper()
	cmd := exec.Command(command[0], append(command[1:], "config", target)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("config %s: %v", target, err)
	}
	var named struct {
		MCPServers map[string]program `json:"mcpServers"`
		Codex      map[string]program `toml:"mcp_servers"`
		VSCode     map[string]program `json:"servers"`
	}
	var list struct{ Servers []program }
	switch target {
	case "codex":
		err = toml.Unmarshal(out, &named)
	case "smg":
		err = yaml.Unmarshal(out, &list)
	default:
		err = json.Unmarshal(out, &named)
	}
	if err != nil {
		t.Fatalf("config %s: %v\n%s", target, err, out)
	}
	for _, servers := range []map[string]program{named.MCPServers, named.Codex, named.VSCode} {
		if p, ok := servers["files"]; ok {
			return p
		}
	}
	if len(list.Servers) != 1 {
		t.Fatalf("config %s: no server in\n%s", target, out)
	}
	return list.Servers[0]
}

// Clients start servers in another directory and with hardly any environment.
func TestRegistrationsStart(t *testing.T) {
	root := fileTree(t)
	for _, target := range toolkit.RegistrationTargets() {
		t.Run(target, func(t *testing.T) {
			p := registered(t, filepath.Dir(root), target, binary(t, "cmd/mcp-files"), "--root", "root", "--names=snake")
			cmd := exec.Command(p.Command, p.Args...)
			cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH="}
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			cs, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			tools, err := cs.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 5 {
				t.Fatalf("got %v, %v", tools, err)
			}
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_file", Arguments: map[string]any{"file_path": "README.md"}})
			if err != nil || res.IsError {
				t.Fatalf("got %v, %v", res, err)
			}
			if text, ok := res.Content[0].(*mcp.TextContent); !ok || !strings.Contains(text.Text, "# Hello") {
				t.Errorf("got %v", res.Content)
			}
		})
	}
}

// Package managers put a link into PATH and change what it leads to with each version.
func TestRegistrationsKeepTheLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "bin", "mcp-files")
	if err := os.Mkdir(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary(t, "cmd/mcp-files"), link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(link))
	for name, command := range map[string]string{"by PATH": "mcp-files", "by path": link} {
		t.Run(name, func(t *testing.T) {
			if got := registered(t, dir, "cursor", command).Command; got != link {
				t.Errorf("got %s, want %s", got, link)
			}
		})
	}
	t.Run("by another name", func(t *testing.T) {
		cmd := exec.Command(link, "config", "cursor")
		cmd.Args[0] = "sh" // another program, or none
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), binary(t, "cmd/mcp-files")) {
			t.Errorf("got %s, %v", out, err)
		}
	})
}
