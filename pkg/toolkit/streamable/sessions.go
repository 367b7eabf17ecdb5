package streamable

import (
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions are those of clients before 2026-07-28. The SDK keeps a session until somebody
// closes it, and clients hardly do: here an idle one ends after a while, and the least
// used one when there are too many.
type sessions struct {
	max  int
	idle time.Duration

	mu       sync.Mutex
	byID     map[string]*session
	sweeping bool
}

type session struct {
	ss        *mcp.ServerSession
	principal string
	last      time.Time // when the last request came or ended
	requests  int       // being served, the event stream left out
	stream    bool      // the client listens
	used      bool      // something came after the handshake
}

func newSessions(limit int, idle time.Duration) *sessions {
	return &sessions{max: limit, idle: idle, byID: map[string]*session{}}
}

// add notes a session that has begun.
func (t *sessions) add(ss *mcp.ServerSession, principal string) {
	id := ss.ID()
	if id == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[id] = &session{ss: ss, principal: principal, last: time.Now()}
	if !t.sweeping {
		t.sweeping = true
		time.AfterFunc(t.idle/4, t.sweep)
	}
}

// enter notes a request on a session, and returns what ends it. It is false where there is
// no such session, or it is another's: nobody can tell these two apart.
func (t *sessions) enter(id, principal string, handshake, stream bool) (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[id]
	if s == nil || s.principal != principal {
		return nil, false
	}
	s.last = time.Now()
	s.used = s.used || !handshake
	if stream {
		s.stream = true
	} else {
		s.requests++
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		s.last = time.Now()
		if stream {
			s.stream = false
		} else {
			s.requests--
		}
	}, true
}

// has reports whether there is a session with that id.
func (t *sessions) has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id] != nil
}

// forget drops a session that the SDK ends.
func (t *sessions) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, id)
}

// room makes room for one more session. It is false where all are at work.
func (t *sessions) room() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.byID) >= t.max { // several may have begun at once
		least := t.least()
		if least == nil {
			return false
		}
		t.end(least)
	}
	return true
}

// least returns the session that would be missed least, or nil where all are at work.
func (t *sessions) least() (least *session) {
	for _, s := range t.byID {
		if s.requests == 0 && (least == nil || s.before(least)) {
			least = s
		}
	}
	return least
}

// before orders sessions by how little they would be missed: first those that were
// opened and never used, then those whose client does not listen, then the oldest.
func (s *session) before(o *session) bool {
	if s.used != o.used {
		return !s.used
	}
	if s.stream != o.stream {
		return !s.stream
	}
	return s.last.Before(o.last)
}

// sweep ends the idle sessions. One whose client listens is not idle.
func (t *sessions) sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.byID {
		if s.requests == 0 && !s.stream && time.Since(s.last) >= t.idle {
			t.end(s)
		}
	}
	if t.sweeping = len(t.byID) > 0; t.sweeping {
		time.AfterFunc(t.idle/4, t.sweep)
	}
}

// end closes a session; t.mu is held. Closing waits for handlers, so nobody waits for it.
func (t *sessions) end(s *session) {
	delete(t.byID, s.ss.ID())
	go s.ss.Close()
}
