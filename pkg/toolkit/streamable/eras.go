package streamable

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
)

// versions are those that the SDK serves, newest first.
var versions = []string{wire.ModernEra, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// The headers of the protocol (MCP, basic/transports).
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// serve answers a request that may be looked at.
func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) {
	req, _ := r.Context().Value(contextKey{}).(*Request)
	if refused := misheaded(r.Header); refused != nil {
		refused.write(w)
		return
	}
	modern := r.Header.Get(versionHeader) >= wire.ModernEra
	switch r.Method {
	case http.MethodPost:
		e.post(w, r, req)
	case http.MethodGet, http.MethodDelete:
		if modern {
			w.Header().Set("Allow", "POST")
			refuse(w, http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest, fmt.Sprintf("from %s on there are no sessions, so there is no %s: send POST", wire.ModernEra, r.Method))
			return
		}
		e.session(w, r, req)
	case http.MethodOptions:
		w.Header().Set("Allow", "POST, GET, DELETE, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", "POST, GET, DELETE, OPTIONS")
		refuse(w, http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest, "send POST")
	}
}

// misheaded refuses headers that are there twice, of which another reader might see the
// other.
func misheaded(h http.Header) *refusal {
	for _, key := range []string{sessionHeader, versionHeader} {
		if len(h.Values(key)) > 1 {
			return &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, text: "the header " + key + " is there twice: send it once"}
		}
	}
	return nil
}

