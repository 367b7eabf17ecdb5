package streamable_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// What is refused: each time with a status, a JSON-RPC error, the id where it can be
// known, and a word on how to mend it.
func TestRefusals(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, MaxBody: 1 << 20})
	session := begin(t, by(t, url), nil)
	echo := modern("tools/call", "echo", `{"name":"echo","arguments":{"text":"x"}}`)
	with := func(m message, pairs ...string) message {
		m.header = m.header.Clone()
		for i := 0; i < len(pairs); i += 2 {
			m.header.Set(pairs[i], pairs[i+1])
		}
		return m
	}
	without := func(m message, key string) message { m = with(m); m.header.Del(key); return m }
	long := call("tools/call", `{"name":"echo","arguments":{"text":"`+strings.Repeat("x", 2<<20)+`"}}`)
	tests := []struct {
		name   string
		m      message
		status int
		id     any
		code   int
		text   string
	}{
		{"list without initialize", message{body: call("tools/list", "")}, 400, 1.0, -32600, "send initialize first"},
		{"call with an old session id", message{header: head("Mcp-Session-Id", "OLD"), body: call("tools/list", "")}, 404, 1.0, -32001, "send initialize to begin a new one"},
		{"initialize with an old session id", message{header: head("Mcp-Session-Id", "OLD"), body: initialize}, 404, 0.0, -32001, "send initialize to begin a new one"},
		{"stream of an old session", message{verb: "GET", header: head("Mcp-Session-Id", "OLD", "Accept", "text/event-stream")}, 404, nil, -32001, "not known here"},
		{"end of an old session", message{verb: "DELETE", header: head("Mcp-Session-Id", "OLD")}, 404, nil, -32001, "not known here"},
		{"GET without a session", message{verb: "GET"}, 400, nil, -32600, "Mcp-Session-Id"},
		{"DELETE without a session", message{verb: "DELETE"}, 400, nil, -32600, "Mcp-Session-Id"},
		{"GET of the modern era", message{verb: "GET", header: head("Mcp-Protocol-Version", "2026-07-28")}, 405, nil, -32600, "send POST"},
		{"DELETE of the modern era", message{verb: "DELETE", header: head("Mcp-Protocol-Version", "2026-07-28")}, 405, nil, -32600, "send POST"},
		{"GET of an unknown version", message{verb: "GET", header: head("Mcp-Protocol-Version", "2000-01-01", "Mcp-Session-Id", session)}, 400, nil, -32022, "there are: 2026-07-28"},
		{"two session ids", message{header: http.Header{"Mcp-Session-Id": {session, session}}, body: call("ping", "")}, 400, nil, -32600, "there twice"},
		{"two versions", message{header: http.Header{"Mcp-Protocol-Version": {"2025-06-18", "2026-07-28"}}, body: call("ping", "")}, 400, nil, -32600, "there twice"},
		{"PUT", message{verb: "PUT", body: "{}"}, 405, nil, -32600, "send POST"},
		{"a batch", message{body: "[" + call("ping", "") + "]"}, 400, nil, -32600, "batches are not accepted"},
		{"a batch of the modern era", message{header: echo.header, body: "[" + echo.body + "]"}, 400, nil, -32600, "batches are not accepted"},
		{"two eras on one session", with(echo, "Mcp-Session-Id", session), 400, 1.0, -32600, "leave out the header Mcp-Session-Id"},
		{"modern _meta on a session", with(without(echo, "Mcp-Protocol-Version"), "Mcp-Session-Id", session), 400, 1.0, -32600, "leave out the header"},
		{"initialize twice", message{header: head("Mcp-Session-Id", session), body: initialize}, 200, 0.0, -32600, "duplicate"},
		{"an early version in _meta", message{header: head("Mcp-Session-Id", session), body: strings.ReplaceAll(echo.body, "2026-07-28", "2025-06-18")}, 400, 1.0, -32600, "leave it out there"},
		{"no version header", without(echo, "Mcp-Protocol-Version"), 400, 1.0, -32020, "header is required"},
		{"another version in the header", with(echo, "Mcp-Protocol-Version", "2025-11-25"), 400, 1.0, -32020, "does not match"},
		{"another method in the header", with(echo, "Mcp-Method", "tools/list"), 400, 1.0, -32020, "does not match"},
		{"another name in the header", with(echo, "Mcp-Name", "slow"), 400, 1.0, -32020, "does not match"},
		{"no method header", without(echo, "Mcp-Method"), 400, 1.0, -32020, "Mcp-Method"},
		{"an unknown later version", with(echo, "Mcp-Protocol-Version", "2030-01-01"), 400, 1.0, -32022, "there are: 2026-07-28, 2025-11-25"},
		{"an unknown earlier version", message{header: head("Mcp-Protocol-Version", "2000-01-01"), body: call("ping", "")}, 400, 1.0, -32022, "there are: 2026-07-28"},
		{"a nonsensical version", message{header: head("Mcp-Protocol-Version", "newest"), body: call("ping", "")}, 400, 1.0, -32022, "there are: 2026-07-28"},
		{"ping of the modern era", modern("ping", "", ""), 404, 1.0, -32601, "ping"},
		{"unknown tool of the modern era", modern("tools/call", "nope", `{"name":"nope"}`), 400, 1.0, -32602, "nope"},
		{"unknown method of a session", message{header: head("Mcp-Session-Id", session), body: call("nope", "")}, 200, 1.0, -32601, "method not found"},
		{"unknown method of the modern era", modern("nope", "", ""), 404, 1.0, -32601, "nope"},
		{"too large a body", message{body: long}, 413, 1.0, -32600, "send less at a time"},
		{"too large a body, id last", message{body: strings.Replace(long, `"id":1,`, "", 1)[:len(long)-8] + `,"id":9}`}, 413, 9.0, -32600, "send less at a time"},
		{"no body", message{header: head("Content-Type", "application/json")}, 400, nil, -32600, "there is no message"},
		{"not JSON", message{body: `{"jsonrpc":"2.0","id":5,`}, 400, 5.0, -32700, "not valid JSON"},
		{"not UTF-8", message{body: "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xff\"}"}, 400, 5.0, -32700, "not valid UTF-8"},
		{"a key twice", message{body: `{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/list"}`}, 400, 5.0, -32600, "given twice"},
		{"not JSON by its header", message{header: head("Content-Type", "text/plain"), body: call("ping", "")}, 415, nil, -32600, "application/json"},
		{"compressed", message{header: head("Content-Encoding", "gzip"), body: call("ping", "")}, 415, nil, -32600, "must not be compressed"},
		{"subscription without a stream", with(modern("subscriptions/listen", "", ""), "Accept", "application/json"), 406, 1.0, -32600, "text/event-stream"},
		{"foreign host", message{header: head("Host", "evil.example"), body: call("ping", "")}, 403, nil, -32600, "--allowed-hosts"},
		{"foreign origin", message{header: head("Origin", "https://evil.example"), body: call("ping", "")}, 403, nil, -32600, "--allowed-origins"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			res, body := tc.m.send(t, url)
			id, code, text := errorOf(t, body)
			if res.StatusCode != tc.status || id != tc.id || code != tc.code || !strings.Contains(text, tc.text) {
				t.Errorf("answered %d, id %v, error %d %q; want %d, id %v, error %d with %q", res.StatusCode, id, code, text, tc.status, tc.id, tc.code, tc.text)
			}
			if res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("it may be kept, or taken for something else: %v", res.Header)
			}
			if kind := res.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("Content-Type %q", kind)
			}
			if (tc.status == http.StatusMethodNotAllowed) != (res.Header.Get("Allow") != "") {
				t.Errorf("Allow is %q with status %d", res.Header.Get("Allow"), tc.status)
			}
		})
	}
}

