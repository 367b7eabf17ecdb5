package shelltool

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/urfave/cli/v2"
)

// The defaults that are this program's own; others are those of package container.
const (
	defaultShell   = "/bin/sh"
	defaultTimeout = 120 * time.Second
	maximumTimeout = 600 * time.Second
	defaultLimit   = 30_000
	defaultIdle    = 15 * time.Minute
	defaultMost    = 8
)

// maxLimit is the largest max_output_length, in code points: more would not fit a result.
const maxLimit = 200_000

func flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "image", Usage: "run commands in a container of `IMAGE`", Value: container.DefaultImage},
		&cli.StringFlag{Name: "shell", Usage: "`SHELL` in the image, which takes -c COMMAND", Value: defaultShell},
		&cli.StringFlag{Name: "backend", Usage: "docker, or local: no isolation, on this machine (Linux)", Value: "docker"},
		&cli.StringFlag{Name: "host", Usage: "`ENGINE`, such as unix:///run/docker.sock (default: DOCKER_HOST, the current context, the usual sockets)"},
		&cli.StringFlag{Name: "profile", Usage: "safe: no capabilities; dev: root that can install packages", Value: string(container.Safe)},
		&cli.StringFlag{Name: "runtime", Usage: "OCI `RUNTIME` of the engine, such as runsc (default: the engine's)"},
		&cli.StringFlag{Name: "network", Usage: "none or bridge", Value: string(container.NetworkNone)},
		&cli.StringFlag{Name: "memory", Usage: "memory of a sandbox, `SIZE` such as 512m or 1g", Value: "1g"},
		&cli.StringFlag{Name: "cpus", Usage: "processors of a sandbox, `N` such as 1.5", Value: "2"},
		&cli.IntFlag{Name: "pids", Usage: "processes and threads of a sandbox, `N`", Value: container.DefaultPIDs},
		&cli.StringFlag{Name: "user", Usage: "run commands as `USER`: uid, uid:gid or a name in the image (default: the owner of the root)"},
		&cli.StringSliceFlag{Name: "mount", Usage: "show a directory in the sandbox, `SRC:DST[:ro]`; can be repeated"},
		&cli.BoolFlag{Name: "read-only-rootfs", Usage: "only roots, mounts, /data, /tmp and /dev/shm can be written"},
		&cli.StringFlag{Name: "pull", Usage: "pull the image: missing, never or always", Value: string(container.PullMissing)},
		&cli.DurationFlag{Name: "pull-timeout", Usage: "for pulling the image, `TIME`; outside the time of commands", Value: container.DefaultPullTimeout},
		&cli.DurationFlag{Name: "timeout", Usage: "for a command that asks for none, `TIME`", Value: defaultTimeout},
		&cli.DurationFlag{Name: "max-timeout", Usage: "for any command, `TIME`", Value: maximumTimeout},
		&cli.IntFlag{Name: "max-output-length", Usage: "output of a command that asks for none, `N` characters", Value: defaultLimit},
		&cli.DurationFlag{Name: "idle-timeout", Usage: "a sandbox without a call ends after `TIME`", Value: defaultIdle},
		&cli.DurationFlag{Name: "max-lifetime", Usage: "any sandbox ends after `TIME`", Value: container.DefaultLifetime},
		&cli.IntFlag{Name: "max-sandboxes", Usage: "at most `N` at once; then the one that is idle for longest goes", Value: defaultMost},
		&cli.BoolFlag{Name: "warm", Usage: "keep a spare sandbox ready; with --http only"},
	}
}

// dockerOnly are the flags that say something of a container, and would be a false promise
// without one.
var dockerOnly = []string{
	"image", "host", "profile", "runtime", "network", "memory", "cpus", "pids", "user", "mount", "read-only-rootfs", "pull", "pull-timeout", "warm",
}

// settings are the flags, checked.
type settings struct {
	limits
	local      bool
	host       string
	shell      string
	config     container.Config // with the mounts of --mount
	operator   *fsroot.Set
	timeout    time.Duration
	maxTimeout time.Duration
	limit      int // code points
}

