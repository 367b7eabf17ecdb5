package approval_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
)

func TestMemory(t *testing.T) {
	who := approval.Caller{Session: "s1", Transport: approval.HTTP, Principal: "alice"}
	v := approval.Verdict{Decision: approval.Ask, Rule: "r", Revision: "1", Asking: approval.Asking{Session: time.Hour}}
	a := full()
	other := full()
	other.Shell.Commands = []string{"rm"}
	with := func(change func(*approval.Verdict)) approval.Verdict {
		w := v
		change(&w)
		return w
	}
	tests := []struct {
		name string
		who  approval.Caller
		v    approval.Verdict
		a    approval.Action
		wait time.Duration
		want bool
	}{
		{"the same call", who, v, a, 0, true},
		{"just before its end", who, v, a, time.Hour - 1, true},
		{"at its end", who, v, a, time.Hour, false},
		{"another command", who, v, other, 0, false},
		{"another session of the same person", approval.Caller{Session: "s2", Transport: approval.HTTP, Principal: "alice"}, v, a, 0, false},
		{"another person", approval.Caller{Transport: approval.HTTP, Principal: "bob"}, v, a, 0, false},
		{"nobody", approval.Caller{Transport: approval.HTTP, Principal: approval.Anonymous}, v, a, 0, false},
		{"another rule", who, with(func(v *approval.Verdict) { v.Rule = "s" }), a, 0, false},
		{"the same rule of another policy", who, with(func(v *approval.Verdict) { v.Revision = "2" }), a, 0, false},
		{"the policy remembers nothing any more", who, with(func(v *approval.Verdict) { v.Asking.Session = 0 }), a, 0, false},
		{"the policy remembers for less by now", who, with(func(v *approval.Verdict) { v.Asking.Session = time.Minute }), a, 2 * time.Minute, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m approval.Memory
				if !m.Remember(who, v, a) || m.Remember(who, v, a) {
					t.Error("it does not tell the first of a caller from the next")
				}
				m.Forget(approval.Caller{Session: "s3"})
				time.Sleep(tt.wait)
				if got := m.Remembers(tt.who, tt.v, tt.a); got != tt.want {
					t.Errorf("got %v", got)
				}
				m.Forget(who)
				if m.Remembers(who, v, a) {
					t.Error("it is remembered after the end of the session")
				}
			})
		})
	}
}

// What is remembered stays within bounds; the newest is kept.
func TestMemoryIsBounded(t *testing.T) {
	var m approval.Memory
	v := approval.Verdict{Rule: "r", Asking: approval.Asking{Session: time.Hour}}
	count := func(n int, of func(i int) (approval.Caller, approval.Action)) (kept int, last bool) {
		for i := range n {
			who, a := of(i)
			m.Remember(who, v, a)
		}
		for i := range n {
			who, a := of(i)
			if m.Remembers(who, v, a) {
				kept, last = kept+1, i == n-1
			}
		}
		return kept, last
	}
	if kept, last := count(300, func(i int) (approval.Caller, approval.Action) {
		return approval.Caller{}, approval.Action{Count: i}
	}); kept != 256 || !last {
		t.Errorf("of one caller %d, the last %v", kept, last)
	}
	if kept, last := count(1100, func(i int) (approval.Caller, approval.Action) {
		return approval.Caller{Session: fmt.Sprint(i)}, approval.Action{}
	}); kept != 1024 || !last {
		t.Errorf("of all callers %d, the last %v", kept, last)
	}
}
