package integration_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
)

// Exit codes of MCP Inspector.
const (
	inspectorNoAuth     = 3 // the server wants a token
	inspectorToolError  = 5 // the tool failed
	inspectorUnportable = 6 // --strict: a schema that some clients refuse
)

// inspectorEras are what it takes for --protocol-era.
var inspectorEras = []string{"legacy", "auto", "modern"}

// inspected is what a run of MCP Inspector leaves.
type inspected struct {
	exit           int
	stdout, stderr string
}

// inspect runs MCP Inspector's command line.
func inspect(t *testing.T, at target, args ...string) inspected {
	t.Helper()
	script := testneed.Files(t, filepath.Join("clients", "node_modules", ".bin", "inspector"), "make clients")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := append([]string{at.Command}, at.Args...)
	if at.URL != "" {
		server = []string{at.URL, "--transport", "http"}
	}
	for name, value := range at.Headers {
		args = append(args, "--header", name+": "+value)
	}
	cmd := exec.CommandContext(ctx, node(t), append(append([]string{script, "--cli"}, server...), args...)...)
	cmd.Env = append(cmd.Environ(), compileCache(), "HOME="+t.TempDir()) // it keeps files in its home
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exitErr := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exitErr) {
		t.Fatal(err)
	}
	return inspected{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// eachInspection runs test in each era and over both transports.
func eachInspection(t *testing.T, server []string, test func(t *testing.T, at target, era string)) {
	t.Helper()
	node(t)
	for name, at := range map[string]target{
		"stdio": serve(t, false, server[0], server[1:]...),
		"http":  serve(t, true, server[0], server[1:]...),
	} {
		for _, era := range inspectorEras {
			t.Run(name+"/"+era, func(t *testing.T) {
				t.Parallel()
				test(t, at, era)
			})
		}
	}
}

func TestInspectorStrict(t *testing.T) {
	t.Parallel()
	for folder, flags := range map[string][]string{
		"cmd/mcp-files": {"--write"}, "cmd/mcp-patch": nil, "integration/fixture": nil, // flags that add tools
	} {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			eachInspection(t, append([]string{binary(t, folder)}, flags...), func(t *testing.T, at target, era string) {
				got := inspect(t, at, "--protocol-era", era, "--method", "tools/list", "--strict")
				if got.exit != 0 || got.stderr != "" {
					t.Errorf("exit code %d, and it says:\n%s\n%s", got.exit, got.stdout, got.stderr)
				}
			})
		})
	}
}

// Proves that the inspector looks: this schema has to be found.
func TestInspectorFindsBadSchema(t *testing.T) {
	t.Parallel()
	got := inspect(t, serve(t, false, fixture(t), "--bad-schema"), "--method", "tools/list", "--strict")
	if got.exit != inspectorUnportable {
		t.Errorf("exit code %d, want %d\n%s\n%s", got.exit, inspectorUnportable, got.stdout, got.stderr)
	}
}

// Inspector's command line has neither ping nor progress.
func TestInspectorCall(t *testing.T) {
	tests := []struct {
		name, tool, args string
		exit             int
		want             string // part of what it prints
	}{
		{"text", "echo", `{"text":"grüß dich"}`, 0, `"text": "grüß dich"`},
		{"failing tool", "fail", `{}`, inspectorToolError, "it is meant to fail"},
	}
	eachInspection(t, []string{fixture(t)}, func(t *testing.T, at target, era string) {
		for _, tc := range tests {
			got := inspect(t, at, "--protocol-era", era, "--method", "tools/call", "--tool-name", tc.tool, "--tool-args-json", tc.args)
			if got.exit != tc.exit || !strings.Contains(got.stdout, tc.want) {
				t.Errorf("%s: exit code %d, want %d, and %q in\n%s\n%s", tc.name, got.exit, tc.exit, tc.want, got.stdout, got.stderr)
			}
		}
	})
}
