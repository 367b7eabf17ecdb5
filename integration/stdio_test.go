package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endTime is how soon a server must be gone once it should end; slack is for a loaded
// machine.
const (
	endTime = 2 * time.Second
	slack   = time.Second
)

func eachEra(t *testing.T, test func(*testing.T, era)) {
	for _, e := range eras {
		t.Run(e.name, func(t *testing.T) { test(t, e) })
	}
}

// What was read before the input ended is answered: `printf ... | mcp-x` is how people
// try a server. The SDK's own transport answered none of 100.
func TestPipedRequestsAreAnswered(t *testing.T) {
	tests := []struct {
		name, tool, args string
		calls            int
	}{
		{"hundred", "echo", `{"text":"x"}`, 100},
		{"thousand", "echo", `{"text":"x"}`, 1000},
		{"work in flight", "slow", `{"seconds":0.5}`, 20},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			eachEra(t, func(t *testing.T, e era) {
				s := start(t, e, fixture(t))
				var lines []string
				for i := range tc.calls {
					lines = append(lines, e.call(i, tc.tool, tc.args))
				}
				s.send(strings.Join(lines, "\n"))
				s.in.Close()
				rest, exit, _ := s.end(endTime)
				answered := map[string]bool{}
				for _, m := range rest {
					if m.Result == nil || m.Result.IsError || answered[string(m.ID)] {
						t.Errorf("answer %+v", m)
					}
					answered[string(m.ID)] = true
				}
				if len(answered) != tc.calls || exit != 0 {
					t.Errorf("%d of %d answered, exit code %d\n%s", len(answered), tc.calls, exit, &s.stderr)
				}
			})
		})
	}
}

// A server ends in time whatever its tools do, and tells a client that still listens how
// its calls ended.
func TestEnd(t *testing.T) {
	signals := map[string]func(*server) error{
		"EOF":     func(s *server) error { return s.in.Close() },
		"SIGTERM": func(s *server) error { return s.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(s *server) error { return s.cmd.Process.Signal(syscall.SIGINT) },
		"SIGHUP":  func(s *server) error { return s.cmd.Process.Signal(syscall.SIGHUP) },
	}
	states := []struct {
		name, tool string
		answered   bool
	}{
		{"idle", "", false},
		{"call", "slow", true},
		{"deaf call", "deaf", false},
	}
	for name, signal := range signals {
		for _, tc := range states {
			t.Run(name+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				s := start(t, modern, fixture(t))
				s.alive(modern)
				if tc.tool != "" {
					s.send(modern.call(1, tc.tool, `{"seconds":30}`))
					s.alive(modern) // which proves that the other has been read
				}
				if err := signal(s); err != nil {
					t.Fatal(err)
				}
				rest, exit, took := s.end(endTime)
				if exit != 0 || took > endTime+slack {
					t.Errorf("exit code %d after %s\n%s", exit, took, &s.stderr)
				}
				if answered := len(rest) == 1 && rest[0].Result != nil && rest[0].Result.IsError; answered != tc.answered {
					t.Errorf("last words %+v, want an answer: %v", rest, tc.answered)
				}
			})
		}
	}
}

// A client that does not read cannot keep a server alive: the pipe is full and every
// answer waits.
func TestEndUnread(t *testing.T) {
	cmd := exec.Command(fixture(t))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { cmd.Process.Kill() })
	for i := range 100 {
		fmt.Fprintln(in, modern.call(i, "echo", `{"text":"`+strings.Repeat("x", 8<<10)+`"}`))
	}
	start := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if took := time.Since(start); took > endTime+slack {
		t.Errorf("it took %s to end", took)
	}
}

