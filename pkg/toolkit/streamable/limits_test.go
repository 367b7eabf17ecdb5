package streamable_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// echoOf returns a modern call of a tool with an argument of n bytes.
func echoOf(tool string, n int) message {
	return modern("tools/call", tool, `{"name":"`+tool+`","arguments":{"seconds":60,"text":"`+strings.Repeat("x", n)+`"}}`)
}

// All bodies together stay below their bound: further ones wait, and are refused after a
// while. Small ones have room of their own.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation()
		e, err := streamable.New(s.Server, streamable.Options{Loopback: true, MaxBody: 1 << 20, MaxBodies: 2 << 20})
		if err != nil {
			t.Fatal(err)
		}
		const large = 900 << 10
		held := make(chan string)
		for range 2 {
			go func() {
				_, body := echoOf("slow", large).record(t, e)
				held <- body
			}()
			<-s.started
		}
		begun := time.Now()
		res, body := echoOf("echo", large).record(t, e)
		if _, code, _ := errorOf(t, body); res.StatusCode != http.StatusServiceUnavailable || code != -32000 || res.Header.Get("Retry-After") == "" {
			t.Errorf("a third large body: %s %s", res.Status, body)
		}
		if waited := time.Since(begun); waited < 5*time.Second {
			t.Errorf("it was refused after %s, without waiting for room", waited)
		}
		if _, body := echoOf("echo", 1<<10).record(t, e); !strings.Contains(body, "xxx") {
			t.Errorf("a small body: %s", body)
		}
		for range 2 {
			if body := <-held; !strings.Contains(body, "done") {
				t.Errorf("a call that was at work: %s", body)
			}
		}
		if _, body := echoOf("echo", large).record(t, e); !strings.Contains(body, "xxx") {
			t.Errorf("once there is room: %.100s", body)
		}
	})
}

// Room that was waited for is used as soon as it is there.
func TestBudgetWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation()
		e, err := streamable.New(s.Server, streamable.Options{Loopback: true, MaxBody: 1 << 20, MaxBodies: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		m := echoOf("slow", 900<<10)
		m.body = strings.Replace(m.body, `"seconds":60`, `"seconds":5`, 1)
		go m.record(t, e)
		<-s.started
		if res, body := echoOf("echo", 900<<10).record(t, e); res.StatusCode != http.StatusOK {
			t.Errorf("%s %.100s", res.Status, body)
		}
	})
}

// A body whose length is not announced is bounded all the same.
func TestChunked(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, MaxBody: 1 << 20})
	for n, status := range map[int]int{100: 200, 64 << 10: 200, 900 << 10: 200, 1 << 20: 413, 3 << 20: 413} {
		r := echoOf("echo", n).request(t.Context(), t, url)
		r.ContentLength, r.Body = -1, struct{ io.ReadCloser }{r.Body}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != status || status == 200 && strings.Count(string(body), "x") < n {
			t.Errorf("%d bytes: %s, %d bytes back", n, res.Status, len(body))
		}
	}
}

// Connections that are opened and left alone keep nobody out; the oldest make room. Those
// that brought requests stay for as long as there are others.
func TestConnections(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, MaxConns: 8})
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	session := begin(t, by(t, url), nil)
	stream, err := http.DefaultClient.Do(message{verb: "GET", header: head("Mcp-Session-Id", session)}.request(t.Context(), t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	var silent []net.Conn
	for i := range 40 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 1 { // half a request is none
			_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: ")
		}
		silent = append(silent, c)
		if res, body := (message{header: head("Mcp-Session-Id", session), body: call("ping", "")}).send(t, url); res.StatusCode != http.StatusOK {
			t.Fatalf("another client, after %d: %s %s", i, res.Status, body)
		}
	}
	closed := 0
	for _, c := range silent {
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			closed++
		}
	}
	if closed < 30 || closed == 40 {
		t.Errorf("%d of 40 silent connections were closed; 8 may be open", closed)
	}
}

// So do those between requests, where no others can be spared.
func TestIdleConnections(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, MaxConns: 4})
	ask := func() (*http.Client, error) {
		c := &http.Client{Transport: &http.Transport{}}
		res, err := c.Do(message{body: call("ping", "")}.request(t.Context(), t, url))
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		return c, err
	}
	for i := range 12 {
		c, err := ask()
		if err != nil {
			t.Errorf("client %d: %v", i, err)
		}
		defer c.CloseIdleConnections()
	}
}

// A header that is too long is refused before it is read.
func TestHeaderFlood(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() {
		_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: "+host+"\r\n")
		for range 100_000 {
			if _, err := io.WriteString(c, "X-Flood: "+strings.Repeat("y", 100)+"\r\n"); err != nil {
				return
			}
		}
	}()
	answer, _ := io.ReadAll(io.LimitReader(c, 100))
	if !strings.HasPrefix(string(answer), "HTTP/1.1 431 ") {
		t.Errorf("answered %q", answer)
	}
}

// Room is taken by what comes, not by what is announced.
func TestClaims(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	for i := range 600 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		size := []string{"Content-Length: 65536", "Transfer-Encoding: chunked", "Content-Length: 30000000"}[i%3]
		_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+size+"\r\n\r\n")
	}
	for _, n := range []int{100, 20 << 10, 1 << 20} {
		begun := time.Now()
		if res, body := echoOf("echo", n).send(t, url); res.StatusCode != http.StatusOK || time.Since(begun) > patience/2 {
			t.Errorf("a body of %d bytes: %s after %s: %.100s", n, res.Status, time.Since(begun), body)
		}
	}
}

// patience is how long a body may wait for room.
const patience = 10 * time.Second
