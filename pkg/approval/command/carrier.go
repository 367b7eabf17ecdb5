package command

import "slices"

// carriers are programs of which some subcommands run the command that follows them; the others do
// what they do themselves.
var carriers = map[string][]string{
	"npm": {"exec", "x"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bun": {"x"}, "bundle": {"exec"},
	"pipx": {"run"}, "uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"}, "conda": {"run"}, "mamba": {"run"},
	"docker": {"exec", "run"}, "podman": {"exec", "run"}, "nerdctl": {"exec", "run"}, "kubectl": {"exec", "run"}, "oc": {"exec", "rsh", "run"},
	"lxc": {"exec"}, "ip": {"exec"}, "direnv": {"exec"}, "mise": {"exec", "x"}, "asdf": {"exec"}, "rbenv": {"exec"}, "pyenv": {"exec"},
	"toolbox": {"run"}, "distrobox": {"enter"}, "nix": {"run", "shell", "develop"}, "cargo": {"watch"}, "rustup": {"run"}, "doppler": {"run"}, "op": {"run"},
}

// carriage is what stands before the command: a container or a folder, perhaps.
var carriage = wrapper{operands: 1, optional: true}

// carried returns the words in which the command begins that a carrier runs, if any.
func carried(words []text) []text {
	subs := carriers[base(words[0])]
	at := slices.IndexFunc(words[1:], func(a text) bool { return a.computed || slices.Contains(subs, a.value) })
	if subs == nil || at < 0 {
		return nil
	}
	return words[at+2:]
}
