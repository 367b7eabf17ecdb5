// Package sketch is the [provider.Provider] that needs nothing: no network, no key, no model.
// It draws a small landscape, a pattern or a flower, chosen by the words of the prompt and,
// for the rest, by a hash of it.
//
// The same request gives the same pixels on every machine: all that decides them is counted
// in whole numbers, and drawn by one goroutine. PNG and lossless WebP are the same bytes, too,
// as long as Go's compressor does not change; JPEG is exact in Go's encoder, but is not promised.
//
// A sketch is no AI image and says so: in a corner of the picture, if it is large enough to be
// read, and in the first warning of each result.
//
// An edit paints within the transparent part of the mask and leaves all other pixels as they
// are. Without a mask it lays a frame, a round sketch and the prompt over the picture. Inputs
// after the first, or all of them if a picture is made anew, are shown as small prints.
package sketch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// Name is that of the provider and of its only model.
const Name = "sketch"

// The sizes that are drawn, in pixels: larger and smaller edge at most, each edge at least.
var maxEdge = provider.Size{Width: 3840, Height: 2160}

const (
	minEdge     = 16
	maxPictures = 10
	maxPartials = 3
)

// A Provider draws. The zero value is ready; it holds nothing, so that calls do not touch
// each other.
type Provider struct{}

// Name returns sketch.
func (Provider) Name() string { return Name }

// Model returns the rules, which are the same whatever the name.
func (Provider) Model(string) provider.Model {
	return provider.Model{
		Name: Name, Known: true,
		Formats: []provider.Format{provider.PNG, provider.JPEG, provider.WebP},
		MaxEdge: maxEdge, MaxN: maxPictures,
		Partials: true, Transparent: true, ForeignOwned: true,
	}
}

// Generate draws what r asks for. What cannot be given is named in the warnings, never
// refused; only pictures that cannot be read are an error, and the end of ctx. It stops
// within some rows of pixels when ctx ends.
func (Provider) Generate(ctx context.Context, r provider.Request, report func(provider.Event)) (*provider.Result, error) {
	if report == nil {
		report = func(provider.Event) {}
	}
	res, err := generate(ctx, r, report)
	if ctx.Err() != nil { // whatever else went wrong then, went wrong by it
		return nil, stoppedBy(ctx.Err())
	}
	return res, err
}

func generate(ctx context.Context, r provider.Request, report func(provider.Event)) (*provider.Result, error) {
	j, err := newJob(ctx, r)
	if err != nil {
		return nil, err
	}
	res := &provider.Result{Model: Name, Created: time.Now(), Background: j.background(), Warnings: j.warnings}
	for i := range j.count {
		report(provider.Event{Phase: provider.Generating, Text: fmt.Sprintf("drawing picture %d of %d", i+1, j.count)})
		p, err := j.draw(ctx, i, report)
		if err != nil {
			return nil, err
		}
		res.Images = append(res.Images, p)
	}
	return res, nil
}

func stoppedBy(cause error) error {
	e := &provider.Error{Code: provider.Cancelled, Message: "the drawing was stopped", Err: cause}
	if errors.Is(cause, context.DeadlineExceeded) {
		e.Code, e.Message = provider.TimedOut, "the drawing took too long"
	}
	return e
}

func invalid(param, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &provider.Error{Code: provider.InvalidRequest, Param: param, Message: err.Error(), Err: errors.Unwrap(err)}
}
