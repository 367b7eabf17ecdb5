package container

import "time"

// A PullPolicy says when an image is pulled.
type PullPolicy string

// The policies.
const (
	PullMissing PullPolicy = "missing" // where the engine does not have it; the default
	PullNever   PullPolicy = "never"   // the network is not used
	PullAlways  PullPolicy = "always"  // before each sandbox
)

// A Profile is what the processes of a sandbox may do.
type Profile string

// The profiles.
const (
	Safe Profile = "safe" // no capability, no new privileges; the default
	Dev  Profile = "dev"  // root that can install packages: seven capabilities, none over the host
)

// A Network is what a sandbox can reach.
type Network string

// The networks.
const (
	NetworkNone   Network = "none" // nothing, not even this machine; the default
	NetworkBridge Network = "bridge"
)

// A Mount shows a directory of this machine in a sandbox.
type Mount struct {
	Source   string // absolute, on this machine; must exist
	Target   string // absolute, in the sandbox
	ReadOnly bool
}

// A Config says what a sandbox is. The zero value of each field is the documented default.
type Config struct {
	Image       string // name, name@sha256:digest or id; ubuntu:latest
	Pull        PullPolicy
	PullTimeout time.Duration // 10 minutes
	Profile     Profile
	Runtime     string // OCI runtime by its name at the engine, such as runsc; the engine's own
	Network     Network
	Memory      int64   // bytes, swap included; 1 GiB
	CPUs        float64 // 2
	PIDs        int64   // processes and threads; 512
	User        string  // uid or uid:gid, or a name that the image knows; the owner of the first mount at or below Dir, or 1000:1000
	Mounts      []Mount
	Dir         string // where commands run; /data
	ReadOnly    bool   // only mounts, /tmp, /dev/shm and /data can be written
	Env         map[string]string
	Lifetime    time.Duration // after which any server may remove it as left behind; 24 hours
}

// The defaults of a [Config].
const (
	DefaultImage       = "ubuntu:latest"
	DefaultPullTimeout = 10 * time.Minute
	DefaultMemory      = 1 << 30
	DefaultCPUs        = 2.0
	DefaultPIDs        = 512
	DefaultDir         = "/data"
	DefaultLifetime    = 24 * time.Hour
)