// What is answered, whatever the client says that it takes.
func TestAnswers(t *testing.T) {
	const pong, stream, plain = `{"jsonrpc":"2.0","id":1,"result":{}}`, "text/event-stream", "application/json"
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	session := begin(t, by(t, url), nil)
	echo := modern("tools/call", "echo", `{"name":"echo","arguments":{"text":"hello"}}`)
	accept := func(m message, accept string) message {
		m.header = m.header.Clone()
		if m.header.Del("Accept"); accept != "" {
			m.header.Set("Accept", accept)
		}
		return m
	}
	old := message{header: head("Mcp-Session-Id", session), body: call("tools/call", `{"name":"echo","arguments":{"text":"hello"}}`)}
	tests := []struct {
		name, path string
		m          message
		kind, want string
	}{
		{"ping without a session", "", message{body: call("ping", "")}, plain, pong},
		{"with a slash", "/", message{body: call("ping", "")}, plain, pong},
		{"a known version", "", message{header: head("Mcp-Protocol-Version", "2024-11-05"), body: call("ping", "")}, plain, pong},
		{"session, both", "", accept(old, both), stream, "hello"},
		{"session, */*", "", accept(old, "*/*"), plain, "hello"},
		{"session, JSON", "", accept(old, "application/json"), plain, "hello"},
		{"session, nothing", "", accept(old, ""), plain, "hello"},
		{"session, streams only", "", accept(old, "text/event-stream"), stream, "hello"},
		{"session, no streams", "", accept(old, "application/json, text/event-stream; q=0.0"), plain, "hello"},
		{"session, streams in another case", "", accept(old, "application/json, Text/Event-Stream;q=0.05"), stream, "hello"},
		{"modern, both", "/", echo, stream, "hello"},
		{"modern, */*", "", accept(echo, "*/*"), plain, "hello"},
		{"modern, JSON", "", accept(echo, "application/json"), plain, "hello"},
		{"modern, nothing", "", accept(echo, ""), plain, "hello"},
		{"discover", "", modern("server/discover", "", ""), stream, `"2026-07-28"`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			res, body := tc.m.send(t, url+tc.path)
			if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != tc.kind || !strings.Contains(body, tc.want) {
				t.Errorf("answered %d, %q: %s", res.StatusCode, res.Header.Get("Content-Type"), body)
			}
			if tc.kind == stream && res.Header.Get("X-Accel-Buffering") != "no" {
				t.Error("a proxy may buffer the stream")
			}
			if tc.kind == plain {
				if _, code, text := errorOf(t, body); code != 0 {
					t.Errorf("error %d %s", code, text)
				}
			}
		})
	}
}

