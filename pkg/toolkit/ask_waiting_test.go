package toolkit_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// An opened is a tool's P that counts itself while it is open.
type opened struct{ count *atomic.Int32 }

func (o opened) Close() error { o.count.Add(-1); return nil }

// addOpener adds a tool that opens something, with a deadline of 200 ms.
func addOpener(t *testing.T, s *toolkit.Server, name string, open *atomic.Int32) {
	t.Helper()
	err := toolkit.Add(s, toolkit.Tool[struct{}, opened, string]{
		Definition: toolkit.Definition{Name: name, Title: "Probe", Description: "Opens something.", Deadline: 200 * time.Millisecond},
		Plan: func(context.Context, *toolkit.Call, struct{}) (opened, approval.Action, error) {
			open.Add(1)
			return opened{open}, approval.Action{Effect: approval.ReadFiles}, nil
		},
		Run: func(ctx context.Context, _ opened, _ approval.Grant, _ toolkit.Progress) (string, error) {
			return fmt.Sprintf("%s ran with %d open", name, open.Load()), ctx.Err()
		},
		Render: func(out string, _ toolkit.Budget) toolkit.Result { return toolkit.Result{Text: out} },
	})
	if err != nil {
		t.Fatal(err)
	}
}

// While a person thinks, the call holds nothing: no slot, no open plan, and its deadline does
// not run (anomalyco/opencode#35275).
func TestAPersonHasTheirOwnClock(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		asksForProbe := evaluator(func(_ approval.Caller, a approval.Action) approval.Verdict {
			if a.Tool == "probe" {
				return asks
			}
			return approval.Verdict{Decision: approval.Allow}
		})
		s, err := toolkit.NewServer(toolkit.Options{Evaluator: asksForProbe, Concurrent: 1})
		if err != nil {
			t.Fatal(err)
		}
		var open atomic.Int32
		addOpener(t, s, "probe", &open)
		addOpener(t, s, "other", &open)
		neighbour := connect(t, s, nil)
		who := &person{answer: func(ctx context.Context) (*mcp.ElicitResult, error) {
			if n := open.Load(); n != 0 {
				t.Errorf("%d plans are open while a person is asked", n)
			}
			time.Sleep(300 * time.Millisecond)
			res, err := neighbour.CallTool(ctx, &mcp.CallToolParams{Name: "other"})
			if err != nil {
				return nil, err
			}
			mustContain(t, textOf(t, res), "other ran with 1 open")
			return &mcp.ElicitResult{Action: "accept"}, nil
		}}
		cs, _ := w.dial(t, s, who.options())
		if got, _ := call(t, cs, `{}`); got != "probe ran with 1 open" || open.Load() != 0 {
			t.Errorf("got %q, and %d are open at the end", got, open.Load())
		}
	})
}

// waitFor waits until ok says so.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// hesitant is a person who says yes only when let go. That has to happen before the client is
// closed: it waits for who is asked, and may not hear that the question is withdrawn.
func hesitant() (who *person, letGo func()) {
	let := make(chan struct{})
	who = &person{answer: func(context.Context) (*mcp.ElicitResult, error) {
		<-let
		return &mcp.ElicitResult{Action: "accept"}, nil
	}}
	return who, sync.OnceFunc(func() { close(let) })
}

// A client that declares elicitation may never show it (anthropics/claude-code#94806,
// openai/codex#39149).
func TestNobodyAnswers(t *testing.T) {
	impatient := asks
	impatient.Asking = approval.Asking{Timeout: 300 * time.Millisecond, Unattended: approval.Allow}
	for _, w := range ways {
		if w.modern() { // there nothing waits here
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			s, runs := counting(t, toolkit.Options{Evaluator: always(impatient)})
			who, letGo := hesitant()
			cs, _ := w.dial(t, s, who.options())
			defer letGo()
			start := time.Now()
			got, isError := call(t, cs, `{"name":"n"}`)
			mustContain(t, got, "there is no decision, since nobody answered within 300ms. Nothing was done")
			if !isError || runs.Load() != 0 || s.Waiting() != 0 || time.Since(start) < 300*time.Millisecond {
				t.Errorf("isError %v, %d runs, %d waiting, after %s", isError, runs.Load(), s.Waiting(), time.Since(start))
			}
		})
	}
}

// breakable returns a connection that can be broken, as when a client dies.
var breakable = map[string]func(*testing.T, *toolkit.Server) (tr mcp.Transport, sever func()){
	"stdio": func(t *testing.T, s *toolkit.Server) (mcp.Transport, func()) {
		tr := overStdio(t, s).(*mcp.IOTransport)
		return tr, func() { tr.Writer.Close(); tr.Reader.Close() }
	},
	"http": func(t *testing.T, s *toolkit.Server) (mcp.Transport, func()) {
		var mu sync.Mutex
		var conns []net.Conn
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, c)
			return c, err
		}
		hc := &http.Client{Transport: &http.Transport{DialContext: dial}}
		t.Cleanup(hc.CloseIdleConnections)
		tr := &mcp.StreamableClientTransport{Endpoint: newWeb(t, s, streamable.Options{}).url, HTTPClient: hc, MaxRetries: -1}
		return tr, func() {
			mu.Lock()
			defer mu.Unlock()
			for _, c := range conns {
				c.Close()
			}
		}
	},
}

