package toolkit_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// A world is what may change while a person thinks: the policy, and the file that the probe
// would write.
type world struct {
	verdict atomic.Pointer[approval.Verdict]
	content atomic.Pointer[string]
	fails   atomic.Pointer[error] // why the plan fails
	runs    atomic.Int32
}

func newWorld(v approval.Verdict) *world {
	w := &world{}
	w.verdict.Store(&v)
	w.content.Store(new("a"))
	return w
}

func (w *world) Evaluate(context.Context, approval.Caller, approval.Action) approval.Verdict {
	return *w.verdict.Load()
}

func (*world) Hides(approval.Caller, string) bool { return false }

// server returns a server whose probe writes the world's file.
func (w *world) server(t *testing.T) *toolkit.Server {
	t.Helper()
	s, err := toolkit.NewServer(toolkit.Options{Evaluator: w})
	if err != nil {
		t.Fatal(err)
	}
	tool := probe(func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
		w.runs.Add(1)
		return "ran", nil
	})
	tool.Effect = approval.WriteFiles
	tool.Plan = func(_ context.Context, _ *toolkit.Call, in kitchen) (kitchen, approval.Action, error) {
		if err := w.fails.Load(); err != nil {
			return in, approval.Action{}, *err
		}
		return in, approval.Action{Summary: "edit a.txt", Paths: []approval.Path{
			{Access: approval.Update, Root: "/srv", Rel: "a.txt", SHA256: *w.content.Load()},
		}}, nil
	}
	if err := toolkit.Add(s, tool); err != nil {
		t.Fatal(err)
	}
	return s
}

// Between question and answer a policy may be changed, and a file.
func TestChangeWhileAsked(t *testing.T) {
	verdict := func(change func(*approval.Verdict)) func(*world) {
		return func(w *world) {
			v := asks
			change(&v)
			w.verdict.Store(&v)
		}
	}
	file := func(w *world) { w.content.Store(new("b")) }
	tests := []struct {
		name        string
		change      func(*world)
		asked, runs int
		want        string
	}{
		{"nothing", func(*world) {}, 1, 1, "ran"},
		{"the policy denies", verdict(func(v *approval.Verdict) { v.Decision, v.Rule, v.Reason = approval.Deny, "new", "no more" }), 1, 0, "probe is denied: no more (rule new)"},
		{"the policy allows", verdict(func(v *approval.Verdict) { v.Decision, v.Revision = approval.Allow, "r2" }), 1, 1, "ran"},
		{"the policy is another and asks still", verdict(func(v *approval.Verdict) { v.Revision = "r2" }), 2, 1, "ran"},
		{"another rule asks", verdict(func(v *approval.Verdict) { v.Rule = "limit" }), 2, 1, "ran"},
		{"the file", file, 1, 0, "call again: what probe would do has changed since it was approved (files). Nothing was done"},
		{"the file, and the policy allows", func(w *world) {
			verdict(func(v *approval.Verdict) { v.Decision = approval.Allow })(w)
			file(w)
		}, 1, 0, "has changed since it was approved (files)"},
		{"the file, and the policy denies", func(w *world) {
			verdict(func(v *approval.Verdict) { v.Decision = approval.Deny })(w)
			file(w)
		}, 1, 0, "probe is denied"},
	}
	eachWay(t, func(t *testing.T, w way) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				world := newWorld(asks)
				who := &person{answer: func(context.Context) (*mcp.ElicitResult, error) {
					tt.change(world)
					return &mcp.ElicitResult{Action: "accept"}, nil
				}}
				cs, _ := w.dial(t, world.server(t), who.options())
				got, isError := call(t, cs, `{"name":"n"}`)
				mustContain(t, got, tt.want)
				if who.asked() != tt.asked || int(world.runs.Load()) != tt.runs || isError != (tt.runs == 0) {
					t.Errorf("asked %d times, %d runs, isError %v", who.asked(), world.runs.Load(), isError)
				}
				mustContain(t, who.heard[0].Message, "update: /srv/a.txt", "edit a.txt")
			})
		}
	})
}

// A policy that changes with every answer does not keep a person busy for ever.
func TestPolicyThatNeverRests(t *testing.T) {
	world := newWorld(asks)
	who := &person{answer: func(context.Context) (*mcp.ElicitResult, error) {
		v := *world.verdict.Load()
		v.Revision += "x"
		world.verdict.Store(&v)
		return &mcp.ElicitResult{Action: "accept"}, nil
	}}
	cs, _ := ways[0].dial(t, world.server(t), who.options())
	got, _ := call(t, cs, `{"name":"n"}`)
	mustContain(t, got, "no decision")
	if who.asked() != 2 || world.runs.Load() != 0 {
		t.Errorf("asked %d times, %d runs", who.asked(), world.runs.Load())
	}
}

