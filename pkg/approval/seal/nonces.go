package seal

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"
)

// A NonceStore remembers which nonces were used. It is called from several goroutines at once.
// Servers that share their keys should share one: with a store for each, a text can be used
// once at each of them.
type NonceStore interface {
	// Use notes that nonce was used, and reports whether it was the first time. The nonce may be
	// forgotten once expires is past, since its text does not open any more. An error, such as
	// [ErrFull], says that it could not be noted: it is not used then, and nothing may run on it.
	Use(ctx context.Context, nonce string, expires time.Time) (first bool, err error)
}

// ErrFull is the error of a store that remembers as many nonces as it can.
var ErrFull = errors.New("too many nonces that have not expired")

// DefaultNonces is how many nonces [Nonces] remembers, unless told otherwise.
const DefaultNonces = 100_000

// Nonces is a NonceStore in memory. The zero value is ready to use.
type Nonces struct {
	Max int // how many it remembers; 0 is [DefaultNonces]

	mu   sync.Mutex
	seen map[string]bool
	due  byExpiry
}

// Use implements [NonceStore]. It forgets what has expired, and nothing else.
func (n *Nonces) Use(_ context.Context, nonce string, expires time.Time) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for now := time.Now(); len(n.due) > 0 && n.due[0].expires.Before(now); {
		delete(n.seen, heap.Pop(&n.due).(used).nonce)
	}
	if n.seen[nonce] {
		return false, nil
	}
	limit := n.Max
	if limit == 0 {
		limit = DefaultNonces
	}
	if len(n.seen) >= limit {
		return false, ErrFull
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[nonce] = true
	heap.Push(&n.due, used{nonce, expires})
	return true, nil
}

type used struct {
	nonce   string
	expires time.Time
}

// byExpiry is a heap of nonces, the one that expires first at its top.
type byExpiry []used

func (h byExpiry) Len() int           { return len(h) }
func (h byExpiry) Less(i, j int) bool { return h[i].expires.Before(h[j].expires) }
func (h byExpiry) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byExpiry) Push(x any)        { *h = append(*h, x.(used)) }
func (h *byExpiry) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
