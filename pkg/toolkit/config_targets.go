package toolkit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Registration is what a client or gateway has to know to use a server. With a URL it
// is for a server that runs on its own, without one for a program that the client starts.
type Registration struct {
	Name     string   // of the server, such as files: no "_", at which gateways split names
	Command  string   // absolute path of the program
	Args     []string // what it is started with
	Env      []string // names of variables that it needs and whose values belong in no file
	URL      string   // of the endpoint; "" for stdio
	TokenEnv string   // name of the variable that holds the bearer token; "" for none
	Builtin  *Builtin // for gateways that can put a tool in the place of one of their own; nil: none
}

// A Builtin is a tool that can stand for one that gateways have built in, if its results have a
// form of their own.
type Builtin struct {
	Type   string // the gateway's name for such a tool, such as image_generation
	Tool   string // that takes its place: canonical in [App.Builtin], as shown in a [Registration]
	Header string // by which a request over HTTP asks for the form
	Flag   string // by which a program is told to use it; name without dashes
	Form   string // value of both
}

// arg is what tells a program to use the form.
func (b *Builtin) arg() string { return "--" + b.Flag + "=" + b.Form }

// A Snippet is a Registration in the words of one client or gateway.
type Snippet struct {
	Text   string   // what to paste, ending in a newline
	Format string   // json, toml or yaml
	Hints  []string // where it belongs and what else to do, each one line
}

// A target is a client or gateway that a server can be registered with.
type target struct {
	name, title, format string
	file                string // where a registration belongs
	note, httpNote      string // what its users should know on stdio and on HTTP; "" for nothing
	// reference finds what the target replaces in the strings of its file by values of its
	// own. None of them has a way to write such a text that stays. nil: strings stay as they are.
	reference *regexp.Regexp
	// secret is how the file refers to the value of an environment variable; nil: it cannot,
	// and a placeholder stands there.
	secret      func(env string) string
	inherits    bool // programs that the target starts get its whole environment
	asks        bool // it asks its user for secrets, which the file declares
	stdio, http func(target, Registration) string
}

var (
	braced = regexp.MustCompile(`\$\{[^}]+\}`)
	dollar = regexp.MustCompile(`\$(\w+|\{[^}]+\})`)
)

// targets are all that are known, in the order in which help lists them.
var targets = []target{
	{
		name: "codex", title: "Codex", format: "toml",
		file:  "~/.codex/config.toml, or .codex/config.toml in a trusted project",
		note:  "Codex passes on only a few environment variables, and those named in env_vars",
		stdio: codexStdio, http: codexHTTP,
		secret: func(env string) string { return env }, // it names variables instead of quoting them
	},
	{
		name: "claude-code", title: "Claude Code", format: "json",
		file:      ".mcp.json in the project, or ~/.claude.json for all projects",
		reference: braced, secret: func(env string) string { return "${" + env + "}" },
		stdio: claudeCodeStdio, http: claudeCodeHTTP,
	},
	{
		name: "claude-desktop", title: "Claude Desktop", format: "json",
		file:     "claude_desktop_config.json (Settings, Developer, Edit Config)",
		httpNote: "the file of Claude Desktop knows no HTTP, so mcp-remote stands between; it needs Node.js",
		stdio:    plainStdio, http: remoteHTTP,
	},
	{
		name: "vscode", title: "VS Code", format: "json",
		file:      ".vscode/mcp.json in the workspace, or the user's mcp.json (MCP: Open User Configuration)",
		reference: braced, secret: func(env string) string { return "${input:" + env + "}" },
		asks:  true,
		stdio: vscodeStdio, http: vscodeHTTP,
	},
	{
		name: "cursor", title: "Cursor", format: "json",
		file:      ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
		reference: braced, secret: func(env string) string { return "${env:" + env + "}" },
		stdio: plainStdio, http: plainHTTP,
	},
	{
		name: "gemini-cli", title: "Gemini CLI", format: "json",
		file:      "~/.gemini/settings.json, or .gemini/settings.json in the project",
		reference: dollar, secret: func(env string) string { return "${" + env + "}" },
		stdio: plainStdio, http: geminiHTTP,
	},
	{
		name: "smg", title: "smg", format: "yaml",
		file:     "the file that smg reads with --mcp-config-path",
		inherits: true,
		stdio:    smgStdio, http: smgHTTP,
	},
}

// RegistrationTargets returns the clients and gateways that Registration.For knows.
func RegistrationTargets() (names []string) {
	for _, t := range targets {
		names = append(names, t.name)
	}
	return names
}

func findTarget(name string) (target, error) {
	i := slices.IndexFunc(targets, func(t target) bool { return t.name == name })
	if i < 0 {
		return target{}, fmt.Errorf("unknown target %q; there are: %s", name, strings.Join(RegistrationTargets(), ", "))
	}
	return targets[i], nil
}

// For returns r for the target with that name. Every string of r comes out of a parser of
// the format as it went in. What the target itself would replace in Args, such as
// ${workspaceFolder}, stays for it to replace, and a hint names it; in Command it is an error.
func (r Registration) For(name string) (Snippet, error) {
	t, err := findTarget(name)
	if err != nil {
		return Snippet{}, err
	}
	for _, s := range append([]string{r.Name, r.Command, r.URL}, r.Args...) {
		if !utf8.ValidString(s) {
			return Snippet{}, fmt.Errorf("%q is not UTF-8: a %s file cannot hold it", s, t.format)
		}
	}
	if ref := t.find(r.Command); ref != "" {
		return Snippet{}, fmt.Errorf("the program's path %q: %s would replace %s; start it by another path", r.Command, t.title, ref)
	}
	s := Snippet{Format: t.format, Hints: t.hints(r)}
	if r.URL == "" {
		s.Text = t.stdio(t, r)
	} else {
		s.Text = t.http(t, r)
	}
	return s, nil
}

// find returns the first part of s that the target would replace, "" if there is none.
func (t target) find(s string) string {
	if t.reference == nil {
		return ""
	}
	return t.reference.FindString(s)
}

// value is what stands in the file for the value of an environment variable.
func (t target) value(env string) string {
	if t.secret == nil {
		return "REPLACE-WITH-" + env
	}
	return t.secret(env)
}

func (t target) hints(r Registration) []string {
	hints := []string{"this belongs in " + t.file + "; then restart " + t.title}
	if r.URL != "" {
		hints = append(hints, "the server has to be running: start it with the same flags, without config "+t.name)
		if t.httpNote != "" {
			hints = append(hints, t.httpNote)
		}
		if r.TokenEnv != "" {
			hints = append(hints, t.secretHint(r.TokenEnv, false))
		}
		return hints
	}
	if t.note != "" {
		hints = append(hints, t.note)
	}
	for _, env := range r.Env {
		hints = append(hints, t.secretHint(env, t.inherits))
	}
	for _, arg := range r.Args {
		if ref := t.find(arg); ref != "" {
			hints = append(hints, fmt.Sprintf("%s replaces %s in %q", t.title, ref, arg))
		}
	}
	return hints
}

// secretHint says how the value of a variable gets to the target.
func (t target) secretHint(env string, inherited bool) string {
	switch {
	case t.asks:
		return t.title + " asks for " + env + " once and keeps it"
	case t.secret == nil && !inherited:
		return "put the value of " + env + " in place of " + t.value(env) + ", and keep the file private"
	}
	return "set " + env + " in the environment of " + t.title
}
