package streamable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// Of many tokens that are not known none is taken for one that is, those that differ in case neither.
func TestWrongTokens(t *testing.T) {
	e, err := streamable.New(newStation().Server, streamable.Options{Loopback: true, Tokens: []streamable.Token{{Name: "alice", Secret: alices}}})
	if err != nil {
		t.Fatal(err)
	}
	wrong := []string{strings.ToUpper(alices), alices + "0", alices[1:]}
	for i := range 2000 {
		wrong = append(wrong, fmt.Sprintf("alice-%010d", i))
	}
	for _, token := range wrong {
		res, _ := message{header: head("Authorization", "Bearer "+token), body: call("ping", "")}.record(t, e)
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", token, res.Status)
		}
	}
}

// A dribble is a request whose body comes in parts, and whose connection knows deadlines.
type dribble struct {
	*httptest.ResponseRecorder
	body     *bytes.Reader
	part     int
	pause    time.Duration
	deadline time.Time
}

func (d *dribble) SetReadDeadline(t time.Time) error { d.deadline = t; return nil }
func (d *dribble) Close() error                      { return nil }

func (d *dribble) Read(b []byte) (int, error) {
	if next := time.Now().Add(d.pause); !d.deadline.IsZero() && next.After(d.deadline) {
		time.Sleep(time.Until(d.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(d.pause)
	return d.body.Read(b[:min(len(b), d.part)])
}

// A body may take its time as long as it keeps up the pace.
func TestPace(t *testing.T) {
	tests := []struct {
		name        string
		size, part  int
		pause, took time.Duration // took: at most
		status      int
		announced   bool
	}{
		{"a byte a second", 1000, 1, time.Second, 11 * time.Second, 408, true},
		{"a byte a second, chunked", 1000, 1, time.Second, 11 * time.Second, 408, false},
		{"too slow later", 4 << 20, 64 << 10, time.Second / 2, 25 * time.Second, 408, true},
		{"a slow line", 4 << 20, 64 << 10, time.Second / 5, 40 * time.Second, 200, true},
		{"a slow line, chunked", 4 << 20, 64 << 10, time.Second / 5, 200 * time.Second, 200, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, err := streamable.New(newStation().Server, streamable.Options{Loopback: true})
				if err != nil {
					t.Fatal(err)
				}
				m := echoOf("echo", tc.size)
				m.header.Set("Accept", "application/json")
				d := &dribble{ResponseRecorder: httptest.NewRecorder(), body: bytes.NewReader([]byte(m.body)), part: tc.part, pause: tc.pause}
				r := m.request(t.Context(), t, "http://127.0.0.1/mcp")
				r.Body, r.ContentLength = d, -1
				if tc.announced {
					r.ContentLength = int64(len(m.body))
				}
				begun := time.Now()
				e.ServeHTTP(d, r)
				if took := time.Since(begun); d.Code != tc.status || took > tc.took {
					t.Errorf("%d after %s, want %d within %s: %.200s", d.Code, took, tc.status, tc.took, d.Body)
				}
				if tc.status == 200 && !d.deadline.IsZero() {
					t.Error("the deadline outlives the body: a long call would be taken for one whose client has gone")
				}
				if _, code, text := errorOf(t, d.Body.String()); tc.status == 408 && (code != -32600 || !strings.Contains(text, "in time") || d.Header().Get("Connection") != "close") {
					t.Errorf("refused with %d %q, Connection %q", code, text, d.Header().Get("Connection"))
				}
			})
		})
	}
}

// Headers end at 64 KiB, and a slack of the standard library's.
func TestHeaderBound(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	for n, status := range map[int]int{48 << 10: 200, 96 << 10: 431} {
		res, err := http.DefaultClient.Do(message{header: head("X-Long", strings.Repeat("x", n)), body: call("ping", "")}.request(t.Context(), t, url))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("%d bytes of headers: %s, want %d", n, res.Status, status)
		}
	}
}