func TestLargeFrames(t *testing.T) {
	eachEra(t, func(t *testing.T, e era) {
		s := start(t, e, fixture(t))
		s.alive(e)
		const fits = 20 << 20
		s.send(e.call(1, "count", `{"text":"`+strings.Repeat("x", fits)+`"}`))
		if m := s.answer(1); m.Result == nil || string(m.Result.StructuredContent) != fmt.Sprintf(`{"bytes":%d}`, fits) {
			t.Errorf("a frame of 20 MiB: %.300v", m)
		}
		const tooLong = 65 << 20
		s.send(e.call(2, "count", `{"text":"`+strings.Repeat("x", tooLong)+`"}`))
		if m := s.answer(2); m.Error == nil || m.Error.Code != -32600 || !strings.Contains(m.Error.Message, "67108864") {
			t.Errorf("a frame of 65 MiB: %+v, want error -32600 that names the limit", m)
		}
		s.alive(e)
	})
}

// A result of its own size limit is cut, never a frame that a client cannot take.
func TestLargeResultIsCut(t *testing.T) {
	s := start(t, modern, fixture(t))
	s.send(modern.call(1, "echo", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`))
	if n := len(s.answer(1).text()); n < 40<<10 || n > 49<<10 {
		t.Errorf("1 MiB of text came back as %d bytes, want about 48 KiB", n)
	}
}

// A line that is no message is answered, with its id where it can be known, and the
// session goes on.
func TestBadLines(t *testing.T) {
	const null = "null"
	tests := []struct {
		name, line string
		id         string
		code       int
	}{
		{"not JSON", `{"jsonrpc":"2.0","id":1,"method":`, "1", -32700},
		{"text", `hello`, null, -32700},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", "1", -32700},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, null, -32600},
		{"number", `17`, null, -32600},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", -32600},
		{"id of the wrong type", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, null, -32600},
		{"unknown method", modern.request(1, "no/such", ""), "1", -32601},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := start(t, modern, fixture(t))
			s.alive(modern)
			s.send(tc.line)
			m := s.next()
			if m.Error == nil || m.Error.Code != tc.code || m.Error.Message == "" || string(m.ID) != tc.id {
				t.Errorf("answer %+v %+v to id %s, want code %d for id %s", m, m.Error, m.ID, tc.code, tc.id)
			}
			s.alive(modern)
		})
	}
}

func TestBlankLinesAreNothing(t *testing.T) {
	s := start(t, modern, fixture(t))
	s.send("", "   ", "\r", modern.call(1, "echo", `{"text":"x"}`)+"\r")
	if m := s.next(); m.text() != "x" {
		t.Errorf("answer %+v", m)
	}
}

// Calls that a client should not have made, and what they get.
func TestBadCalls(t *testing.T) {
	call := func(e era, params string) string { return e.request(1, "tools/call", params) }
	tests := []struct {
		name, params string
		code         int    // of a protocol error; 0: a result
		text         string // part of an error, of either kind; "": a good result
	}{
		{"unknown tool", `"name":"nope","arguments":{}`, -32602, "nope"},
		{"no name", `"arguments":{}`, -32602, "tool"},
		{"duplicate key", `"name":"echo","arguments":{"text":"a","text":"b"}`, 0, "text"},
		{"arguments missing", `"name":"echo"`, 0, "text"},
		{"arguments null", `"name":"echo","arguments":null`, 0, "text"},
		{"argument null", `"name":"echo","arguments":{"text":null}`, 0, "text"},
		{"arguments a list", `"name":"echo","arguments":["x"]`, 0, "object"},
		{"missing but not needed", `"name":"last_cancel"`, 0, ""},
		{"null but not needed", `"name":"last_cancel","arguments":null`, 0, ""},
		{"number as text", `"name":"slow","arguments":{"seconds":"0.01","steps":"1"}`, 0, ""},
		{"panic", `"name":"boom"`, 0, "internal error"},
		{"tool error", `"name":"fail"`, 0, "meant to fail"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			eachEra(t, func(t *testing.T, e era) {
				s := start(t, e, fixture(t))
				s.send(call(e, tc.params))
				m := s.answer(1)
				switch {
				case tc.code != 0:
					if m.Error == nil || m.Error.Code != tc.code || !strings.Contains(m.Error.Message, tc.text) {
						t.Errorf("answer %+v %+v, want error %d with %q", m, m.Error, tc.code, tc.text)
					}
				case m.Result == nil:
					t.Errorf("answer %+v %+v, want a result", m, m.Error)
				case m.Result.IsError != (tc.text != "") || !strings.Contains(m.text(), tc.text):
					t.Errorf("result %+v, want %q", m.Result, tc.text)
				}
				if strings.Contains(m.text(), ".go:") || strings.Contains(m.text(), "goroutine") {
					t.Errorf("a stack trace is shown: %s", m.text())
				}
				s.alive(e)
			})
		})
	}
}

// What a client may be asked differs between the eras, so one session has one.
func TestErasDoNotMix(t *testing.T) {
	for _, tc := range []struct {
		first era
		then  string
	}{
		{legacy, modern.call(1, "echo", `{"text":"x"}`)},
		{modern, strings.Replace(legacy.hello[0], `"hello"`, "1", 1)},
		{modern, legacy.call(1, "echo", `{"text":"x"}`)},
	} {
		s := start(t, tc.first, fixture(t))
		s.alive(tc.first)
		s.send(tc.then)
		if m := s.answer(1); m.Error == nil || m.Error.Code == 0 {
			t.Errorf("after a %s request, %s got %+v, want an error with a code", tc.first.name, tc.then, m)
		}
		s.alive(tc.first)
	}
}

func TestIDs(t *testing.T) {
	t.Run("kept as sent", func(t *testing.T) {
		s := start(t, modern, fixture(t))
		for _, id := range []any{0, 1 << 40, -3, "", "a\nb", "0"} {
			s.send(modern.call(id, "echo", `{"text":"x"}`))
			if m := s.next(); string(m.ID) != marshal(id) {
				t.Errorf("id %s came back as %s", marshal(id), m.ID)
			}
		}
	})
	t.Run("in use", func(t *testing.T) {
		s := start(t, modern, fixture(t))
		s.send(modern.call(1, "slow", `{"seconds":1}`), modern.call(1, "echo", `{"text":"x"}`))
		if m := s.next(); m.Error == nil || string(m.ID) != "null" {
			t.Errorf("the second request with id 1 got %+v, want a refusal that no request waits for", m)
		}
		if m := s.answer(1); m.text() != "1 steps" {
			t.Errorf("the first request got %+v", m)
		}
	})
}

func TestCancel(t *testing.T) {
	cancelled := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	}
	eachEra(t, func(t *testing.T, e era) {
		s := start(t, e, fixture(t))
		s.send(e.withToken(1, "slow", `{"seconds":30,"steps":300}`))
		for s.next().Method != "notifications/progress" { // until it has begun
		}
		s.send(cancelled("1"), e.call(2, "last_cancel", `{}`))
		if m := s.answer(2); !strings.Contains(m.text(), "slow was cancelled") {
			t.Errorf("a second after the cancel: %+v", m)
		}
		// Late ones, for calls that have ended or never were, are nothing.
		s.send(cancelled("2"), cancelled("2"), cancelled(`"unheard"`))
		s.alive(e)
	})
}

// withToken is a call whose progress is asked for, with the token p.
func (e era) withToken(id int, tool, arguments string) string {
	meta := `"progressToken":"p"`
	if e.meta != "" {
		meta += "," + e.meta
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`, id, tool, arguments, meta)
}

func TestProgress(t *testing.T) {
	eachEra(t, func(t *testing.T, e era) {
		s := start(t, e, fixture(t))
		s.send(e.withToken(1, "slow", `{"seconds":0.6,"steps":3}`))
		notified := 0
		for m := s.next(); string(m.ID) != "1"; m = s.next() {
			if m.Method != "notifications/progress" || !strings.Contains(string(m.Params), `"progressToken":"p"`) {
				t.Errorf("got %s %s", m.Method, m.Params)
			}
			notified++
		}
		if notified < 2 {
			t.Errorf("%d notifications for 3 steps", notified)
		}
		// Silence after the result, and for calls without a token.
		s.send(e.call(2, "slow", `{"seconds":0.2,"steps":2}`))
		if m := s.next(); string(m.ID) != "2" {
			t.Errorf("got %+v, want the result", m)
		}
	})
}
