package command

import (
	"slices"
	"strings"
)

// gitTakesValue reports whether the value of a global option of git is the next word.
func gitTakesValue(option string) bool {
	switch option {
	case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source", "--shallow-file":
		return true
	}
	return false
}

// git searches what git would run for others: aliases that are given by -c, and the commands of bisect, rebase and
// submodule. All other settings of -c may run programs, too, which cannot be said here.
func (r *reading) git(args []text, p place) {
	settings, rest := gitSettings(args)
	if len(settings) > 0 {
		r.unclear(p, "git -c can run programs")
	}
	if len(rest) == 0 {
		return
	}
	if rest[0].computed {
		r.gitComputed("git", rest, p)
		return
	}
	sub := rest[0].value
	if slices.Contains(gitRunners, sub) {
		r.gitComputed("git "+sub, rest, p)
	}
	for _, s := range settings {
		key, value, _ := strings.Cut(s.value, "=")
		if strings.EqualFold(key, "alias."+sub) && !slices.Contains(gitCommands, sub) {
			r.gitAlias(text{value: value, computed: s.computed}, rest[1:], p)
		}
	}
	switch sub {
	case "bisect":
		if len(rest) > 2 && rest[1].value == "run" {
			r.call(rest[2:], p.inside("git bisect run"))
		}
	case "config":
		for _, a := range rest {
			if command, ok := strings.CutPrefix(a.value, "!"); ok {
				r.evaluate(text{value: command, computed: a.computed}, "git config", p)
			}
		}
	case "submodule":
		if i := slices.IndexFunc(rest, func(w text) bool { return w.value == "foreach" }); i >= 0 {
			inner := rest[i+1:]
			for len(inner) > 0 && isOption(inner[0].value) {
				inner = inner[1:]
			}
			r.evaluate(joined(inner), "git submodule foreach", p)
		}
	}
	r.values("git "+sub, rest[1:], p)
}

// gitSettings parts the words of git into what -c sets, and those from the subcommand on.
func gitSettings(args []text) (settings, rest []text) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.computed || !isOption(a.value):
			return settings, args[i:]
		case gitTakesValue(a.value):
			i++
			if (a.value == "-c" || a.value == "--config-env") && i < len(args) {
				settings = append(settings, args[i])
			}
		case hasPrefix(a.value, "--config-env=", "--exec-path="):
			settings = append(settings, text{value: strings.TrimPrefix(a.value, "--config-env=")})
		}
	}
	return settings, nil
}

// gitAlias is a command of git, or behind `!` one of the shell; the words that follow are added.
func (r *reading) gitAlias(value text, args []text, p place) {
	rest := joined(quotedAll(args))
	prefix, shell := "git ", strings.HasPrefix(value.value, "!")
	if shell {
		prefix = ""
	}
	line := text{value: prefix + strings.TrimPrefix(value.value, "!") + " " + rest.value, computed: value.computed || rest.computed}
	r.evaluate(line, "git alias", p)
}

// gitRunners are the commands of git that run what their words say.
var gitRunners = []string{"bisect", "rebase", "submodule", "difftool", "filter-branch"}

// gitComputed searches what follows a computed word, which may say that a command follows.
func (r *reading) gitComputed(what string, args []text, p place) {
	for i, a := range args {
		if a.computed {
			r.unclear(p, "what %s runs may be computed", what)
			r.evaluate(joined(args[i+1:]), what, p)
		}
	}
}

// gitCommands are git's own, which an alias cannot replace: those in daily use.
var gitCommands = []string{
	"add", "am", "apply", "archive", "bisect", "blame", "branch", "bundle", "cat-file", "checkout", "cherry", "cherry-pick", "clean", "clone", "commit", "config",
	"describe", "diff", "difftool", "fetch", "format-patch", "fsck", "gc", "grep", "help", "init", "log", "ls-files", "ls-remote", "ls-tree", "merge",
	"merge-base", "mergetool", "mv", "notes", "pull", "push", "range-diff", "rebase", "reflog", "remote", "reset", "restore", "rev-list", "rev-parse", "revert", "rm",
	"shortlog", "show", "show-ref", "sparse-checkout", "stash", "status", "submodule", "switch", "symbolic-ref", "tag", "update-ref", "version", "worktree",
}
