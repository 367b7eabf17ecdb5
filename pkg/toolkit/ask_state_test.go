package toolkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/approval/seal"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// byHand is a client that can be asked and leaves it to the test to call again.
func byHand(t *testing.T, s *toolkit.Server) *mcp.ClientSession {
	t.Helper()
	return connect(t, s, &mcp.ClientOptions{
		ElicitationHandler: says("accept").elicit,
		MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: true},
	})
}

// stateOf makes a call that is answered by a question, and returns its state.
func stateOf(t *testing.T, cs *mcp.ClientSession, args string) string {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "probe", Arguments: json.RawMessage(args)})
	if err != nil || !res.NeedsInput() || res.RequestState == "" {
		t.Fatalf("%+v, %v: it was not asked", res, err)
	}
	if _, ok := res.InputRequests["approval"].(*mcp.ElicitParams); !ok {
		t.Fatalf("it asks %+v", res.InputRequests)
	}
	return res.RequestState
}

// answered returns a call with a state and an answer.
func answered(args, state, action string) *mcp.CallToolParams {
	p := &mcp.CallToolParams{Name: "probe", Arguments: json.RawMessage(args), RequestState: state}
	if action != "" {
		p.InputResponses = mcp.InputResponseMap{"approval": &mcp.ElicitResult{Action: action}}
	}
	return p
}

// mustBeInvalid wants the one protocol error for all states that do not belong to a call.
func mustBeInvalid(t *testing.T, res *mcp.CallToolResult, err error) {
	t.Helper()
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || wire.Message != seal.Invalid {
		t.Errorf("got %+v, %v, want error -32602: %s", res, err, seal.Invalid)
	}
}

func TestOnlyTheCallThatWasAskedRuns(t *testing.T) {
	s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
	cs := byHand(t, s)
	const args = `{"name":"ls","count":1}`
	tests := []struct {
		name, args, state, action string
		ran                       bool
	}{
		{"the same", args, "", "accept", true},
		{"the same, spelt otherwise", `{ "count" : "1", "title": "\u006cs" }`, "", "accept", true},
		{"another argument", `{"name":"rm","count":1}`, "", "accept", false},
		{"one more", `{"name":"ls","count":1,"note":"x"}`, "", "accept", false},
		{"one that cannot be decoded", `{"name":"ls","count":"many"}`, "", "accept", false},
		{"a state that was made up", args, "a1.000000000000.AAAA", "accept", false},
		{"a plain state", args, `{"approved":true}`, "accept", false},
		{"no state", args, "none", "accept", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs.Store(0)
			state := stateOf(t, cs, args)
			if tt.state != "" {
				state = strings.TrimPrefix(tt.state, "none")
			}
			res, err := cs.CallTool(t.Context(), answered(tt.args, state, tt.action))
			if tt.ran {
				if err != nil || textOf(t, res) != "ran" || runs.Load() != 1 {
					t.Errorf("%+v, %v after %d runs", res, err, runs.Load())
				}
				return
			}
			mustBeInvalid(t, res, err)
			if runs.Load() != 0 {
				t.Error("it ran")
			}
		})
	}
}

// Of each byte of a state one bit is changed.
func TestChangedStateDoesNotRun(t *testing.T) {
	s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
	cs := byHand(t, s)
	state := stateOf(t, cs, `{"name":"n"}`)
	for i := range len(state) {
		changed := []byte(state)
		changed[i] ^= 1 // stays ASCII
		res, err := cs.CallTool(t.Context(), answered(`{"name":"n"}`, string(changed), "accept"))
		mustBeInvalid(t, res, err)
	}
	if runs.Load() != 0 {
		t.Errorf("%d runs", runs.Load())
	}
	if res, err := cs.CallTool(t.Context(), answered(`{"name":"n"}`, state, "accept")); err != nil || textOf(t, res) != "ran" {
		t.Errorf("unchanged: %+v, %v", res, err)
	}
}

func TestStateIsOfOneToolOnly(t *testing.T) {
	s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
	other := probe(nil)
	other.Name = "other"
	if err := toolkit.Add(s, other); err != nil {
		t.Fatal(err)
	}
	cs := byHand(t, s)
	p := answered(`{"name":"n"}`, stateOf(t, cs, `{"name":"n"}`), "accept")
	p.Name = "other"
	res, err := cs.CallTool(t.Context(), p)
	mustBeInvalid(t, res, err)
	if runs.Load() != 0 {
		t.Error("it ran")
	}
}

func TestStateExpires(t *testing.T) {
	brief := asks
	brief.Asking.Timeout = time.Nanosecond
	s, runs := counting(t, toolkit.Options{Evaluator: always(brief)})
	cs := byHand(t, s)
	state := stateOf(t, cs, `{"name":"n"}`)
	time.Sleep(2 * time.Millisecond) // states count milliseconds
	res, err := cs.CallTool(t.Context(), answered(`{"name":"n"}`, state, "accept"))
	mustBeInvalid(t, res, err)
	if runs.Load() != 0 {
		t.Error("it ran")
	}
}

