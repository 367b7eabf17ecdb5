package container

// A Sandbox is one environment in which commands run, made by [Engine.Open] or [OpenLocal].
type Sandbox struct {
	Backend
	Info Info
}

// An Info says what a sandbox is.
type Info struct {
	ID      string // of the container, or a name for the process
	Image   string // as configured
	ImageID string // what it resolved to, sha256:...
	User    string // uid:gid
	Dir     string // where commands run
	Runtime string // as configured
	Network Network
	Profile Profile
	// Degraded says why commands run by docker exec, and what that means; "" where the agent
	// runs them.
	Degraded string
}
