package shelltool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// Bounds on what a call can bring.
const (
	maxCommands = 64
	maxCommand  = 131_000 // bytes; the kernel takes 128 KiB for one argument, the NUL at its end included
)

const commandsExample = `["ls -la", "make test"]`

func (o *settings) shellParams() []toolkit.Param {
	return []toolkit.Param{
		{
			Name: "commands", Type: toolkit.Array, Required: true, Aliases: []string{"command", "cmd"}, Example: commandsExample,
			Description: "Command lines, run one after another; cd and export do not carry over.",
		},
		{
			Name: "timeout_ms", Type: toolkit.Integer, Aliases: []string{"timeoutMs", "timeout"}, Max: toolkit.Bound(o.maxTimeout.Milliseconds()), Example: "60000",
			Description: fmt.Sprintf("For each command, after which all its processes are killed; %d unless given, at most %d.", o.timeout.Milliseconds(), o.maxTimeout.Milliseconds()),
		},
		{
			Name: "max_output_length", Type: toolkit.Integer, Aliases: []string{"maxOutputLength"}, Max: toolkit.Bound(maxLimit), Example: "10000",
			Description: fmt.Sprintf("Characters of stdout and stderr together, for each command; %d unless given, at most %d.", o.limit, maxLimit),
		},
		{
			Name: "working_directory", Type: toolkit.String, Aliases: []string{"workdir", "cwd", "workingDirectory"}, Example: `"src"`,
			Description: "Where they run; absolute, or below the sandbox's own directory.",
		},
		{
			Name: "env", Type: toolkit.Object, Aliases: []string{"environment"}, Example: `{"DEBUG": "1"}`,
			Description: "Variables for these commands.",
		},
		{
			Name: "stdin", Type: toolkit.String, Verbatim: true, Aliases: []string{"input"}, Example: `"text\n"`,
			Description: "Standard input of the command, of which there must be only one; else it is empty.",
		},
		sandboxParam(),
	}
}

func sandboxParam() toolkit.Param {
	return toolkit.Param{
		Name: "sandbox_id", Type: toolkit.String, Aliases: []string{"sandboxId", "session_id"}, Example: `"sb_..."`,
		Description: "As a result named it; needed only where the result says so.",
	}
}

type shellIn struct {
	Commands         []string                   `json:"commands"`
	TimeoutMS        int64                      `json:"timeout_ms"`
	MaxOutputLength  *int64                     `json:"max_output_length"`
	WorkingDirectory string                     `json:"working_directory"`
	Env              map[string]json.RawMessage `json:"env"`
	Stdin            *string                    `json:"stdin"`
	SandboxID        string                     `json:"sandbox_id"`
}

// commands checks the arguments and makes commands of them.
func (o *settings) commands(in shellIn) (out []container.Command, err error) {
	if err := checkCommands(in); err != nil {
		return nil, err
	}
	timeout, err := o.timeoutOf(in.TimeoutMS, o.timeout)
	if err != nil {
		return nil, err
	}
	limit, err := o.limitOf(in.MaxOutputLength)
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(in.WorkingDirectory, 0) {
		return nil, toolkit.Errorf(`working_directory: it has a NUL byte; want a path, for example {"working_directory": "src"}`)
	}
	env, err := variables(in.Env)
	if err != nil {
		return nil, err
	}
	for _, text := range in.Commands {
		out = append(out, container.Command{
			Argv: []string{o.shell, "-c", text}, Dir: in.WorkingDirectory, Env: env, Stdin: in.Stdin, Timeout: timeout, Limit: limit,
		})
	}
	return out, nil
}

func checkCommands(in shellIn) error {
	if n := len(in.Commands); n == 0 || n > maxCommands {
		return toolkit.Errorf(`commands: got %d, want 1 to %d, for example {"commands": %s}`, n, maxCommands, commandsExample)
	}
	for i, text := range in.Commands {
		what := ""
		switch {
		case strings.TrimSpace(text) == "":
			what = "is empty"
		case strings.ContainsRune(text, 0):
			what = "has a NUL byte, which no command line can hold"
		case len(text) > maxCommand:
			what = fmt.Sprintf("has %d bytes, and the system takes at most %d: give the text as stdin, or write it to a file first and run that", len(text), maxCommand)
		case option.MatchString(text):
			what = fmt.Sprintf("is %q, which is no command: each entry is a whole command line", toolkit.Cut(text, 100))
		}
		if what != "" {
			return toolkit.Errorf(`commands: number %d of %d %s; want command lines, for example {"commands": %s}`, i+1, len(in.Commands), what, commandsExample)
		}
	}
	if in.Stdin != nil && len(in.Commands) > 1 {
		return toolkit.Errorf("stdin: got it with %d commands, and it goes with exactly one: call once for the command that reads it", len(in.Commands))
	}
	return nil
}

// option is how an entry begins that was meant as an argument of the one before it.
var option = regexp.MustCompile(`^-[A-Za-z-]`)

// timeoutOf reads a time in milliseconds; too long ones were cut when they were decoded.
func (o *settings) timeoutOf(ms int64, otherwise time.Duration) (time.Duration, error) {
	if ms < 0 {
		return 0, toolkit.Errorf(`timeout_ms: got %d, want 1 to %d, for example {"timeout_ms": 60000}; 0 is the default`, ms, o.maxTimeout.Milliseconds())
	}
	return cmp.Or(time.Duration(ms)*time.Millisecond, otherwise), nil
}

func (o *settings) limitOf(given *int64) (int, error) {
	if given == nil || *given == 0 {
		return o.limit, nil
	}
	if *given < 0 {
		return 0, toolkit.Errorf(`max_output_length: got %d, want 1 to %d, for example {"max_output_length": 10000}; 0 is the default`, *given, maxLimit)
	}
	return int(*given), nil
}

// variables reads env. Numbers and booleans are taken for what they look like.
func variables(given map[string]json.RawMessage) (map[string]string, error) {
	if len(given) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, toolkit.Errorf(`env: the name %q cannot be one: want names without = and NUL, for example {"env": {"DEBUG": "1"}}`, toolkit.Cut(name, 100))
		}
		value, ok := scalar(given[name])
		if !ok || strings.ContainsRune(value, 0) {
			return nil, toolkit.Errorf(`env: the value of %s must be a string without NUL, for example {"env": {"DEBUG": "1"}}`, toolkit.Inline(toolkit.Cut(name, 100)))
		}
		out[name] = value
	}
	return out, nil
}

func scalar(raw json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"' {
		return text, true
	}
	switch s := string(raw); {
	case s == "null":
		return "", true
	case s == "" || s[0] == '{' || s[0] == '[':
		return "", false
	default:
		return s, true
	}
}