// A state is used up by any call that brings it, whatever the answer, or without one; then it is
// asked again.
func TestStateIsUsedOnce(t *testing.T) {
	for action, want := range map[string]string{"accept": "ran", "decline": "did not approve", "cancel": "no decision", "": ""} {
		t.Run("answer "+action, func(t *testing.T) {
			s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
			cs := byHand(t, s)
			state := stateOf(t, cs, `{"name":"n"}`)
			res, err := cs.CallTool(t.Context(), answered(`{"name":"n"}`, state, action))
			if err != nil {
				t.Fatal(err)
			}
			if action == "" {
				if !res.NeedsInput() || res.RequestState == state {
					t.Errorf("without an answer: %+v", res)
				}
			} else {
				mustContain(t, textOf(t, res), want)
			}
			before := runs.Load()
			res, err = cs.CallTool(t.Context(), answered(`{"name":"n"}`, state, "accept"))
			mustBeInvalid(t, res, err)
			if runs.Load() != before || before > 1 || before == 1 && action != "accept" {
				t.Errorf("%d runs, then %d", before, runs.Load())
			}
		})
	}
}

func TestStateIsUsedOnceByManyAtOnce(t *testing.T) {
	s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
	cs := byHand(t, s)
	state := stateOf(t, cs, `{"name":"n"}`)
	var all sync.WaitGroup
	var ran atomic.Int32
	for range 100 {
		all.Go(func() {
			res, err := cs.CallTool(t.Context(), answered(`{"name":"n"}`, state, "accept"))
			if err == nil && textOf(t, res) == "ran" {
				ran.Add(1)
				return
			}
			mustBeInvalid(t, res, err)
		})
	}
	all.Wait()
	if runs.Load() != 1 || ran.Load() != 1 {
		t.Errorf("%d runs, %d results", runs.Load(), ran.Load())
	}
}

