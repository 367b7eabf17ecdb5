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

// carried returns the commands that a carrier may run: what its command is run in, a container or a
// folder, may stand before it.
func carried(words []text) (commands [][]text) {
	subs := carriers[base(words[0])]
	if subs == nil {
		return nil
	}
	for i, a := range words[1:] {
		if !a.computed && !slices.Contains(subs, a.value) {
			continue
		}
		rest := words[i+2:]
		found, unlikely := wrapper{operands: 1, optional: true}.starts(rest)
		for _, at := range append(found, unlikely...) {
			commands = append(commands, rest[at:])
		}
		return commands
	}
	return nil
}
