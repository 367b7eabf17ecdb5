package streamable_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// slowly returns a call of slow in each era and form of answer.
func slowly(session string) map[string]message {
	const params = `{"name":"slow","arguments":{},"_meta":{"progressToken":7}}`
	body := call("tools/call", params)
	out := map[string]message{
		"session, stream": {header: head("Mcp-Session-Id", session, "Accept", both), body: body},
		"session, JSON":   {header: head("Mcp-Session-Id", session), body: strings.Replace(body, `"id":1`, `"id":2`, 1)},
		"modern, stream":  modern("tools/call", "slow", `{"name":"slow","arguments":{}}`),
		"modern, JSON":    modern("tools/call", "slow", `{"name":"slow","arguments":{}}`),
	}
	out["modern, JSON"].header.Del("Accept")
	return out
}

// The work of a call ends with its client, in every era and form.
func TestClientGone(t *testing.T) {
	s := newStation()
	url, _ := serve(t, s.Server, streamable.Options{Loopback: true})
	for name, m := range slowly(begin(t, by(t, url), nil)) {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				if res, err := http.DefaultClient.Do(m.request(ctx, t, url)); err == nil {
					res.Body.Close()
				}
			}()
			<-s.started
			leave()
			select {
			case cause := <-s.ended:
				if cause == nil || errors.Is(cause, context.Canceled) {
					t.Errorf("the cause is %v, want that the client has gone", cause)
				}
			case <-time.After(time.Second):
				t.Error("a second after the client has gone the call still runs")
				<-s.ended
			}
		})
	}
}

// Progress arrives while the work goes on, wherever the client takes a stream.
func TestProgress(t *testing.T) {
	s := newStation()
	url, _ := serve(t, s.Server, streamable.Options{Loopback: true})
	for name, m := range slowly(begin(t, by(t, url), nil)) {
		if !strings.HasSuffix(name, "stream") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithTimeout(t.Context(), 5*time.Second)
			defer leave()
			res, err := http.DefaultClient.Do(m.request(ctx, t, url))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			n := 0
			events(res.Body, func(data string) bool {
				if strings.Contains(data, "notifications/progress") {
					n++
				}
				return n < 3
			})
			if n < 3 {
				t.Errorf("%d notifications before the call was over", n)
			}
			leave()
			<-s.ended
		})
	}
}

// Without a stream there is the answer alone, after notifications that went nowhere.
func TestJSONAfterProgress(t *testing.T) {
	s := newStation()
	url, _ := serve(t, s.Server, streamable.Options{Loopback: true})
	m := modern("tools/call", "slow", `{"name":"slow","arguments":{"seconds":0.5}}`)
	m.header.Set("Accept", "application/json")
	_, body := m.send(t, url)
	if id, code, _ := errorOf(t, body); id != 1.0 || code != 0 || !strings.Contains(body, "done") {
		t.Errorf("answered %s", body)
	}
}

func TestDelete(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	id := begin(t, by(t, url), nil)
	if res, body := (message{verb: "DELETE", header: head("Mcp-Session-Id", id)}).send(t, url); res.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %s %s", res.Status, body)
	}
	if res, _ := (message{header: head("Mcp-Session-Id", id), body: call("tools/list", "")}).send(t, url); res.StatusCode != http.StatusNotFound {
		t.Errorf("after DELETE: %s", res.Status)
	}
}

// After a restart a client learns, by call and by initialize, that it has to begin anew; and can.
func TestRestart(t *testing.T) {
	url, stop := serve(t, newStation().Server, streamable.Options{Loopback: true})
	id := begin(t, by(t, url), nil)
	http.DefaultClient.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	serveAt(t, addr, newStation().Server, streamable.Options{Loopback: true})
	for _, body := range []string{call("tools/list", ""), initialize} {
		res, answer := message{header: head("Mcp-Session-Id", id), body: body}.send(t, url)
		if _, code, _ := errorOf(t, answer); res.StatusCode != http.StatusNotFound || code != -32001 {
			t.Errorf("with the old session: %s %s", res.Status, answer)
		}
	}
	begin(t, by(t, url), nil)
}

