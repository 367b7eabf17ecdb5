package shelltool

import (
	"context"
	"errors"

	"github.com/toolhost/toolhost/pkg/container"
)

// An engine makes sandboxes. A [container.Engine] makes containers.
type engine interface {
	HasImage(ctx context.Context, image string) (id string, ok bool, err error)
	Check(ctx context.Context, c container.Config) error
	Open(ctx context.Context, c container.Config, report func(line string)) (*container.Sandbox, error)
	Info(ctx context.Context) (container.EngineInfo, error)
	Close() error
}

// localEngine makes sandboxes that isolate nothing.
type localEngine struct{}

func (localEngine) HasImage(context.Context, string) (string, bool, error)   { return "", true, nil }
func (localEngine) Check(context.Context, container.Config) error            { return nil }
func (localEngine) Info(context.Context) (i container.EngineInfo, err error) { return i, nil }
func (localEngine) Close() error                                             { return nil }
func (localEngine) Open(ctx context.Context, c container.Config, _ func(string)) (*container.Sandbox, error) {
	return container.OpenLocal(ctx, c)
}

// A link is the way to the engine: looked for at the first call, and again after it was
// away.
type link struct {
	find connector
	opts container.EngineOptions
	turn chan struct{} // held by who reads or changes what follows

	found engine // nil: look for it
	info  container.EngineInfo
}

func newLink(find connector, o *settings) *link {
	if o.local {
		find = func(context.Context, container.EngineOptions) (engine, error) { return localEngine{}, nil }
	}
	return &link{find: find, opts: container.EngineOptions{Host: o.host}, turn: make(chan struct{}, 1)}
}

// get returns the engine, and what it said of itself when it was found.
func (l *link) get(ctx context.Context) (engine, container.EngineInfo, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, container.EngineInfo{}, context.Cause(ctx)
	}
	defer func() { <-l.turn }()
	if l.found != nil {
		return l.found, l.info, nil
	}
	e, err := l.find(ctx, l.opts)
	if err != nil {
		return nil, container.EngineInfo{}, err
	}
	if l.info, err = e.Info(ctx); err != nil {
		e.Close()
		return nil, container.EngineInfo{}, err
	}
	l.found = e
	return e, l.info, nil
}

// away forgets e, so that the next call looks for an engine again.
func (l *link) away(e engine) {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.found == e {
		l.found = nil
		e.Close()
	}
}

func (l *link) close() {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.found != nil {
		l.found.Close()
		l.found = nil
	}
}

// image returns the id of an image, or that the engine does not have it. An engine that
// cannot be asked is looked for once more.
func (l *link) image(ctx context.Context, name string) (id string, ok bool, err error) {
	for range 2 {
		var e engine
		if e, _, err = l.get(ctx); err != nil {
			return "", false, err
		}
		if id, ok, err = e.HasImage(ctx, name); err == nil || ctx.Err() != nil {
			return id, ok, err
		}
		l.away(e)
	}
	return "", false, err
}

// check says what is wrong with a configuration before anything is made.
func (l *link) check(ctx context.Context, c container.Config) error {
	e, _, err := l.get(ctx)
	if err != nil {
		return err
	}
	return e.Check(ctx, c)
}

// open makes a sandbox.
func (l *link) open(ctx context.Context, c container.Config, report func(string)) (*container.Sandbox, error) {
	e, _, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	box, err := e.Open(ctx, c, report)
	var image *container.ImageError
	if err != nil && !errors.As(err, &image) && ctx.Err() == nil {
		l.away(e)
	}
	return box, err
}