// A question ends with its call, at once, and a yes that comes then is too late.
func TestCallEndsWhileAsked(t *testing.T) {
	for over, connect := range breakable {
		for _, severed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, severed %v", over, severed), func(t *testing.T) {
				s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
				who, letGo := hesitant()
				tr, sever := connect(t, s)
				client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, who.options())
				cs, err := client.Connect(t.Context(), tr, &mcp.ClientSessionOptions{ProtocolVersion: legacyVersion})
				if err != nil {
					t.Fatal(err)
				}
				defer cs.Close()
				defer letGo()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() {
					_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "probe", Arguments: map[string]any{"name": "n"}})
					ended <- err
				}()
				waitFor(t, "the question", func() bool { return s.Waiting() == 1 && who.asked() == 1 })
				if severed {
					sever()
				} else {
					cancel()
				}
				waitFor(t, "the end of the question", func() bool { return s.Waiting() == 0 })
				letGo()
				if err := <-ended; err == nil && !severed || runs.Load() != 0 {
					t.Errorf("the call ended with %v after %d runs", err, runs.Load())
				}
			})
		}
	}
}

// More questions than may wait are not asked, and nothing runs for that: a client that can be asked
// is not unattended.
func TestQuestionsAtOnce(t *testing.T) {
	for name, unattended := range map[string]approval.Decision{"denied": approval.Deny, "allowed": approval.Allow} {
		t.Run(name, func(t *testing.T) {
			v := asks
			v.Asking = approval.Asking{MaxPending: 3, Unattended: unattended}
			s, runs := counting(t, toolkit.Options{Evaluator: always(v)})
			who, letGo := hesitant()
			cs, _ := ways[0].dial(t, s, who.options())
			defer letGo()
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					if got, _ := call(t, cs, `{"name":"n"}`); got != "ran" {
						t.Errorf("got %q", got)
					}
				})
			}
			waitFor(t, "three questions", func() bool { return who.asked() == 3 })
			got, isError := call(t, cs, `{"name":"n"}`)
			mustContain(t, got, "call again when the user has answered", "no more questions can be asked now (3 are waiting for an answer). Nothing was done")
			if !isError || who.asked() != 3 {
				t.Errorf("isError %v, asked %d times: %s", isError, who.asked(), got)
			}
			letGo()
			all.Wait()
			if runs.Load() != 3 || s.Waiting() != 0 {
				t.Errorf("%d runs, %d waiting", runs.Load(), s.Waiting())
			}
		})
	}
}

// Whoever did ask and got no usable answer does not count as unattended.
func TestFailedQuestionIsNoYes(t *testing.T) {
	v := asks
	v.Asking.Unattended = approval.Allow
	for _, w := range ways {
		if w.modern() { // there the client has nothing to call again with
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			s, runs := counting(t, toolkit.Options{Evaluator: always(v)})
			who := &person{answer: func(context.Context) (*mcp.ElicitResult, error) { return nil, fmt.Errorf("no dialog here") }}
			cs, _ := w.dial(t, s, who.options())
			got, _ := call(t, cs, `{"name":"n"}`)
			mustContain(t, got, "there is no decision, since the client did not ask the user")
			if runs.Load() != 0 || strings.Contains(got, "no dialog") {
				t.Errorf("%d runs: %s", runs.Load(), got)
			}
		})
	}
}

// Questions that wait in one session leave room for those of another.
func TestQuestionsOfOthers(t *testing.T) {
	v := asks
	v.Asking = approval.Asking{MaxPending: 1}
	s, runs := counting(t, toolkit.Options{Evaluator: always(v)})
	var all sync.WaitGroup
	var letAll []func()
	for range 2 {
		who, letGo := hesitant()
		cs, _ := ways[4].dial(t, s, who.options())
		all.Go(func() {
			if got, _ := call(t, cs, `{"name":"n"}`); got != "ran" {
				t.Errorf("got %q", got)
			}
		})
		letAll = append(letAll, letGo)
		waitFor(t, "a question or an answer", func() bool { return who.asked() == 1 || t.Failed() })
	}
	if s.Waiting() != 2 || runs.Load() != 0 {
		t.Errorf("%d waiting, %d runs", s.Waiting(), runs.Load())
	}
	for _, letGo := range letAll {
		letGo()
	}
	all.Wait()
}
