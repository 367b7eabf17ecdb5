package integration_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// This file speaks the protocol without an SDK, one JSON message a line, so that tests
// can say what no library would.

// patience is how long a test waits for a message that must come.
const patience = 20 * time.Second

// A message is what a server wrote: an answer, a request or a notification.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  *callResult     `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type callResult struct {
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

func (m message) text() string {
	if m.Result == nil || len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

// decode decodes a line of standard output, where nothing but JSON-RPC may stand.
func decode(raw []byte) (m message, err error) {
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("stdout holds %.200q: %w", raw, err)
	}
	if m.JSONRPC != "2.0" {
		return m, fmt.Errorf("stdout holds %.200q, which is not JSON-RPC", raw)
	}
	return m, nil
}

// An era is how requests of a protocol generation look.
type era struct {
	name  string
	hello []string // sent before anything else
	meta  string   // _meta of every request, as JSON; empty: none
}

var (
	legacy = era{
		name: "legacy",
		hello: []string{
			`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		},
	}
	modern = era{
		name: "modern",
		meta: `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`,
	}
)

var eras = []era{legacy, modern}

// request returns a request with params given as the inside of a JSON object.
func (e era) request(id any, method, params string) string {
	parts := []string{}
	if params != "" {
		parts = append(parts, params)
	}
	if e.meta != "" {
		parts = append(parts, `"_meta":{`+e.meta+`}`)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, marshal(id), method, strings.Join(parts, ","))
}

// call returns a tools/call with args given as JSON.
func (e era) call(id any, tool, args string) string {
	return e.request(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args))
}

func marshal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // ids are numbers and strings
	}
	return string(data)
}

// A server is a running program under test.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan message // closed at the end of standard output
	stderr bytes.Buffer
	ended  chan error
	asked  int // how often alive has asked; an id is used once a session
}

// start starts a program and greets it. It is killed at the end of the test.
func start(t *testing.T, e era, program string, args ...string) *server {
	t.Helper()
	return startCommand(t, e, exec.Command(program, args...))
}

// startCommand is start for a command that the test has made.
func startCommand(t *testing.T, e era, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{t: t, cmd: cmd, lines: make(chan message, 4096), ended: make(chan error, 1)}
	s.cmd.Stderr = &s.stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not StdoutPipe: Wait would close it under the reader.
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in, s.cmd.Stdout = in, w
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { s.cmd.Process.Kill(); out.Close() })
	go s.read(out)
	go func() { s.ended <- s.cmd.Wait() }()
	s.send(e.hello...)
	if len(e.hello) > 0 {
		s.answer("hello")
	}
	return s
}

func (s *server) read(out io.Reader) {
	defer close(s.lines)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		raw, err := r.ReadBytes('\n')
		if len(raw) > 0 {
			m, err := decode(raw)
			if err != nil {
				s.t.Error(err)
			}
			s.lines <- m
		}
		if err != nil {
			return
		}
	}
}

func (s *server) send(lines ...string) {
	s.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(s.in, l+"\n"); err != nil {
			s.t.Fatalf("write to the server: %v\n%s", err, &s.stderr)
		}
	}
}

// next returns the next message.
func (s *server) next() message {
	s.t.Helper()
	select {
	case m, ok := <-s.lines:
		if !ok {
			s.t.Fatalf("the server closed its output\n%s", &s.stderr)
		}
		return m
	case <-time.After(patience):
		s.t.Fatalf("no message within %s", patience)
	}
	panic("unreachable")
}

// answer returns the answer to a request; what comes before it is dropped.
func (s *server) answer(id any) message {
	s.t.Helper()
	want := marshal(id)
	for {
		if m := s.next(); string(m.ID) == want && m.Method == "" {
			return m
		}
	}
}

// alive calls a tool that always works.
func (s *server) alive(e era) {
	s.t.Helper()
	s.asked++
	id := fmt.Sprintf("alive %d", s.asked)
	s.send(e.call(id, "echo", `{"text":"alive"}`))
	if m := s.answer(id); m.text() != "alive" {
		s.t.Errorf("after that the session answers %+v", m)
	}
}

// end waits for the program's end and returns what it had yet to say, its exit code, and how
// long it took.
func (s *server) end(limit time.Duration) (rest []message, exit int, took time.Duration) {
	s.t.Helper()
	start := time.Now()
	select {
	case err := <-s.ended:
		took = time.Since(start)
		if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
			s.t.Fatal(err)
		}
	case <-time.After(limit + patience):
		s.t.Fatalf("still running %s after it should have ended", patience)
	}
	for m := range s.lines {
		rest = append(rest, m)
	}
	return rest, s.cmd.ProcessState.ExitCode(), took
}
