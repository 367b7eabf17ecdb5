package integration_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/integration/load"
	"github.com/toolhost/toolhost/internal/testneed"
)

// These tests do to a server what only an attacker or a broken client does. Its memory stays
// bounded, and everybody else is served meanwhile. Bounds in MiB are about twice what
// was seen, and would not hold if what they are about were unbounded.

// closeTime is how soon a server must have closed what dribbles, to which it gives ten seconds.
const closeTime = 30 * time.Second

// bodiesLimit bounds the memory of a server that is sent large bodies, in MiB. It reads 96 MiB
// of them at once, and decoding leaves a dozen copies of each behind: above its soft
// limit of 512 MiB it collects those at once. Without one it took 1,200.
const bodiesLimit = 1024

// TestOverload waits for everything in it before another test begins: there are tests
// that measure time.
func TestOverload(t *testing.T) {
	dribbling := func(head string) func(*testing.T, *victim) {
		return func(t *testing.T, v *victim) { dribbleMany(t, v, head) }
	}
	flooding := func(headers string) func(*testing.T, *victim) {
		return func(t *testing.T, v *victim) { floodHeaders(t, v, headers) }
	}
	attacks := []struct {
		name  string
		begin func(*testing.T, *victim)
		limit int // MiB of memory
	}{
		{"unread answers", leaveUnread, 200}, // takes longest
		{"dribbling headers", dribbling("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "), 150},
		{"dribbling bodies", dribbling(callHead + "Content-Length: 65536\r\n\r\n"), 150},
		{"dribbling large bodies", dribbling(callHead + "Content-Length: 10000000\r\n\r\n"), 150},
		{"dribbling chunks", dribbling(callHead + "Transfer-Encoding: chunked\r\n\r\nffff\r\n"), 150},
		{"dribbling bodies of refused requests", dribbling("POST /elsewhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65536\r\n\r\n"), 150},
		{"silent connections", holdSilent, 300},
		{"one long header", flooding("X-Long: " + strings.Repeat("x", 10<<20) + "\r\n"), 100},
		{"many headers", flooding(strings.Repeat("X-Many: x\r\n", 10000)), 100},
		{"abandoned sessions", abandonSessions, 150},
		{"chunked bodies", sendChunks, bodiesLimit},
		{"pipelined requests", pipeline, 100},
		{"aborted bodies", abortBodies, bodiesLimit},
	}
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			stop := v.servesOthers()
			attack.begin(t, v)
			stop()
			v.staysBelow(attack.limit)
		})
	}
}

// callHead are the headers of a tools/call but for those that say how long the body is.
const callHead = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n" +
	"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"

// wireCall is a call as it looks on the wire, with an answer of the same size.
func wireCall(id int, text string) string {
	body := modern.call(id, "echo", `{"text":"`+text+`"}`)
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", callHead, len(body), body)
}

// A client that sends a byte now and then holds a connection for so long and no longer.
func dribbleMany(t *testing.T, v *victim, head string) {
	const connections = 300
	var closed sync.WaitGroup
	for range connections {
		c := v.dial()
		closed.Go(func() { dribble(c, head) })
	}
	closed.Wait()
	v.dropsTo(50, closeTime/6)
}

// dribble sends a byte a few times a second until the connection is closed, or long after it
// should be.
func dribble(c net.Conn, head string) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = c.SetReadDeadline(time.Now().Add(closeTime))
		_, _ = io.Copy(io.Discard, c)
	}()
	_, _ = io.WriteString(c, head)
	for {
		select {
		case <-gone:
			return
		case <-time.After(300 * time.Millisecond):
			_, _ = io.WriteString(c, "x") // when this fails, so does reading
		}
	}
}

// Connections that bring nothing are many at small cost. The server keeps a bounded number,
// lets newcomers in by closing the oldest, and does not wait for any for ever.
func holdSilent(t *testing.T, v *victim) {
	const connections, most = 5000, 4096
	needDescriptors(t, connections+1000)
	for range connections {
		v.dial()
	}
	v.dropsTo(most+50, patience)
	echoes(t, connect(t, v.url, load.Modern))
	v.dropsTo(50, closeTime)
}

// needDescriptors wants this process, and so those that it starts, to be allowed so many.
func needDescriptors(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Max < n {
		testneed.Missing(t, fmt.Sprintf("room for %d open files", n), "ulimit -Hn")
	}
}

// Who asks and does not read holds a connection, not memory: the server waits half a minute
// for a client to take what is written, and makes no further answer meanwhile.
func leaveUnread(t *testing.T, v *victim) {
	const connections, requests, limit = 8, 500, 100 * time.Second
	call := wireCall(1, strings.Repeat("x", 40<<10))
	var reset sync.WaitGroup
	for range connections {
		c, ok := v.dial().(*net.TCPConn)
		if !ok {
			t.Fatal("not a TCP connection")
		}
		_ = c.SetReadBuffer(4 << 10) // it is soon full
		_ = c.SetWriteDeadline(time.Now().Add(limit))
		reset.Go(func() {
			for range requests {
				if _, err := io.WriteString(c, call); err != nil {
					if errors.Is(err, os.ErrDeadlineExceeded) {
						t.Error("the server still holds a connection")
					}
					return
				}
			}
			t.Error("the server took all requests")
		})
	}
	reset.Wait()
	v.dropsTo(50, closeTime/6)
}

// Bodies of nearly the largest size: a few are read at once and the others wait their turn or
// are told to come again. Each is in memory several times while it is decoded.
func TestOverloadLargeBodies(t *testing.T) {
	const size = 30 << 20
	v := newVictim(t)
	stop := v.servesOthers()
	for _, posts := range []int{24, 48} {
		statuses := postMany(t, posts, func() (int, error) { return postLarge(v, size) })
		if statuses[http.StatusOK] == 0 {
			t.Errorf("none of %d large calls was served", posts)
		}
		v.staysBelow(bodiesLimit)
	}
	stop()
}

