package streamable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The time-outs and the bound on headers; bodies and answers have their own.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
)

// How the end takes its course, once the calls in flight have had their grace: they are
// cancelled and have settle to answer, and connections have lastWrites to end.
const (
	settle     = 300 * time.Millisecond
	lastWrites = 500 * time.Millisecond
)

var errStopping = errors.New("the server is stopping")

// Serve serves connections from l until ctx is done. Then no new calls begin, those in flight
// get the grace of the options to end, and after it they are cancelled. Serve returns nil
// after such an end, and closes l in any case.
func (e *Endpoint) Serve(ctx context.Context, l net.Listener) error {
	conns := newConns(affordable(e.opts.MaxConns))
	s := &http.Server{
		Handler:           conns.answering(e),
		ConnState:         conns.track,
		ConnContext:       conns.remember,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		WriteTimeout:      writeTime, // answers extend it with each write
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(e.opts.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve http: %w", err)
	case <-ctx.Done():
	}
	e.end(s)
	return nil
}

// end ends s in order. It listens on until the calls in flight have ended: their clients may
// have to answer a question, or cancel. Sessions come last, since closing one drops the
// answers that are on their way.
func (e *Endpoint) end(s *http.Server) {
	e.stopping.Store(true)
	if !e.calls.wait(e.opts.Grace) {
		e.calls.cancelAll(errStopping)
		if !e.calls.wait(settle) {
			e.opts.Log.Warn("a call did not stop when it was told to; it is left behind")
		}
	}
	e.listens.cancelAll(errStopping)
	e.sessions.endAll() // and their event streams
	ctx, cancel := context.WithTimeout(context.Background(), lastWrites)
	defer cancel()
	if s.Shutdown(ctx) != nil {
		_ = s.Close()
	}
}
