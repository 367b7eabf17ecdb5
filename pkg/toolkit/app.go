package toolkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/approval/seal"
	"github.com/urfave/cli/v2"
)

// An App is one server program. Make a new one for each run: its flags hold what was
// given.
type App struct {
	Name         string // mcp-files
	Usage        string // one line
	Flags        []cli.Flag
	Names        func(*cli.Context) map[string]string // canonical name -> name to show; nil: as they are
	Instructions func(*cli.Context) string            // for the model; nil: none
	Setup        func(*cli.Context, *Server) error    // adds the tools; no I/O but what start-up needs
	Doctor       func(*cli.Context) []Finding         // what the server needs beyond itself
	Builtin      *Builtin                             // for the registration with gateways; nil: none
	Writable     func(*cli.Context) []string          // directories beside those of --root that calls can write; nil: none
}

// Streams are a program's standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// The exit codes of every program.
const (
	exitOK      = 0
	exitFailure = 1 // the tool, or the server, reported an error
	exitUsage   = 2 // flags, JSON or the tool's name are wrong; nothing was done
)

// Main runs a with the process's arguments and streams, and returns the exit code.
// SIGTERM, SIGINT and SIGHUP end it.
func Main(a App) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return a.Run(ctx, os.Args[1:], Streams{os.Stdin, os.Stdout, os.Stderr})
}

// Run runs a with args, the program's name left out, and returns the exit code.
func (a App) Run(ctx context.Context, args []string, std Streams) int {
	r := &run{app: a, std: std}
	c := r.cli()
	words, err := permute(args, c)
	if err != nil {
		return r.exit(usageError{err})
	}
	err = c.RunContext(ctx, append([]string{a.Name}, words...))
	if r.made != nil {
		r.made.Close()
	}
	return r.exit(err)
}

// leastOutput is the smallest --max-output: less has no room for a line and its notes.
const leastOutput = 4096

// A usageError is a mistake in the command line; nothing was done.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// A run is one run of an App.
type run struct {
	app  App
	std  Streams
	made *Server // nil where a command needs none
	code int     // of a command that has already said what was wrong
}

func (r *run) exit(err error) int {
	if err == nil {
		return r.code
	}
	fmt.Fprintf(r.std.Err, "%s: %v\n", r.app.Name, err)
	var u usageError
	if errors.As(err, &u) {
		fmt.Fprintf(r.std.Err, "hint: %s --help\n", r.app.Name)
		return exitUsage
	}
	return exitFailure
}

// cli returns the command line. The library writes usage errors to standard output unless
// told otherwise, where they would corrupt the protocol: all errors come back to exit.
func (r *run) cli() *cli.App {
	usage := func(_ *cli.Context, err error, _ bool) error { return usageError{err} }
	c := &cli.App{
		Name: r.app.Name, Usage: r.app.Usage,
		UsageText:   r.app.Name + " [flags]                serve over stdio, or with --http ADDR over HTTP\n" + r.app.Name + " [flags] COMMAND [args]",
		Description: "Every flag can be given as an environment variable, " + envName(r.app.Name, "FLAG") + ",\nand before or after the command. Lists are separated as in PATH, those of hosts,\norigins and mounts by commas. " + envName(r.app.Name, "TOKEN") + " is a bearer token for --http.",
		Flags:       append(commonFlags(), r.app.Flags...),
		Writer:      r.std.Out, ErrWriter: r.std.Err,
		HideVersion: true, HideHelpCommand: true, DisableSliceFlagSeparator: true,
		OnUsageError:   usage,
		ExitErrHandler: func(*cli.Context, error) {},
		Action:         r.serve,
		Commands: []*cli.Command{
			{
				Name: "call", Usage: "make one call and print the result", ArgsUsage: "TOOL ['{json}' | @file | - | key=value...]",
				Description: "The arguments are one JSON object, in place, in a file or on standard input,\nor key=value for each, such as pattern=TODO -C=2. key@=FILE is the text of a file,\nkey@=- of standard input. Behind -- nothing is a flag.",
				Flags:       []cli.Flag{jsonFlag("print the whole result")}, Action: r.call,
			},
			{Name: "tools", Usage: "print the tools as served", Flags: []cli.Flag{jsonFlag("print the definitions")}, Action: alone(r.tools)},
			r.configCommand(),
			r.policyCommand(),
			{Name: "doctor", Usage: "say what works, what is missing, and how to mend it", Action: alone(r.doctor)},
			{Name: "version", Usage: "print the version", Action: alone(r.version)},
		},
	}
	for _, cmd := range c.Commands {
		cmd.OnUsageError, cmd.HideHelpCommand = usage, true
	}
	fromEnvironment(r.app.Name, c.Flags)
	return c
}

// alone is a command that takes no arguments.
func alone(do cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return usagef("%s takes no arguments, got %q", c.Command.Name, c.Args().First())
		}
		return do(c)
	}
}

func jsonFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "json", Usage: usage} }

