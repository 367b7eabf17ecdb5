package toolkit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// permute moves flags to where the library reads them: the program's own before the
// command, a command's right behind it, and everything else behind "--". The library ignores
// flags behind positional arguments, and a flag given to the wrong one of the two levels.
//
// It refuses values of lists that begin or end in blanks, which the library would cut off:
// the server would serve another directory.
func permute(args []string, app *cli.App) ([]string, error) {
	if len(args) == 1 {
		switch args[0] {
		case "--version", "-v":
			return []string{"version"}, nil
		case "help":
			return []string{"--help"}, nil
		}
	}
	p := permuter{program: arity(app.Flags)}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			p.words = append(p.words, args[i+1:]...)
			break
		}
		if p.isWord(args[i]) {
			p.word(args[i], app)
			continue
		}
		used := p.flag(args[i], args[i+1:])
		if err := noBlanks(args[i:i+1+used], app.Flags); err != nil {
			return nil, err
		}
		i += used
	}
	return p.assemble(), nil
}

func noBlanks(given []string, flags []cli.Flag) error {
	name, value, joined := strings.Cut(strings.TrimLeft(given[0], "-"), "=")
	if !joined {
		value = given[len(given)-1]
	}
	if value == strings.TrimSpace(value) {
		return nil
	}
	for _, f := range flags {
		if _, ok := f.(*cli.StringSliceFlag); ok && f.Names()[0] == name {
			return fmt.Errorf("--%s %q: a value here must not begin or end in blanks; the environment variable takes it as it is", name, value)
		}
	}
	return nil
}

// A permuter sorts arguments into the program's flags, a command's flags, and words, the
// first of which may name the command.
type permuter struct {
	program, command map[string]bool // flag name -> takes a value
	hasCommand       bool
	head, own, words []string
}

// isWord reports whether s is not a flag: "-" is standard input, and behind `call TOOL` an
// argument of the tool may start with a dash, as in -C=2.
func (p *permuter) isWord(s string) bool {
	if len(s) < 2 || s[0] != '-' {
		return true
	}
	name, _, joined := strings.Cut(strings.TrimLeft(s, "-"), "=")
	_, program := p.program[name]
	_, command := p.command[name]
	return joined && !program && !command && len(p.words) > 1 && p.words[0] == "call"
}

func (p *permuter) word(s string, app *cli.App) {
	if !p.hasCommand && len(p.words) == 0 {
		if cmd := app.Command(s); cmd != nil {
			p.hasCommand, p.command = true, arity(cmd.Flags)
		}
	}
	p.words = append(p.words, s)
}

// flag sorts one flag and says how many of the arguments that follow belong to it.
func (p *permuter) flag(s string, rest []string) (used int) {
	name, _, joined := strings.Cut(strings.TrimLeft(s, "-"), "=")
	to, takesValue := &p.own, p.command[name] // of the command, which may come later
	if v, ok := p.program[name]; ok {
		to, takesValue = &p.head, v
	}
	*to = append(*to, s)
	if takesValue && !joined && len(rest) > 0 {
		*to = append(*to, rest[0])
		return 1
	}
	return 0
}

func (p *permuter) assemble() []string {
	if !p.hasCommand {
		return append(append(p.head, p.own...), p.words...)
	}
	out := append(p.head, p.words[0])
	out = append(out, p.own...)
	return append(append(out, "--"), p.words[1:]...)
}

// arity tells for every name of the flags whether it takes a value.
func arity(flags []cli.Flag) map[string]bool {
	out := map[string]bool{}
	for _, f := range flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, n := range f.Names() {
			out[n] = !isBool
		}
	}
	return out
}

// envName returns the environment variable of a program's flag: MCP_FILES_MAX_OUTPUT.
func envName(program, flag string) string {
	up := func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "_")) }
	return up(program) + "_" + up(flag)
}

// commaLists are the lists of what holds colons.
var commaLists = []string{"allowed-hosts", "allowed-origins", "mount"}

// fromEnvironment gives every flag its environment variable. Lists are split here, at the
// path-list separator: the library would split at commas, which paths may hold.
func fromEnvironment(program string, flags []cli.Flag) {
	for _, f := range flags {
		env := []string{envName(program, f.Names()[0])}
		switch f := f.(type) {
		case *cli.StringSliceFlag:
			f.Usage += " [$" + env[0] + "]"
			if v := os.Getenv(env[0]); v != "" {
				list := filepath.SplitList(v)
				if slices.Contains(commaLists, f.Name) {
					list = strings.Split(v, ",")
				}
				f.Value = cli.NewStringSlice(list...)
			}
		case *cli.StringFlag:
			f.EnvVars = env
		case *cli.BoolFlag:
			f.EnvVars = env
		case *cli.IntFlag:
			f.EnvVars = env
		case *cli.DurationFlag:
			f.EnvVars = env
		}
	}
}
