package container

import (
	"strings"
	"sync"
)

// tailRoom is how much a tailBuffer keeps, in bytes.
const tailRoom = 4 << 10

// A tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu sync.Mutex
	b  []byte
}

// Write takes p and never fails.
func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - tailRoom; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

// String returns the end, as text.
func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.b), "?"))
}