func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "root", Usage: "`DIR` to serve; can be repeated", TakesFile: true},
		&cli.StringFlag{Name: "http", Usage: "serve streamable HTTP on `ADDR`, such as 127.0.0.1:8801, instead of stdio"},
		&cli.StringFlag{Name: "token-file", Usage: "bearer tokens for --http, in `FILE`: TOKEN or NAME TOKEN [SCOPE...] on each line", TakesFile: true},
		&cli.StringSliceFlag{Name: "allowed-hosts", Usage: "`HOST` by which clients call, or HOST:PORT, or * for any; can be repeated, or a list with commas"},
		&cli.StringSliceFlag{Name: "allowed-origins", Usage: "`ORIGIN` of web pages that may call, such as https://app.example.com; can be repeated, or a list with commas"},
		&cli.BoolFlag{Name: "insecure-no-auth", Usage: "serve other machines without a token"},
		&cli.StringFlag{Name: "policy", Usage: "decide which calls run by the rules in `FILE`, which is read again when it changes", TakesFile: true},
		&cli.StringFlag{Name: "require-approval", Usage: "`MODE`: policy, always (everything asks) or never (nothing asks)", Value: string(approval.AsDecided)},
		&cli.StringFlag{Name: "approval-keys", Usage: "keys that seal what clients hold while a person is asked, in `FILE`: 32 bytes as hex or base64 on each line, the first seals; default: a new one", TakesFile: true},
		&cli.StringSliceFlag{Name: "tools", Usage: "serve only `TOOL`; can be repeated, or a list with commas"},
		&cli.StringFlag{Name: "tool-prefix", Usage: "put `PREFIX` before every tool name"},
		&cli.StringSliceFlag{Name: "tool-name", Usage: "show a tool under another name, `OLD=NEW`; can be repeated"},
		&cli.IntFlag{Name: "max-output", Usage: "text of a result, in `BYTES`", Value: DefaultMaxOutput},
		&cli.IntFlag{Name: "max-concurrent", Usage: "calls that run at once, `N`", Value: DefaultMaxConcurrent},
		&cli.StringFlag{Name: "log-level", Usage: "`LEVEL`: trace, debug, info, warn, error or disabled", Value: "warn"},
		&cli.StringFlag{Name: "log-format", Usage: "`FORMAT`: text or json", Value: "text"},
	}
}

// server makes the server that the flags describe.
func (r *run) server(c *cli.Context) (*Server, error) {
	s, err := r.build(c)
	if err != nil {
		return nil, err
	}
	if err := r.usePolicy(c, s); err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// build makes it without its policy.
func (r *run) build(c *cli.Context) (*Server, error) {
	o, err := r.options(c)
	if err != nil {
		return nil, usageError{err}
	}
	s, err := NewServer(o)
	if err != nil {
		return nil, usageError{err}
	}
	r.made = s
	if err := r.app.Setup(c, s); err != nil {
		return nil, usageError{err}
	}
	if err := s.checkNames(); err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

func (r *run) options(c *cli.Context) (o Options, err error) {
	o = Options{
		Name: r.app.Name, Version: version(),
		MaxOutput: c.Int("max-output"), Concurrent: c.Int("max-concurrent"),
	}
	if err := rootsGiven(r.app.Name, c.StringSlice("root")); err != nil {
		return o, err
	}
	if r.app.Instructions != nil {
		o.Instructions = r.app.Instructions(c)
	}
	if o.MaxOutput < leastOutput {
		return o, fmt.Errorf("--max-output %d: want at least %d bytes", o.MaxOutput, leastOutput)
	}
	if o.Concurrent < 1 {
		return o, fmt.Errorf("--max-concurrent %d: want at least 1", o.Concurrent)
	}
	if o.Log, err = newLog(r.std.Err, c.String("log-level"), c.String("log-format")); err != nil {
		return o, err
	}
	mode, err := approval.ParseMode(c.String("require-approval"))
	if err != nil {
		return o, fmt.Errorf("--require-approval: %w", err)
	}
	o.Evaluator = approval.WithMode(approval.Default(), mode)
	if o.Keys, err = r.approvalKeys(c); err != nil {
		return o, err
	}
	o.Names, err = r.names(c)
	return o, err
}

// approvalKeys returns the keys of --approval-keys, or nil.
func (r *run) approvalKeys(c *cli.Context) (*seal.Ring, error) {
	path := c.String("approval-keys")
	switch {
	case path == "" && c.IsSet("approval-keys"):
		return nil, errors.New("--approval-keys is empty: name the file, or leave the flag out")
	case path == "":
		return nil, nil
	}
	if dir, err := within(path, r.reachable(c)); err == nil && dir != "" {
		return nil, fmt.Errorf("--approval-keys %s lies in %s, where calls can read it: keep it where they cannot, or they approve themselves", path, dir)
	}
	return readFlag("approval-keys", path, seal.ReadKeys)
}

// readFlag reads the file that a flag names.
func readFlag[T any](flag, path string, read func(io.Reader) (T, error)) (out T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return out, fmt.Errorf("--%s: %w", flag, err)
	}
	defer f.Close()
	if out, err = read(f); err != nil {
		return out, fmt.Errorf("--%s %s: %w", flag, path, err)
	}
	return out, nil
}

func (r *run) names(c *cli.Context) (Names, error) {
	n := Names{Prefix: c.String("tool-prefix"), Rename: map[string]string{}}
	for _, list := range c.StringSlice("tools") {
		n.Only = append(n.Only, strings.Split(list, ",")...)
	}
	if r.app.Names != nil {
		n.Rename = r.app.Names(c)
	}
	for _, pair := range c.StringSlice("tool-name") {
		old, shown, ok := strings.Cut(pair, "=")
		if !ok {
			return n, fmt.Errorf("--tool-name %q: want OLD=NEW", pair)
		}
		n.Rename[old] = shown
	}
	return n, nil
}

// serve is the program without a command.
func (r *run) serve(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("unknown command %q", c.Args().First())
	}
	s, err := r.server(c)
	if err != nil {
		return err
	}
	if c.String("http") != "" {
		return r.serveHTTP(c, s)
	}
	if err := onlyWithHTTP(c); err != nil {
		return err
	}
	if isTerminal(r.std.In) {
		fmt.Fprintf(r.std.Err, "%s serves MCP over standard input and output; a client starts it. To try a tool: %s call TOOL\n", r.app.Name, r.app.Name)
	}
	collectLater()
	return s.ServeStdio(c.Context, r.std.In, r.std.Out)
}

// isTerminal reports whether a person is at the other end of a stream.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
