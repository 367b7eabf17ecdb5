package container

import (
	"time"

	"github.com/toolhost/toolhost/pkg/container/capture"
)

// A Command is what to run in a sandbox.
type Command struct {
	Argv    []string          // not empty; the first is looked up in the sandbox's PATH where it has no slash
	Dir     string            // absolute, or below the sandbox's own, which holds where it is empty
	Env     map[string]string // in addition to the sandbox's
	Stdin   *string           // nil: standard input is /dev/null
	Timeout time.Duration     // from start to the end of everything; positive
	Limit   int               // code points of both outputs together, marks included; positive
}

// A Result is how a command ended, its whole tree included, and what it wrote.
type Result struct {
	Stdout, Stderr capture.Text
	Code           int           // exit code, as a shell gives it: 128 and the number of a signal; 126, 127
	Signal         string        // that ended it, such as SIGKILL
	TimedOut       bool          // it was ended at its timeout; Code means nothing
	OOM            bool          // the sandbox's memory limit killed a process meanwhile
	Left           int           // processes that it left running, as job Job
	Job            string        // "" where Left is 0
	Killed         int           // processes that had to be killed at the timeout
	Orphaned       bool          // it killed its own supervisor: its output is lost
	Restarted      bool          // nothing less than a restart of the sandbox ended it: all other processes are gone
	Emptied        bool          // and files, but for those in mounts
	Dir            string        // where it ran
	Took           time.Duration // from start to exit
}

// A Progress says how far a command is.
type Progress struct {
	Line  string // the last line that it wrote, cut
	Bytes int64  // that it wrote so far
	Took  time.Duration
}

// A Job is what a command left running.
type Job struct {
	ID      string
	Argv    []string
	Started time.Time
	Alive   int // processes; 0 once all have ended
}

// A JobState is what became of a job: what it wrote since the last time, and whether it lives.
type JobState struct {
	Job
	Stdout, Stderr capture.Text
	OOM            bool
	Killed         int // processes that were killed by Kill
}
