package toolkit

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// A Type is the JSON type of an argument. Every argument has exactly one, so that every
// model provider accepts the schema.
type Type string

// The types an argument can have.
const (
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
	Array   Type = "array"
	Object  Type = "object"

	// Any is for hidden arguments only, which no schema shows: the value is decoded as it came.
	Any Type = "any"
)

// A Param is one argument of a tool. The schema that clients see and the tolerant
// decoding of what they send are both made from it.
type Param struct {
	Name        string // key in the schema and json tag in the tool's In
	Type        Type
	Description string
	Required    bool
	Aliases     []string // other keys accepted silently, not advertised
	Enum        []string // allowed values of a String
	Items       Type     // element type of an Array; String when empty
	Min, Max    *int64   // bounds of an Integer: a value outside is moved to the bound, with a warning
	Example     string   // JSON value shown in errors, such as `"src/main.go"`
	Hidden      bool     // accepted like an alias, and not advertised
	Verbatim    bool     // of a String: "", "null" and "undefined" are text, and leave nothing out
}

// Bound is for [Param.Min] and [Param.Max].
func Bound(n int64) *int64 { return &n }

// Hints are the four annotations by which clients decide whether a call needs a person.
// All four are always sent; the zero value is the most careful reading: changes things, destroys, repeats
// badly, reaches outside.
type Hints struct {
	ReadOnly       bool
	NonDestructive bool
	Idempotent     bool
	ClosedWorld    bool
}

// A Definition is what clients see of a tool, and its limits.
type Definition struct {
	Name        string // canonical, in [A-Za-z0-9_], at most 24 characters; policies and logs use it
	Title       string
	Description string // at most 60 words; says how results are capped and continued
	Params      []Param
	Judged      []string        // what a policy's conditions find in [approval.Action.Args] besides
	Output      json.RawMessage // JSON schema of the structured result; nil where there is none
	Hints       Hints
	Effect      approval.Effect // of its actions; what the policy judges where Plan fails
	Deadline    time.Duration   // of Run, as a last resort; 60 s when zero

	// Whole, where it is set and returns true, makes the one result of a call in a form that the
	// caller asked for, whatever came of it. Such a result is sent as it is: it says itself what
	// the warnings say, and no budget bounds it.
	Whole func(call *Call, o Outcome) (r Result, ok bool)
}

// An Outcome is what came of a call, refusals and internal errors included.
type Outcome struct {
	Result    Result          // as rendered; where there is an Err, its text for the model
	Err       error           // why there is no other result; for its kind, since it may say what only the log may hold
	Warnings  []string        // about arguments
	Arguments json.RawMessage // as they came; nothing was checked where there is an Err
}

// A Tool is a definition and the three steps of a call. None of them sees the protocol.
//
// P is what Plan resolved: opened files, parsed commands. If P is an io.Closer it is
// closed when the call is over, or does not run.
type Tool[In, P, Out any] struct {
	Definition
	// Plan resolves in and says what would happen. It reads, and changes nothing. An error is told
	// if the action that comes with it is permitted; a method Under(approval.Grant) error of it
	// leaves out names that the grant does not show.
	Plan func(ctx context.Context, call *Call, in In) (P, approval.Action, error)
	// Run acts on what Plan resolved and the grant permits, never on a second resolution
	// of the arguments.
	Run func(ctx context.Context, p P, g approval.Grant, report Progress) (Out, error)
	// Render makes the result for the client, within the budget.
	Render func(out Out, b Budget) Result
}

// UsedArguments returns arguments as a policy's conditions want them ([approval.Action.Args]): each as
// it is used, and left out where it is the zero value of its type.
func UsedArguments(used map[string]any) json.RawMessage {
	for name, value := range used {
		if value == nil || reflect.ValueOf(value).IsZero() {
			delete(used, name)
		}
	}
	return marshal(used)
}

// A Budget bounds a result.
type Budget struct {
	Text int // bytes of all text together
	All  int // bytes of the whole result, images included
}

// A Result is what a client gets. It is used for one call only.
type Result struct {
	Text       string        // complete in itself
	Structured any           // complete in itself and fitting Definition.Output; nil where there is none
	Media      []mcp.Content // images, audio, resource links, behind the text
	IsError    bool          // nothing useful was done
}

// Progress tells the client how far a call is: done of total (0: unknown), with a line for a person.
// It never blocks for long, may be called from any goroutine, and does nothing where the
// client did not ask for progress.
type Progress func(done, total float64, message string)

// A Call is what a tool may know about who calls it.
type Call struct {
	Caller approval.Caller
	header http.Header
	spoken string // protocol version that the client asked for; "" from 2026-07-28 on
	roots  func(context.Context) ([]string, bool, error)
	ended  func()              // waits for the end of the session; nil where there is none
	by     *streamable.Request // nil but for HTTP

	modern  bool          // from 2026-07-28 on
	streams bool          // the answer to the call can carry questions
	unasked func() string // why the client cannot be asked; "" where it can

	after []func(delivered bool) // what is to be done once the result is made, where by is nil
}

// AfterDelivery has do called when the result of the call is out of hand: over HTTP once it was
// written, with false where that did not succeed or the client had gone; else, where nobody but
// the other end of a pipe can have gone, with true as soon as the result is made.
func (c *Call) AfterDelivery(do func(delivered bool)) {
	if c.by != nil {
		c.by.AfterDelivery(do)
		return
	}
	c.after = append(c.after, do)
}

// deliver does what waits for a result that is made.
func (c *Call) deliver() {
	for _, do := range c.after {
		do(true)
	}
}

// AfterSession has do called, in a goroutine of its own, when the caller's session has ended.
// It does nothing where [approval.Caller.Session] is empty: such a session ends with its
// connection or with the call.
func (c *Call) AfterSession(do func()) {
	if c.ended != nil {
		go func() { c.ended(); do() }()
	}
}

// older reports whether the client speaks a protocol version before that one.
func (c *Call) older(version string) bool { return c.spoken != "" && c.spoken < version }

// Header returns a header of the HTTP request that brought the call, or "". The one with the
// caller's token is never there.
func (c *Call) Header(name string) string { return c.header.Get(name) }

// ClientRoots returns the client's roots as file URIs. The second result is false where the client declared
// none or its protocol has none (2026-07-28 and later).
func (c *Call) ClientRoots(ctx context.Context) (uris []string, declared bool, err error) {
	if c.roots == nil {
		return nil, false, nil
	}
	return c.roots(ctx)
}
