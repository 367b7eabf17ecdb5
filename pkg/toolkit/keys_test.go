package toolkit_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/toolkit"
)

// keyFile returns a file with text in it.
func keyFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestApprovalKeysFlag(t *testing.T) {
	good := keyFile(t, strings.Repeat("ab", 32))
	tests := []struct {
		name string
		args []string
		env  string
		code int
		want string // on standard error
	}{
		{"a file", []string{"--approval-keys", good}, "", 0, ""},
		{"a file by the environment", nil, good, 0, ""},
		{"a file in a root", []string{"--root", filepath.Dir(good), "--approval-keys", good}, "", 2, "where calls can read it"},
		{"no such file", []string{"--approval-keys", good + "x"}, "", 2, "--approval-keys: open "},
		{"no key", []string{"--approval-keys", keyFile(t, "# none\n")}, "", 2, "openssl rand -hex 32"},
		{"a bad key by the environment", nil, keyFile(t, "secret"), 2, "line 1: want 32 bytes"},
		{"empty", []string{"--approval-keys="}, "", 2, "--approval-keys is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.env != "" {
				t.Setenv("MCP_PROBE_APPROVAL_KEYS", tt.env)
			}
			code, out, errs := run(t, "", append(tt.args, "call", "probe", "name=n")...)
			mustContain(t, errs, tt.want)
			if code != tt.code || (code == 0) != strings.Contains(out, `"name":"n"`) || strings.Contains(errs, "secret") {
				t.Errorf("exit code %d: %s%s", code, out, errs)
			}
		})
	}
}

// Over HTTP there may be replicas: keys of one process alone are worth a warning.
func TestKeysOfOneProcess(t *testing.T) {
	for name, args := range map[string][]string{
		"none": nil,
		"file": {"--approval-keys", keyFile(t, strings.Repeat("ab", 32))},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			errs, errw := io.Pipe()
			exit := make(chan int, 1)
			go func() {
				exit <- app().Run(ctx, append(args, "--http", "127.0.0.1:0"), toolkit.Streams{In: strings.NewReader(""), Out: io.Discard, Err: errw})
				fmt.Fprintln(errw, "end")
				errw.Close()
			}()
			var said strings.Builder
			for lines := bufio.NewScanner(errs); lines.Scan(); {
				said.WriteString(lines.Text())
				stop()
			}
			if code := <-exit; code != 0 || strings.Contains(said.String(), "--approval-keys FILE shares keys") != (args == nil) {
				t.Errorf("exit code %d: %s", code, &said)
			}
		})
	}
}
