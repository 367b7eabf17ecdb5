package streamable

import (
	"context"
	"math"
	"sync"
	"time"
)

// calls are the requests that are being answered, for an orderly end. The zero value
// is ready.
type calls struct {
	mu      sync.Mutex
	next    int
	cancels map[int]context.CancelCauseFunc
	empty   chan struct{} // closed when there are none; nil while nobody waits
}

// begin notes a call, and returns what ends it.
func (c *calls) begin(cancel context.CancelCauseFunc) (end func()) {
	end, _ = c.beginBelow(math.MaxInt, cancel)
	return end
}

// beginBelow notes a call if there are fewer than limit.
func (c *calls) beginBelow(limit int, cancel context.CancelCauseFunc) (end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cancels) >= limit {
		return nil, false
	}
	if c.cancels == nil {
		c.cancels = map[int]context.CancelCauseFunc{}
	}
	c.next++
	n := c.next
	c.cancels[n] = cancel
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.cancels, n)
		if len(c.cancels) == 0 && c.empty != nil {
			close(c.empty)
			c.empty = nil
		}
	}, true
}

// wait waits until there are no calls, and reports whether that came within d.
func (c *calls) wait(d time.Duration) bool {
	c.mu.Lock()
	if len(c.cancels) == 0 {
		c.mu.Unlock()
		return true
	}
	if c.empty == nil {
		c.empty = make(chan struct{})
	}
	empty := c.empty
	c.mu.Unlock()
	select {
	case <-empty:
		return true
	case <-time.After(d):
		return false
	}
}

// cancelAll tells all calls to stop.
func (c *calls) cancelAll(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.cancels {
		cancel(cause)
	}
}
