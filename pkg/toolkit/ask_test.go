package toolkit_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// asks is what a policy says that wants a person to approve everything.
var asks = approval.Verdict{Decision: approval.Ask, Rule: "ask-all", Reason: "be careful", Revision: "r1"}

// always returns an evaluator with one verdict for everything.
func always(v approval.Verdict) approval.Evaluator {
	return evaluator(func(approval.Caller, approval.Action) approval.Verdict { return v })
}

// A person answers questions.
type person struct {
	mu     sync.Mutex
	heard  []*mcp.ElicitParams
	answer func(ctx context.Context) (*mcp.ElicitResult, error) // nil: accept
}

func says(action string) *person {
	return &person{answer: func(context.Context) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: action}, nil }}
}

func (p *person) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	p.mu.Lock()
	p.heard = append(p.heard, req.Params)
	p.mu.Unlock()
	if p.answer == nil {
		return &mcp.ElicitResult{Action: "accept"}, nil
	}
	return p.answer(ctx)
}

func (p *person) asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.heard)
}

func (p *person) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: p.elicit}
}

// A way is a transport and the protocol version that a client of the SDK speaks over it.
type way struct {
	name, version string
	transport     func(*testing.T, *toolkit.Server) mcp.Transport
}

const (
	legacyVersion = "2025-11-25"
	modernVersion = "2026-07-28"
)

var ways = []way{
	{"in memory, legacy", legacyVersion, inMemory},
	{"in memory, modern", modernVersion, inMemory},
	{"stdio, legacy", legacyVersion, overStdio},
	{"stdio, modern", modernVersion, overStdio},
	{"http, legacy", legacyVersion, overHTTP},
	{"http, modern", modernVersion, overHTTP},
}

func (w way) modern() bool { return w.version == modernVersion }

func inMemory(t *testing.T, s *toolkit.Server) mcp.Transport {
	near, far := mcp.NewInMemoryTransports()
	ss, err := s.MCP().Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ss.Wait() })
	return near
}

func overStdio(t *testing.T, s *toolkit.Server) mcp.Transport {
	in, feed := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(context.WithoutCancel(t.Context()), in, out) }()
	t.Cleanup(func() {
		feed.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &mcp.IOTransport{Reader: read, Writer: feed}
}

func overHTTP(t *testing.T, s *toolkit.Server) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: newWeb(t, s, streamable.Options{}).url}
}

// dial connects a client, and returns with it what goes over the wire.
func (w way) dial(t *testing.T, s *toolkit.Server, o *mcp.ClientOptions) (*mcp.ClientSession, *wiretap) {
	t.Helper()
	tap := &wiretap{}
	transport := &mcp.LoggingTransport{Transport: w.transport(t, s), Writer: tap}
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, o)
	cs, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: w.version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close() })
	return cs, tap
}

// A wiretap keeps what a client and a server say.
type wiretap struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *wiretap) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// read returns the lines that the client has read and that hold all of the words.
func (w *wiretap) read(words ...string) (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(w.b.String()) {
		all := strings.HasPrefix(line, "read")
		for _, word := range words {
			all = all && strings.Contains(line, word)
		}
		if all {
			lines = append(lines, line)
		}
	}
	return lines
}

func eachWay(t *testing.T, test func(t *testing.T, w way)) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) { test(t, w) })
	}
}

// counting returns a server with the probe under an evaluator, and how often the probe ran.
func counting(t *testing.T, o toolkit.Options) (*toolkit.Server, *atomic.Int32) {
	t.Helper()
	runs := new(atomic.Int32)
	o.Name = "mcp-probe"
	s, _ := newServer(t, o, func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
		runs.Add(1)
		return "ran", nil
	})
	return s, runs
}