// postLarge makes a call of that many bytes.
func postLarge(v *victim, size int64) (int, error) {
	before, after, _ := strings.Cut(modern.call(1, "echo", `{"text":"|"}`), "|")
	body := io.MultiReader(strings.NewReader(before), io.LimitReader(endless('x'), size), strings.NewReader(after))
	return postCall(v, body, int64(len(before))+size+int64(len(after)))
}

// postCall makes a call of echo, whose length may be -1 for not known. Its error is nil if the
// answer is good, or asks for another try.
func postCall(v *victim, body io.Reader, length int64) (status int, err error) {
	c := &load.Client{URL: v.url, Version: load.Modern}
	req, err := c.Request(context.Background(), http.MethodPost, body)
	if err != nil {
		return 0, err
	}
	req.ContentLength = length
	req.Header.Set("Mcp-Method", "tools/call")
	req.Header.Set("Mcp-Name", "echo")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return res.StatusCode, err
	case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
		return res.StatusCode, nil
	case res.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(`"text":"xxxx`)):
		return res.StatusCode, fmt.Errorf("status %d, %.200s", res.StatusCode, text)
	}
	return res.StatusCode, nil
}

// postMany makes calls at once and counts their statuses.
func postMany(t *testing.T, posts int, post func() (int, error)) (statuses map[int]int) {
	t.Helper()
	var mu sync.Mutex
	statuses = map[int]int{}
	var all sync.WaitGroup
	for range posts {
		all.Go(func() {
			status, err := post()
			if err != nil {
				t.Errorf("a large call: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	all.Wait()
	t.Logf("%d posts: %v", posts, statuses)
	return statuses
}

// endless is a reader of one byte, again and again.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// Headers are refused before they are in memory.
func floodHeaders(t *testing.T, v *victim, flood string) {
	const connections = 50
	var all sync.WaitGroup
	for range connections {
		c := v.dial()
		all.Go(func() {
			go io.WriteString(c, callHead+flood+"\r\n") // it will not all be read
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || res.StatusCode != http.StatusRequestHeaderFieldsTooLarge || !res.Close {
				t.Errorf("answer %+v, %v, want 431 and an end", res, err)
			}
		})
	}
	all.Wait()
	v.dropsTo(50, patience)
}

// Clients of the older era open sessions and do not come back. The server keeps a bounded
// number, of which those that were used and listen are the last to go.
func abandonSessions(t *testing.T, v *victim) {
	const opened, listening = 2000, 100
	transport := &http.Transport{MaxIdleConnsPerHost: 10}
	t.Cleanup(transport.CloseIdleConnections)
	var kept, first, last []*load.Client
	for i := range opened {
		c := &load.Client{URL: v.url, Version: load.Legacy, HTTP: &http.Client{Transport: transport}}
		if err := c.Open(t.Context()); err != nil {
			t.Fatalf("session %d: %v", i, err)
		}
		switch {
		case i < listening: // these have been of use
			echoes(t, c)
			stream, err := c.Listen(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { stream.Body.Close() })
			kept = append(kept, c)
		case i < 2*listening:
			first = append(first, c)
		case i >= opened-listening:
			last = append(last, c)
		}
	}
	for _, c := range first {
		if err := callOnce(c); statusOf(err) != http.StatusNotFound {
			t.Errorf("an old session that was never used: %v, want 404", err)
		}
	}
	for _, c := range append(kept, last...) {
		echoes(t, c)
	}
	echoes(t, connect(t, v.url, load.Legacy))
}

// Of a chunked body nobody knows how much is to come.
func sendChunks(t *testing.T, v *victim) {
	const posts, size = 60, 1 << 20
	body := modern.call(1, "echo", `{"text":"`+strings.Repeat("x", size)+`"}`)
	statuses := postMany(t, posts, func() (int, error) {
		return postCall(v, strings.NewReader(body), -1)
	})
	if statuses[http.StatusOK] == 0 {
		t.Error("none was served")
	}
}

// Requests that come before the answers to others are answered all the same, in order.
func pipeline(t *testing.T, v *victim) {
	const connections, requests = 50, 100
	var all sync.WaitGroup
	for range connections {
		c := v.dial()
		all.Go(func() {
			go func() {
				for id := range requests {
					_, _ = io.WriteString(c, wireCall(id, "x"))
				}
			}()
			r := bufio.NewReader(c)
			for id := range requests {
				if err := readAnswer(r, id); err != nil {
					t.Errorf("request %d of %d: %v", id, requests, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func readAnswer(r *bufio.Reader, id int) error {
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || !bytes.Contains(text, fmt.Appendf(nil, `"id":%d,`, id))) {
		err = fmt.Errorf("status %d: %.200s", res.StatusCode, text)
	}
	return err
}

// What an aborted request took is free again: else a few of these would use up all there is.
func abortBodies(t *testing.T, v *victim) {
	const connections, size = 500, 30 << 20
	for range connections {
		c, ok := v.dial().(*net.TCPConn)
		if !ok {
			t.Fatal("not a TCP connection")
		}
		fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", callHead, size, strings.Repeat("x", 8<<10))
		_ = c.SetLinger(0) // the end is a reset
		c.Close()
	}
	v.dropsTo(50, patience)
	if status, err := postLarge(v, size); status != http.StatusOK || err != nil {
		t.Errorf("a large call after that: status %d, %v", status, err)
	}
}
