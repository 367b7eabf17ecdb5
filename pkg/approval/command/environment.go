package command

import (
	"slices"
	"strings"
)

// free are variables that an allow lets be set: they change how a program speaks, not what it does.
var free = []string{"LANG", "LC_ALL", "TZ", "TERM", "NO_COLOR", "CI"}

// choosesPrograms reports whether the shell or the loader takes from a variable what a name stands
// for: no rule can let it be set and still say what runs.
func choosesPrograms(name string) bool {
	switch name {
	case "PATH", "path", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "BASH_CMDS", "BASH_ALIASES", "PS4", "PS0", "PROMPT_COMMAND",
		"ZDOTDIR", "FPATH", "fpath", "NULLCMD", "READNULLCMD", "functions", "aliases", "commands", "GCONV_PATH", "LOCPATH", "CDPATH", "EXECIGNORE":
		return true
	}
	return hasPrefix(name, "LD_", "DYLD_", "BASH_FUNC_")
}

// choosesHelpers reports whether programs run what a variable says, or load code from there.
func choosesHelpers(name string) bool {
	switch name {
	case "HOME", "XDG_CONFIG_HOME", "SHELL", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "MAKEFLAGS", "MANROFFOPT", "GOFLAGS", "GOROOT", "CC", "CXX",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "RUBYOPT", "RUBYLIB", "RSYNC_RSH", "CVS_RSH", "TAR_OPTIONS", "CLASSPATH", "CARGO", "RUSTC":
		return true
	}
	return hasPrefix(name, "GIT_", "SSH_", "PYTHON", "PERL", "NODE_", "RUSTC_", "NPM_CONFIG_", "npm_config_", "LUA_") ||
		strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "_PRELOAD")
}

// holdsCommand reports whether the value of a variable is a command, or is expanded before it is used.
func holdsCommand(name string) bool {
	switch name {
	case "PS0", "PS1", "PS2", "PS4", "ENV", "BASH_ENV", "PROMPT_COMMAND", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "GIT_EXTERNAL_DIFF", "GIT_SSH", "CC", "CXX":
		return true
	}
	return hasPrefix(name, "BASH_FUNC_") ||
		slices.ContainsFunc([]string{"_COMMAND", "EDITOR", "PAGER", "_RSH", "_ASKPASS"}, func(s string) bool { return strings.HasSuffix(name, s) })
}

// holds searches the value of a variable for denies where it is a command.
func (r *reading) holds(name string, value text, p place) {
	r.locale(name, value, p)
	if !holdsCommand(name) {
		return
	}
	before := r.undecided // an allow may let the variable be set, to anything else
	r.rough(value.value, p.inside(name))
	r.undecided = before
}

// pairs looks at the words NAME=VALUE of a command, or of a builtin that sets them.
func (r *reading) pairs(words []text, p place) {
	sets := wrappers[base(words[0])].assigns
	for _, w := range words[1:] {
		name, value, ok := strings.Cut(w.value, "=")
		name = strings.TrimSuffix(name, "+")
		switch v := (text{value: value, computed: w.computed}); {
		case ok && sets:
			r.holds(name, v, p)
		case ok:
			r.locale(name, v, p)
		}
	}
}

// locale notes a character set in which a byte of a character may be a backslash or a quote: bash reads what follows in
// it, and finds other commands there than the parser.
func (r *reading) locale(name string, value text, p place) {
	if name != "LANG" && !strings.HasPrefix(name, "LC_") || !value.computed && wellKnown(value.value) || isASCII(r.whole) {
		return
	}
	r.unclear(p, "in the character set of %s the command may be another one", name)
	r.rough(r.whole, p.inside("another character set"))
}

// wellKnown reports whether a locale is of ASCII or UTF-8.
func wellKnown(locale string) bool {
	if locale == "" || locale == "C" || locale == "POSIX" {
		return true
	}
	locale, _, _ = strings.Cut(locale, "@")
	_, set, _ := strings.Cut(locale, ".")
	return strings.EqualFold(strings.ReplaceAll(set, "-", ""), "utf8")
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > 0x7f })
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