// readSettings checks the flags. It looks at nothing but them.
func readSettings(c *cli.Context) (*settings, error) {
	o := &settings{
		host: c.String("host"), shell: c.String("shell"), operator: fsroot.NewSet(c.StringSlice("root")...),
		timeout: c.Duration("timeout"), maxTimeout: c.Duration("max-timeout"), limit: c.Int("max-output-length"),
	}
	for _, check := range []func(*cli.Context) error{o.readBackend, o.readCommands, o.readLimits, o.readContainer, o.readResources, o.readMounts} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *settings) readBackend(c *cli.Context) error {
	backend, err := oneOf(c, "backend", "docker", "local")
	if err != nil {
		return err
	}
	if o.local = backend == "local"; !o.local {
		return o.checkHost()
	}
	if runtime.GOOS != "linux" {
		return errors.New("--backend local: works on Linux only")
	}
	for _, f := range dockerOnly {
		if c.IsSet(f) {
			return fmt.Errorf("--%s means nothing with --backend local, which isolates nothing: leave one of them out", f)
		}
	}
	return nil
}

var engineHost = regexp.MustCompile(`^(unix|npipe|tcp|ssh|http|https)://.`)

func (o *settings) checkHost() error {
	if o.host != "" && !engineHost.MatchString(o.host) {
		return fmt.Errorf("--host %q: want an address such as unix:///run/docker.sock, tcp://host:2376 or ssh://host", o.host)
	}
	return nil
}

func (o *settings) readCommands(c *cli.Context) error {
	const most = 24 * time.Hour
	if !c.IsSet("timeout") {
		o.timeout = min(o.timeout, o.maxTimeout)
	}
	switch {
	case o.shell == "" || strings.HasPrefix(o.shell, "-") || strings.ContainsAny(o.shell, " \t\n\x00"):
		return fmt.Errorf("--shell %q: want the path or name of a shell, without arguments, such as /bin/bash", o.shell)
	case o.maxTimeout < time.Millisecond || o.maxTimeout > most:
		return fmt.Errorf("--max-timeout %s: want 1ms to %s", o.maxTimeout, most)
	case o.timeout < time.Millisecond || o.timeout > o.maxTimeout:
		return fmt.Errorf("--timeout %s: want 1ms to --max-timeout, which is %s", o.timeout, o.maxTimeout)
	case o.limit < 1 || o.limit > maxLimit:
		return fmt.Errorf("--max-output-length %d: want 1 to %d", o.limit, maxLimit)
	}
	return nil
}

func (o *settings) readLimits(c *cli.Context) error {
	const most = 1000
	o.limits = limits{
		idle: c.Duration("idle-timeout"), lifetime: c.Duration("max-lifetime"),
		most: c.Int("max-sandboxes"), warm: c.Bool("warm"),
	}
	switch {
	case o.idle <= 0:
		return fmt.Errorf("--idle-timeout %s: want more than 0", o.idle)
	case o.lifetime <= 0:
		return fmt.Errorf("--max-lifetime %s: want more than 0", o.lifetime)
	case o.most < 1 || o.most > most:
		return fmt.Errorf("--max-sandboxes %d: want 1 to %d", o.most, most)
	case o.warm && c.String("http") == "":
		return errors.New("--warm works with --http only: a client over stdio has one sandbox, made at its first call")
	}
	return nil
}

