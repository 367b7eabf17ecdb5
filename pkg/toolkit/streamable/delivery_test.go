package streamable_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// A teller is an endpoint with one tool, tell, whose calls say what became of their answers.
type teller struct {
	*streamable.Endpoint
	begun chan *streamable.Request
	goOn  chan bool // each call waits for one
	slow  bool      // calls do not listen to their end
	told  chan bool
}

func newTeller(t *testing.T) *teller {
	t.Helper()
	e := &teller{begun: make(chan *streamable.Request, 1), goOn: make(chan bool), told: make(chan bool, 10)}
	s := mcp.NewServer(&mcp.Implementation{Name: "teller", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "tell", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		q := streamable.RequestOf(r.Extra)
		q.AfterDelivery(func(delivered bool) { e.told <- delivered })
		e.begun <- q
		if e.slow {
			ctx = context.Background()
		}
		select {
		case <-e.goOn:
		case <-ctx.Done():
		}
		return said("done"), nil
	})
	var err error
	if e.Endpoint, err = streamable.New(s, streamable.Options{Loopback: true}); err != nil {
		t.Fatal(err)
	}
	return e
}

// await returns what the call was told.
func (e *teller) await(t *testing.T) bool {
	t.Helper()
	select {
	case delivered := <-e.told:
		return delivered
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was told within 20 s")
		return false
	}
}

// A deaf client takes no answer.
type deaf struct{ *httptest.ResponseRecorder }

func (deaf) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

// Whether an answer was delivered is told once: as soon as it was written, else when there is
// nobody to write it to.
func TestAfterDelivery(t *testing.T) {
	tell := modern("tools/call", "tell", `{"name":"tell","arguments":{}}`)
	asJSON := modern("tools/call", "tell", `{"name":"tell","arguments":{}}`)
	asJSON.header.Set("Accept", "application/json")
	tests := map[string]struct {
		m       message
		session bool // of the era before
		deaf    bool
		slow    bool
		instead func(e *teller, cancel func(), session string) // of an end of the call
		want    bool
	}{
		"as events":                  {m: tell, want: true},
		"as JSON":                    {m: asJSON, want: true},
		"events unheard":             {m: tell, deaf: true},
		"JSON unheard":               {m: asJSON, deaf: true},
		"in a session":               {session: true, want: true},
		"session unheard":            {session: true, deaf: true},
		"gone":                       {m: tell, instead: func(_ *teller, cancel func(), _ string) { cancel() }},
		"gone in a session":          {session: true, instead: func(_ *teller, cancel func(), _ string) { cancel() }},
		"gone, and the call goes on": {session: true, slow: true, instead: func(_ *teller, cancel func(), _ string) { cancel() }},
		"the session has ended": {session: true, instead: func(e *teller, _ func(), session string) {
			message{verb: http.MethodDelete, header: head("Mcp-Session-Id", session)}.record(t, e)
		}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			e, id := newTeller(t), ""
			e.slow = c.slow
			defer close(e.goOn)
			if c.session {
				id = begin(t, func(m message) (*http.Response, string) { return m.record(t, e) }, nil)
				c.m = message{header: head("Mcp-Session-Id", id, "Accept", both), body: call("tools/call", `{"name":"tell","arguments":{}}`)}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var w http.ResponseWriter = httptest.NewRecorder()
			if c.deaf {
				w = deaf{httptest.NewRecorder()}
			}
			ended := make(chan struct{})
			r := c.m.request(ctx, t, "http://127.0.0.1/mcp")
			go func() {
				defer close(ended)
				e.ServeHTTP(w, r)
			}()
			q := <-e.begun
			if c.instead == nil {
				e.goOn <- true
			} else {
				c.instead(e, cancel, id)
			}
			if got := e.await(t); got != c.want {
				t.Errorf("it was told %v", got)
			}
			<-ended
			q.AfterDelivery(func(delivered bool) { e.told <- delivered }) // too late to wait
			if got := e.await(t); got != c.want || len(e.told) > 0 {
				t.Errorf("afterwards it was told %v, and %d times more", got, len(e.told))
			}
			if id != "" {
				message{verb: http.MethodDelete, header: head("Mcp-Session-Id", id)}.record(t, e)
			}
		})
	}
}