// A call that nobody asked about does not run because it brings an answer, in either era, and
// whatever the policy says.
func TestFirstCallWithAnswersDoesNotRun(t *testing.T) {
	const accept = `"inputResponses":{"approval":{"action":"accept","content":{}}}`
	sealed := func(t *testing.T, s *toolkit.Server) string {
		return fmt.Sprintf(`"requestState":%q,`, stateOf(t, byHand(t, s), `{"name":"n"}`))
	}
	tests := []struct {
		name, version string
		allowed       bool
		extra         func(*testing.T, *toolkit.Server) string
	}{
		{"modern", modernVersion, false, func(*testing.T, *toolkit.Server) string { return accept }},
		{"modern, with an empty state", modernVersion, false, func(*testing.T, *toolkit.Server) string { return `"requestState":"",` + accept }},
		{"modern, allowed anyway", modernVersion, true, func(*testing.T, *toolkit.Server) string { return accept }},
		{"legacy", legacyVersion, false, func(*testing.T, *toolkit.Server) string { return accept }},
		{"legacy, with a good state", legacyVersion, false, func(t *testing.T, s *toolkit.Server) string { return sealed(t, s) + accept }},
		{"legacy, with a state alone", legacyVersion, false, func(t *testing.T, s *toolkit.Server) string { return strings.TrimSuffix(sealed(t, s), ",") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := asks
			if tt.allowed {
				v.Decision = approval.Allow
			}
			s, runs := counting(t, toolkit.Options{Evaluator: always(v)})
			params := `"name":"probe","arguments":{"name":"n"},` + tt.extra(t, s)
			input := fmt.Sprintf(hello, `"elicitation":{}`)
			if tt.version == modernVersion {
				input, params = "", params+","+strings.Replace(modern, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{"form":{}}}`, 1)
			}
			got := serveAll(t, s, input+`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{`+params+"}}\n")["7"]
			if got.Error == nil || got.Error.Code != -32602 || got.Error.Message != seal.Invalid || runs.Load() != 0 {
				t.Errorf("%+v after %d runs", got, runs.Load())
			}
		})
	}
}

// What a session may do is what it began with: a request that claims the other era, and
// capabilities there, does not run.
func TestErasDoNotMixWhereAsked(t *testing.T) {
	s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
	state := stateOf(t, byHand(t, s), `{"name":"n"}`)
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"probe","arguments":{"name":"n"},"requestState":%q,`+
		`"inputResponses":{"approval":{"action":"accept"}},%s}}`+"\n", state, modern)
	got := serveAll(t, s, fmt.Sprintf(hello, "")+call)["7"]
	if got.Error == nil || !strings.Contains(got.Error.Message, "began with a request of the legacy protocol era") || runs.Load() != 0 {
		t.Errorf("%+v after %d runs", got, runs.Load())
	}
}

// Replicas that share their keys run what another has asked; with a shared store of nonces
// they run it once among them.
func TestReplicas(t *testing.T) {
	ring := seal.RandomRing()
	store := &seal.Nonces{}
	tests := []struct {
		name         string
		keys         [2]*seal.Ring
		nonces       [2]seal.NonceStore
		there, again bool // runs at the other one, and a second time at the first
	}{
		{"the same keys and nonces", [2]*seal.Ring{ring, ring}, [2]seal.NonceStore{store, store}, true, false},
		{"the same keys, nonces of their own", [2]*seal.Ring{ring, ring}, [2]seal.NonceStore{}, true, true},
		{"keys of their own", [2]*seal.Ring{}, [2]seal.NonceStore{}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, _ := counting(t, toolkit.Options{Evaluator: always(asks), Keys: tt.keys[0], Nonces: tt.nonces[0]})
			b, _ := counting(t, toolkit.Options{Evaluator: always(asks), Keys: tt.keys[1], Nonces: tt.nonces[1]})
			here, there := byHand(t, a), byHand(t, b)
			p := answered(`{"name":"n"}`, stateOf(t, here, `{"name":"n"}`), "accept")
			for _, c := range []struct {
				cs  *mcp.ClientSession
				ran bool
			}{{there, tt.there}, {here, tt.again}} {
				res, err := c.cs.CallTool(t.Context(), p)
				if !c.ran {
					mustBeInvalid(t, res, err)
				} else if err != nil || textOf(t, res) != "ran" {
					t.Errorf("%+v, %v", res, err)
				}
			}
		})
	}
}

// What cannot be noted as used is not used.
func TestFullStoreOfNonces(t *testing.T) {
	s, runs := counting(t, toolkit.Options{Evaluator: always(asks), Nonces: &seal.Nonces{Max: 1}})
	cs := byHand(t, s)
	first, second := stateOf(t, cs, `{"name":"n"}`), stateOf(t, cs, `{"name":"n"}`)
	if res, err := cs.CallTool(t.Context(), answered(`{"name":"n"}`, first, "accept")); err != nil || textOf(t, res) != "ran" {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err := cs.CallTool(t.Context(), answered(`{"name":"n"}`, second, "accept"))
	if err != nil || !res.IsError || runs.Load() != 1 {
		t.Fatalf("%+v, %v after %d runs", res, err, runs.Load())
	}
	mustContain(t, textOf(t, res), "call again in a minute", "Nothing was done")
}

// Over HTTP a state is of the token that it was given to.
func TestStateIsOfOnePrincipal(t *testing.T) {
	s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
	w := newWeb(t, s, streamable.Options{Tokens: []streamable.Token{{Name: "alice", Secret: secret}, {Name: "bob", Secret: secret + "b"}}})
	post := func(token, extra string) string {
		meta := strings.Replace(modern, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"probe","arguments":{"name":"n"},` + extra + meta + `}}`
		res := w.open(http.MethodPost, body, "Mcp-Protocol-Version", modernVersion, "Mcp-Method", "tools/call", "Mcp-Name", "probe", "Authorization", "Bearer "+token)
		data, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	asked := post(secret, "")
	_, rest, found := strings.Cut(asked, `"requestState":"`)
	state, _, _ := strings.Cut(rest, `"`)
	if !found || !strings.Contains(asked, `"resultType":"input_required"`) || !strings.Contains(asked, "asked by: alice over http") {
		t.Fatalf("got %s", asked)
	}
	accept := fmt.Sprintf(`"requestState":%q,"inputResponses":{"approval":{"action":"accept"}},`, state)
	if got := post(secret+"b", accept); !strings.Contains(got, "-32602") || !strings.Contains(got, seal.Invalid) || runs.Load() != 0 {
		t.Errorf("bob got %s after %d runs", got, runs.Load())
	}
	if got := post(secret, accept); !strings.Contains(got, `"text":"ran"`) || runs.Load() != 1 {
		t.Errorf("alice got %s after %d runs", got, runs.Load())
	}
}

// Made up states do not run, as they come over the wire.
func FuzzState(f *testing.F) {
	var runs atomic.Int32
	s, err := toolkit.NewServer(toolkit.Options{Evaluator: always(asks)})
	if err != nil {
		f.Fatal(err)
	}
	err = toolkit.Add(s, probe(func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
		runs.Add(1)
		return "ran", nil
	}))
	if err != nil {
		f.Fatal(err)
	}
	cs, end, err := s.Connect(context.Background(), &mcp.ClientOptions{
		ElicitationHandler: says("accept").elicit, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(end)
	f.Add("a1.", `{"name":"n"}`)
	f.Fuzz(func(t *testing.T, state, args string) {
		if state == "" || !json.Valid([]byte(args)) {
			return
		}
		if _, err := cs.CallTool(t.Context(), answered(args, state, "accept")); err == nil || runs.Load() != 0 {
			t.Errorf("%q: %v, %d runs", state, err, runs.Load())
		}
	})
}

// What a session's client declared when it began counts, not what one call claims.
func TestClaimsOfACallAreNotHeard(t *testing.T) {
	s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"probe","arguments":{"name":"n"},` +
		`"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}` + "\n"
	got := serveAll(t, s, fmt.Sprintf(hello, "")+call)["7"]
	if text := fmt.Sprintf("%+v %+v", got, got.Result); !strings.Contains(text, "does not declare elicitation") || runs.Load() != 0 {
		t.Errorf("%s after %d runs", text, runs.Load())
	}
}
