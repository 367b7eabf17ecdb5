// Package approval decides whether a tool call runs, before it runs.
//
// A tool's Plan describes what would happen as an [Action]; [Decide] puts it to an
// [Evaluator], which answers with a [Verdict]; an allowed call gets a [Grant], which
// also says which paths a search may show. [Default] is the evaluator that holds where
// no policy is configured, [Parse] makes one of a policy's text, [OpenFile] one that follows a policy
// file. [WithMode] tightens or loosens an evaluator as a whole, [Combine] holds it together with what a request
// wants to be asked about.
//
// The package knows no MCP types and asks nobody: who can be asked, and how, is the business
// of the caller, who puts it into [Admit]. What was answered for a whole session is kept in a
// [Memory].
package approval

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

// A Decision is what happens to a call. The zero value denies.
type Decision uint8

// The decisions, weakest permission first.
const (
	Deny Decision = iota
	Ask
	Allow
)

// String returns deny, ask or allow.
func (d Decision) String() string {
	switch d {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	default:
		return "deny"
	}
}

// An Effect is the kind of thing an action does; the built-in default decides by it.
type Effect string

// The effects of the suite's tools.
const (
	ReadFiles  Effect = "read files"  // show names, facts or content of files below a root
	WriteFiles Effect = "write files" // create, change or delete files below a root

	RunContained Effect = "run commands in a container" // without network and without rights over anything but its mounts
	RunCommands  Effect = "run commands"                // with network, with rights, or on this machine itself
	SeeCommands  Effect = "look at running commands"    // list them, read their output

	MakePictures Effect = "make pictures" // by this machine alone, or fetch those that were made
	BuyPictures  Effect = "buy pictures"  // of a provider elsewhere, which may cost money
)

// An Access is what an action does to one path.
type Access string

// The accesses, as policies name them.
const (
	Read   Access = "read"
	List   Access = "list"
	Create Access = "create"
	Update Access = "update"
	Delete Access = "delete"
	Move   Access = "move" // of what is moved away; where it goes is a Create or an Update
)

// A Path is one path that an action touches.
type Path struct {
	Access Access `json:"access"`
	Root   string `json:"root"`            // the root's directory, absolute, as the operator gave it
	Rel    string `json:"rel"`             // below Root, slash-separated, links resolved; "." is the root itself
	SHA256 string `json:"sha256,omitzero"` // of the content that a change starts from, in hexadecimal; "" where there is none
}

// An Action says what a call would do, in terms that hold after resolution: what a
// person is shown and what the policy judges is what runs.
type Action struct {
	Tool    string          `json:"tool"` // canonical name, whatever the client is shown
	Effect  Effect          `json:"effect"`
	Args    json.RawMessage `json:"args,omitzero"` // the arguments as they would be used, an object: decoded, with the operator's defaults and locks
	Paths   []Path          `json:"paths,omitzero"`
	Shell   *Shell          `json:"shell,omitzero"`   // what it would run; nil where it runs nothing
	Count   int             `json:"count,omitzero"`   // how many of what a limit counts; 0 is 1
	Summary string          `json:"summary,omitzero"` // for a person: one line, and below it the diff of a change
	Unshown string          `json:"unshown,omitzero"` // where Summary does not show all of a change: what stands for it, as counts and a hash
}

// A Shell is what an action would run, and where.
type Shell struct {
	Commands []string          `json:"commands"` // each is an invocation of its own
	Dialect  string            `json:"dialect"`  // the language they are written in: the name of the shell, such as sh or bash
	Dir      string            `json:"dir"`      // where they run, absolute, in the sandbox
	Env      map[string]string `json:"env,omitzero"`
	Stdin    *string           `json:"stdin,omitzero"`    // of the one command, if it is given any
	Image    string            `json:"image,omitzero"`    // as configured; "" where they run on this machine itself
	ImageID  string            `json:"image_id,omitzero"` // what it resolves to; "" if it would have to be pulled
	User     string            `json:"user,omitzero"`     // as configured, or that of the root's owner; "" where it is the usual one
	Profile  string            `json:"profile,omitzero"`  // how hardened the sandbox is
	Network  string            `json:"network,omitzero"`
	Mounts   []string          `json:"mounts,omitzero"` // SOURCE:TARGET or SOURCE:TARGET:ro
}

// A Caller is who makes a call.
type Caller struct {
	Principal string   // who was authenticated, [Local] or [Anonymous]
	Scopes    []string // of the caller's token
	Session   string   // protocol session; empty over stdio and where the protocol has none
	Transport string   // [Stdio] or [HTTP]; calls from the command line count as the former
}

// The principals that no token names.
const (
	Local     = "local"     // who started the program, over stdio
	Anonymous = "anonymous" // whoever can connect, over HTTP without a token
)

// The transports.
const (
	Stdio = "stdio"
	HTTP  = "http"
)

// StateKey returns the key under which something may be kept for the caller from one call to the
// next: the session's or, where the protocol has none, the principal's. It is false for a
// caller who is neither: for that one nothing is kept, except under a random handle.
func (c Caller) StateKey() (key string, ok bool) {
	switch {
	case c.Session != "":
		return "session:" + c.Session, true
	case c.Transport != HTTP:
		return "process", true
	case c.Principal != Anonymous && c.Principal != "":
		return "principal:" + c.Principal, true
	}
	return "", false
}

// A PathFilter decides whether a search may show p: only [Allow] shows it, since nobody is
// asked about what a search finds. It is called once for each candidate, from several
// goroutines at once.
type PathFilter func(p Path) Decision

// A Verdict is an evaluator's answer.
type Verdict struct {
	Decision Decision
	Rule     string     // id of the rule or limit that decided
	Limit    bool       // Rule is a limit, which is used up
	Rules    []string   // ids of all rules that matched, Rule among them
	Reason   string     // for the model, the person and the log; no secrets
	Revision string     // of the policy; "" where it is built in
	Visible  PathFilter // what a search may show once it is permitted; nil shows everything
	Asking   Asking     // of an Ask: how
	// Commands are the simple commands that were found in what a shell action would run; nil where no rule
	// looks at commands.
	Commands []command.Part
	// Spend takes what the policy's limits count for the call, once it is about to run. It is
	// false if something is used up by now: the action is to be judged again. Nil counts nothing.
	Spend func() bool
}

// DefaultAskTimeout is how long a person may take to answer.
const DefaultAskTimeout = 2 * time.Minute

// DefaultMaxPending is how many questions may wait for an answer at once.
const DefaultMaxPending = 5

// Asking says how a person is asked. The zero value is the built-in way.
type Asking struct {
	Timeout    time.Duration // of the answer; 0 is [DefaultAskTimeout]
	Unattended Decision      // what Ask becomes where nobody can be asked: Deny or Allow
	Session    time.Duration // for how long an answer may count for the same call in the session; 0: for that call only
	MaxPending int           // questions at once; 0 is [DefaultMaxPending]
}

// An Evaluator judges actions, from several goroutines at once, without waiting for a person.
type Evaluator interface {
	// Evaluate judges one action. What it finds is used up by [Verdict.Spend] only.
	Evaluate(ctx context.Context, who Caller, a Action) Verdict
	// Hides reports whether who is refused every call of a tool, whatever the arguments: such a
	// tool is not shown.
	Hides(who Caller, tool string) bool
}
