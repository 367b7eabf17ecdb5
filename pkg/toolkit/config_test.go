package toolkit_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// configApp is a program with a flag of every kind, and with those for HTTP whether or not
// all programs have them.
func configApp() toolkit.App {
	a := app()
	a.Name = "mcp-a_probe"
	a.Flags = []cli.Flag{
		&cli.BoolFlag{Name: "loud", Value: true},
		&cli.DurationFlag{Name: "pace"},
		&cli.StringFlag{Name: "state-dir"},
		&cli.StringFlag{Name: "listing", TakesFile: true},
		&cli.StringSliceFlag{Name: "mount"},
		&cli.StringSliceFlag{Name: "word"},
		&cli.StringFlag{Name: "sign-key"},
		&cli.StringFlag{Name: "base-url"},
	}
	for _, f := range []cli.Flag{
		&cli.StringFlag{Name: "token-file"}, &cli.StringSliceFlag{Name: "allowed-hosts"},
		&cli.StringSliceFlag{Name: "allowed-origins"}, &cli.BoolFlag{Name: "insecure-no-auth"},
	} {
		if !knows(f.Names()[0]) {
			a.Flags = append(a.Flags, f)
		}
	}
	return a
}

// knows reports whether all programs have a flag.
func knows(flag string) bool {
	var out bytes.Buffer
	app().Run(context.Background(), []string{"--help"}, toolkit.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	return strings.Contains(out.String(), "--"+flag)
}

func runConfig(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = configApp().Run(t.Context(), append([]string{"config"}, args...), toolkit.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

// configEntry runs config and returns what it printed of the server.
func configEntry(t *testing.T, target string, args ...string) (e map[string]any, stderr string) {
	t.Helper()
	code, out, errs := runConfig(t, append([]string{target}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	format := map[string]string{"codex": "toml", "smg": "yaml"}[target]
	if format == "" {
		format = "json"
	}
	return entry(t, parse(t, toolkit.Snippet{Text: out, Format: format}), "a-probe"), errs
}

func TestConfigTakesWhatWasGiven(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	dir, err := os.Getwd() // where TMPDIR is a link
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if err := os.WriteFile("key.pem", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list := string(os.PathListSeparator)
	tests := []struct {
		name    string
		target  string // codex, if it does not matter
		environ [2]string
		args    []string
		want    []string
		hint    string
	}{
		{name: "nothing"},
		{name: "absolute", args: []string{"--root", home}, want: []string{"--root=" + home}},
		{name: "relative", args: []string{"--root", "a", "--root", "../b", "--root=."}, want: []string{"--root=" + dir + "/a", "--root=" + filepath.Dir(dir) + "/b", "--root=" + dir}},
		{name: "home", args: []string{"--root=~/x", "--root=~", "--root=./~"}, want: []string{"--root=" + home + "/x", "--root=" + home, "--root=" + dir + "/~"}},
		{name: "list from the environment", environ: [2]string{"ROOT", "a" + list + "/b,c"}, want: []string{"--root=" + dir + "/a", "--root=/b,c"}},
		{name: "flag beats the environment", environ: [2]string{"ROOT", "a"}, args: []string{"--root", "b"}, want: []string{"--root=" + dir + "/b"}},
		{name: "empty in the environment", environ: [2]string{"TOOL_PREFIX", ""}},
		{name: "number", environ: [2]string{"MAX_OUTPUT", "5000"}, want: []string{"--max-output=5000"}},
		{name: "the default, given", args: []string{"--log-level", "warn"}, want: []string{"--log-level=warn"}},
		{name: "duration", args: []string{"--pace", "90s"}, want: []string{"--pace=1m30s"}},
		{name: "switch", args: []string{"--loud"}, want: []string{"--loud"}},
		{name: "switch off", args: []string{"--loud=false"}, want: []string{"--loud=false"}},
		{name: "no path", args: []string{"--word", "a", "--word=-b"}, want: []string{"--word=a", "--word=-b"}},
		{name: "state", args: []string{"--state-dir", "s"}, want: []string{"--state-dir=" + dir + "/s"}},
		{name: "takes a file", args: []string{"--listing", "l"}, want: []string{"--listing=" + dir + "/l"}},
		{name: "mount", args: []string{"--mount", "m:/data:ro", "--mount", "/x:/y"}, want: []string{"--mount=" + dir + "/m:/data:ro", "--mount=/x:/y"}},
		{name: "mount of a workspace", target: "cursor", args: []string{"--mount", "${env:HOME}/m:/data"}, want: []string{"--mount=${env:HOME}/m:/data"}},
		{name: "secret", args: []string{"--sign-key", "s3cret"}, hint: "set MCP_A_PROBE_SIGN_KEY in the environment of Codex"},
		{name: "secret from the environment", environ: [2]string{"SIGN_KEY", "s3cret"}, hint: "set MCP_A_PROBE_SIGN_KEY in the environment of Codex"},
		{name: "file of a secret", args: []string{"--sign-key", "key.pem"}, want: []string{"--sign-key=" + dir + "/key.pem"}},
		{name: "address", args: []string{"--base-url", "http://u@h/v1"}, want: []string{"--base-url=http://u@h/v1"}},
		{name: "address with a password", args: []string{"--base-url", "http://u:s3cret@h/v1"}, hint: "set MCP_A_PROBE_BASE_URL"},
		{name: "for HTTP only", args: []string{"--token-file", "t", "--allowed-hosts=h"}, hint: "--token-file is left out: it is for --http"},
		{name: "workspace", target: "vscode", args: []string{"--root", "${workspaceFolder}/src"}, want: []string{"--root=${workspaceFolder}/src"}, hint: "VS Code replaces ${workspaceFolder}"},
		{name: "variable inside", target: "claude-code", args: []string{"--root", "/srv/${X}"}, want: []string{"--root=/srv/${X}"}, hint: "Claude Code replaces ${X}"},
		{name: "variable of Gemini CLI", target: "gemini-cli", args: []string{"--root", "$HOME/x"}, want: []string{"--root=$HOME/x"}, hint: "Gemini CLI replaces $HOME"},
		{name: "dollar that stays", args: []string{"--root", "/srv/$X"}, want: []string{"--root=/srv/$X"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.environ[0] != "" {
				t.Setenv("MCP_A_PROBE_"+tt.environ[0], tt.environ[1])
			}
			if tt.target == "" {
				tt.target = "codex"
			}
			e, errs := configEntry(t, tt.target, tt.args...)
			want := []any{}
			for _, w := range tt.want {
				want = append(want, filepath.FromSlash(w))
			}
			if diff := cmp.Diff(want, e["args"]); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			mustContain(t, errs, tt.hint)
		})
	}
}

func TestConfigPrintsNoSecret(t *testing.T) {
	t.Setenv("MCP_A_PROBE_TOKEN", "0123456789abcdef")
	for _, target := range toolkit.RegistrationTargets() {
		for _, args := range [][]string{
			{target, "--sign-key", "s3cret", "--base-url", "http://u:s3cret@h/"},
			{target, "--http", "127.0.0.1:1", "--sign-key", "s3cret"},
		} {
			code, out, errs := runConfig(t, args...)
			if code != 0 || strings.Contains(out+errs, "s3cret") {
				t.Errorf("%q: exit code %d\n%s%s", args, code, out, errs)
			}
		}
	}
}

func TestConfigProgram(t *testing.T) {
	e, _ := configEntry(t, "cursor")
	got, _ := e["command"].(string)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, err := os.Stat(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(self)
	if err != nil || !filepath.IsAbs(got) || !os.SameFile(a, b) {
		t.Errorf("got %q for %q, %v", got, self, err)
	}
}

func TestConfigEndpoint(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string // the URL
		errs string // or the error
	}{
		{name: "loopback", args: []string{"--http", "127.0.0.1:8801"}, want: "http://127.0.0.1:8801/mcp"},
		{name: "localhost", args: []string{"--http", "localhost:8801", "--allowed-hosts", "h"}, want: "http://localhost:8801/mcp"},
		{name: "loopback, IPv6", args: []string{"--http", "[::1]:8801"}, want: "http://[::1]:8801/mcp"},
		{name: "named port", args: []string{"--http", "127.0.0.1:http"}, want: "http://127.0.0.1:80/mcp"},
		{name: "all addresses", args: []string{"--http", ":8801", "--allowed-hosts", "h.example.org", "--allowed-hosts", "other"}, want: "http://h.example.org:8801/mcp"},
		{name: "0.0.0.0", args: []string{"--http", "0.0.0.0:8801", "--allowed-hosts", "*,10.0.0.7"}, want: "http://10.0.0.7:8801/mcp"},
		{name: "another port", args: []string{"--http", "[::]:8801", "--allowed-hosts", "h:9000"}, want: "http://h:9000/mcp"},
		{name: "IPv6", args: []string{"--http", "[::]:8801", "--allowed-hosts", "[2001:db8::1]"}, want: "http://[2001:db8::1]:8801/mcp"},
		{name: "one that is allowed", args: []string{"--http", "10.0.0.7:8801", "--allowed-hosts", "h", "--allowed-hosts", "10.0.0.7"}, want: "http://10.0.0.7:8801/mcp"},
		{name: "IPv6 that is allowed", args: []string{"--http", "[2001:db8::1]:8801", "--allowed-hosts", "h,[2001:db8::1]"}, want: "http://[2001:db8::1]:8801/mcp"},
		{name: "one, all allowed", args: []string{"--http", "10.0.0.7:8801", "--allowed-hosts", "*"}, want: "http://10.0.0.7:8801/mcp"},
		{name: "all, none allowed", args: []string{"--http", ":8801"}, errs: "--allowed-hosts tools.example.com"},
		{name: "one, none allowed", args: []string{"--http", "10.0.0.7:8801"}, errs: "--allowed-hosts tools.example.com"},
		{name: "all, all allowed", args: []string{"--http", ":8801", "--allowed-hosts", "*"}, errs: "add --allowed-hosts NAME"},
		{name: "not a host", args: []string{"--http", ":8801", "--allowed-hosts", "http://h/"}, errs: "want a name"},
		{name: "no port", args: []string{"--http", "localhost"}, errs: "want HOST:PORT"},
		{name: "any port", args: []string{"--http", "localhost:0"}, errs: "fixed port"},
		{name: "no such port", args: []string{"--http", "localhost:x-y-z"}, errs: "unknown port"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := runConfig(t, append([]string{"cursor", "--insecure-no-auth"}, tt.args...)...)
			if tt.errs != "" {
				if code != 2 || out != "" {
					t.Errorf("exit code %d, %q", code, out)
				}
				mustContain(t, errs, tt.errs)
				return
			}
			e, _ := configEntry(t, "cursor", append([]string{"--insecure-no-auth"}, tt.args...)...)
			if diff := cmp.Diff(map[string]any{"url": tt.want}, e); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestConfigToken(t *testing.T) {
	want := map[string]any{"url": "http://127.0.0.1:1/mcp", "bearer_token_env_var": "MCP_A_PROBE_TOKEN"}
	file := filepath.Join(t.TempDir(), "t")
	if err := os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, errs := configEntry(t, "codex", "--http", "127.0.0.1:1", "--token-file", file)
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("by file: -want +got\n%s", diff)
	}
	mustContain(t, errs, "set MCP_A_PROBE_TOKEN in the environment of Codex")
	t.Setenv("MCP_A_PROBE_TOKEN", "0123456789abcdef")
	if e, _ = configEntry(t, "codex", "--http", "127.0.0.1:1"); !cmp.Equal(e, want) {
		t.Errorf("by environment: got %v", e)
	}
}

func TestConfigRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "${X}")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	tests := []struct {
		name string
		args []string
		errs string
	}{
		{"no target", nil, "there are: codex, claude-code, claude-desktop, vscode, cursor, gemini-cli, smg"},
		{"unknown target", []string{"emacs"}, `unknown target "emacs"; there are: codex, `},
		{"two targets", []string{"codex", "smg"}, "want one target"},
		{"a server that would not start", []string{"codex", "--max-output", "1"}, "want at least 4096"},
		{"somebody's home", []string{"codex", "--root", "~nobody/x"}, "write the path out"},
		{"a directory with a variable for a name", []string{"claude-code", "--root", dir}, "would replace ${X}"},
		{"the same, below it", []string{"claude-code", "--root", "sub"}, "would replace ${X}"},
		{"the same, not there", []string{"claude-code", "--root", "none"}, "would replace ${X}"},
		{"a variable that stays", []string{"codex", "--root", "${workspaceFolder}"}, "Codex does not replace such a variable"},
		{"the same, of the shell", []string{"claude-code", "--root", "$HOME/x"}, "Claude Code does not replace such a variable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := runConfig(t, tt.args...)
			if code != 2 || out != "" {
				t.Errorf("exit code %d, stdout %q", code, out)
			}
			mustContain(t, errs, tt.errs)
		})
	}
	t.Run("blanks", func(t *testing.T) {
		t.Setenv("MCP_A_PROBE_ROOT", "/a ")
		if code, _, errs := runConfig(t, "codex"); code != 2 || !strings.Contains(errs, "only the environment can hold") {
			t.Errorf("exit code %d, %s", code, errs)
		}
	})
	t.Run("not UTF-8", func(t *testing.T) {
		if code, _, errs := runConfig(t, "codex", "--word", "\xff"); code != 2 || !strings.Contains(errs, "is not UTF-8") {
			t.Errorf("exit code %d, %s", code, errs)
		}
	})
}

func TestConfigHelp(t *testing.T) {
	code, out, errs := runConfig(t, "--help")
	if code != 0 || errs != "" {
		t.Errorf("exit code %d, %q", code, errs)
	}
	mustContain(t, out, append(toolkit.RegistrationTargets(), "config [command options] TARGET")...)
}