// One question and, with a yes, one run; with any other answer none.
func TestAskedOnceAndRunOnce(t *testing.T) {
	answer := func(res *mcp.ElicitResult) *person {
		return &person{answer: func(context.Context) (*mcp.ElicitResult, error) { return res, nil }}
	}
	tests := []struct {
		name     string
		who      *person
		wantRuns int32
		want     string
	}{
		{"accept", says("accept"), 1, "ran"},
		{"accept with an empty form", answer(&mcp.ElicitResult{Action: "accept", Content: map[string]any{}}), 1, "ran"},
		{"accept for a session that is not offered", answer(&mcp.ElicitResult{Action: "accept", Content: map[string]any{"remember": "session"}}), 1, "ran"},
		{"accept with something else in the form", answer(&mcp.ElicitResult{Action: "accept", Content: map[string]any{"remember": []any{"once"}}}), 0, "does not fit the form"},
		{"decline", says("decline"), 0, "do not repeat this call: the user was asked about probe and did not approve it. Nothing was done"},
		{"cancel", says("cancel"), 0, "there is no decision, since the question was dismissed. Nothing was done"},
		{"no known action", says("ACCEPT"), 0, "neither accept, decline nor cancel"},
	}
	eachWay(t, func(t *testing.T, w way) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
				tt.who.heard = nil
				cs, tap := w.dial(t, s, tt.who.options())
				got, isError := call(t, cs, `{"name":"n"}`)
				mustContain(t, got, tt.want)
				if tt.who.asked() != 1 || runs.Load() != tt.wantRuns || isError != (tt.wantRuns == 0) {
					t.Fatalf("asked %d times, ran %d times, isError %v", tt.who.asked(), runs.Load(), isError)
				}
				mustContain(t, tt.who.heard[0].Message, "May this run? probe (read files)", `{"name":"n"}`, "rule: ask-all", "why it asks: be careful")
				raw, elicited := len(tap.read("inputRequests")), len(tap.read(`"elicitation/create"`, `"id"`))
				if w.modern() && (raw != 1 || len(tap.read(`"resultType":"input_required"`, `"requestState":"a1.`)) != 1) {
					t.Errorf("%d results with inputRequests", raw)
				}
				if !w.modern() && (raw != 0 || elicited != 1) {
					t.Errorf("%d results with inputRequests, %d elicitation/create", raw, elicited)
				}
			})
		}
	})
}

// Of a denial the client reads a whole result.
func TestDeniedIsAWholeResult(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s, runs := counting(t, toolkit.Options{Evaluator: always(approval.Verdict{Rule: "no", Reason: "never"})})
		who := says("accept")
		cs, tap := w.dial(t, s, who.options())
		got, isError := call(t, cs, `{"name":"n"}`)
		mustContain(t, got, "probe is denied: never (rule no)")
		if !isError || runs.Load() != 0 || who.asked() != 0 {
			t.Errorf("isError %v, %d runs, asked %d times", isError, runs.Load(), who.asked())
		}
		if complete := len(tap.read(`"isError":true`, `"resultType":"complete"`)); w.modern() != (complete == 1) {
			t.Errorf("%d results with resultType", complete)
		}
	})
}

func TestUnattended(t *testing.T) {
	url := &mcp.ClientOptions{
		ElicitationHandler: says("accept").elicit,
		Capabilities:       &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
	}
	builtin, byDefault, byMode := asks, asks, approval.WithMode(approval.Default(), approval.Always)
	builtin.Revision, builtin.Rule = "", "default"
	byDefault.Rule = "default"
	runs := asks
	runs.Asking.Unattended = approval.Allow
	tests := []struct {
		name     string
		o        *mcp.ClientOptions
		ev       approval.Evaluator
		wantRuns int32
		want     []string
	}{
		{"a rule asks", nil, always(asks), 0, []string{
			"probe needs approval and this client cannot be asked (it does not declare elicitation): be careful (rule ask-all)",
			"Nothing was done", "effect: allow in the rule ask-all", "unattended: allow",
		}},
		{"the file's default asks", nil, always(byDefault), 0, []string{"the rule {id: allow-probe, effect: allow, tools: [probe]}", "unattended: allow"}},
		{"the built-in default asks", nil, always(builtin), 0, []string{"--require-approval never", "--policy FILE with the rule {id: allow-probe, effect: allow, tools: [probe]}"}},
		{"the mode asks", nil, byMode, 0, []string{"start the server without --require-approval always"}},
		{"only by URL", url, always(asks), 0, []string{"this client cannot be asked (it declares no elicitation by forms)", "rule ask-all"}},
		{"unattended: allow", nil, always(runs), 1, []string{"ran"}},
	}
	eachWay(t, func(t *testing.T, w way) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				s, runs := counting(t, toolkit.Options{Evaluator: tt.ev})
				cs, tap := w.dial(t, s, tt.o)
				got, isError := call(t, cs, `{"name":"n"}`)
				mustContain(t, got, tt.want...)
				if runs.Load() != tt.wantRuns || isError != (tt.wantRuns == 0) {
					t.Errorf("%d runs, isError %v", runs.Load(), isError)
				}
				if asked := append(tap.read("inputRequests"), tap.read("elicitation/create")...); len(asked) > 0 {
					t.Errorf("it asked all the same: %q", asked)
				}
			})
		}
	})
}