// What docs/http.md says of the limits, where nobody sets others.
func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := streamable.New(newStation().Server, streamable.Options{Loopback: true})
		if err != nil {
			t.Fatal(err)
		}
		id := begin(t, func(m message) (*http.Response, string) { return m.record(t, e) }, nil)
		for _, tc := range []struct {
			idle   time.Duration
			status int
		}{{29 * time.Minute, 200}, {40 * time.Minute, 404}} {
			time.Sleep(tc.idle)
			if res, _ := (message{header: head("Mcp-Session-Id", id), body: call("ping", "")}).record(t, e); res.StatusCode != tc.status {
				t.Errorf("idle for %s: %s", tc.idle, res.Status)
			}
		}
		for extra, status := range map[int]int{0: 200, 1: 413} {
			m := message{body: call("ping", "")}
			m.body += strings.Repeat(" ", 32<<20-len(m.body)+extra)
			if res, body := m.record(t, e); res.StatusCode != status {
				t.Errorf("%d bytes: %s %.200s", len(m.body), res.Status, body)
			}
		}
	})
	if streamable.DefaultGrace > 9*time.Second || streamable.DefaultGrace < 5*time.Second {
		t.Errorf("a grace of %s: docker stop kills after ten", streamable.DefaultGrace)
	}
	if streamable.DefaultMaxBodies != 96<<20 || streamable.DefaultMaxSessions != 1024 || streamable.DefaultMaxConns != 4096 {
		t.Error("docs/http.md has other limits")
	}
}

// There are as many subscriptions as sessions, and one that has ended makes room.
func TestSubscriptions(t *testing.T) {
	s := newStation()
	url, _ := serve(t, s.Server, streamable.Options{Loopback: true, MaxSessions: 1})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	listen := modern("subscriptions/listen", "", `{"notifications":{"toolsListChanged":true}}`)
	first, err := http.DefaultClient.Do(listen.request(ctx, t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	if first.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(first.Body)
		t.Fatalf("the first: %s %s", first.Status, text)
	}
	second, err := http.DefaultClient.Do(listen.request(ctx, t, url)) // a stream, if it is let in
	if err != nil {
		t.Fatal(err)
	}
	defer second.Body.Close()
	if second.StatusCode != http.StatusServiceUnavailable || second.Header.Get("Retry-After") == "" {
		t.Errorf("the second: %s", second.Status)
	}
	leave()
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		ctx, leave := context.WithCancel(t.Context())
		third, err := http.DefaultClient.Do(listen.request(ctx, t, url))
		if err != nil {
			t.Fatal(err)
		}
		leave()
		third.Body.Close()
		if third.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("after the first has ended: %s", third.Status)
		}
	}
}

// A connection that is being answered is not one of those that make room.
func TestConnectionsAtWork(t *testing.T) {
	s := newStation()
	url, _ := serve(t, s.Server, streamable.Options{Loopback: true, MaxConns: 4})
	answered := make(chan string)
	go func() {
		res, err := http.DefaultClient.Do(modern("tools/call", "slow", `{"name":"slow","arguments":{"seconds":1}}`).request(t.Context(), t, url))
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		answered <- string(body)
	}()
	<-s.started
	for range 40 {
		c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if body := <-answered; !strings.Contains(body, "done") {
		t.Errorf("the call at work: %s", body)
	}
}

// Of sessions that were used, those whose clients listen are the last to go.
func TestListeningSessionsGoLast(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, MaxSessions: 3})
	send := by(t, url)
	status := func(id string) int {
		res, _ := message{header: head("Mcp-Session-Id", id), body: call("tools/list", "")}.send(t, url)
		return res.StatusCode
	}
	var ids []string
	for i := range 3 {
		ids = append(ids, begin(t, send, nil))
		status(ids[i])
		if i == 0 {
			stream, err := http.DefaultClient.Do(message{verb: "GET", header: head("Mcp-Session-Id", ids[0])}.request(t.Context(), t, url))
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Body.Close()
			if kind := stream.Header.Get("Content-Type"); kind != "text/event-stream" || stream.Header.Get("X-Accel-Buffering") != "no" {
				t.Errorf("the stream: %s, %v", stream.Status, stream.Header)
			}
		}
	}
	begin(t, send, nil)
	if a, b := status(ids[0]), status(ids[1]); a != http.StatusOK || b != http.StatusNotFound {
		t.Errorf("the one that listens is answered %d, the next oldest %d", a, b)
	}
}

