package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells read commands from `-c`, from a file, or from their input.
var shells = []string{"sh", "bash", "bash-static", "rbash", "dash", "ash", "zsh", "zsh-static", "ksh", "ksh93", "mksh", "mksh-static", "lksh", "oksh", "pdksh", "rksh", "yash", "posh", "hush", "csh", "tcsh", "fish"}

// interpreters run programs in languages that are not read here.
var interpreters = []string{
	"python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "expect", "guile",
	"awk", "gawk", "mawk", "nawk", "original-awk", "pwsh", "powershell", "osascript", "Rscript", "R", "julia", "irb", "pry", "ipython", "ghci", "groovy", "jshell", "make", "gmake",
	"ed", "ex", "vi", "vim", "vim.basic", "vim.tiny", "vim.nox", "vim.gtk3", "vimdiff", "view", "rview", "rvim", "nvim", "emacs", "emacs-nox", "emacs-gtk",
}

// isAmong reports whether name is on the list, or one of its versions, as python3.12 is of python.
func isAmong(list []string, name string) bool {
	end := strings.IndexAny(name, "0123456789")
	return slices.Contains(list, name) || end > 0 && slices.Contains(list, strings.TrimSuffix(name[:end], "-"))
}

// builtins run what their words say, or change what later words mean.
var builtins = []string{
	"eval", "source", ".", "trap", "alias", "unalias", "enable", "hash", "set", "shopt", "export", "readonly", "declare", "typeset", "local", "unset", "let", "read", "mapfile",
	"readarray", "getopts", "compgen", "complete", "bind", "fc", "jobs", "setopt", "emulate", "zmodload", "autoload", "vared", "su", "script",
}

// runner reports whether a program runs what its words say, so that its name alone allows nothing.
func runner(name string) bool {
	_, wraps := wrapperOf(name)
	return wraps || isAmong(shells, name) || isAmong(interpreters, name) || slices.Contains(builtins, name)
}

// runsOthers reports whether a call runs what its words say, or in find writes.
func runsOthers(words []text) bool {
	name, args := base(words[0]), words[1:]
	if len(args) > 0 && name == "git" {
		name, args = "git "+args[0].value, args[1:]
	}
	if len(commandValues(name, args)) > 0 {
		return true
	}
	name = base(words[0])
	return runner(name) || carriage.begins(carried(words)) || slices.ContainsFunc(words[1:], func(w text) bool {
		switch name {
		case "find", "fd", "fdfind":
			return slices.Contains(executes, w.value) || slices.Contains(findWrites, w.value)
		case "printf":
			return strings.HasPrefix(w.value, "-v")
		case "git":
			return hasPrefix(w.value, "-c", "--config-env", "--exec-path")
		case "test", "[":
			return strings.Contains(w.value, "[") && strings.ContainsAny(w.value, "$`")
		}
		return false
	})
}

// executes are the options of find and fd behind which a command stands.
var executes = []string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}