// session opens the event stream of a session (GET), or ends a session (DELETE).
func (e *Endpoint) session(w http.ResponseWriter, r *http.Request, req *Request) {
	id, version := r.Header.Get(sessionHeader), r.Header.Get(versionHeader)
	if version != "" && !slices.Contains(versions, version) {
		unsupported(version).write(w)
		return
	}
	if id == "" {
		refuse(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, fmt.Sprintf("%s is for sessions: send the header %s, or POST a message", r.Method, sessionHeader))
		return
	}
	if r.Method == http.MethodDelete {
		if !e.sessions.delete(id, req.Principal) {
			noSession().write(w)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	_, leave, ok := e.sessions.enter(id, req.Principal, asStream)
	if !ok {
		noSession().write(w)
		return
	}
	defer leave()
	req.ctx = r.Context()
	e.hand(w, r, req, e.eras.stateful, wire.Message{})
}

// post answers one message.
func (e *Endpoint) post(w http.ResponseWriter, r *http.Request, req *Request) {
	body, hold, refused := e.bodies.readBody(w, r)
	if refused != nil {
		refused.write(w)
		return
	}
	defer hold.release()
	m, fault := wire.Read(body)
	if fault != nil && !fault.Answer {
		writeJSON(w, http.StatusBadRequest, fault.Encode())
		return
	}
	if fault != nil { // who waits for the answer hears at once that there is none
		body, m = fault.Encode(), wire.Message{ID: fault.ID}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	req.ctx = ctx
	if m.IsCall() && m.Method != listen {
		defer e.calls.begin(cancel)() // before it is looked whether there is an end
	}
	to, leave, refused := e.route(r, req, m)
	if refused != nil {
		refused.id = m.ID
		refused.write(w)
		return
	}
	defer leave()
	switch {
	case m.Method == listen:
		hold.release() // it lasts for long, and there cannot be many
		end, ok := e.listens.beginBelow(e.opts.MaxSessions, cancel)
		if !ok {
			(&refusal{status: http.StatusServiceUnavailable, id: m.ID, code: codeBusy, text: "there are as many subscriptions as the server may have: try again later", retry: true}).write(w)
			return
		}
		defer end()
		r = r.WithContext(ctx)
	case req.session != nil && m.IsCall():
		defer req.session.calls.begin(cancel)()
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	e.hand(w, r, req, to, m)
}

// listen is the method of a call that lasts until somebody ends it.
const listen = "subscriptions/listen"

// route says who serves a message, or why nobody does.
func (e *Endpoint) route(r *http.Request, req *Request, m wire.Message) (to http.Handler, leave func(), refused *refusal) {
	version, id := r.Header.Get(versionHeader), r.Header.Get(sessionHeader)
	modern := version >= wire.ModernEra || m.Version >= wire.ModernEra
	leave = func() {}
	switch {
	case modern && id != "":
		return nil, nil, &refusal{
			status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest,
			text: fmt.Sprintf("a session is of the protocol era before %s, and this request of the one after it: leave out the header %s", wire.ModernEra, sessionHeader),
		}
	case version != "" && !slices.Contains(versions, version):
		return nil, nil, unsupported(version)
	case m.Version != "" && !modern:
		return nil, nil, &refusal{
			status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest,
			text: fmt.Sprintf("before %s a request does not say its version in _meta: leave it out there", wire.ModernEra),
		}
	case e.stopping.Load() && m.IsCall():
		return nil, nil, &refusal{status: http.StatusServiceUnavailable, code: codeBusy, text: "the server is stopping: try again in a second", retry: true}
	case modern && m.Method == listen:
		return e.listen(r)
	case modern:
		return e.eras.stateless, leave, nil
	case id != "":
		s, leave, ok := e.sessions.enter(id, req.Principal, useOf(m.Method))
		if !ok {
			return nil, nil, noSession()
		}
		req.session = s
		return e.eras.stateful, leave, nil
	case m.Method == "initialize":
		if !e.sessions.room() {
			return nil, nil, &refusal{status: http.StatusServiceUnavailable, code: codeBusy, text: "all sessions that the server may have are at work: try again in a second", retry: true}
		}
		return e.eras.stateful, leave, nil
	case m.Method == "ping" || m.Method == "server/discover":
		return e.eras.stateful, leave, nil
	}
	return nil, nil, &refusal{
		status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest,
		text: fmt.Sprintf("there is no session: send initialize first and then its %s with every request; or speak %s, which needs none", sessionHeader, wire.ModernEra),
	}
}

// listen says who serves a subscription, which needs an event stream.
func (e *Endpoint) listen(r *http.Request) (http.Handler, func(), *refusal) {
	if !takesStream(r) {
		return nil, nil, &refusal{status: http.StatusNotAcceptable, code: jsonrpc.CodeInvalidRequest, text: listen + " is answered with an event stream: send Accept: application/json, text/event-stream"}
	}
	return e.eras.stateless, func() {}, nil
}

func noSession() *refusal {
	return &refusal{status: http.StatusNotFound, code: codeNoSession, text: "the session is not known here, it has ended or the server was started again: send initialize to begin a new one"}
}

// versionData is the data of an error for an unknown version (MCP 2026-07-28, SEP-2575).
type versionData struct {
	Supported []string `json:"supported"`
	Requested string   `json:"requested"`
}

func unsupported(version string) *refusal {
	return &refusal{
		status: http.StatusBadRequest, code: codeUnsupportedVersion,
		text: fmt.Sprintf("the protocol version %q is not supported; there are: %s", cut(version), strings.Join(versions, ", ")),
		data: versionData{versions, cut(version)},
	}
}

// useOf says what a message tells of its session being of use.
func useOf(method string) use {
	switch method {
	case "initialize", "notifications/initialized", "ping":
		return asHandshake
	}
	return asWork
}

// hand lets one of the SDK's handlers answer, by way of an [answer].
func (e *Endpoint) hand(w http.ResponseWriter, r *http.Request, req *Request, to http.Handler, m wire.Message) {
	req.by, req.Streams = e, r.Method == http.MethodGet || takesStream(r)
	r.Header.Set("Accept", "application/json, text/event-stream") // who takes less gets less from the answer
	r.Header.Set("Authorization", "Bearer known")                 // see identify
	a := newAnswer(w, m, req, func() bool { return e.sessions.has(r.Header.Get(sessionHeader)) })
	defer a.finish()
	to.ServeHTTP(a, r)
}

// never is the weight of what a client does not take (RFC 9110, section 12.4.2).
var never = regexp.MustCompile(`(?i)(^|;)\s*q=0(\.0*)?\s*($|;)`)

// takesStream reports whether a client asks for event streams by name. All others get
// JSON, which whoever says nothing, or */*, can read more easily.
func takesStream(r *http.Request) bool {
	for _, list := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(list, ",") {
			kind, params, _ := strings.Cut(one, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			if (kind == "text/event-stream" || kind == "text/*") && !never.MatchString(params) {
				return true
			}
		}
	}
	return false
}
