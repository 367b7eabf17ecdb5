package command

import (
	"slices"
	"strings"
)

// commandOptions are the options, of programs that are no wrappers, whose value is a command.
var commandOptions = map[string][]string{
	"entr":              {"-s"},
	"gdb":               {"-ex", "--eval-command", "-iex", "--init-eval-command"},
	"install":           {"--strip-program"},
	"npm":               {"-c", "--call"},
	"npx":               {"-c", "--call"},
	"pnpm":              {"-c", "--shell-mode"},
	"rg":                {"--pre", "--hostname-bin"},
	"rsync":             {"-e", "--rsh", "--rsync-path"},
	"scp":               {"-S"},
	"sftp":              {"-S", "-D"},
	"sort":              {"--compress-program"},
	"split":             {"--filter"},
	"start-stop-daemon": {"-x", "--exec", "-a", "--startas"},
	"tar":               {"-I", "--use-compress-program", "--checkpoint-action", "--to-command", "-F", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"},

	"git archive":  {"--exec"},
	"git clone":    {"-u", "--upload-pack"},
	"git difftool": {"-x", "--extcmd"},
	"git fetch":    {"--upload-pack"},
	"git filter-branch": {
		"--env-filter", "--tree-filter", "--index-filter", "--parent-filter", "--msg-filter", "--commit-filter", "--tag-name-filter", "--setup",
	},
	"git grep":      {"--open-files-in-pager"},
	"git ls-remote": {"--upload-pack", "--exec"},
	"git pull":      {"--upload-pack"},
	"git push":      {"--receive-pack", "--exec"},
	"git rebase":    {"-x", "--exec"},
	"git shell":     {"-c"},
}

// goRuns notes an option of go with which it runs another program.
func (r *reading) goRuns(args []text, p place) {
	for _, a := range args {
		if mayBeAny([]string{"-exec", "-toolexec", "-vettool"}, text{value: "go"}, a.value) {
			r.unclear(p, "go runs what %s names", a.shown())
		}
	}
}

// commandValues returns the commands that options of a program name.
func commandValues(program string, args []text) (commands []text) {
	options := commandOptions[program]
	if program == "tar" {
		args = dashed(args)
	}
	for i, a := range args {
		for _, o := range options {
			value, given, attached := optionValue(o, a.value, slices.Contains(longStyle, program))
			switch {
			case given && attached:
				commands = append(commands, text{value: bare(value), computed: a.computed})
			case given && i+1 < len(args):
				next := args[i+1]
				next.value = bare(next.value)
				commands = append(commands, next)
			}
		}
		if value, ok := strings.CutPrefix(a.value, "-O"); ok && value != "" && program == "git grep" {
			commands = append(commands, text{value: value, computed: a.computed})
		}
	}
	return commands
}

// bare returns a command without what tells it from other values of its option.
func bare(value string) string {
	for _, prefix := range []string{"exec=", "shell ", "!"} {
		value = strings.TrimPrefix(value, prefix)
	}
	return value
}

// dashed returns the words of tar with its old-style options, if there are any, as options: letters without
// a dash, whose values follow in their order.
func dashed(args []text) []text {
	if len(args) == 0 || args[0].value == "" || isOption(args[0].value) {
		return args
	}
	rest := args[1:]
	var out []text
	for _, letter := range args[0].value {
		out = append(out, text{value: "-" + string(letter), computed: args[0].computed})
		if strings.ContainsRune("bCfFgHIKLNTVX", letter) && len(rest) > 0 {
			out, rest = append(out, rest[0]), rest[1:]
		}
	}
	return append(out, rest...)
}

// optionValue returns the value that is attached to a word, if the word may be the option: abbreviated, or a letter behind others.
func optionValue(option, word string, dashed bool) (value string, given, attached bool) {
	name, value, attached := strings.Cut(word, "=")
	switch {
	case !isOption(word):
		return "", false, false
	case dashed:
		return value, strings.TrimLeft(name, "-") == strings.TrimLeft(option, "-"), attached
	case strings.HasPrefix(word, "--"):
		return value, len(name) > 3 && strings.HasPrefix(option, name), attached
	case strings.HasPrefix(option, "--"):
		return "", false, false
	}
	_, value, given = strings.Cut(word[1:], option[1:])
	return value, given, value != ""
}

// values searches the commands that options name.
func (r *reading) values(program string, args []text, p place) {
	for _, c := range commandValues(program, args) {
		r.evaluate(c, program, p)
	}
}