// The end of a session ends its calls, which answer; one that does not listen holds up nobody.
func TestDeleteDuringCall(t *testing.T) {
	s := newStation()
	url, _ := serve(t, s.Server, streamable.Options{Loopback: true})
	id := begin(t, by(t, url), nil)
	answered := make(chan string)
	go func() {
		_, body := message{header: head("Mcp-Session-Id", id), body: call("tools/call", `{"name":"slow","arguments":{}}`)}.send(t, url)
		answered <- body
	}()
	<-s.started
	begun := time.Now()
	if res, body := (message{verb: "DELETE", header: head("Mcp-Session-Id", id)}).send(t, url); res.StatusCode != http.StatusNoContent || time.Since(begun) > 2*time.Second {
		t.Errorf("DELETE: %s %s after %s", res.Status, body, time.Since(begun))
	}
	if cause := <-s.ended; cause == nil {
		t.Error("the call ran to its end")
	}
	if body := <-answered; !strings.Contains(body, `"id":1`) {
		t.Errorf("the call was answered %q", body)
	}
}

// A stop lets calls end, begins no new ones, and says so where a balancer looks.
func TestStop(t *testing.T) {
	s := newStation()
	url, stop := serve(t, s.Server, streamable.Options{Loopback: true})
	session := begin(t, by(t, url), nil)
	stream, err := http.DefaultClient.Do(message{verb: "GET", header: head("Mcp-Session-Id", session)}.request(t.Context(), t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	answered := make(chan string)
	go func() {
		_, body := modern("tools/call", "slow", `{"name":"slow","arguments":{"seconds":3}}`).send(t, url)
		answered <- body
	}()
	<-s.started
	stopped := make(chan error)
	go func() { stopped <- stop() }()
	if body := <-answered; !strings.Contains(body, "done") {
		t.Errorf("the call in flight: %s", body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := http.DefaultClient.Do(message{body: call("ping", "")}.request(t.Context(), t, url)); err == nil {
		t.Error("it still answers")
	}
}

// Without an end of its own, a call is told to stop after the grace, and answers.
func TestStopAfterGrace(t *testing.T) {
	s := newStation()
	url, stop := serve(t, s.Server, streamable.Options{Loopback: true, Grace: 200 * time.Millisecond})
	answered := make(chan string)
	go func() {
		_, body := modern("tools/call", "slow", `{"name":"slow","arguments":{}}`).send(t, url)
		answered <- body
	}()
	<-s.started
	if err := stop(); err != nil {
		t.Error(err)
	}
	if cause := <-s.ended; cause == nil || cause.Error() != "the server is stopping" {
		t.Errorf("the call ended with %v", cause)
	}
	if body := <-answered; !strings.Contains(body, `"id":1`) {
		t.Errorf("the answer is %q", body)
	}
}

// While it stops it refuses new calls, and says so where a balancer looks; what belongs to
// calls in flight passes.
func TestStopping(t *testing.T) {
	s := newStation()
	url, stop := serve(t, s.Server, streamable.Options{Loopback: true})
	session := begin(t, by(t, url), nil)
	tests := []struct {
		path   string
		m      message
		status int
	}{
		{"/readyz", message{verb: "GET"}, 503},
		{"/healthz", message{verb: "GET"}, 200},
		{"/mcp", modern("tools/list", "", ""), 503},
		{"/mcp", message{header: head("Mcp-Session-Id", session), body: call("tools/list", "")}, 503},
		{"/mcp", message{header: head("Mcp-Session-Id", session), body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`}, 202},
	}
	answered := make(chan string)
	go func() {
		_, body := modern("tools/call", "slow", `{"name":"slow","arguments":{"seconds":3}}`).send(t, url)
		answered <- body
	}()
	<-s.started
	stopped := make(chan error)
	go func() { stopped <- stop() }()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if res, _ := tests[0].m.send(t, strings.TrimSuffix(url, "/mcp")+tests[0].path); res.StatusCode == tests[0].status {
			break
		}
	}
	for _, tc := range tests {
		if res, _ := tc.m.send(t, strings.TrimSuffix(url, "/mcp")+tc.path); res.StatusCode != tc.status {
			t.Errorf("%s %s: %s, want %d", tc.path, tc.m.body, res.Status, tc.status)
		}
	}
	if body := <-answered; !strings.Contains(body, "done") {
		t.Errorf("the call in flight: %s", body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A silent stream is kept alive, also before there is anything to say.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation()
		e, err := streamable.New(s.Server, streamable.Options{Loopback: true})
		if err != nil {
			t.Fatal(err)
		}
		m := modern("tools/call", "slow", `{"name":"slow","arguments":{"seconds":50}}`)
		m.body = strings.Replace(m.body, `"progressToken":7,`, "", 1)
		_, body := m.record(t, e)
		if n := strings.Count(body, ": still here\n\n"); n != 3 || !strings.Contains(body, `"done"`) {
			t.Errorf("%d comments in\n%s", n, body)
		}
		m.header.Del("Accept")
		if _, body := m.record(t, e); strings.Contains(body, "still here") || !strings.Contains(body, `"done"`) {
			t.Errorf("as JSON: %s", body)
		}
	})
}

// Idle sessions end; those whose client calls or listens do not.
func TestIdleSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation()
		e, err := streamable.New(s.Server, streamable.Options{Loopback: true, SessionIdle: 20 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		send := func(m message) (*http.Response, string) { return m.record(t, e) }
		idle, calling, listening := begin(t, send, nil), begin(t, send, nil), begin(t, send, nil)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			message{verb: "GET", header: head("Mcp-Session-Id", listening)}.recordUntil(ctx, t, e)
		}()
		status := func(id string) int {
			res, _ := send(message{header: head("Mcp-Session-Id", id), body: call("ping", "")})
			return res.StatusCode
		}
		for range 4 {
			time.Sleep(15 * time.Minute)
			if got := status(calling); got != http.StatusOK {
				t.Errorf("a session in use is answered %d", got)
			}
		}
		if got := status(idle); got != http.StatusNotFound {
			t.Errorf("an idle session is answered %d", got)
		}
		if got := status(listening); got != http.StatusOK {
			t.Errorf("a session with an open stream is answered %d", got)
		}
		leave()
		<-gone
		time.Sleep(time.Hour)
		if got := status(listening); got != http.StatusNotFound {
			t.Errorf("a session whose stream has ended is answered %d", got)
		}
	})
}

// Where there are too many sessions, those go that would be missed least.
func TestTooManySessions(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, MaxSessions: 3})
	send := by(t, url)
	status := func(id string) int { return listStatus(t, url, id) }
	used := begin(t, send, nil)
	if got := status(used); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	var unused []string
	for range 10 {
		unused = append(unused, begin(t, send, nil))
	}
	for i, id := range unused {
		if got, want := status(id) == http.StatusOK, i >= 8; got != want {
			t.Errorf("unused session %d is there: %t, want %t", i, got, want)
		}
	}
	if got := status(used); got != http.StatusOK {
		t.Errorf("the session in use was ended: %d", got)
	}
}

// A full table of sessions in use does not keep new ones out: their handshake can end.
func TestHandshakeAtTheCap(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, MaxSessions: 6})
	send := by(t, url)
	status := func(id string) int { return listStatus(t, url, id) }
	for range 6 {
		status(begin(t, send, nil))
	}
	a, b := begin(t, send, nil), begin(t, send, nil)
	if x, y := status(a), status(b); x != http.StatusOK || y != http.StatusOK {
		t.Errorf("two new sessions are answered %d and %d", x, y)
	}
}

// A second stream is refused, and takes nothing from the first.
func TestSecondStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := streamable.New(newStation().Server, streamable.Options{Loopback: true, SessionIdle: 20 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		id := begin(t, func(m message) (*http.Response, string) { return m.record(t, e) }, nil)
		get := message{verb: "GET", header: head("Mcp-Session-Id", id)}
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() { defer close(gone); get.recordUntil(ctx, t, e) }()
		synctest.Wait()
		if res, _ := get.record(t, e); res.StatusCode != http.StatusConflict {
			t.Errorf("the second stream: %s", res.Status)
		}
		time.Sleep(2 * time.Hour)
		if res, _ := (message{header: head("Mcp-Session-Id", id), body: call("ping", "")}).record(t, e); res.StatusCode != http.StatusOK {
			t.Errorf("the session whose first stream is open: %s", res.Status)
		}
		leave()
		<-gone
		time.Sleep(2 * time.Hour)
	})
}

// Where all sessions are at work none goes, and a new one has to wait.
func TestBusySessions(t *testing.T) {
	s := newStation()
	url, _ := serve(t, s.Server, streamable.Options{Loopback: true, MaxSessions: 1})
	id := begin(t, by(t, url), nil)
	answered := make(chan string)
	go func() {
		_, body := message{header: head("Mcp-Session-Id", id), body: call("tools/call", `{"name":"slow","arguments":{"seconds":1}}`)}.send(t, url)
		answered <- body
	}()
	<-s.started
	res, body := message{body: initialize}.send(t, url)
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("answered %s %s", res.Status, body)
	}
	if body := <-answered; !strings.Contains(body, "done") {
		t.Errorf("the call at work: %s", body)
	}
}
