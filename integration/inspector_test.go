package integration_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
)

// inspectorUnportable is MCP Inspector's exit code for a schema that some clients refuse.
const inspectorUnportable = 6

// inspect lists a server's tools with MCP Inspector under --strict.
func inspect(t *testing.T, server ...string) (exit int, stdout, stderr string) {
	t.Helper()
	script := testneed.Files(t, filepath.Join("clients", "node_modules", ".bin", "inspector"), "make clients")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{script, "--cli"}, server...)
	cmd := exec.CommandContext(ctx, node(t), append(args, "--method", "tools/list", "--strict")...)
	cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir()) // it keeps files in its home
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exitErr := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exitErr) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestInspectorStrict(t *testing.T) {
	tests := []struct {
		name, folder string
		args         []string
		exit         int
	}{
		{"mcp-files", "cmd/mcp-files", nil, 0},
		{"fixture", "integration/fixture", nil, 0},
		// Proves that the inspector looks: this schema has to be found.
		{"bad schema", "integration/fixture", []string{"--bad-schema"}, inspectorUnportable},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			exit, stdout, stderr := inspect(t, append([]string{binary(t, tc.folder)}, tc.args...)...)
			if exit != tc.exit {
				t.Errorf("exit code %d, want %d\n%s\n%s", exit, tc.exit, stdout, stderr)
			}
			if tc.exit == 0 && stderr != "" {
				t.Errorf("it objects: %s", stderr)
			}
		})
	}
}
