package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// In a copy of the sources at another path, with other settings of the Go command, the
// generator makes what is committed, byte for byte.
func TestReproduces(t *testing.T) {
	const root = "../../../.."
	dir := t.TempDir()
	for _, part := range []string{"go.mod", "go.sum", "pkg/container/agent", "pkg/container/agents", "pkg/container/capture", "pkg/container/protocol"} {
		copyTree(t, filepath.Join(root, part), filepath.Join(dir, part))
	}
	made := filepath.Join(dir, "pkg/container/agents")
	names := []string{"agent_linux_amd64.gz", "agent_linux_arm64.gz", "generated.go"}
	for _, name := range names {
		if err := os.Truncate(filepath.Join(made, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "generate", ".")
	cmd.Dir = made
	cmd.Env = append(cmd.Environ(), "GOFLAGS=-buildvcs=false -ldflags=-compressdwarf=false", "CGO_ENABLED=1", "GOAMD64=v2", "GODEBUG=netdns=go")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(made, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what its sources make (hint: go generate ./pkg/container/agents)", name)
		}
	}
}

// copyTree copies files, and the Go files and programs of a folder.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), ".gz") {
			copyTree(t, filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
}
