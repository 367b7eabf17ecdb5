package container

import (
	"fmt"
	"net/url"
	"strings"
)

// A StartReason is why a command did not start.
type StartReason string

// The reasons.
const (
	NoDirectory StartReason = "no directory" // Command.Dir does not exist, is none, or may not be entered
	TooLong     StartReason = "too long"     // more than the kernel takes as arguments
	NoResources StartReason = "no resources" // a limit on processes or memory is reached
	BadCommand  StartReason = "bad command"  // a NUL, no argument, a name of a variable that is none
)

// A StartError says that a command did not start. Nothing was run.
type StartError struct {
	Reason StartReason
	Text   string // for the model: what was given, and what would do
}

// Error returns the text.
func (e *StartError) Error() string { return e.Text }

// Visible returns what the model may read.
func (e *StartError) Visible() string { return e.Text }

// A LostError says that a sandbox ended while it was in use, or before.
type LostError struct {
	Why string // for the model, such as "the engine ended the container"
	Err error  // for the log
}

// Error returns why, and the cause.
func (e *LostError) Error() string {
	if e.Err == nil {
		return "the sandbox is gone: " + e.Why
	}
	return fmt.Sprintf("the sandbox is gone: %s: %v", e.Why, e.Err)
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// A RestartedError says that a command ended because the sandbox was restarted under it.
type RestartedError struct {
	Why string // for the model
}

// Error says so.
func (e *RestartedError) Error() string {
	return "the sandbox was restarted while the command ran: " + e.Why
}

// Visible returns what the model may read.
func (e *RestartedError) Visible() string { return e.Error() }

// A SilentError says that a sandbox does not answer: it is paused, or out of breath.
type SilentError struct {
	What string // was asked for, such as "list jobs"
}

// Error says so.
func (e *SilentError) Error() string {
	return e.What + ": the sandbox does not answer; a restart ends everything that runs in it"
}

// Visible returns what the model may read.
func (e *SilentError) Visible() string { return e.Error() }

// A NoJobError says that there is no such job.
type NoJobError struct {
	ID   string
	Have []string // ids of those that there are
}

// Error names the jobs that there are.
func (e *NoJobError) Error() string {
	if len(e.Have) == 0 {
		return fmt.Sprintf("there is no job %q, and no other", e.ID)
	}
	return fmt.Sprintf("there is no job %q; there are: %s", e.ID, strings.Join(e.Have, ", "))
}

// Visible returns what the model may read.
func (e *NoJobError) Visible() string { return e.Error() }

// An UnableError says that a backend cannot do what was asked; see [Abilities].
type UnableError struct {
	Backend string
	What    string // such as "list what commands left running"
}

// Error names both.
func (e *UnableError) Error() string {
	return fmt.Sprintf("the backend %s cannot %s", e.Backend, e.What)
}

// Visible returns what the model may read.
func (e *UnableError) Visible() string { return e.Error() }

// A NoEngineError says that no engine answered.
type NoEngineError struct {
	Tried []Attempt // in the order tried
}

// An Attempt is one place where an engine was looked for.
type Attempt struct {
	Source string // such as DOCKER_HOST, "context colima" or "default socket"
	Host   string // such as unix:///var/run/docker.sock
	Err    error
}

// Error lists every place, and how to mend it.
func (e *NoEngineError) Error() string {
	var b strings.Builder
	b.WriteString("no Docker engine answers; looked for it at:")
	for _, a := range e.Tried {
		fmt.Fprintf(&b, "\n  %s (%s): %v", withoutPassword(a.Host), a.Source, a.Err)
	}
	b.WriteString("\nhint: start the engine, or name it with --host or DOCKER_HOST")
	return b.String()
}

// Visible returns what the model may read.
func (e *NoEngineError) Visible() string { return e.Error() }

// An ImageError says that an image cannot be had.
type ImageError struct {
	Image string
	Pull  PullPolicy
	Why   string // for the model
	Err   error  // for the log
}

// Error names image and policy.
func (e *ImageError) Error() string {
	return fmt.Sprintf("image %s: %s (pull policy %s)", e.Image, e.Why, e.Pull)
}

// Visible returns what the model may read.
func (e *ImageError) Visible() string { return e.Error() }

// Unwrap returns the cause.
func (e *ImageError) Unwrap() error { return e.Err }

// withoutPassword returns the address of an engine as it may be shown.
func withoutPassword(host string) string {
	u, err := url.Parse(host)
	if err != nil || u.User == nil {
		return host
	}
	return u.Redacted()
}
