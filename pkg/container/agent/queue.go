//go:build linux

package main

import (
	"io"
	"sync"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// A queue writes frames in order without making those who send them wait. Each frame in it
// answers a request, or is one, so that its length is bounded by what the server asks.
type queue struct {
	mu     sync.Mutex
	change sync.Cond
	frames []protocol.Frame
	busy   bool // a frame is being written
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.change.L = &q.mu
	return q
}

// send adds f. After close it does nothing.
func (q *queue) send(f protocol.Frame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.frames = append(q.frames, f)
		q.change.Broadcast()
	}
}

// offer adds f if nothing waits, and drops it otherwise.
func (q *queue) offer(f protocol.Frame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed && !q.busy && len(q.frames) == 0 {
		q.frames = append(q.frames, f)
		q.change.Broadcast()
	}
}

// run writes frames to w until the queue is closed or w fails.
func (q *queue) run(w io.Writer) {
	for f, ok := q.next(); ok; f, ok = q.next() {
		if _, err := f.WriteTo(w); err != nil {
			q.close()
			break
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	q.change.Broadcast()
}

// next waits for a frame. There is none once the queue is closed.
func (q *queue) next() (f protocol.Frame, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	q.change.Broadcast()
	for len(q.frames) == 0 && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return f, false
	}
	f, q.frames, q.busy = q.frames[0], q.frames[1:], true
	return f, true
}

// flush waits until everything is written, or cannot be.
func (q *queue) flush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && (q.busy || len(q.frames) > 0) {
		q.change.Wait()
	}
}

// close drops what was not written.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.frames = true, nil
	q.change.Broadcast()
}
