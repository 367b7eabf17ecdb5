package toolkit

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The files themselves. JSON comes from encoding/json. TOML and YAML are a few fixed lines
// with quoted strings, which both formats write alike: see quote.

// A jsonEntry is one server. The JSON files agree in most of their keys.
type jsonEntry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitzero"` // of a program, even where there are none
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	HTTPURL string            `json:"httpUrl,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// A jsonFile is a whole file; it has one of the two root keys.
type jsonFile struct {
	Inputs     []jsonInput          `json:"inputs,omitempty"`
	Servers    map[string]jsonEntry `json:"servers,omitempty"`
	MCPServers map[string]jsonEntry `json:"mcpServers,omitempty"`
}

// A jsonInput is a question that VS Code puts to its user.
type jsonInput struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	Description string `json:"description"`
	Password    bool   `json:"password"`
}

func mcpServers(r Registration, e jsonEntry) string {
	return jsonText(jsonFile{MCPServers: map[string]jsonEntry{r.Name: e}})
}

// vscodeServers declares an input for each of the secrets.
func vscodeServers(r Registration, e jsonEntry, secrets ...string) string {
	f := jsonFile{Servers: map[string]jsonEntry{r.Name: e}}
	for _, env := range secrets {
		f.Inputs = append(f.Inputs, jsonInput{"promptString", env, env + " for the MCP server " + r.Name, true})
	}
	return jsonText(f)
}

func jsonText(f jsonFile) string {
	var b bytes.Buffer
	if err := printJSON(&b, f); err != nil {
		panic(err) // strings written to memory: nothing can fail
	}
	return b.String()
}

// program is the entry of a server that the client starts.
func (t target) program(r Registration) jsonEntry {
	e := jsonEntry{Command: r.Command, Args: append([]string{}, r.Args...)}
	for _, env := range r.Env {
		if e.Env == nil {
			e.Env = map[string]string{}
		}
		e.Env[env] = t.value(env)
	}
	return e
}

// headers are what a client sends with each request.
func (t target) headers(r Registration) map[string]string {
	if r.TokenEnv == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + t.value(r.TokenEnv)}
}

func plainStdio(t target, r Registration) string { return mcpServers(r, t.program(r)) }

func plainHTTP(t target, r Registration) string {
	return mcpServers(r, jsonEntry{URL: r.URL, Headers: t.headers(r)})
}

func claudeCodeStdio(t target, r Registration) string {
	e := t.program(r)
	e.Type = "stdio"
	return mcpServers(r, e)
}

func claudeCodeHTTP(t target, r Registration) string {
	return mcpServers(r, jsonEntry{Type: "http", URL: r.URL, Headers: t.headers(r)})
}

func vscodeStdio(t target, r Registration) string {
	e := t.program(r)
	e.Type = "stdio"
	return vscodeServers(r, e, r.Env...)
}

func vscodeHTTP(t target, r Registration) string {
	var secrets []string
	if r.TokenEnv != "" {
		secrets = []string{r.TokenEnv}
	}
	return vscodeServers(r, jsonEntry{Type: "http", URL: r.URL, Headers: t.headers(r)}, secrets...)
}

// geminiHTTP uses httpUrl: url is for the older SSE transport there.
func geminiHTTP(t target, r Registration) string {
	return mcpServers(r, jsonEntry{HTTPURL: r.URL, Headers: t.headers(r)})
}

// remoteHTTP has mcp-remote started as a program. The header is in a variable, which
// mcp-remote puts in: on Windows, Claude Desktop tears arguments apart at blanks.
func remoteHTTP(t target, r Registration) string {
	e := jsonEntry{Command: "npx", Args: []string{"-y", "mcp-remote", r.URL}}
	if u, err := url.Parse(r.URL); err != nil || u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
		e.Args = append(e.Args, "--allow-http") // which it otherwise refuses, to any other host
	}
	if r.TokenEnv != "" {
		e.Args = append(e.Args, "--header", "Authorization:${AUTH_HEADER}")
		e.Env = map[string]string{"AUTH_HEADER": "Bearer " + t.value(r.TokenEnv)}
	}
	return mcpServers(r, e)
}

// bareKey is a TOML key that needs no quotes.
var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func codexTable(r Registration) string {
	if bareKey.MatchString(r.Name) {
		return "[mcp_servers." + r.Name + "]\n"
	}
	return "[mcp_servers." + quote(r.Name) + "]\n"
}

func codexStdio(_ target, r Registration) string {
	text := codexTable(r) + "command = " + quote(r.Command) + "\nargs = " + quoteList(r.Args) + "\n"
	if len(r.Env) > 0 {
		text += "env_vars = " + quoteList(r.Env) + "\n"
	}
	return text
}

func codexHTTP(_ target, r Registration) string {
	text := codexTable(r) + "url = " + quote(r.URL) + "\n"
	if r.TokenEnv != "" {
		text += "bearer_token_env_var = " + quote(r.TokenEnv) + "\n"
	}
	return text
}

func smgStdio(_ target, r Registration) string {
	args := r.Args
	if b := r.Builtin; b != nil && !slices.Contains(args, b.arg()) {
		args = append(slices.Clone(args), b.arg())
	}
	return "servers:\n  - name: " + quote(r.Name) + "\n    protocol: stdio\n    command: " + quote(r.Command) +
		"\n    args: " + quoteList(args) + "\n" + smgBuiltin(r.Builtin)
}

// smgBuiltin has smg make calls of its own tool of b's.
func smgBuiltin(b *Builtin) string {
	if b == nil {
		return ""
	}
	return "    builtin_type: " + quote(b.Type) + "\n    builtin_tool_name: " + quote(b.Tool) + "\n"
}

func smgHTTP(t target, r Registration) string {
	text := "servers:\n  - name: " + quote(r.Name) + "\n    protocol: streamable\n    url: " + quote(r.URL) + "\n"
	if r.TokenEnv != "" {
		text += "    token: " + quote(t.value(r.TokenEnv)) + "\n"
	}
	if b := r.Builtin; b != nil {
		text += "    headers: {" + quote(b.Header) + ": " + quote(b.Form) + "}\n"
	}
	return text + smgBuiltin(r.Builtin)
}

// quote returns s, which is UTF-8, as a string of TOML and of YAML. Their double-quoted
// strings are alike in these escapes, and JSON's are not: TOML refuses a bare DEL, YAML also
// folds lines at NEL, and beyond U+FFFF neither takes JSON's pairs of surrogates.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r): // of blanks, only the ASCII one
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func quoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
