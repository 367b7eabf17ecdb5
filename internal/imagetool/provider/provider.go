// Package provider is what mcp-image asks for pictures.
//
// A [Provider] takes a [Request], whose fields are validated and whose pictures are loaded,
// and returns a [Result], or an [*Error] that says what may have been done meanwhile. It says
// on the way how far it is. Packages openai and sketch hold the two that there are; package
// providertest holds what both must do.
//
// The package knows no MCP, no policy and no files. What a model may ask for is data
// ([Model]), not code: a model that is not in the table gets the rules that all share.
package provider

import (
	"context"
	"fmt"
	"time"
)

// A Provider makes pictures. Its methods may be called at once, from several goroutines.
type Provider interface {
	// Name is openai or sketch.
	Name() string
	// Model returns the rules for a model; "" is the provider's default one.
	Model(name string) Model
	// Generate makes the pictures that r asks for. It calls report, unless that is nil, from one
	// goroutine. The end of ctx ends the work as far as the provider can; what it costs all the
	// same is said by [Error.MayHaveRun].
	Generate(ctx context.Context, r Request, report func(Event)) (*Result, error)
}

// A Request is what to make. Empty fields are left to the provider.
type Request struct {
	Prompt      string
	Model       string
	Action      Action
	Images      []Picture // what to edit, or to use
	Mask        *Picture  // PNG of the first image's size; where its alpha is 0 may be painted
	N           int       // pictures; 1 when 0
	Size        Size      // the provider's choice when zero
	Quality     string    // auto, low, medium, high, xhigh, max or what the model knows
	Background  string    // auto, opaque, transparent
	Format      Format    // PNG when empty
	Compression *int      // 0 to 100, of JPEG and WebP
	Moderation  string    // auto, low
	Partials    int       // pictures on the way, 0 to 3
	Fidelity    string    // to the input: high, low
	Complexity  string
	Frames      int // of a GIF, 2 to 16
	Seed        *int64
	Negative    string // what to leave out
	User        string // for the provider's abuse monitoring; set by the operator or the gateway
}

// An Action is whether a picture is made anew or from others.
type Action string

// The actions. Empty is [Edit] with images, else [Generate].
const (
	Generate Action = "generate"
	Edit     Action = "edit"
)

// A Size is in pixels.
type Size struct{ Width, Height int }

// String returns WIDTHxHEIGHT, or auto for the zero value.
func (s Size) String() string {
	if s == (Size{}) {
		return "auto"
	}
	return fmt.Sprintf("%dx%d", s.Width, s.Height)
}

// A Format is how a picture is encoded.
type Format string

// The formats.
const (
	PNG  Format = "png"
	JPEG Format = "jpeg"
	WebP Format = "webp"
	GIF  Format = "gif"
	SVG  Format = "svg"
)

// MIME returns the media type, such as image/png.
func (f Format) MIME() string {
	if f == SVG {
		return "image/svg+xml"
	}
	return "image/" + string(f)
}

// A Picture is one encoded picture. Format and Size are those of its bytes, whatever a label
// says; [Identify] finds them out.
type Picture struct {
	Data   []byte
	Format Format
	Size   Size
}

// An Event says how far a request is.
type Event struct {
	Phase   Phase
	Partial *Picture // of PartialImage
	Index   int      // of the partial, from 0
	Text    string   // for a person, one line
}

// A Phase is where a request is.
type Phase string

// The phases.
const (
	Waiting      Phase = "waiting" // to try again, as the provider asked
	Generating   Phase = "generating"
	PartialImage Phase = "partial"
	Downloading  Phase = "downloading" // a picture that came as an address
)

// A Result is what was made.
type Result struct {
	Images        []Picture // at least one
	Model         string
	RevisedPrompt string // "" where the provider did not revise it
	Quality       string // as the provider says
	Background    string // as the provider says
	Created       time.Time
	Usage         Usage
	Warnings      []string // what was asked for and not given, one line each
}

// A Usage is what a request cost, in tokens; zero where the provider does not say.
type Usage struct {
	InputText, InputImage, Output, Total int64
}

// A Code is the kind of an [Error].
type Code string

// The codes.
const (
	ModerationBlocked Code = "moderation_blocked"
	ProviderBlocked   Code = "provider_blocked" // the account, not the prompt
	InvalidRequest    Code = "invalid_request"
	QuotaExceeded     Code = "quota_exceeded"
	Unauthorized      Code = "unauthorized"
	Forbidden         Code = "forbidden"
	TooLarge          Code = "too_large"
	RateLimited       Code = "rate_limited"
	Unavailable       Code = "provider_unavailable"
	TimedOut          Code = "timeout"
	NoImage           Code = "no_image" // an answer without a picture, or with one that cannot be decoded
	Cancelled         Code = "cancelled"
)

// An Error says why there is no picture.
type Error struct {
	Code       Code
	Message    string // for the model: the provider's own words, without secrets
	Param      string // the field that the provider objects to
	Status     int    // HTTP status; 0 where there was no answer
	RetryAfter time.Duration
	Stage      string   // of moderation: input, output
	Categories []string // of moderation
	MayHaveRun bool     // the picture may have been made, and paid for
	Partial    *Picture // the last one that came on the way
	Err        error    // for the log; no secrets
}

// Error returns code and message.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Visible returns what the model may read.
func (e *Error) Visible() string { return e.Error() }
