package streamable_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/testleak"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

func TestMain(m *testing.M) { testleak.Main(m) }

// A station is a server with tools whose calls the tests watch.
type station struct {
	*mcp.Server
	started chan struct{} // slow has begun
	ended   chan error    // and ended, with the cause of its cancellation or nil
}

// newStation returns a server with three tools: echo; slow, which takes ten seconds and
// reports each tenth of one; and who, which says who calls.
func newStation() *station {
	s := &station{
		Server:  mcp.NewServer(&mcp.Implementation{Name: "station", Version: "1"}, nil),
		started: make(chan struct{}, 100), ended: make(chan error, 100),
	}
	object := json.RawMessage(`{"type":"object"}`)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: object}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Text string }
		err := json.Unmarshal(r.Params.Arguments, &in)
		return said(in.Text), err
	})
	s.AddTool(&mcp.Tool{Name: "who", InputSchema: object}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		h := streamable.RequestOf(r.Extra)
		return said(fmt.Sprintf("%s streams=%t header=%q", h.Principal, h.Streams, r.Extra.Header.Get("Authorization"))), nil
	})
	s.AddTool(&mcp.Tool{Name: "slow", InputSchema: object}, s.slow)
	return s
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func (s *station) slow(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	in := struct{ Seconds float64 }{10}
	if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
		return nil, err
	}
	s.started <- struct{}{}
	for i := range int(in.Seconds * 10) {
		select {
		case <-ctx.Done():
			s.ended <- context.Cause(ctx)
			return nil, ctx.Err()
		case <-time.After(time.Second / 10):
		}
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(i + 1)})
		}
	}
	s.ended <- nil
	return said("done"), nil
}

// serve serves s on a loopback port and returns the endpoint's URL and a function that
// stops it and waits for its end; the end of the test calls it too.
func serve(t *testing.T, s *mcp.Server, o streamable.Options) (url string, stop func() error) {
	t.Helper()
	return serveAt(t, "127.0.0.1:0", s, o)
}

func serveAt(t *testing.T, addr string, s *mcp.Server, o streamable.Options) (url string, stop func() error) {
	t.Helper()
	e, err := streamable.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = e.Serve(ctx, l)
	}()
	stop = func() error { cancel(); <-ended; return err }
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		_ = stop()
	})
	return "http://" + l.Addr().String() + "/mcp", stop
}

// Headers that requests of the tests have, beside their own.
const both = "application/json, text/event-stream"

// A message is one request of a test.
type message struct {
	verb   string // POST when empty
	header http.Header
	body   string
}

func head(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// call returns the body of a call of the era before 2026-07-28.
func call(method, params string) string {
	if params == "" {
		params = "{}"
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

// modern returns a whole request of 2026-07-28. Its params are an object, or nothing.
func modern(method, name, params string) message {
	const meta = `"_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	inner := strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}")
	if inner != "" {
		inner += ","
	}
	h := head("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Accept", both)
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	return message{header: h, body: call(method, "{"+inner+meta+"}")}
}

func (m message) request(ctx context.Context, t testing.TB, url string) *http.Request {
	t.Helper()
	verb := m.verb
	if verb == "" {
		verb = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, verb, url, strings.NewReader(m.body))
	if err != nil {
		t.Fatal(err)
	}
	if m.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range m.header {
		r.Header[k] = v
	}
	if host := m.header.Get("Host"); host != "" {
		r.Host = host
	}
	return r
}

// send sends m and returns the whole answer.
func (m message) send(t testing.TB, url string) (*http.Response, string) {
	t.Helper()
	res, err := http.DefaultClient.Do(m.request(t.Context(), t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// record lets e answer m without a network, which the clock of a bubble does not wait for.
func (m message) record(t testing.TB, e http.Handler) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, m.request(t.Context(), t, "http://127.0.0.1/mcp"))
	return w.Result(), w.Body.String()
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// A sender sends messages to one endpoint, by network or without.
type sender func(message) (*http.Response, string)

// begin begins a session and returns its id.
func begin(t testing.TB, send sender, header http.Header) string {
	t.Helper()
	h := header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Accept", both)
	res, body := send(message{header: h, body: initialize})
	id := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != http.StatusOK || id == "" {
		t.Fatalf("initialize: %s, session %q: %s", res.Status, id, body)
	}
	h.Set("Mcp-Session-Id", id)
	if res, body := send(message{header: h, body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`}); res.StatusCode != http.StatusAccepted {
		t.Fatalf("initialized: %s: %s", res.Status, body)
	}
	return id
}

func by(t testing.TB, url string) sender {
	return func(m message) (*http.Response, string) { t.Helper(); return m.send(t, url) }
}

// events reads an event stream and passes on the data of each event.
func events(body io.Reader, each func(data string) bool) {
	for lines := bufio.NewScanner(body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && !each(data) {
			return
		}
	}
}

// errorOf returns the id and the error of a JSON-RPC response.
func errorOf(t testing.TB, body string) (id any, code int, text string) {
	t.Helper()
	var m struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Version != "2.0" {
		t.Fatalf("not a JSON-RPC response: %q", body)
	}
	return m.ID, m.Error.Code, m.Error.Message
}

// recordUntil lets e answer m until ctx is done.
func (m message) recordUntil(ctx context.Context, t testing.TB, e http.Handler) string {
	w := httptest.NewRecorder()
	e.ServeHTTP(w, m.request(ctx, t, "http://127.0.0.1/mcp"))
	return w.Body.String()
}

// listStatus returns the status of a tools/list on a session.
func listStatus(t testing.TB, url, session string) int {
	t.Helper()
	res, _ := message{header: head("Mcp-Session-Id", session), body: call("tools/list", "")}.send(t, url)
	return res.StatusCode
}
