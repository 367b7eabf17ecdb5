// Command docgen writes what documents say of the tools from the servers themselves: the
// tables in README.md and docs/tools.md, between markers such as
//
//	<!-- tools mcp-files -->
//	<!-- end tools -->
//
// with "arguments" in place of "tools" for the long form, and the registrations in
// docs/clients.md, where "config codex" stands in the marker. `go generate ./...` runs it;
// `make check` fails where its result is not committed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/internal/imagetool"
	"github.com/toolhost/toolhost/internal/patchtool"
	"github.com/toolhost/toolhost/internal/shelltool"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

//go:generate go run .

// documents are what it writes into, seen from its own folder.
func documents() []string {
	top := filepath.Join("..", "..")
	return []string{filepath.Join(top, "README.md"), filepath.Join(top, "docs", "tools.md"), filepath.Join(top, "docs", "clients.md")}
}

func main() {
	for _, doc := range documents() {
		if err := rewrite(doc); err != nil {
			fmt.Fprintln(os.Stderr, "docgen:", err)
			os.Exit(1)
		}
	}
}

func apps() []toolkit.App {
	return []toolkit.App{filetool.App(), patchtool.App(), shelltool.App(), imagetool.App()}
}

// A tool is what a table shows of one.
type tool struct {
	Name, Title, Description string
	InputSchema              struct {
		Properties map[string]property
		Required   []string
	}
	Annotations struct{ ReadOnlyHint bool }
}

type property struct {
	Type, Description string
	Enum              []string
}

var section = regexp.MustCompile(`(?s)(<!-- (tools|arguments|config) ([a-z-]+) -->\n).*?(<!-- end (?:tools|arguments|config) -->)`)

func rewrite(file string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := current(old)
	if err != nil || bytes.Equal(old, text) {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// current returns a document with its generated parts as they should be.
func current(old []byte) ([]byte, error) {
	var failed error
	text := section.ReplaceAllFunc(old, func(m []byte) []byte {
		part := section.FindSubmatch(m)
		body, err := generate(string(part[2]), string(part[3]))
		if err != nil {
			failed = err
			return m
		}
		return slices.Concat(part[1], []byte(body), part[4])
	})
	return text, failed
}

// generate returns a generated part: a kind, and the server or target that it is of.
func generate(kind, of string) (string, error) {
	if kind == "config" {
		return registrations(of)
	}
	tools, err := served(of)
	if err != nil {
		return "", err
	}
	if kind == "arguments" {
		return long(tools), nil
	}
	return short(tools), nil
}

// registrations is what config prints for a target: for a program, and for an endpoint.
func registrations(target string) (string, error) {
	var b strings.Builder
	for _, form := range []struct {
		title string
		reg   toolkit.Registration
	}{
		{"Over stdio", toolkit.Registration{Name: "files", Command: "/usr/local/bin/mcp-files", Args: []string{"--root=/srv/work"}}},
		{"Over HTTP, with a token", toolkit.Registration{Name: "files", URL: "http://127.0.0.1:8801/mcp", TokenEnv: "MCP_FILES_TOKEN"}},
	} {
		s, err := form.reg.For(target)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n%s:\n\n```%s\n%s```\n", form.title, s.Format, s.Text)
	}
	return b.String() + "\n", nil
}

// adding are the flags by which a server serves more tools.
var adding = map[string]string{"mcp-files": "--write"}

// fixed are the flags by which a server says the same on every machine, whatever keys its
// environment holds.
var fixed = map[string][]string{"mcp-image": {"--provider", "openai"}}

// served asks a server for its tools, as a client would, and says of those that a flag adds
// which one.
func served(program string) ([]tool, error) {
	usual, err := list(program)
	flag := adding[program]
	if err != nil || flag == "" {
		return usual, err
	}
	all, err := list(program, flag)
	for i, t := range all {
		if !slices.ContainsFunc(usual, func(u tool) bool { return u.Name == t.Name }) {
			all[i].Title += ", with `" + flag + "`"
			all[i].Description += " Served with `" + flag + "`."
		}
	}
	return all, err
}

func list(program string, flags ...string) ([]tool, error) {
	for _, a := range apps() {
		if a.Name != program {
			continue
		}
		var out, errs bytes.Buffer
		args := slices.Concat(fixed[program], flags, []string{"tools", "--json"})
		if code := a.Run(context.Background(), args, toolkit.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != 0 {
			return nil, fmt.Errorf("%s tools: exit code %d: %s", program, code, errs.String())
		}
		var tools []tool
		err := json.Unmarshal(out.Bytes(), &tools)
		return tools, err
	}
	return nil, fmt.Errorf("no server is called %s", program)
}

// short is one line a tool.
func short(tools []tool) string {
	var b strings.Builder
	b.WriteString("\n| tool | what it does | arguments (the first ones are required) |\n|---|---|---|\n")
	for _, t := range tools {
		var names []string
		for _, n := range t.order() {
			names = append(names, "`"+n+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Name, t.Title, strings.Join(names, ", "))
	}
	return b.String() + "\n"
}

// long is a table a tool.
func long(tools []tool) string {
	var b strings.Builder
	for _, t := range tools {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| argument | type | meaning |\n|---|---|---|\n", t.Name, plain(t.Description))
		for _, n := range t.order() {
			p := t.InputSchema.Properties[n]
			kind := p.Type
			if slices.Contains(t.InputSchema.Required, n) {
				kind += ", required"
			}
			meaning := p.Description
			if len(p.Enum) > 0 {
				meaning += " (" + strings.Join(p.Enum, ", ") + ")"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", n, kind, strings.ReplaceAll(plain(meaning), "|", `\|`))
		}
	}
	return b.String() + "\n"
}

// plain keeps the stars of a text from being taken for emphasis.
func plain(text string) string { return strings.ReplaceAll(text, "*", `\*`) }

// order is the required arguments, then the others by name.
func (t tool) order() []string {
	var rest []string
	for n := range t.InputSchema.Properties {
		if !slices.Contains(t.InputSchema.Required, n) {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	return append(slices.Clone(t.InputSchema.Required), rest...)
}
