package toolkit_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// app is a program with the probe, whose note defaults to the roots it was given.
func app() toolkit.App {
	return toolkit.App{
		Name: "mcp-probe", Usage: "a program for tests",
		Flags:        []cli.Flag{&cli.BoolFlag{Name: "loud"}},
		Instructions: func(c *cli.Context) string { return "roots: " + strings.Join(c.StringSlice("root"), "|") },
		Setup: func(c *cli.Context, s *toolkit.Server) error {
			tool := probe(nil)
			tool.Render = func(out string, _ toolkit.Budget) toolkit.Result {
				return toolkit.Result{Text: out + " roots=" + strings.Join(c.StringSlice("root"), "|")}
			}
			return toolkit.Add(s, tool)
		},
		Doctor: func(c *cli.Context) []toolkit.Finding {
			return []toolkit.Finding{{What: "loudness", OK: c.Bool("loud"), Text: "looked", Hint: "give --loud"}}
		},
	}
}

func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // what should be refused might serve
	defer cancel()
	var out, errw bytes.Buffer
	code = app().Run(ctx, args, toolkit.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errw})
	return code, out.String(), errw.String()
}

func TestCommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "args.json")
	if err := os.WriteFile(file, []byte(`{"name":"from a file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name      string
		args      []string
		stdin     string
		code      int
		out, errs string // contained
		emptyOut  bool
		emptyErr  bool
		environ   [2]string
	}{
		{name: "json", args: []string{"call", "probe", `{"name":"n"}`}, out: `"name":"n"`, emptyErr: true},
		{name: "key=value", args: []string{"call", "probe", "name=a=b", "count=5"}, out: `"name":"a=b","note":null,"count":5`},
		{name: "file", args: []string{"call", "probe", "@" + file}, out: "from a file"},
		{name: "one argument from a file", args: []string{"call", "probe", "name@=" + file}, out: `"name":"{\"name\":\"from a file\"}"`},
		{name: "one argument from standard input", args: []string{"call", "probe", "name@=-"}, stdin: "as it\nstands", out: `"name":"as it\nstands"`},
		{name: "standard input", args: []string{"call", "probe", "-"}, stdin: `{"name":"piped"}`, out: "piped"},
		{name: "flags before the command", args: []string{"--root", "/a,b", "call", "probe", "name=n"}, out: "roots=/a,b"},
		{name: "flags after the command", args: []string{"call", "--root=/a", "probe", "name=n", "--root", "/b"}, out: "roots=/a|/b"},
		{name: "switch between", args: []string{"call", "probe", "--json", "name=n", "--loud"}, out: `"content": [`},
		{name: "switch of a command before it", args: []string{"--json", "call", "probe", "name=n"}, out: `"content": [`},
		{name: "an argument that starts with a dash", args: []string{"call", "probe", "name=n", "-C=2"}, out: "unknown argument -C ignored"},
		{name: "words behind --", args: []string{"call", "probe", "--", "name=n"}, out: `"name":"n"`},
		{name: "list from the environment", environ: [2]string{"MCP_PROBE_ROOT", "/a,b" + string(os.PathListSeparator) + "/c"}, args: []string{"call", "probe", "name=n"}, out: "roots=/a,b|/c"},
		{name: "blanks from the environment", environ: [2]string{"MCP_PROBE_ROOT", "/a "}, args: []string{"call", "probe", "name=n"}, out: "roots=/a \n"},
		{name: "flag beats the environment", environ: [2]string{"MCP_PROBE_ROOT", "/env"}, args: []string{"call", "probe", "name=n", "--root", "/flag"}, out: "roots=/flag\n"},
		{name: "tools", args: []string{"tools"}, out: "probe: Probe\n"},
		{name: "tools as JSON", args: []string{"--tool-prefix", "p_", "tools", "--json"}, out: `"name": "p_probe"`},
		{name: "tools by environment", environ: [2]string{"MCP_PROBE_TOOL_PREFIX", "e_"}, args: []string{"tools"}, out: "e_probe: Probe"},
		{name: "renamed", args: []string{"--tool-name", "probe=look", "--tools", "look", "tools"}, out: "look: Probe"},
		{name: "chosen by a list", args: []string{"--tools", "probe,probe", "tools"}, out: "probe: Probe"},
		{name: "--version", args: []string{"--version"}, out: "mcp-probe "},
		{name: "help as a word", args: []string{"help"}, out: "--max-output", emptyErr: true},
		{name: "version", args: []string{"version"}, out: "mcp-probe "},
		{name: "doctor, well", args: []string{"doctor", "--loud"}, out: "ok    loudness: looked"},
		{name: "doctor, ill", args: []string{"doctor"}, code: 1, out: "FAIL  loudness: looked\n      hint: give --loud"},
		{name: "doctor, HTTP well", args: []string{"doctor", "--loud", "--http", "127.0.0.1:8801"}, out: "ok    HTTP: would serve http://127.0.0.1:8801/mcp (no token, this machine only)"},
		{name: "doctor, HTTP ill", args: []string{"doctor", "--loud", "--http", ":8801"}, code: 1, out: "FAIL  HTTP: --http :8801: other machines"},
		{name: "help", args: []string{"--help"}, out: "--max-output", emptyErr: true},
		{name: "help of a command", args: []string{"call", "--help"}, out: "key=value", emptyErr: true},

		{name: "tool error", args: []string{"call", "probe"}, code: 1, out: "name is missing"},
		{name: "denied", args: []string{"--require-approval", "always", "call", "probe", "name=n"}, code: 1, out: "needs approval"},
		{name: "unknown tool", args: []string{"call", "nope"}, code: 2, errs: "unknown tool nope; there are: probe", emptyOut: true},
		{name: "no tool", args: []string{"call"}, code: 2, errs: "which tool?", emptyOut: true},
		{name: "invalid JSON", args: []string{"call", "probe", "{"}, code: 2, errs: "not valid JSON", emptyOut: true},
		{name: "missing file", args: []string{"call", "probe", "@/nope"}, code: 2, errs: "read arguments", emptyOut: true},
		{name: "missing file of an argument", args: []string{"call", "probe", "name@=/nope"}, code: 2, errs: "read arguments", emptyOut: true},
		{name: "no JSON in the file", args: []string{"call", "probe", "@/dev/null"}, code: 2, errs: "key@=FILE takes one argument", emptyOut: true},
		{name: "not key=value", args: []string{"call", "probe", "name"}, code: 2, errs: `"name": want key=value`, emptyOut: true},
		{name: "unknown command", args: []string{"serve"}, code: 2, errs: `unknown command "serve"`, emptyOut: true},
		{name: "doctor of what?", args: []string{"doctor", "x"}, code: 2, errs: `doctor takes no arguments, got "x"`, emptyOut: true},
		{name: "version of what?", args: []string{"version", "x"}, code: 2, errs: `version takes no arguments`, emptyOut: true},
		{name: "unknown flag of a command, before it", args: []string{"--nope", "call", "probe"}, code: 2, errs: "-nope", emptyOut: true},
		{name: "unknown flag", args: []string{"--nope"}, code: 2, errs: "-nope", emptyOut: true},
		{name: "unknown flag of a command", args: []string{"call", "probe", "--nope"}, code: 2, errs: "-nope", emptyOut: true},
		{name: "flag without value", args: []string{"--root"}, code: 2, errs: "root", emptyOut: true},
		{name: "blanks that would be cut off", args: []string{"--root", "/a ", "tools"}, code: 2, errs: `--root "/a ": a value here must not begin or end in blanks`, emptyOut: true},
		{name: "blanks that would be cut off, joined", args: []string{"tools", "--root= /a"}, code: 2, errs: "must not begin or end in blanks", emptyOut: true},
		{name: "bad number", args: []string{"--max-output", "many"}, code: 2, errs: "many", emptyOut: true},
		{name: "small output", args: []string{"--max-output", "10"}, code: 2, errs: "want at least 4096", emptyOut: true},
		{name: "bad level", args: []string{"--log-level", "loud"}, code: 2, errs: "want trace, debug", emptyOut: true},
		{name: "bad format", args: []string{"--log-format", "xml"}, code: 2, errs: "want text or json", emptyOut: true},
		{name: "bad mode", args: []string{"--require-approval", "maybe"}, code: 2, errs: "want policy, always or never", emptyOut: true},
		{name: "no such tool to serve", args: []string{"--tools", "nope"}, code: 2, errs: "no tool is called nope; there are: probe", emptyOut: true},
		{name: "no such tool to rename", args: []string{"--tool-name", "a=b"}, code: 2, errs: "no tool is called a", emptyOut: true},
		{name: "bad rename", args: []string{"--tool-name", "probe"}, code: 2, errs: "want OLD=NEW", emptyOut: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.environ[0] != "" {
				t.Setenv(tt.environ[0], tt.environ[1])
			}
			code, out, errs := run(t, tt.stdin, tt.args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d; stdout %q, stderr %q", code, tt.code, out, errs)
			}
			mustContain(t, out, tt.out)
			mustContain(t, errs, tt.errs)
			if tt.emptyOut && out != "" {
				t.Errorf("standard output is the protocol's, got %q", out)
			}
			if tt.emptyErr && errs != "" {
				t.Errorf("got %q on standard error", errs)
			}
		})
	}
}

func TestServesWithoutACommand(t *testing.T) {
	line := strings.Replace(hello, "%s", "", 1) + callLine(1, `{"name":"n"}`)
	code, out, errs := run(t, line, "--root", "/r")
	if code != 0 || errs != "" {
		t.Errorf("code %d, stderr %q", code, errs)
	}
	mustContain(t, out, `"id":1,"result"`, `"instructions":"roots: /r"`)
	if strings.Count(out, "\n") != 2 {
		t.Errorf("want two lines, got %q", out)
	}
}
