package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
	"github.com/urfave/cli/v2"
)

// Connect returns a client session to s within the process, of the newest protocol, and a
// function that ends it. Calls through it take the same way as any client's.
func (s *Server) Connect(ctx context.Context, o *mcp.ClientOptions) (*mcp.ClientSession, func(), error) {
	near, far := mcp.NewInMemoryTransports()
	ss, err := s.mcp.Connect(ctx, far, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("connect server: %w", err)
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: s.opts.Name, Version: s.opts.Version}, o).Connect(ctx, near, nil)
	if err != nil {
		ss.Close()
		return nil, nil, fmt.Errorf("connect client: %w", err)
	}
	return cs, func() { cs.Close(); ss.Wait() }, nil
}

// call is the command that makes one call.
func (r *run) call(c *cli.Context) error {
	tool := c.Args().First()
	if tool == "" {
		return usagef("call: which tool? %s tools lists them", r.app.Name)
	}
	args, err := r.arguments(c.Args().Tail())
	if err != nil {
		return usageError{err}
	}
	s, err := r.server(c)
	if err != nil {
		return err
	}
	bar := newBar(r.std.Err)
	cs, end, err := s.Connect(c.Context, &mcp.ClientOptions{ProgressNotificationHandler: bar.update, ElicitationHandler: r.person(bar)})
	if err != nil {
		return err
	}
	defer end()
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	if bar.on {
		params.SetProgressToken("call")
	}
	res, err := cs.CallTool(c.Context, params)
	bar.clear()
	if err != nil {
		return callError(err)
	}
	if res.IsError {
		r.code = exitFailure
	}
	if c.Bool("json") {
		return printJSON(r.std.Out, res)
	}
	return printText(r.std.Out, res)
}

// callError tells an unknown tool, which is a mistake in the command line, from the rest.
func callError(err error) error {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) && wire.Code == jsonrpc.CodeInvalidParams {
		return usagef("call: %s", wire.Message)
	}
	return fmt.Errorf("call: %w", err)
}

// arguments makes the arguments of a call from words: one JSON object, @file, - for
// standard input, or key=value for each argument.
func (r *run) arguments(words []string) (json.RawMessage, error) {
	if len(words) == 0 {
		return json.RawMessage("{}"), nil
	}
	if len(words) == 1 && (words[0] == "-" || strings.HasPrefix(words[0], "@") || strings.HasPrefix(strings.TrimSpace(words[0]), "{")) {
		return r.document(words[0])
	}
	var members []string
	for _, w := range words {
		k, v, ok := strings.Cut(w, "=")
		if !ok || k == "" || k == "@" {
			return nil, fmt.Errorf("call: argument %q: want key=value, key@=FILE, or one JSON object", w)
		}
		if name, isFile := strings.CutSuffix(k, "@"); isFile {
			text, err := r.file(v)
			if err != nil {
				return nil, err
			}
			k, v = name, string(text)
		}
		members = append(members, string(marshal(k))+":"+string(marshal(v)))
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}"), nil
}

func (r *run) document(word string) (json.RawMessage, error) {
	data, err := []byte(word), error(nil)
	switch {
	case word == "-":
		data, err = r.file(word)
	case word[0] == '@':
		data, err = r.file(word[1:])
	}
	if err != nil {
		return nil, err
	}
	if !json.Valid(data) {
		var v any
		return nil, fmt.Errorf("call: arguments are not valid JSON: %w; key@=FILE takes one argument as it stands in a file", json.Unmarshal(data, &v))
	}
	return data, nil
}

// file reads a file, or standard input where its name is -.
func (r *run) file(name string) (data []byte, err error) {
	if name == "-" {
		data, err = io.ReadAll(r.std.In)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("call: read arguments: %w", err)
	}
	return data, nil
}

func printText(w io.Writer, res *mcp.CallToolResult) error {
	for _, c := range res.Content {
		text := describe(c)
		if isTerminal(w) {
			text = terminal(text)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return fmt.Errorf("print result: %w", err)
		}
	}
	return nil
}

// describe returns a block's text, or names what a terminal cannot show.
func describe(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return fmt.Sprintf("[image, %s, %d bytes]", c.MIMEType, len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data))
	case *mcp.ResourceLink:
		return fmt.Sprintf("[resource %s]", c.URI)
	}
	return fmt.Sprintf("[%T]", c)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}

// List returns the tools as clients see them.
func (s *Server) List(ctx context.Context) ([]*mcp.Tool, error) {
	cs, end, err := s.Connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer end()
	res, err := cs.ListTools(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	return res.Tools, nil
}

// tools is the command that prints the tool list.
func (r *run) tools(c *cli.Context) error {
	s, err := r.server(c)
	if err != nil {
		return err
	}
	tools, err := s.List(c.Context)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(r.std.Out, tools)
	}
	for _, t := range tools {
		fmt.Fprintf(r.std.Out, "%s: %s\n  %s\n", t.Name, t.Title, t.Description)
	}
	return nil
}

// A Finding is one line of what doctor says.
type Finding struct {
	What string // what was looked at
	OK   bool
	Text string // what was found
	Hint string // how to mend it, where OK is false
}

// doctor is the command that looks at what the server needs.
func (r *run) doctor(c *cli.Context) error {
	if _, err := r.server(c); err != nil {
		return err
	}
	found := []Finding{{What: "command line", OK: true, Text: "the flags are valid"}}
	if c.String("http") != "" {
		found = append(found, r.httpFinding(c))
	}
	if r.app.Doctor != nil {
		found = append(found, r.app.Doctor(c)...)
	}
	for _, f := range found {
		mark := "ok  "
		if !f.OK {
			mark, r.code = "FAIL", exitFailure
		}
		fmt.Fprintf(r.std.Out, "%s  %s: %s\n", mark, f.What, f.Text)
		if f.Hint != "" {
			fmt.Fprintf(r.std.Out, "      hint: %s\n", f.Hint)
		}
	}
	return nil
}

// version is the command that prints the version.
func (r *run) version(*cli.Context) error {
	info, _ := debug.ReadBuildInfo()
	fmt.Fprintf(r.std.Out, "%s %s (%s, MCP up to %s)\n", r.app.Name, version(), info.GoVersion, wire.ModernEra)
	return nil
}

// version returns the module's version, as the build recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
