package toolkit

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// The command config: it gathers a Registration from the command line and prints it for
// one target. Clients start servers in another directory and with another environment, so
// paths become absolute and what came from the environment becomes an argument.

func (r *run) configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "print the registration for a client or gateway", ArgsUsage: "TARGET",
		Description: "TARGET is one of " + strings.Join(RegistrationTargets(), ", ") + ".\n" +
			"The flags given become part of it; with --http it is for a server that runs on its own.\n" +
			"Where it belongs is said on standard error.",
		Action: r.config,
	}
}

func (r *run) config(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("config: want one target; there are: %s", strings.Join(RegistrationTargets(), ", "))
	}
	t, err := findTarget(c.Args().First())
	if err != nil {
		return usagef("config: %w", err)
	}
	// What would not start is not worth a registration.
	if _, err := r.server(c); err != nil {
		return err
	}
	g := gathering{run: r, program: r.app.Name, ctx: c, target: t}
	reg, err := g.registration()
	if err != nil {
		return usagef("config: %w", err)
	}
	s, err := reg.For(t.name)
	if err != nil {
		return usagef("config: %w", err)
	}
	if _, err := fmt.Fprint(r.std.Out, s.Text); err != nil {
		return fmt.Errorf("config: print: %w", err)
	}
	for _, hint := range append(s.Hints, g.hints...) {
		fmt.Fprintf(r.std.Err, "%s: %s\n", r.app.Name, hint)
	}
	return nil
}

// A gathering makes a Registration from a command line.
type gathering struct {
	run     *run
	program string
	ctx     *cli.Context
	target  target
	hints   []string // beside those of the target
}

// pathFlags are flags that hold a path. Those that cli knows to take a file are others.
var pathFlags = []string{"root", "policy", "audit", "state-dir", "api-key-file", "output-dir"}

// secretNames are how the names of flags for secrets end.
var secretNames = []string{"token", "key", "keys", "secret", "password"}

func (g *gathering) registration() (r Registration, err error) {
	r.Name = strings.ReplaceAll(strings.TrimPrefix(g.program, "mcp-"), "_", "-")
	r.Builtin = g.builtin()
	if g.ctx.String("http") != "" {
		addr, o, err := g.run.httpOptions(g.ctx)
		if err != nil {
			return r, err
		}
		if len(o.Tokens) > 0 {
			r.TokenEnv = envName(g.program, "token")
		}
		r.URL, err = endpoint(g.ctx.String("http"), addr, o)
		return r, err
	}
	if r.Command, err = programPath(); err != nil {
		return r, err
	}
	for _, f := range g.ctx.App.Flags {
		if err := g.add(&r, f); err != nil {
			return r, err
		}
	}
	return r, nil
}

// builtin returns the tool that can take the place of a gateway's own, under the name that it
// is shown by; nil where it is not served, or where the operator wants results of another form.
func (g *gathering) builtin() *Builtin {
	b := g.run.app.Builtin
	if b == nil || g.ctx.IsSet(b.Flag) && g.ctx.String(b.Flag) != b.Form {
		return nil
	}
	shown, ok := g.run.made.Shown(b.Tool)
	if !ok {
		return nil
	}
	out := *b
	out.Tool = shown
	return &out
}

// add appends a flag, if it was given.
func (g *gathering) add(r *Registration, f cli.Flag) error {
	name := f.Names()[0]
	// Lists from the environment are not set in the eyes of cli: see fromEnvironment.
	if name == "http" || !g.ctx.IsSet(name) && os.Getenv(envName(g.program, name)) == "" {
		return nil
	}
	if slices.Contains(httpFlags, name) {
		g.hints = append(g.hints, "--"+name+" is left out: it is for --http")
		return nil
	}
	values := g.values(f)
	if slices.ContainsFunc(values, func(v string) bool { return isSecret(name, v) }) {
		g.hints = append(g.hints, "the value of --"+name+" is secret and left out: the server reads it from "+envName(g.program, name))
		r.Env = append(r.Env, envName(g.program, name))
		return nil
	}
	for _, value := range values {
		arg, err := g.argument(f, value)
		if err != nil {
			return fmt.Errorf("--%s %q: %w", name, value, err)
		}
		r.Args = append(r.Args, arg)
	}
	return nil
}

// values returns what a flag was given. An empty value is that of a variable that is
// empty: as good as none.
func (g *gathering) values(f cli.Flag) []string {
	name := f.Names()[0]
	values := []string{fmt.Sprint(g.ctx.Value(name))}
	if _, ok := f.(*cli.StringSliceFlag); ok {
		values = g.ctx.StringSlice(name)
	}
	return slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" })
}

// isSecret reports whether a value belongs in no file: that of a flag named for a secret,
// unless it is the path of one, and an address with a password in it.
func isSecret(name, value string) bool {
	if u, err := url.Parse(value); err == nil && u.Scheme != "" {
		if _, ok := u.User.Password(); ok {
			return true
		}
	}
	return namesSecret(name) && !exists(value)
}

func namesSecret(flag string) bool {
	return slices.Contains(secretNames, flag[strings.LastIndexByte(flag, '-')+1:])
}

// argument returns a flag with its value in one word, so that no value can be taken for a
// flag.
func (g *gathering) argument(f cli.Flag, value string) (arg string, err error) {
	name, isPath := f.Names()[0], false
	switch f := f.(type) {
	case *cli.BoolFlag:
		if value == "true" {
			return "--" + name, nil
		}
	case *cli.StringSliceFlag:
		if value != strings.TrimSpace(value) {
			return "", errors.New("only the environment can hold a value that begins or ends in blanks")
		}
		isPath = f.TakesFile
	case *cli.StringFlag:
		isPath = f.TakesFile
	}
	switch {
	case isPath || slices.Contains(pathFlags, name) || namesSecret(name):
		value, err = g.path(value)
	case name == "mount":
		value, err = g.mount(value)
	}
	return "--" + name + "=" + value, err
}

// mount makes the source in SRC:DST[:ro] absolute. The colon of C: or of ${env:X} is not
// the one that ends it.
func (g *gathering) mount(value string) (string, error) {
	start := filepath.VolumeName(value)
	if ref := g.target.find(value); strings.HasPrefix(value, ref) {
		start += ref
	}
	source, rest, ok := strings.Cut(value[len(start):], ":")
	if !ok {
		return value, nil // the server says what is wrong with it
	}
	source, err := g.path(start + source)
	return source + ":" + rest, err
}
