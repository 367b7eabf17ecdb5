package container

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
)

// The file systems in memory have these sizes at most, in bytes, and all of them together leave
// a part of a sandbox's memory to processes: what they hold cannot be reclaimed, and what runs
// the commands would have to go for it.
const (
	tmpSize      = 256 << 20 // or a quarter of the memory
	shmSize      = 64 << 20  // or a sixteenth
	scratchShare = 3         // of the memory, for the directory for commands: one part in so many
)

// openFiles is how many files a process can have open.
const openFiles = 4096

// devCapabilities are those that the profile dev keeps: what package managers need, and KILL,
// without which root could not end the processes of the users it becomes.
var devCapabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETUID", "SETGID", "KILL"}

// quietEnv makes programs neither ask nor draw. HOME can be written by every uid.
var quietEnv = map[string]string{
	"CI": "1", "DEBIAN_FRONTEND": "noninteractive", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0",
	"HOME": "/tmp", "LANG": "C.UTF-8", "NO_COLOR": "1", "PAGER": "cat", "PIP_NO_INPUT": "1",
	"TERM": "dumb", "npm_config_yes": "true",
}

// A spec is a sandbox as an engine is asked for it.
type spec struct {
	config *container.Config
	host   *container.HostConfig
	seen   seenMounts
}

// withDefaults fills in what c leaves out.
func (c Config) withDefaults() Config {
	c.Image = cmp.Or(c.Image, DefaultImage)
	c.Pull = cmp.Or(c.Pull, PullMissing)
	c.PullTimeout = cmp.Or(c.PullTimeout, DefaultPullTimeout)
	c.Profile = cmp.Or(c.Profile, Safe)
	c.Network = cmp.Or(c.Network, NetworkNone)
	c.Memory = cmp.Or(c.Memory, DefaultMemory)
	c.CPUs = cmp.Or(c.CPUs, DefaultCPUs)
	c.PIDs = cmp.Or(c.PIDs, DefaultPIDs)
	c.Dir = path.Clean(cmp.Or(c.Dir, DefaultDir))
	c.Lifetime = cmp.Or(c.Lifetime, DefaultLifetime)
	return c
}

// check refuses what no engine can make, or what would mean less safety than was asked for.
func (c Config) check() error {
	switch {
	case c.Profile != Safe && c.Profile != Dev:
		return configError(nil, "profile %q: there are safe and dev", c.Profile)
	case c.Network != NetworkNone && c.Network != NetworkBridge:
		return configError(nil, "network %q: there are none and bridge", c.Network)
	case c.Pull != PullMissing && c.Pull != PullNever && c.Pull != PullAlways:
		return configError(nil, "pull policy %q: there are missing, never and always", c.Pull)
	case c.Memory < 0 || c.CPUs < 0 || c.PIDs < 0 || c.PullTimeout < 0 || c.Lifetime < 0:
		return configError(nil, "a limit of a sandbox is negative")
	case !path.IsAbs(c.Dir) || c.Dir == "/":
		return configError(nil, "the directory for commands, %q, is not an absolute path below /", c.Dir)
	}
	for name, value := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return configError(nil, "%q cannot be a variable of the environment", name)
		}
	}
	return nil
}

// spec returns what to ask the engine for. Nothing of this process's environment goes in.
// Image and first process are missing in it yet.
func (e *Engine) spec(c Config, rootless bool) (spec, error) {
	mounts, err := e.bindMounts(c)
	if err != nil {
		return spec{}, err
	}
	seen, err := see(mounts)
	if err != nil {
		return spec{}, err
	}
	u, err := userFor(c, rootless)
	if err != nil {
		return spec{}, err
	}
	tmpfs, err := scratch(c, u, mounts)
	if err != nil {
		return spec{}, err
	}
	s := spec{
		config: &container.Config{
			// Commands say where they run. The engine would make a directory that does not exist, as
			// root's, and in a mount that would be on this machine.
			User: string(u), WorkingDir: "/",
			Env: environ(c.Env), StopSignal: "SIGKILL", // an engine that is stopped need not wait
			OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
			NetworkDisabled: c.Network == NetworkNone,
			Healthcheck:     &container.HealthConfig{Test: []string{"NONE"}},
			Labels:          e.owner.labels(time.Now(), c.Lifetime),
		},
		host: hostConfig(c), seen: seen,
	}
	s.host.Mounts, s.host.Tmpfs = mounts, tmpfs
	return s, nil
}

// running returns a copy of s whose first process is argv, and that has more mounts.
func (s spec) running(argv []string, more ...mount.Mount) spec {
	config, host := *s.config, *s.host
	config.Entrypoint, config.Cmd = argv, []string{}
	host.Mounts = slices.Concat(host.Mounts, more)
	return spec{config: &config, host: &host, seen: s.seen}
}

// hostConfig returns the limits and the hardening. Seccomp and AppArmor are the engine's own
// profiles, which apply where nothing is said.
func hostConfig(c Config) *container.HostConfig {
	h := &container.HostConfig{
		AutoRemove:     true,
		CapDrop:        []string{"ALL"},
		SecurityOpt:    []string{"no-new-privileges"},
		NetworkMode:    container.NetworkMode(c.Network),
		IpcMode:        container.IPCModePrivate,
		LogConfig:      container.LogConfig{Type: "none"},
		ReadonlyRootfs: c.ReadOnly,
		Runtime:        c.Runtime,
		ShmSize:        min(shmSize, c.Memory/16),
		Init:           new(bool), // the agent must be process 1, which its own commands cannot kill
		Resources: container.Resources{
			Memory: c.Memory, MemorySwap: c.Memory, // equal: no swap
			NanoCPUs: int64(c.CPUs * 1e9), PidsLimit: &c.PIDs,
			Ulimits: []*container.Ulimit{
				{Name: "nofile", Soft: openFiles, Hard: openFiles},
				{Name: "core", Soft: 0, Hard: 0},
			},
		},
	}
	if c.Profile == Dev {
		h.CapAdd = devCapabilities
	}
	return h
}

// scratch returns the file systems in memory: /tmp, and where no mount holds the directory
// for commands, that one too. All of them count as memory.
func scratch(c Config, u user, mounts []mount.Mount) (map[string]string, error) {
	t := map[string]string{"/tmp": u.tmpfs(min(tmpSize, c.Memory/4), "1777")}
	held := func(m mount.Mount) bool { return within(c.Dir, m.Target) }
	if within(c.Dir, "/tmp") || slices.ContainsFunc(mounts, held) {
		return t, nil
	}
	if _, err := checkTarget(c.Dir); err != nil {
		return nil, err
	}
	t[c.Dir] = u.tmpfs(c.Memory/scratchShare, "0755")
	return t, nil
}

// tmpfs returns the options of a file system in memory that u can write. It belongs to u, also
// where everybody may write it: runc before 1.2 gives it the mode of the image's directory.
func (u user) tmpfs(size int64, mode string) string {
	options := fmt.Sprintf("rw,exec,nosuid,nodev,size=%d", size)
	uid, gid, known := u.ids()
	if !known {
		return options + ",mode=1777"
	}
	return options + ",mode=" + mode + ",uid=" + uid + ",gid=" + gid
}

// environ returns the environment that commands begin with, sorted.
func environ(more map[string]string) (env []string) {
	all := maps.Clone(quietEnv)
	maps.Copy(all, more)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}
