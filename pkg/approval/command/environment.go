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
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "RUBYOPT", "RUBYLIB", "RSYNC_RSH", "CVS_RSH", "TAR_OPTIONS", "CLASSPATH":
		return true
	}
	return hasPrefix(name, "GIT_", "SSH_", "PYTHON", "PERL", "NODE_", "NPM_CONFIG_", "npm_config_", "LUA_") ||
		strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "_PRELOAD")
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
