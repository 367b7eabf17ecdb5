package toolkit_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
	"github.com/urfave/cli/v2"
)

// What was registered is called once, all at the same time, and not waited for longer than a
// second.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := toolkit.NewServer(toolkit.Options{Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		calls := make(chan string, 10)
		meet, free := make(chan bool), make(chan bool)
		s.OnClose(func() { meet <- true; calls <- "a" })
		s.OnClose(func() { <-meet; calls <- "b" })
		begun := time.Now()
		s.Close()
		if took := time.Since(begun); took != 0 || len(calls) != 2 {
			t.Errorf("it took %s, %d were called", took, len(calls))
		}
		s.OnClose(func() { <-free })
		s.Close()
		if took := time.Since(begun); took != time.Second || len(calls) != 2 {
			t.Errorf("it took %s, %d were called", took, len(calls))
		}
		close(free)
	})
}

// Over stdio the waiting counts from where the session began to end.
func TestCloseAfterStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan bool)
		s, _ := newServer(t, toolkit.Options{}, func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
			<-free // it does not listen to its end
			return "", nil
		})
		s.OnClose(func() { <-free })
		in := strings.NewReader(fmt.Sprintf(hello, "") + callLine(1, `{"name":"n"}`))
		begun := time.Now()
		if err := s.ServeStdio(t.Context(), in, io.Discard); err != nil {
			t.Error(err)
		}
		s.Close()
		if took := time.Since(begun); took < 1900*time.Millisecond || took >= 2*time.Second {
			t.Errorf("it took %s", took)
		}
		close(free)
	})
}

// A program closes its server, however it was used.
func TestAppCloses(t *testing.T) {
	for _, words := range [][]string{nil, {"tools"}, {"call", "probe", "name=x"}} {
		closed := 0
		app := toolkit.App{Name: "test", Setup: func(_ *cli.Context, s *toolkit.Server) error {
			s.OnClose(func() { closed++ })
			return toolkit.Add(s, probe(nil))
		}}
		var out, errs bytes.Buffer
		if code := app.Run(t.Context(), words, toolkit.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); code != 0 || closed != 1 {
			t.Errorf("%v: exit code %d, closed %d times, %s", words, code, closed, errs.String())
		}
	}
}

// What is kept for a session hears of its end, whether the client or the server ends it.
// Where a session has no name there is nothing to hear.
func TestAfterSession(t *testing.T) {
	ended := make(chan string, 10)
	tool := probe(nil)
	plan := tool.Plan
	tool.Plan = func(ctx context.Context, call *toolkit.Call, in kitchen) (kitchen, approval.Action, error) {
		call.AfterSession(func() { ended <- in.Name })
		return plan(ctx, call, in)
	}
	s, err := toolkit.NewServer(toolkit.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := toolkit.Add(s, tool); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.ServeHTTP(ctx, l, streamable.Options{Loopback: true}) }()
	url := "http://" + l.Addr().String() + "/mcp"
	byClient, end := connectHTTP(t, url, "2025-06-18")
	byServer, _ := connectHTTP(t, url, "2025-06-18")
	nameless, _ := connectHTTP(t, url, "2026-07-28")
	call(t, byClient, `{"name":"client"}`)
	call(t, byServer, `{"name":"server"}`)
	call(t, nameless, `{"name":"nameless"}`)
	call(t, connect(t, s, nil), `{"name":"near"}`)
	end()
	if got := <-ended; got != "client" {
		t.Errorf("got %s", got)
	}
	stop()
	if got := <-ended; got != "server" {
		t.Errorf("got %s", got)
	}
	if err := <-done; err != nil || len(ended) != 0 {
		t.Errorf("%v, and %d more", err, len(ended))
	}
}

// connectHTTP returns a client session that speaks a protocol version, and what ends it.
func connectHTTP(t *testing.T, url, version string) (session *mcp.ClientSession, end func()) {
	t.Helper()
	hc := &http.Client{Transport: &http.Transport{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: hc}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { cs.Close(); hc.CloseIdleConnections() })
	t.Cleanup(end)
	return cs, end
}