// The SDK knows an owner for every request, where no token is asked for as well.
func TestOwnerOfTheSDK(t *testing.T) {
	for want, tokens := range map[string][]streamable.Token{streamable.Anonymous: nil, "alice": {{Name: "alice", Secret: alices}}} {
		s := newStation()
		s.AddTool(&mcp.Tool{Name: "owner", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return said("owner=" + r.Extra.TokenInfo.UserID), nil
		})
		url, _ := serve(t, s.Server, streamable.Options{Loopback: true, Tokens: tokens})
		m := modern("tools/call", "owner", `{"name":"owner","arguments":{}}`)
		m.header.Set("Authorization", "Bearer "+alices)
		old := message{header: head("Authorization", "Bearer "+alices), body: call("tools/call", `{"name":"owner","arguments":{}}`)}
		old.header.Set("Mcp-Session-Id", begin(t, by(t, url), old.header))
		for _, m := range []message{m, old} {
			if _, body := m.send(t, url); !strings.Contains(body, `"owner=`+want+`"`) {
				t.Errorf("the owner is not %s: %s", want, body)
			}
		}
	}
}

// A body that breaks off gives back the room that it took.
func TestAbortedBodyFreesItsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := streamable.New(newStation().Server, streamable.Options{Loopback: true, MaxBody: 1 << 20, MaxBodies: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		large := echoOf("echo", 900<<10)
		for _, length := range []int64{int64(len(large.body)), -1} {
			for range 3 {
				r := large.request(t.Context(), t, "http://127.0.0.1/mcp")
				r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(large.body[:800<<10]), broken{})), length
				w := httptest.NewRecorder()
				e.ServeHTTP(w, r)
				if w.Code != http.StatusBadRequest {
					t.Errorf("a body that breaks off: %d %.200s", w.Code, w.Body)
				}
			}
			begun := time.Now()
			if res, body := large.record(t, e); res.StatusCode != http.StatusOK || time.Since(begun) > time.Second {
				t.Errorf("after that: %s after %s: %.200s", res.Status, time.Since(begun), body)
			}
		}
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A client that probes for the newest era and forgets to say so learns that the method is not there,
// by which it falls back.
func TestDiscoverWithoutVersion(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	res, body := message{body: call("server/discover", "")}.send(t, url)
	if id, code, _ := errorOf(t, body); res.StatusCode != http.StatusOK || id != 1.0 || code != -32601 {
		t.Errorf("answered %s %s", res.Status, body)
	}
}

// Small bodies, those that need room as well, do not wait for large ones.
func TestSmallBodiesDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation()
		e, err := streamable.New(s.Server, streamable.Options{Loopback: true, MaxBody: 1 << 20, MaxBodies: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		go echoOf("slow", 1<<20-1000).record(t, e)
		<-s.started
		begun := time.Now()
		if res, body := echoOf("echo", 40<<10).record(t, e); res.StatusCode != http.StatusOK || time.Since(begun) > time.Second {
			t.Errorf("%s after %s: %.100s", res.Status, time.Since(begun), body)
		}
	})
}

// The first word of progress is there when it is said, not when a buffer is full.
func TestProgressAtOnce(t *testing.T) {
	s := newStation()
	url, _ := serve(t, s.Server, streamable.Options{Loopback: true})
	for name, m := range slowly(begin(t, by(t, url), nil)) {
		if !strings.HasSuffix(name, "stream") {
			continue
		}
		ctx, leave := context.WithTimeout(t.Context(), 800*time.Millisecond)
		heard := false
		if res, err := http.DefaultClient.Do(m.request(ctx, t, url)); err == nil {
			events(res.Body, func(data string) bool {
				heard = strings.Contains(data, "notifications/progress")
				return !heard
			})
			res.Body.Close()
		}
		leave()
		if <-s.ended; !heard {
			t.Errorf("%s: nothing in 800 ms of a call that reports each 100", name)
		}
	}
}

// A stop ends subscriptions in order: their streams come to an end, and do not break off.
func TestStopEndsSubscriptions(t *testing.T) {
	url, stop := serve(t, newStation().Server, streamable.Options{Loopback: true})
	listen := modern("subscriptions/listen", "", `{"notifications":{"toolsListChanged":true}}`)
	stream, err := http.DefaultClient.Do(listen.request(t.Context(), t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
}

// A session is not ended in a version that is not there.
func TestDeleteOfUnknownVersion(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	id := begin(t, by(t, url), nil)
	res, body := message{verb: "DELETE", header: head("Mcp-Session-Id", id, "Mcp-Protocol-Version", "2000-01-01")}.send(t, url)
	if _, code, _ := errorOf(t, body); res.StatusCode != http.StatusBadRequest || code != -32022 {
		t.Errorf("answered %s %s", res.Status, body)
	}
}
