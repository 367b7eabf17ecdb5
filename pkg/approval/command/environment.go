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
		"ZDOTDIR", "FPATH", "fpath", "NULLCMD", "READNULLCMD", "functions", "aliases", "commands", "GCONV_PATH", "CDPATH", "EXECIGNORE":
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

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
