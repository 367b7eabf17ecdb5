package container

import (
	"context"
	"time"
)

// A Backend runs commands in one environment. All its methods may be called at once, from
// several goroutines. Package backendtest holds what every one must do.
//
// Where the environment is gone, methods return a [*LostError], and Done is closed.
type Backend interface {
	// Name is agent, exec or local.
	Name() string
	// Abilities says what this backend can do beyond running commands.
	Abilities() Abilities
	// Run runs c to its end. It calls report about once a second, from one goroutine, unless it
	// is nil. When ctx ends, the command's whole tree is killed and ctx's error returned. A command
	// that could not be started is a [*StartError].
	Run(ctx context.Context, c Command, report func(Progress)) (Result, error)
	// Jobs lists what commands left running, the oldest first, and what ended of it and was not
	// polled since.
	Jobs(ctx context.Context) ([]Job, error)
	// Poll returns what a job wrote since the last time, at most limit code points, when the job
	// ends or wait is over. A job that has ended can be polled once; then it is a [*NoJobError].
	Poll(ctx context.Context, id string, wait time.Duration, limit int) (JobState, error)
	// Kill ends a job's processes and returns its last output.
	Kill(ctx context.Context, id string, limit int) (JobState, error)
	// Restart ends all processes. Files stay, unless the environment had to be made anew: then
	// it is emptied, and only mounts are as they were.
	Restart(ctx context.Context) (emptied bool, err error)
	// Done is closed when the environment is gone.
	Done() <-chan struct{}
	// Close ends the environment and all its processes. It returns when they are gone, or when a
	// few seconds are over.
	Close() error
}

// Abilities are what a backend can do beyond running commands.
type Abilities struct {
	ExactKill bool // a timeout ends every process of a command and no other
	Jobs      bool // what a command leaves running can be listed, polled and killed
	OOM       bool // a kill by the memory limit is told from another
	Isolated  bool // the host is out of reach
}
