package streamable

import (
	"errors"
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
	calls     calls

	begun    time.Time
	last     time.Time // when the last request came or ended
	requests int       // being served, event streams left out
	streams  int       // the client listens
	used     bool      // something came after the handshake
}

// A use is what a request means for its session.
type use int

const (
	asHandshake use = iota // says nothing yet
	asWork
	asStream
)

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
	t.byID[id] = &session{ss: ss, principal: principal, begun: time.Now(), last: time.Now()}
	if !t.sweeping {
		t.sweeping = true
		time.AfterFunc(t.idle/4, t.sweep)
	}
}

// find returns a session. To others than its owner it is not there: nobody can tell these
// two apart. t.mu is held.
func (t *sessions) find(id, principal string) *session {
	if s := t.byID[id]; s != nil && s.principal == principal {
		return s
	}
	return nil
}

// enter notes a request on a session, and returns the session and what ends the request.
func (t *sessions) enter(id, principal string, u use) (s *session, leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s = t.find(id, principal); s == nil {
		return nil, nil, false
	}
	count := &s.requests
	if u == asStream {
		count = &s.streams
	}
	*count++
	s.used = s.used || u == asWork
	s.last = time.Now()
	return s, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		*count--
		s.last = time.Now()
	}, true
}

// has reports whether there is a session with that id.
func (t *sessions) has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id] != nil
}

// delete ends a session for its client: its calls are cancelled, and have a moment to
// answer.
func (t *sessions) delete(id, principal string) bool {
	t.mu.Lock()
	s := t.find(id, principal)
	if s != nil {
		delete(t.byID, id)
	}
	t.mu.Unlock()
	if s == nil {
		return false
	}
	s.calls.cancelAll(errDeleted)
	s.calls.wait(settle)
	go s.ss.Close()
	return true
}

var errDeleted = errors.New("the client has ended the session")

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

// handshakeTime is how long a new session may take to become of use.
const handshakeTime = 10 * time.Second

// least returns the session that would be missed least, or nil where all are at work. That
// is one that was opened and never used, unless its client may still be at the handshake;
// but such ones must not fill the table. Else it is the least recently used, of those
// whose client does not listen if there are any.
func (t *sessions) least() *session {
	var unused, used *session
	n := 0
	for _, s := range t.byID {
		switch {
		case s.requests > 0:
		case !s.used:
			n++
			if unused == nil || s.begun.Before(unused.begun) {
				unused = s
			}
		case used == nil || s.before(used):
			used = s
		}
	}
	if unused != nil && (used == nil || n > t.max/2 || time.Since(unused.begun) > handshakeTime) {
		return unused
	}
	return used
}

func (s *session) before(o *session) bool {
	if (s.streams > 0) != (o.streams > 0) {
		return s.streams == 0
	}
	return s.last.Before(o.last)
}

// sweep ends the idle sessions. One whose client listens is not idle.
func (t *sessions) sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.byID {
		if s.requests == 0 && s.streams == 0 && time.Since(s.last) >= t.idle {
			t.end(s)
		}
	}
	if t.sweeping = len(t.byID) > 0; t.sweeping {
		time.AfterFunc(t.idle/4, t.sweep)
	}
}

func (t *sessions) endAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.byID {
		t.end(s)
	}
}

// end closes a session; t.mu is held. Closing waits for handlers, so nobody waits for it.
func (t *sessions) end(s *session) {
	delete(t.byID, s.ss.ID())
	go s.ss.Close()
}
