package approval_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
)

// run makes a call as toolkit does: it is judged until what it counts could be taken.
func run(t *testing.T, ev approval.Evaluator, who string, a approval.Action) approval.Verdict {
	t.Helper()
	for {
		v := ev.Evaluate(t.Context(), approval.Caller{Principal: who}, a)
		if v.Decision == approval.Deny || v.Spend == nil || v.Spend() {
			return v
		}
	}
}

func TestLimits(t *testing.T) {
	tests := []struct {
		name, limit string
		calls       []string // "principal count", "wait duration"
		want        string   // of the calls: d, q (ask) or a
	}{
		{"so many and no more", "max: 2, per: 1h", []string{"ann 1", "ann 1", "ann 1"}, "aad"},
		{"each principal", "max: 1, per: 1h", []string{"ann 1", "bob 1", "ann 1", "bob 1"}, "aadd"},
		{"the server", "max: 1, per: 1h, key: server", []string{"ann 1", "bob 1"}, "ad"},
		{"one principal only", "max: 1, per: 1h, principals: [a*]", []string{"ann 1", "bob 1", "bob 1", "ann 1"}, "aaad"},
		{"over it asks", "max: 1, per: 1h, over: ask", []string{"ann 1", "ann 1", "ann 1"}, "aqq"},
		{"it counts", "max: 10, per: 1h", []string{"ann 4", "ann 5", "ann 2", "ann 1"}, "aada"},
		{"more than all", "max: 10, per: 1h", []string{"ann 11"}, "d"},
		{"more than all, asking", "max: 10, per: 1h, over: ask", []string{"ann 11", "ann 1"}, "qq"},
		{"none at all", "max: 0, per: 1h", []string{"ann 1"}, "d"},
		{"they come back one by one", "max: 4, per: 1h", []string{"ann 4", "wait 14m", "ann 1", "wait 1m", "ann 1", "ann 1"}, "adad"},
		{"never more than all", "max: 2, per: 1h", []string{"ann 1", "wait 100h", "ann 2", "ann 1"}, "aad"},
		{"what was refused counts nothing", "max: 2, per: 1h", []string{"ann 1", "ann 2", "ann 2", "ann 1"}, "adda"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := parse(t, "version: 1\ndefault: allow\nlimits: [{id: l, tools: [x], "+tt.limit+"}]")
				got := ""
				for _, one := range tt.calls {
					who, what, _ := strings.Cut(one, " ")
					if who == "wait" {
						d, _ := time.ParseDuration(what)
						time.Sleep(d)
						continue
					}
					var n int
					fmt.Sscan(what, &n)
					v := run(t, p, who, approval.Action{Tool: "x", Count: n})
					got += map[approval.Decision]string{approval.Deny: "d", approval.Ask: "q", approval.Allow: "a"}[v.Decision]
					if limited := v.Rule == "l" && v.Limit; limited != (v.Decision != approval.Allow) {
						t.Errorf("got %+v", v)
					}
				}
				if got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}

func TestLimitsLeaveOthersAlone(t *testing.T) {
	p := parse(t, "version: 1\ndefault: allow\nrules: [{id: no, effect: deny, tools: [x], principals: [eve]}]\nlimits: [{id: l, tools: [x], max: 1, per: 1h}]")
	if v := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "y"}); v.Spend != nil {
		t.Error("a limit counts a tool that it is not about")
	}
	if v := p.Evaluate(t.Context(), approval.Caller{Principal: "eve"}, approval.Action{Tool: "x"}); v.Spend != nil || v.Rule != "no" {
		t.Errorf("got %+v", v)
	}
	for range 5 {
		if v := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x"}); v.Decision != approval.Allow {
			t.Fatal("looking takes something")
		}
	}
}

func TestReasonOfLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := parse(t, "version: 1\ndefault: allow\nlimits: [{id: l, tools: [x], max: 20, per: 1h}]")
		run(t, p, "ann", approval.Action{Tool: "x", Count: 19})
		for count, want := range map[int]string{
			2:  "the limit of 20 in 1h is used up for a call that counts 2; there is room again in 3m",
			21: "the limit is 20 in 1h, and this call counts 21",
		} {
			if got := run(t, p, "ann", approval.Action{Tool: "x", Count: count}).Reason; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// Several limits are taken from together or not at all, and calls at once never exceed one.
func TestConcurrentCallsKeepLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := parse(t, `
version: 1
default: allow
limits:
  - {id: a, tools: [x], max: 50, per: 1h, key: server}
  - {id: b, tools: ['*'], max: 70, per: 1h, key: server}
`)
		var ran, others atomic.Int64
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				tool, n := "x", &ran
				if i%4 == 0 {
					tool, n = "y", &others
				}
				if run(t, p, "ann", approval.Action{Tool: tool}).Decision == approval.Allow {
					n.Add(1)
				}
			})
		}
		wg.Wait()
		if ran.Load() > 50 || ran.Load()+others.Load() != 70 {
			t.Errorf("%d of x and %d others ran, at most 50 of x and 70 in all may", ran.Load(), others.Load())
		}
	})
}

