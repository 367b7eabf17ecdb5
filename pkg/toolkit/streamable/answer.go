package streamable

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
)

// Proxies end a response that is silent for long (nginx after 60 s), and who has gone is
// noticed by writing only.
const (
	silence   = 15 * time.Second
	writeTime = 30 * time.Second // for a client to take what is written
)

// A form is what becomes of what the SDK writes.
type form int

const (
	undecided form = iota
	asIs           // passed on
	asEvents       // passed on, event by event
	collected      // an event stream of which the answer is sent as JSON
	refused        // a plain text that becomes a JSON-RPC error
)

// An answer stands between the SDK's handler and the client. It sends an event stream as JSON to
// who takes no stream, keeps silent streams alive, and turns plain errors into JSON-RPC.
//
// The SDK may write from several goroutines, and after its handler has returned; after
// finish nothing is passed on.
type answer struct {
	w     http.ResponseWriter
	conn  *http.ResponseController
	m     wire.Message // what is answered; empty for GET and DELETE
	req   *Request
	there func() bool // reports whether the session is still there

	mu       sync.Mutex
	header   http.Header // as the SDK has it; the beat must not touch it
	form     form
	status   int
	text     bytes.Buffer // collected or refused
	beat     *time.Timer
	finished bool
}

func newAnswer(w http.ResponseWriter, m wire.Message, req *Request, there func() bool) *answer {
	a := &answer{w: w, conn: http.NewResponseController(w), m: m, req: req, there: there, header: http.Header{}, status: http.StatusOK}
	if req.Streams {
		a.beat = time.AfterFunc(silence, a.comment)
	}
	return a
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decide(status)
}

// decide chooses the form by the first status.
func (a *answer) decide(status int) {
	if a.form != undecided || a.finished {
		return
	}
	a.status = status
	kind := a.header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "text/event-stream") && !a.req.Streams:
		a.form = collected
	case strings.HasPrefix(kind, "text/event-stream"):
		a.form = asEvents
		a.commit(a.header)
	case status >= http.StatusBadRequest && !strings.HasPrefix(kind, "application/json"):
		a.form = refused
	default:
		a.form = asIs
		a.commit(a.header)
	}
}

// commit sends the headers.
func (a *answer) commit(h http.Header) {
	maps.Copy(a.w.Header(), h)
	a.w.Header().Set("X-Accel-Buffering", "no") // nginx: pass on at once
	if strings.HasPrefix(h.Get("Content-Type"), "application/json") {
		unshared(a.w.Header())
	}
	a.extend()
	a.w.WriteHeader(a.status)
}

// extend gives the client time to take what is written next.
func (a *answer) extend() { _ = a.conn.SetWriteDeadline(time.Now().Add(writeTime)) }

// Write implements [http.ResponseWriter].
func (a *answer) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decide(http.StatusOK)
	if a.finished {
		return 0, http.ErrHandlerTimeout
	}
	switch a.form {
	case collected, refused:
		return a.text.Write(b)
	case asEvents:
		if a.beat != nil {
			a.beat.Reset(silence)
		}
		a.extend()
		err := a.event(b)
		a.req.wrote(err)
		if err != nil {
			return 0, err
		}
		return len(b), nil
	}
	a.extend()
	n, err := a.w.Write(b)
	a.req.wrote(err)
	return n, err
}

// event writes what the SDK writes into a stream: whole events, comments, or, where the
// stream was opened by a comment before the SDK chose JSON, a bare message.
func (a *answer) event(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		b = append(append([]byte("event: message\ndata: "), b...), "\n\n"...)
	}
	_, err := a.w.Write(b)
	return err
}

// FlushError implements what [http.ResponseController] looks for.
func (a *answer) FlushError() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.finished || a.form != asEvents {
		return nil
	}
	return a.conn.Flush()
}

// comment keeps a silent stream alive. Where the SDK has not written yet, that opens the stream.
func (a *answer) comment() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.finished || a.form != undecided && a.form != asEvents {
		return
	}
	if a.form == undecided {
		a.form = asEvents
		a.commit(http.Header{"Content-Type": {"text/event-stream"}, "Cache-Control": {"no-cache, no-transform"}})
	}
	a.extend()
	if _, err := a.w.Write([]byte(": still here\n\n")); err == nil {
		_ = a.conn.Flush()
		a.beat.Reset(silence)
	}
}

// finish sends what was kept back, and ends the answer.
func (a *answer) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.beat != nil {
		a.beat.Stop()
	}
	switch {
	case a.form == collected:
		a.asJSON()
	case a.form == refused:
		a.asRefusal(strings.TrimSpace(a.text.String()))
	case a.form == undecided && a.m.IsCall() && !a.there():
		a.status = http.StatusNotFound
		a.asRefusal("the session ended before the answer")
	case a.form == undecided: // of a notification, or a stream that the handler closed
		a.commit(a.header)
	}
	a.req.settle(false) // if no answer was written
	a.extend()          // for what the server still has in its buffer
	a.finished = true
}

// asJSON sends the one response among the collected events.
func (a *answer) asJSON() {
	for line := range bytes.Lines(a.text.Bytes()) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if m, fault := wire.Read(data); ok && fault == nil && m.Method == "" {
			maps.Copy(a.w.Header(), a.header)
			a.req.wrote(writeJSON(a.w, a.status, bytes.TrimSpace(data)))
			return
		}
	}
	a.status = http.StatusNotFound
	a.asRefusal("the session ended before the answer")
}

// asRefusal turns a plain text of the SDK's into a JSON-RPC error.
func (a *answer) asRefusal(text string) {
	if allow := a.header.Get("Allow"); allow != "" {
		a.w.Header().Set("Allow", allow)
	}
	f := &refusal{status: a.status, code: jsonrpc.CodeInvalidRequest, text: text}
	if a.m.IsCall() {
		f.id = a.m.ID
	}
	switch {
	case a.status == http.StatusNotFound:
		f.code = codeNoSession
	case f.id != nil && strings.HasPrefix(text, notHandled):
		// To a client this is an answer like any other, which it may even expect.
		f.status, f.code, f.text = http.StatusOK, jsonrpc.CodeMethodNotFound, fmt.Sprintf("method not found: %q", cut(a.m.Method))
	case a.m.Method != "" && strings.HasPrefix(text, notHandled):
		a.w.WriteHeader(http.StatusAccepted) // nobody waits for what becomes of a notification
		return
	}
	f.write(a.w)
}

// notHandled begins what the SDK says of methods that it does not have, before 2026-07-28.
const notHandled = "JSON RPC not handled"
