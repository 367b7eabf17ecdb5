package protocol

import "time"

// Version is that of the messages. A server uses an agent of its own version only; it knows
// its own agent by [Greeting.Build] as well.
const Version = 1

// The times of the ladder by which a command is ended, counted from its deadline or the
// request to kill it. The supervisor climbs the first rungs, the agent and then the server
// the next ones if there is no answer.
const (
	TermGrace  = 200 * time.Millisecond // from SIGTERM to SIGKILL of all descendants, again and again
	AloneAfter = 700 * time.Millisecond // if no other command runs: SIGKILL of everything but the agent
	AgentAfter = 2 * time.Second        // the agent does the same itself, and answers for the supervisor
	RestartAt  = 2 * time.Second        // the server restarts the sandbox
)

// Drain is how long output is awaited after a command has exited while others still hold its
// streams.
const Drain = 150 * time.Millisecond

// Lease is how long an agent lives without a frame from its server. PingEvery is how often a
// server sends one.
const (
	Lease     = 60 * time.Second
	PingEvery = 15 * time.Second
)

// A Salutation is what a server says in [Hello].
type Salutation struct {
	Look []string `json:"look,omitempty"` // paths that the answer shall tell apart from others
}

// A File is which file a path leads to: the same numbers mean the same one to all processes
// of a kernel. Both are 0 where there is none.
type File struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// A Greeting is an agent's answer to [Hello].
type Greeting struct {
	Version int    `json:"version"`
	Build   string `json:"build"` // names what the agent is made of, as package agents does; empty where it was built otherwise
	PID     int    `json:"pid"`   // 1 in a sandbox
	UID     int    `json:"uid"`
	GID     int    `json:"gid"`
	Boot    string `json:"boot,omitempty"`  // names the kernel since it booted; empty where that is unknown
	Found   []File `json:"found,omitempty"` // for each path of Salutation.Look
}

// A Command is what to run. Its standard input is the body of the frame.
type Command struct {
	Argv       []string `json:"argv"`               // not empty; the first is looked up in PATH where it has no slash
	Dir        string   `json:"dir"`                // absolute
	Env        []string `json:"env,omitempty"`      // KEY=VALUE, in addition to the agent's own and before it
	Stdin      bool     `json:"stdin,omitempty"`    // read the body; else standard input is /dev/null
	TimeoutMS  int64    `json:"timeout_ms"`         // positive
	Keep       int      `json:"keep"`               // bytes kept of the head and of the tail, of each stream
	ProgressMS int64    `json:"progress,omitempty"` // between two reports; 0: none
}

// A Target is the job that a request is about: the id of the Run that left it.
type Target struct {
	Job    uint64 `json:"job"`
	WaitMS int64  `json:"wait_ms,omitempty"` // Poll: how long to wait for the job's end
}

// A Span says how the body of a frame holds what was kept of one stream: first the head,
// then the tail.
type Span struct {
	Head  int   `json:"head"`  // bytes of the body
	Tail  int   `json:"tail"`  // bytes of the body; 0 where nothing was left out
	Bytes int64 `json:"bytes"` // of the whole stream since the last frame about it
	Runes int64 `json:"runes"` // the same in code points, where each invalid byte is one
}

// An Output is what a command wrote. The body holds standard output, then standard error.
type Output struct {
	Stdout Span `json:"stdout"`
	Stderr Span `json:"stderr"`
}

// A Report says how far a command is.
type Report struct {
	Line  string `json:"line,omitempty"` // the last line that it wrote, cut to 200 bytes
	Bytes int64  `json:"bytes"`          // that it wrote so far
}

// An Outcome is how a command ended.
type Outcome struct {
	Output
	Code     int    `json:"code"`             // exit code; 128 and the signal's number where one ended it
	Signal   string `json:"signal,omitempty"` // such as SIGKILL
	TimedOut bool   `json:"timed_out,omitempty"`
	Stopped  bool   `json:"stopped,omitempty"`  // ended by a Kill for it
	OOM      bool   `json:"oom,omitempty"`      // the memory limit killed a process meanwhile
	Left     int    `json:"left,omitempty"`     // processes that it left running
	Killed   int    `json:"killed,omitempty"`   // processes that had to be killed at the end
	Orphaned bool   `json:"orphaned,omitempty"` // it killed its supervisor: its output is lost
	TookUS   int64  `json:"took_us"`            // from start to exit
}

// A Failure says why a request was not carried out.
type Failure struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text"` // the system's words, for a person
}

// A Reason is the kind of a [Failure].
type Reason string

// The reasons.
const (
	NoDirectory Reason = "no directory" // Command.Dir does not exist, is none, or may not be entered
	NoProgram   Reason = "no program"   // Argv[0] does not exist; a shell says 127
	NotRunnable Reason = "not runnable" // Argv[0] may not be executed; a shell says 126
	TooLong     Reason = "too long"     // the arguments exceed what the kernel takes
	NoResources Reason = "no resources" // a limit on processes or memory is reached
	NoJob       Reason = "no job"       // there is none by that id, or it has ended
	Restarted   Reason = "restarted"    // a Reset ended it
	BadRequest  Reason = "bad request"
	Internal    Reason = "internal"
)

// A JobState is what became of what a command left running.
type JobState struct {
	Output
	Alive  int  `json:"alive"` // processes
	OOM    bool `json:"oom,omitempty"`
	Killed int  `json:"killed,omitempty"`
}

// A JobList holds the jobs that have processes.
type JobList struct {
	Jobs []Job `json:"jobs"`
}

// A Job is a command whose supervisor lives.
type Job struct {
	ID      uint64 `json:"id"`
	Running bool   `json:"running"` // the command itself; false where only what it left runs
	Alive   int    `json:"alive"`   // processes
}