// Why a call would fail can say what exists: who has to be asked reads it after a yes.
func TestPlanErrorIsToldAfterAYes(t *testing.T) {
	for action, want := range map[string]string{"accept": "similar names: secret.txt", "decline": "did not approve"} {
		eachWay(t, func(t *testing.T, w way) {
			world := newWorld(asks)
			world.fails.Store(new(toolkit.Errorf("similar names: secret.txt")))
			who := says(action)
			cs, _ := w.dial(t, world.server(t), who.options())
			got, isError := call(t, cs, `{"name":"n"}`)
			mustContain(t, got, want)
			if !isError || who.asked() != 1 || world.runs.Load() != 0 || action == "decline" && strings.Contains(got, "secret") {
				t.Errorf("asked %d times, %d runs: %s", who.asked(), world.runs.Load(), got)
			}
			mustContain(t, who.heard[0].Message, "As things are, the call would fail")
		})
	}
}

// A limit is spent once for each run, and judged again where it is used up meanwhile.
func TestSpending(t *testing.T) {
	var spent, refused atomic.Int32
	spends := func(v approval.Verdict, fails int32) approval.Verdict {
		v.Spend = func() bool {
			if refused.Add(1) <= fails {
				return false
			}
			spent.Add(1)
			return true
		}
		return v
	}
	allow := approval.Verdict{Decision: approval.Allow}
	tests := []struct {
		name   string
		v      approval.Verdict
		action string
		spent  int32
		want   string
	}{
		{"allowed", spends(allow, 0), "", 1, "ran"},
		{"approved", spends(asks, 0), "accept", 1, "ran"},
		{"declined", spends(asks, 0), "decline", 0, "did not approve"},
		{"at the second try", spends(asks, 1), "accept", 1, "ran"},
		{"never", spends(allow, 100), "", 0, "probe is denied: a limit of the policy is being used up by other calls"},
	}
	eachWay(t, func(t *testing.T, w way) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				spent.Store(0)
				refused.Store(0)
				world := newWorld(tt.v)
				cs, _ := w.dial(t, world.server(t), says(tt.action).options())
				got, _ := call(t, cs, `{"name":"n"}`)
				mustContain(t, got, tt.want)
				if spent.Load() != tt.spent || (world.runs.Load() == 1) != (tt.want == "ran") {
					t.Errorf("spent %d times, %d runs", spent.Load(), world.runs.Load())
				}
			})
		}
	})
}

// forSession is a person who says yes for the session, once it is offered.
func forSession(t *testing.T) *person {
	p := &person{}
	p.answer = func(context.Context) (*mcp.ElicitResult, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		form, _ := p.heard[len(p.heard)-1].RequestedSchema.(map[string]any)
		properties, _ := form["properties"].(map[string]any)
		if _, required := form["required"]; required {
			t.Error("the form has a required field")
		}
		if properties["remember"] == nil {
			return &mcp.ElicitResult{Action: "accept"}, nil
		}
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"remember": "session"}}, nil
	}
	return p
}

func TestRememberedForTheSession(t *testing.T) {
	remembers := asks
	remembers.Asking.Session = time.Hour
	brief := asks
	brief.Asking.Session = time.Nanosecond
	same, other := `{"name":"n"}`, `{"name":"m"}`
	tests := []struct {
		name      string
		v         approval.Verdict
		calls     []string
		asked     int // where there is a session, or one process
		anonymous int // where there is neither
	}{
		{"the same call", remembers, []string{same, same, `{"title":"n"}`}, 1, 3},
		{"another call", remembers, []string{same, other, other}, 2, 3},
		{"after its time", brief, []string{same, same}, 2, 2},
		{"not by the policy", asks, []string{same, same}, 2, 2},
	}
	eachWay(t, func(t *testing.T, w way) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				world := newWorld(tt.v)
				who := forSession(t)
				cs, _ := w.dial(t, world.server(t), who.options())
				for _, args := range tt.calls {
					if got, _ := call(t, cs, args); got != "ran" {
						t.Errorf("%s: %s", args, got)
					}
				}
				want := tt.asked
				if w.name == "http, modern" {
					want = tt.anonymous
				}
				if who.asked() != want {
					t.Errorf("asked %d times, want %d", who.asked(), want)
				}
			})
		}
	})
}

// What was approved in one session counts in no other, nor after its end; a changed file is
// asked for again.
func TestRememberedInNoOtherSession(t *testing.T) {
	v := asks
	v.Asking.Session = time.Hour
	world := newWorld(v)
	s := world.server(t)
	url := newWeb(t, s, streamable.Options{}).url
	dial := func(who *person) *mcp.ClientSession {
		client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, who.options())
		cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: legacyVersion})
		if err != nil {
			t.Fatal(err)
		}
		return cs
	}
	var asked []int
	for range 2 {
		who := forSession(t)
		cs := dial(who)
		call(t, cs, `{"name":"n"}`)
		call(t, cs, `{"name":"n"}`)
		world.content.Store(new(*world.content.Load() + "x"))
		call(t, cs, `{"name":"n"}`)
		cs.Close()
		asked = append(asked, who.asked())
	}
	if diff := cmp.Diff([]int{2, 2}, asked); diff != "" {
		t.Error(diff)
	}
	waitFor(t, "both sessions to be forgotten", func() bool { return s.Remembered() == 0 })
	http.DefaultClient.CloseIdleConnections()
}
