package command

import (
	"slices"
	"strings"
)

// commandOptions are the options, of programs that are no wrappers, whose value is a command.
var commandOptions = map[string][]string{
	"rsync":             {"-e", "--rsh", "--rsync-path"},
	"scp":               {"-S"},
	"sftp":              {"-S", "-D"},
	"sort":              {"--compress-program"},
	"split":             {"--filter"},
	"start-stop-daemon": {"-x", "--exec", "-a", "--startas"},
	"tar":               {"-I", "--use-compress-program", "--checkpoint-action", "--to-command", "-F", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"},

	"git archive":   {"--exec"},
	"git clone":     {"-u", "--upload-pack"},
	"git difftool":  {"-x", "--extcmd"},
	"git fetch":     {"--upload-pack"},
	"git grep":      {"--open-files-in-pager"},
	"git ls-remote": {"--upload-pack", "--exec"},
	"git pull":      {"--upload-pack"},
	"git push":      {"--receive-pack", "--exec"},
	"git rebase":    {"-x", "--exec"},
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
	for i, a := range args {
		for _, o := range options {
			value, given, attached := optionValue(o, a.value, slices.Contains(longStyle, program))
			switch {
			case given && attached:
				commands = append(commands, text{value: strings.TrimPrefix(value, "exec="), computed: a.computed})
			case given && i+1 < len(args):
				next := args[i+1]
				next.value = strings.TrimPrefix(next.value, "exec=")
				commands = append(commands, next)
			}
		}
		if value, ok := strings.CutPrefix(a.value, "-O"); ok && value != "" && program == "git grep" {
			commands = append(commands, text{value: value, computed: a.computed})
		}
	}
	return commands
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
