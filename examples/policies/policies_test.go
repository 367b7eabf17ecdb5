// Package policies_test holds the example policies against their cases, by the command that every
// server has for it.
package policies_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/internal/imagetool"
	"github.com/toolhost/toolhost/internal/patchtool"
	"github.com/toolhost/toolhost/internal/shelltool"
	"github.com/toolhost/toolhost/internal/testleak"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

func TestMain(m *testing.M) { testleak.Main(m) }

// apps are the servers; a run needs a new one.
var apps = map[string]func() toolkit.App{
	"mcp-files": filetool.App, "mcp-image": imagetool.App, "mcp-patch": patchtool.App, "mcp-shell": shelltool.App,
}

// run runs a server with a command line.
func run(t *testing.T, app toolkit.App, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = app.Run(t.Context(), args, toolkit.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// examples returns the policies by their files of cases.
func examples(t *testing.T) map[string]string {
	t.Helper()
	cases, err := filepath.Glob("*.cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("*.yaml")
	if err != nil || len(cases) == 0 || len(all) != 2*len(cases) {
		t.Fatalf("%d files, %d of them cases, %v: want one file of cases a policy", len(all), len(cases), err)
	}
	out := map[string]string{}
	for _, c := range cases {
		out[c] = strings.TrimSuffix(c, ".cases.yaml") + ".yaml"
	}
	return out
}

func TestExamples(t *testing.T) {
	for name, app := range apps {
		for cases, policy := range examples(t) {
			t.Run(name+"/"+policy, func(t *testing.T) {
				if code, _, errs := run(t, app(), "policy", "check", "--strict", policy); code != 0 {
					t.Errorf("check: exit %d\n%s", code, errs)
				}
				if code, out, errs := run(t, app(), "policy", "test", policy, cases); code != 0 {
					t.Errorf("test: exit %d\n%s%s", code, out, errs)
				}
			})
		}
	}
}

// Every case matters: with another decision it fails.
func TestCasesCanFail(t *testing.T) {
	other := strings.NewReplacer("want: allow", "want: ask", "want: ask", "want: deny", "want: deny", "want: allow")
	for cases, policy := range examples(t) {
		text, err := os.ReadFile(cases)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(text, []byte("want:"))
		path := filepath.Join(t.TempDir(), cases)
		if err := os.WriteFile(path, []byte(other.Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := run(t, filetool.App(), "policy", "test", policy, path)
		if want := fmt.Sprintf("%d cases, %d failed\n", n, n); code != 1 || !strings.HasSuffix(out, want) {
			t.Errorf("%s: exit %d, want %q at the end of\n%s%s", cases, code, want, out, errs)
		}
	}
}

// One policy may be about the tools of all servers: none of them may take another's name for a mistake.
func TestServersKnowEachOthersTools(t *testing.T) {
	for name, app := range apps {
		args := []string{"tools", "--json"}
		if name == "mcp-files" {
			args = append(args, "--write")
		}
		code, out, errs := run(t, app(), args...)
		var tools []struct{ Name string }
		if err := json.Unmarshal([]byte(out), &tools); code != 0 || err != nil || len(tools) == 0 {
			t.Fatalf("%s: exit %d, %v\n%s", name, code, err, errs)
		}
		text := "version: 1\ndefault: ask\nrules:\n"
		for _, tool := range tools {
			text += fmt.Sprintf("  - {id: %s, effect: ask, tools: [%s]}\n", strings.ToLower(tool.Name), tool.Name)
		}
		path := filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for other, app := range apps {
			if code, _, errs := run(t, app(), "policy", "check", "--strict", path); code != 0 {
				t.Errorf("%s does not know the tools of %s: %s", other, name, errs)
			}
		}
	}
}
