package toolkit

import (
	"sync"
	"time"
)

// How long [Server.Close] waits: closeTime, and over stdio not beyond lastMoment after the
// end of the session began, since a client kills what lives longer than two seconds.
const (
	closeTime  = time.Second
	lastMoment = 1950 * time.Millisecond
)

// A closing is what is to be done when a server ends.
type closing struct {
	mu    sync.Mutex
	do    []func()
	ended time.Time // when the session over stdio began to end
}

// OnClose has do called once, when the server ends, at the same time as what others had
// called. It is for what a tool keeps from one call to the next; it is not waited for longer
// than a second, so what must not stay behind has to end by itself as well.
func (s *Server) OnClose(do func()) {
	s.closing.mu.Lock()
	defer s.closing.mu.Unlock()
	s.closing.do = append(s.closing.do, do)
}

// Close ends what tools keep between calls. A program calls it when nothing is served any
// more; [App] does so by itself.
func (s *Server) Close() {
	s.closing.mu.Lock()
	do, wait := s.closing.do, closeTime
	if !s.closing.ended.IsZero() {
		wait = max(0, min(wait, lastMoment-time.Since(s.closing.ended)))
	}
	s.closing.do = nil
	s.closing.mu.Unlock()

	var all sync.WaitGroup
	for _, f := range do {
		all.Go(f)
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(wait):
	}
}

// ending notes that the session over stdio began to end.
func (c *closing) ending() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.IsZero() {
		c.ended = time.Now()
	}
}