var (
	userName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

func (o *settings) readContainer(c *cli.Context) error {
	profile, err1 := oneOf(c, "profile", string(container.Safe), string(container.Dev))
	network, err2 := oneOf(c, "network", string(container.NetworkNone), string(container.NetworkBridge))
	pull, err3 := oneOf(c, "pull", string(container.PullMissing), string(container.PullNever), string(container.PullAlways))
	o.config = container.Config{
		Image: c.String("image"), Pull: container.PullPolicy(pull), PullTimeout: c.Duration("pull-timeout"),
		Profile: container.Profile(profile), Runtime: c.String("runtime"), Network: container.Network(network),
		User: c.String("user"), ReadOnly: c.Bool("read-only-rootfs"), Lifetime: c.Duration("max-lifetime"),
	}
	noImage := container.CheckImage(o.config.Image)
	switch {
	case err1 != nil || err2 != nil || err3 != nil:
		return errors.Join(err1, err2, err3)
	case noImage != nil:
		return fmt.Errorf("--image %q: want a name such as debian:12, or name@sha256:digest: %w", o.config.Image, noImage)
	case o.config.PullTimeout <= 0:
		return fmt.Errorf("--pull-timeout %s: want more than 0", o.config.PullTimeout)
	case o.config.Runtime != "" && !plainName.MatchString(o.config.Runtime):
		return fmt.Errorf("--runtime %q: want the name of a runtime of the engine, such as runsc", o.config.Runtime)
	case o.config.User != "" && !userName.MatchString(o.config.User):
		return fmt.Errorf("--user %q: want a uid, uid:gid, or a name", o.config.User)
	}
	return nil
}

// Less than these would leave no room for what runs the commands.
const (
	leastMemory = 64 << 20
	leastPIDs   = 32
)

func (o *settings) readResources(c *cli.Context) (err error) {
	if o.config.Memory, err = parseSize(c.String("memory")); err != nil {
		return fmt.Errorf("--memory %q: %w", c.String("memory"), err)
	}
	cpus, err := strconv.ParseFloat(c.String("cpus"), 64)
	if err != nil || !(cpus >= 0.01 && cpus <= 1024) {
		return fmt.Errorf("--cpus %q: want a number from 0.01 to 1024", c.String("cpus"))
	}
	o.config.CPUs, o.config.PIDs = cpus, int64(c.Int("pids"))
	if o.config.PIDs < leastPIDs || o.config.PIDs > 1<<22 {
		return fmt.Errorf("--pids %d: want %d to %d", o.config.PIDs, leastPIDs, 1<<22)
	}
	return nil
}

var size = regexp.MustCompile(`(?i)^([0-9]{1,15})([bkmgt]?)(?:i?b)?$`)

// parseSize reads 512m, 1g or a number of bytes.
func parseSize(s string) (int64, error) {
	m := size.FindStringSubmatch(s)
	if m == nil {
		return 0, errors.New("want a size such as 512m or 1g")
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	shift := 10 * strings.Index("bkmgt", strings.ToLower(m[2]))
	if m[2] == "" {
		shift = 0
	}
	if err != nil || n > (1<<50)>>shift || n<<shift < leastMemory {
		return 0, errors.New("want 64m to 1024t")
	}
	return n << shift, nil
}

// oneOf reads a flag of a few values. The first one is its default, and holds for an empty
// variable of the environment too.
func oneOf(c *cli.Context, flag string, allowed ...string) (string, error) {
	if c.String(flag) == "" {
		return allowed[0], nil
	}
	for _, a := range allowed {
		if c.String(flag) == a {
			return a, nil
		}
	}
	last := len(allowed) - 1
	return "", fmt.Errorf("--%s %q: want %s or %s", flag, c.String(flag), strings.Join(allowed[:last], ", "), allowed[last])
}

func (o *settings) readMounts(c *cli.Context) error {
	for _, text := range c.StringSlice("mount") {
		m, err := parseMount(text)
		if err != nil {
			return fmt.Errorf("--mount %q: %w", text, err)
		}
		for _, other := range o.config.Mounts {
			if other.Target == m.Target {
				return fmt.Errorf("--mount %q: %s is the target of another", text, m.Target)
			}
		}
		if !o.operator.Empty() && m.Target == container.DefaultDir {
			return fmt.Errorf("--mount %q: %s is where the roots are", text, m.Target)
		}
		o.config.Mounts = append(o.config.Mounts, m)
	}
	return nil
}

// parseMount reads SRC:DST, SRC:DST:ro or SRC:DST:rw. The colon of C: does not end a source.
func parseMount(text string) (m container.Mount, err error) {
	volume := filepath.VolumeName(text)
	source, rest, ok := strings.Cut(text[len(volume):], ":")
	target, mode, _ := strings.Cut(rest, ":")
	if !ok || volume+source == "" || !path.IsAbs(target) || mode != "" && mode != "ro" && mode != "rw" {
		return m, errors.New("want SRC:DST or SRC:DST:ro, with an absolute DST")
	}
	target = path.Clean(target)
	if target == "/" || target == "/.mcp" || strings.HasPrefix(target, "/.mcp/") || strings.ContainsAny(text, "\x00\n") {
		return m, fmt.Errorf("nothing can be mounted at %s", target)
	}
	abs, err := filepath.Abs(volume + source)
	return container.Mount{Source: abs, Target: target, ReadOnly: mode == "ro"}, err
}