// Judged while there was room, and run when there is none any more: judged again.
func TestSpendFailsWhenUsedUp(t *testing.T) {
	p := parse(t, "version: 1\ndefault: allow\nlimits: [{id: l, tools: [x], max: 1, per: 10h, over: ask}]")
	first := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x"})
	second := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x"})
	if !first.Spend() || second.Spend() {
		t.Error("want the first to take what the second saw")
	}
	third := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "x"})
	if third.Decision != approval.Ask || !third.Spend() {
		t.Error("what a person permits beyond a limit runs")
	}
}

// Many principals are bounded, and none of them gets more by it.
func TestManyPrincipals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := parse(t, "version: 1\ndefault: allow\nlimits: [{id: l, tools: [x], max: 3, per: 1h}]")
		call := func(i int) bool {
			return run(t, p, fmt.Sprint("user", i), approval.Action{Tool: "x"}).Decision == approval.Allow
		}
		for i := range 10_000 {
			if !call(i) {
				t.Fatalf("principal %d has nothing", i)
			}
		}
		allowed := 0
		for i := range 100 {
			if call(10_000 + i) {
				allowed++
			}
		}
		if allowed != 3 {
			t.Errorf("%d calls of principals beyond the bound ran, want the 3 of one bucket", allowed)
		}
		time.Sleep(time.Hour)
		for i := range 100 {
			if !call(20_000 + i) {
				t.Fatal("buckets that are full again are still in the way")
			}
		}
	})
}

func TestDefaultLimitsBoughtPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ev := approval.Default()
		for i, tt := range []struct {
			who   string
			a     approval.Action
			want  approval.Decision
			sleep time.Duration
		}{
			{"ann", approval.Action{Effect: approval.BuyPictures, Count: 19}, approval.Allow, 0},
			{"ann", approval.Action{Effect: approval.BuyPictures, Count: 2}, approval.Ask, 0},
			{"bob", approval.Action{Effect: approval.BuyPictures, Count: 20}, approval.Allow, 0},
			{"bob", approval.Action{Effect: approval.MakePictures, Count: 20}, approval.Allow, 0},
			{"bob", approval.Action{Effect: approval.BuyPictures}, approval.Ask, 3 * time.Minute},
			{"bob", approval.Action{Effect: approval.BuyPictures}, approval.Allow, 0},
		} {
			if tt.want == approval.Ask { // asked, and not permitted
				if v := ev.Evaluate(t.Context(), approval.Caller{Principal: tt.who}, tt.a); v.Decision != approval.Ask || v.Rule != "bought-pictures" {
					t.Errorf("%d: got %+v", i, v)
				}
			} else if v := run(t, ev, tt.who, tt.a); v.Decision != approval.Allow {
				t.Errorf("%d: got %+v", i, v)
			}
			time.Sleep(tt.sleep)
		}
	})
}

// Who is refused reads what would help: it is no rule that refuses.
func TestWhatHelpsWhereNoRuleRefuses(t *testing.T) {
	p := parse(t, `
version: 1
default: allow
rules: [{id: no-curl, effect: deny, tools: [shell], command: {argv: [curl]}}]
limits: [{id: none, tools: [x], max: 0, per: 1h}, {id: few, tools: [y], max: 0, per: 1h, over: ask}]
`)
	for _, tt := range []struct {
		a    approval.Action
		want string
	}{
		{approval.Action{Tool: "x"}, "raise the limit none in the policy file"},
		{approval.Action{Tool: "y"}, "raise the limit few in the policy file"},
		{shell("X=a; $X"), "write the command in plain words"},
	} {
		_, err := approval.Decide(t.Context(), p, approval.Caller{}, tt.a)
		var denied *approval.DeniedError
		if !errors.As(err, &denied) || !strings.Contains(denied.Visible(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}
