package approval

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Limits are token buckets: each holds max, and fills by max in per. A call takes as many as its
// action counts. Looking takes nothing; only [Verdict.Spend] does.

// A limit is one of a policy.
type limit struct {
	id         string
	tools      names
	principals names
	max        int
	per        time.Duration
	shared     bool     // one bucket for the whole server, not one a principal
	over       Decision // Deny or Ask
	line       int
	buckets    *buckets
}

// same reports whether what was used of l counts for m as well.
func (l *limit) same(m *limit) bool {
	return l.id == m.id && l.max == m.max && l.per == m.per && l.shared == m.shared &&
		slices.Equal(l.tools, m.tools) && slices.Equal(l.principals, m.principals)
}

func (l *limit) applies(who Caller, tool string) bool {
	return l.tools.match(tool) && l.principals.match(who.Principal)
}

// key says whose bucket a call uses.
func (l *limit) key(who Caller) string {
	if l.shared {
		return ""
	}
	return who.Principal
}

// maxBuckets bounds the principals of a limit that are told apart at once. More share one bucket.
const maxBuckets = 10_000

// sweepEvery is how often full buckets are looked for when there are too many.
const sweepEvery = time.Second

// buckets are those of one limit. A bucket that is not there is full.
type buckets struct {
	mu    sync.Mutex
	of    map[string]*bucket
	rest  bucket // of all who find no place in of
	swept time.Time
}

type bucket struct {
	used float64 // of the limit's max, at the time at
	at   time.Time
}

func newBuckets() *buckets { return &buckets{of: map[string]*bucket{}} }

// now returns what is used by now.
func (b *bucket) now(l *limit, now time.Time) float64 {
	back := now.Sub(b.at).Seconds() / l.per.Seconds() * float64(l.max)
	return max(0, b.used-max(0, back))
}

// find returns the bucket of a key; with take it is made if need be. The lock is held.
func (l *limit) find(key string, now time.Time, take bool) *bucket {
	b := l.buckets
	if one, ok := b.of[key]; ok {
		return one
	}
	if len(b.of) >= maxBuckets && now.Sub(b.swept) >= sweepEvery {
		b.swept = now
		for k, one := range b.of {
			if one.now(l, now) == 0 {
				delete(b.of, k)
			}
		}
	}
	if len(b.of) >= maxBuckets {
		return &b.rest
	}
	one := &bucket{at: now}
	if take {
		b.of[key] = one
	}
	return one
}

// tolerance is what rounding may take from a whole token.
const tolerance = 1e-6

// room reports whether n more fit, and how long that takes if not. The lock is held.
func (l *limit) room(key string, n int, now time.Time) (ok bool, wait time.Duration) {
	over := l.find(key, now, false).now(l, now) + float64(n) - float64(l.max)
	if over <= tolerance {
		return true, 0
	}
	return false, time.Duration(over / float64(max(l.max, 1)) * float64(l.per))
}

// take uses n up, or all that is left. The lock is held.
func (l *limit) take(key string, n int, now time.Time) {
	b := l.find(key, now, true)
	b.used = min(b.now(l, now)+float64(n), float64(l.max))
	b.at = now
}

// look reports whether n more fit, without taking them.
func (l *limit) look(key string, n int) (ok bool, wait time.Duration) {
	l.buckets.mu.Lock()
	defer l.buckets.mu.Unlock()
	return l.room(key, n, time.Now())
}

// reason says that a limit is used up.
func (l *limit) reason(n int, wait time.Duration) string {
	text := fmt.Sprintf("the limit of %d in %s is used up", l.max, shortTime(l.per))
	switch {
	case l.max == 0:
		return "the limit is 0"
	case n > l.max:
		return fmt.Sprintf("the limit is %d in %s, and this call counts %d", l.max, shortTime(l.per), n)
	case n > 1:
		text += fmt.Sprintf(" for a call that counts %d", n)
	}
	return text + "; there is room again in " + shortTime(max(wait.Round(time.Second), time.Second))
}

// shortTime writes 1h0m0s as 1h.
func shortTime(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(s) > len(zero) && s[len(s)-len(zero):] == zero {
			s = s[:len(s)-2]
		}
	}
	return s
}

// A spending is what a call takes of the limits that apply to it.
type spending struct {
	who    Caller
	count  int
	limits []*limit // by id
	passed []*limit // those of limits that are used up, and leave the call to a person
}

// spending looks at the limits for a call, and makes v the stricter for those that are used up.
func (p *Policy) spending(who Caller, a *Action, v *Verdict) {
	var s *spending
	for _, l := range p.limits {
		if !l.applies(who, a.Tool) {
			continue
		}
		if s == nil {
			s = &spending{who: who, count: max(a.Count, 1)}
		}
		s.limits = append(s.limits, l)
		ok, wait := l.look(l.key(who), s.count)
		if ok {
			continue
		}
		s.passed = append(s.passed, l)
		v.Rules = append(v.Rules, l.id)
		if l.over < v.Decision || l.over == v.Decision && v.Rule == ruleOfDefault {
			v.Decision, v.Rule, v.Limit, v.Reason = l.over, l.id, true, l.reason(s.count, wait)
		}
	}
	if s != nil {
		v.Spend = s.spend
	}
}

// spend takes what the call counts, of all limits or of none. Locks are taken in order of the
// limits' ids, so that policies that share buckets cannot wait for each other.
func (s *spending) spend() bool {
	for _, l := range s.limits {
		l.buckets.mu.Lock()
		defer l.buckets.mu.Unlock()
	}
	now := time.Now()
	for _, l := range s.limits {
		if slices.Contains(s.passed, l) {
			continue
		}
		if ok, _ := l.room(l.key(s.who), s.count, now); !ok {
			return false
		}
	}
	for _, l := range s.limits {
		l.take(l.key(s.who), s.count, now)
	}
	return true
}

// keepUse has what was used of an older policy count for the limits that are the same in both.
func (p *Policy) keepUse(older *Policy) {
	for _, l := range p.limits {
		for _, was := range older.limits {
			if l.same(was) {
				l.buckets = was.buckets
			}
		}
	}
}