// Nobody waits for what becomes of a notification, known or not.
func TestUnknownNotification(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	id := begin(t, by(t, url), nil)
	res, body := message{header: head("Mcp-Session-Id", id), body: `{"jsonrpc":"2.0","method":"notifications/nope"}`}.send(t, url)
	if res.StatusCode != http.StatusAccepted || body != "" {
		t.Errorf("answered %s %q", res.Status, body)
	}
}

// The versions in our errors are those that the SDK serves.
func TestVersions(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	_, discovered := modern("server/discover", "", "").send(t, url)
	_, refused := message{header: head("Mcp-Protocol-Version", "newest"), body: call("ping", "")}.send(t, url)
	between := func(s string) string {
		_, s, _ = strings.Cut(s, `"supported`)
		_, s, _ = strings.Cut(s, "[")
		s, _, _ = strings.Cut(s, "]")
		return s
	}
	if a, b := between(discovered), between(refused); a == "" || a != b {
		t.Errorf("discover says %s\nthe error says %s", a, b)
	}
}

// Outside the endpoint: health for whoever asks, by whatever name, and a word for the lost.
func TestOtherPaths(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, Tokens: []streamable.Token{{Name: "a", Secret: "0123456789abcdef"}}})
	base := strings.TrimSuffix(url, "/mcp")
	tests := []struct {
		path   string
		status int
		text   string
	}{
		{"/healthz", 200, "ok"},
		{"/readyz", 200, "ok"},
		{"/", 404, "the endpoint is /mcp"},
		{"/sse", 404, "the endpoint is /mcp"},
		{"/mcp/x", 404, "the endpoint is /mcp"},
		{"//mcp", 404, "the endpoint is /mcp"},
		{"/mcp/../mcp", 404, "the endpoint is /mcp"},
	}
	for _, tc := range tests {
		res, body := message{verb: "GET", header: head("Host", "10.1.2.3:8801")}.send(t, base+tc.path)
		if res.StatusCode != tc.status || !strings.Contains(body, tc.text) {
			t.Errorf("%s: %d %q", tc.path, res.StatusCode, body)
		}
	}
}
