package streamable

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/toolhost/toolhost/pkg/toolkit/wire"
)

// Codes of JSON-RPC that the endpoint gives by itself, beside those of the specification.
const (
	codeNoSession          = -32001 // as the TypeScript SDK has it
	codeBusy               = -32000
	codeUnsupportedVersion = -32022 // MCP 2026-07-28, SEP-2575
)

// A refusal is an answer that no handler gave.
type refusal struct {
	status int
	id     json.RawMessage // of the request; nil where it is not known
	code   int64
	text   string // says how to mend it
	data   any    // of the error; nil: none
	retry  bool   // the same request may work soon
	close  bool   // the connection cannot be used any more
}

func (f *refusal) write(w http.ResponseWriter) {
	h := w.Header()
	if f.retry {
		h.Set("Retry-After", "1")
	}
	if f.close {
		h.Set("Connection", "close")
	}
	writeJSON(w, f.status, wire.Refusal(f.id, f.code, f.text, f.data))
}

func refuse(w http.ResponseWriter, status int, code int64, text string) {
	(&refusal{status: status, code: code, text: text}).write(w)
}

// writeJSON writes a whole answer. The server's own time for it began with the request, and
// may be over.
func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // a recorder has none
	w.Header().Set("Content-Type", "application/json")
	unshared(w.Header())
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err // most callers need not know: who does not read it has gone
}

// unshared keeps an answer out of caches, and from being taken for something else.
func unshared(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}
