package approval

import (
	"crypto/sha256"
	"sync"
	"time"
)

// How much a [Memory] holds. What is over makes it forget the oldest: that is asked again.
const (
	maxRemembered = 256  // approvals of one caller
	maxCallers    = 1024 // at once
)

// A Memory holds what persons have approved for the time of a session: exactly this action, under
// exactly this rule of exactly this policy, for exactly this caller. It knows nothing of callers for
// whom nothing is kept (see [Caller.StateKey]). It is safe for concurrent use; the zero value is ready
// to use.
type Memory struct {
	mu      sync.Mutex
	callers map[string]map[approved]span
}

// An approved is what somebody said yes to. The revision is in it, since a rule may have kept its id
// and ask about something else.
type approved struct {
	rule, revision string
	digest         [sha256.Size]byte
}

func approvedBy(v Verdict, a Action) approved { return approved{v.Rule, v.Revision, a.Digest()} }

// A span is when an approval began and ends.
type span struct{ from, until time.Time }

// Remember notes that a person has approved a under v for who, for as long as [Asking.Session] of
// v says. The result says whether it is the caller's first: then the end of the session must be
// told by Forget.
func (m *Memory) Remember(who Caller, v Verdict, a Action) (first bool) {
	key, ok := who.StateKey()
	if !ok || v.Asking.Session <= 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.callers[key] == nil {
		m.makeRoom(now)
		m.callers[key], first = map[approved]span{}, true
	}
	trim(m.callers[key], maxRemembered-1, now)
	m.callers[key][approvedBy(v, a)] = span{now, now.Add(v.Asking.Session)}
	return first
}

// Remembers reports whether a person has approved a under the rule of v for who, and v lets that
// count still. A rule of another revision of the policy is another rule.
func (m *Memory) Remembers(who Caller, v Verdict, a Action) bool {
	key, ok := who.StateKey()
	if !ok || v.Asking.Session <= 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, found := m.callers[key][approvedBy(v, a)]
	now := time.Now()
	return found && now.Before(s.until) && now.Before(s.from.Add(v.Asking.Session))
}

// Forget drops what was approved for who.
func (m *Memory) Forget(who Caller) {
	key, ok := who.StateKey()
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.callers, key)
}

// Callers returns for how many callers something is held.
func (m *Memory) Callers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.callers)
}

// makeRoom sees that there is room for one caller more.
func (m *Memory) makeRoom(now time.Time) {
	if m.callers == nil {
		m.callers = map[string]map[approved]span{}
	}
	if len(m.callers) < maxCallers {
		return
	}
	oldest, since := "", now
	for key, all := range m.callers {
		trim(all, maxRemembered, now)
		last := newest(all)
		if oldest == "" || last.Before(since) {
			oldest, since = key, last
		}
	}
	delete(m.callers, oldest)
}

// trim drops what is over, and of the rest the oldest until there are no more than most.
func trim(all map[approved]span, most int, now time.Time) {
	for k, s := range all {
		if !now.Before(s.until) {
			delete(all, k)
		}
	}
	for len(all) > most {
		var oldest approved
		since := now.Add(time.Hour)
		for k, s := range all {
			if s.from.Before(since) {
				oldest, since = k, s.from
			}
		}
		delete(all, oldest)
	}
}

// newest returns when the last of all was approved; the zero time where there is none.
func newest(all map[approved]span) (t time.Time) {
	for _, s := range all {
		if s.from.After(t) {
			t = s.from
		}
	}
	return t
}