// findWrites are the options of find that delete and write files, which no redirection shows.
var findWrites = []string{"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}

// runs searches what a call would run in turn.
func (r *reading) runs(words []text, p place) {
	if r.limit != "" {
		return
	}
	name, args := base(words[0]), words[1:]
	switch name {
	case "eval":
		if len(args) > 0 && args[0].value == "--" {
			args = args[1:]
		}
		r.evaluate(joined(args), name, p)
	case "trap":
		r.trap(args, p)
	case "source", ".":
		r.source(args, p)
	case "mapfile", "readarray", "su", "sg", "runuser", "script", "flock":
		r.callback(name, args, p)
	case "find", "fd", "fdfind", "jobs":
		r.executes(name, args, p)
	case "git":
		r.git(args, p)
	case "parallel":
		r.sources(args, p)
	case "env":
		r.splitString(words, p)
	case "ssh", "scp", "sftp":
		r.sshOptions(args, p)
	case "at", "batch":
		r.stdin(name, variants("sh"), p)
	case "crontab":
		r.crontab(p)
	case "go":
		r.goRuns(args, p)
	case "capsh": // behind -- stand the words of a shell
		if i := slices.IndexFunc(args, func(a text) bool { return a.value == "--" || a.value == "==" }); i >= 0 {
			r.shell("bash", args[i+1:], p)
		}
	}
	r.values(name, args, p)
	if rest := carried(words); rest != nil {
		r.unwrap(carriage, append([]text{words[0]}, rest...), p)
	}
	if sub, ok := strings.CutPrefix(name, "git-"); ok {
		r.call(append([]text{{value: "git"}, {value: sub}}, args...), p.inside(name))
	}
	switch w, wraps := wrapperOf(name); {
	case isAmong(shells, name):
		r.shell(name, args, p)
	case isAmong(interpreters, name):
		r.interpreter(name, args, p)
	case name == "command" && len(args) > 0 && isOption(args[0].value) && strings.ContainsAny(args[0].value, "vV"):
		// it only says what the name stands for
	case wraps:
		r.assigned(w, args, p)
		r.unwrap(w, words, p)
	}
}

// evaluate reads a text as commands of the same language.
func (r *reading) evaluate(t text, what string, p place) {
	if t.computed {
		r.unclear(p, "%s runs a computed text", what)
	}
	r.script(t.value, p.inside(what))
}

// assigned notes the variables that a wrapper sets.
func (r *reading) assigned(w wrapper, args []text, p place) {
	for _, a := range args {
		if name, _, ok := strings.Cut(a.value, "="); ok && w.assigns {
			r.changes(name, p)
		}
	}
}

// trap runs its first operand when a signal comes.
func (r *reading) trap(args []text, p place) {
	for _, a := range args {
		if !isOption(a.value) && a.value != "--" {
			r.evaluate(a, "trap", p)
			return
		}
	}
}

// source reads a file in the same shell; only its input is known.
func (r *reading) source(args []text, p place) {
	for len(args) > 0 && args[0].value == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	if !isInput(args[0]) {
		r.unclear(p, "source reads commands from a file")
		return
	}
	r.stdin("source", []syntax.LangVariant{p.lang}, p.joined())
}

// callback searches the text behind -c or -C, which a shell reads.
func (r *reading) callback(name string, args []text, p place) {
	letter := "c"
	if name == "mapfile" || name == "readarray" {
		letter = "C"
	}
	for i, a := range args {
		option, value, attached := strings.Cut(a.value, "=")
		switch {
		case attached && len(option) > 4 && hasPrefix("--command", option), attached && hasPrefix("--session-command", option) && len(option) > 4:
			r.evaluate(text{value: value, computed: a.computed}, name, p)
		case option == "--command", option == "--session-command":
			r.evaluateAt(args, i+1, name, p)
		case !isOption(a.value) || strings.HasPrefix(a.value, "--"):
		default:
			if _, value, ok := strings.Cut(a.value, letter); ok && value != "" {
				r.evaluate(text{value: value, computed: a.computed}, name, p)
			} else if ok {
				r.evaluateAt(args, i+1, name, p)
			}
		}
	}
	if i := slices.IndexFunc(args, func(a text) bool { return a.value == "--" }); name == "script" && i >= 0 {
		r.call(args[i+1:], p.inside(name))
	}
	if name == "su" || name == "script" {
		r.unclear(p, "%s starts a shell", name)
		r.stdin(name, variants("sh"), p)
	}
}

func (r *reading) evaluateAt(args []text, i int, name string, p place) {
	if i < len(args) {
		r.evaluate(args[i], name, p)
	}
}

// executes searches the commands of find and fd.
func (r *reading) executes(name string, args []text, p place) {
	for i, a := range args {
		switch {
		case mayBeOption(a):
			r.unclear(p, "an option of %s may be computed", name)
		case a.computed || !slices.Contains(executes, a.value):
			continue
		}
		inner := args[i+1:]
		if end := slices.IndexFunc(inner, func(w text) bool { return w.value == ";" || w.value == "+" }); end >= 0 {
			inner = inner[:end]
		}
		r.call(replaced(nil, inner), p.inside(name+" "+a.value))
	}
}

// sources searches what parallel takes for commands where it is given none.
func (r *reading) sources(args []text, p place) {
	r.unclear(p, "parallel makes commands from its input")
	from := slices.IndexFunc(args, func(w text) bool { return strings.HasPrefix(w.value, ":::") })
	if from < 0 || wrappers["parallel"].begins(args[:from]) {
		return
	}
	for _, a := range args[from+1:] {
		r.evaluate(a, "parallel", p)
	}
}

// splitString is `env -S "words"`, the way of scripts to give a program words.
func (r *reading) splitString(words []text, p place) {
	for i, a := range words[1:] {
		value, ok := "", false
		long, attachedValue, attached := strings.Cut(a.value, "=")
		split := len(long) > 3 && strings.HasPrefix("--split-string", long) // any beginning will do
		if split && attached {
			value, ok = attachedValue, true
		}
		if !ok && isOption(a.value) && !strings.HasPrefix(a.value, "--") {
			_, value, ok = strings.Cut(a.value, "S")
		}
		rest := words[i+2:]
		if ok && value == "" || split && !attached {
			if len(rest) == 0 {
				return
			}
			value, rest, ok = rest[0].value, rest[1:], true
		}
		if ok {
			r.evaluate(joined(append([]text{{value: "env " + value}}, quotedAll(rest)...)), "env -S", p)
			return
		}
	}
}

// quotedAll quotes words so that they stay one each where a shell reads them again.
func quotedAll(words []text) []text {
	out := slices.Clone(words)
	for i, w := range out {
		if !w.computed {
			out[i].value = "'" + strings.ReplaceAll(w.value, "'", `'\''`) + "'"
		}
	}
	return out
}

// sshOptions searches the commands that options of ssh name.
func (r *reading) sshOptions(args []text, p place) {
	for _, a := range args {
		if _, command, ok := strings.Cut(a.value, "Command"); ok {
			r.evaluate(text{value: strings.TrimLeft(command, "= \t"), computed: a.computed}, "ssh -o", p)
		}
	}
}

// interpreter notes a program that is given in words, or comes from the input.
func (r *reading) interpreter(name string, args []text, p place) {
	if slices.Contains([]string{"make", "gmake", "awk", "gawk", "mawk", "nawk"}, name) {
		return // what it runs is in files, or a language of its own
	}
	operand := slices.ContainsFunc(args, func(a text) bool { return !isOption(a.value) && a.value != "-" })
	inline := slices.ContainsFunc(args, func(a text) bool {
		return isOption(a.value) && a.value[1] != '-' && strings.ContainsAny(a.value[1:2], "ceErpn") || hasPrefix(a.value, "--eval", "--print", "--command")
	})
	editor := name == "ed" || name == "ex"
	if inline || (editor || !operand) && p.fed() {
		r.unclear(p, "%s runs a program that is not read here", name)
	}
}
