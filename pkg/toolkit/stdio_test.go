package toolkit_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{%s},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// modern is the _meta of a request that speaks 2026-07-28.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func callLine(id int, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"probe","arguments":%s}}`+"\n", id, args)
}

// An answer is one line of the server's.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result *struct {
		Content []struct{ Text string } `json:"content"`
		IsError bool                    `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// serveAll serves the input until its end and returns the answers by id.
func serveAll(t *testing.T, s *toolkit.Server, input string) map[string]answer {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), strings.NewReader(input), &out); err != nil {
		t.Fatal(err)
	}
	return answers(t, &out)
}

func answers(t *testing.T, out io.Reader) map[string]answer {
	t.Helper()
	got := map[string]answer{}
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, toolkit.MaxFrame)
	for sc.Scan() {
		var a answer
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatalf("not JSON on standard output: %q", sc.Text())
		}
		got[string(a.ID)] = a
	}
	return got
}

func TestStdioAnswersBeforeItHonoursTheEnd(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
		time.Sleep(20 * time.Millisecond)
		return "late answer", nil
	})
	var input strings.Builder
	fmt.Fprintf(&input, hello, "")
	for i := range 100 {
		input.WriteString(callLine(i, `{"name":"n"}`))
	}
	got := serveAll(t, s, input.String())
	for i := range 100 {
		if a := got[fmt.Sprint(i)]; a.Result == nil || a.Result.Content[0].Text != "late answer" {
			t.Errorf("call %d: %+v", i, a)
		}
	}
}

func TestStdioEndsInTime(t *testing.T) {
	listening := func(ctx context.Context, _ kitchen, _ approval.Grant, _ toolkit.Progress) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	release := make(chan struct{})
	defer close(release)
	deaf := func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
		<-release
		return "", nil
	}
	tests := []struct {
		name     string
		act      actFunc
		signal   bool
		most     time.Duration
		answered bool
	}{
		{"end of input", listening, false, 1900 * time.Millisecond, true},
		{"end of input, deaf tool", deaf, false, 2 * time.Second, false},
		{"signal", listening, true, time.Second, true},
		{"signal, deaf tool", deaf, true, 2 * time.Second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			begun := make(chan struct{})
			s, _ := newServer(t, toolkit.Options{}, func(ctx context.Context, in kitchen, g approval.Grant, p toolkit.Progress) (string, error) {
				close(begun)
				return tt.act(ctx, in, g, p)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in, feed := io.Pipe()
			defer feed.Close()
			var out bytes.Buffer
			ended := make(chan error)
			go func() { ended <- s.ServeStdio(ctx, in, &out) }()
			fmt.Fprintf(feed, hello+callLine(1, `{"name":"n"}`), "")
			<-begun
			start := time.Now()
			if tt.signal {
				cancel()
			} else {
				feed.Close()
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > tt.most+2*time.Second {
				t.Errorf("ended after %s, want at most %s", took, tt.most)
			}
			if tt.answered {
				if a, ok := answers(t, &out)["1"]; !ok || !strings.Contains(a.Result.Content[0].Text, "cancelled") {
					t.Errorf("the cancelled call was answered %+v", a)
				}
			}
		})
	}
}

func TestStdioBadFrames(t *testing.T) {
	big := `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"probe","arguments":{"name":"` + strings.Repeat("x", 20<<20) + `"}}}`
	tests := []struct {
		name, line, id string
		code           int
		want           string
	}{
		{"not JSON", `{"jsonrpc":`, "null", -32700, "not valid JSON"},
		{"not JSON, with an id", `{"jsonrpc":"2.0","id":7,"method":}`, "7", -32700, "not valid JSON"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"x\xff\"}", "8", -32700, "not valid UTF-8"},
		{"a number", `5`, "null", -32600, "not JSON-RPC 2.0"},
		{"no version", `{"id":9,"method":"tools/list"}`, "9", -32600, "not JSON-RPC 2.0"},
		{"batch", `[{"jsonrpc":"2.0","id":10,"method":"ping"}]`, "null", -32600, "batches are not accepted"},
		{"20 MB frame", big, "77", 0, ""},
		{"over the limit", `{"jsonrpc":"2.0","id":78,"x":"` + strings.Repeat("x", toolkit.MaxFrame) + `"}`, "78", -32600, "at most 67108864 are accepted"},
		{"over the limit, id at the end", `{"jsonrpc":"2.0","x":"` + strings.Repeat("x", toolkit.MaxFrame) + `","id":"last"}`, `"last"`, -32600, "at most 67108864 are accepted"},
		{"unknown method", `{"jsonrpc":"2.0","id":11,"method":"nope"}`, "11", -32601, ""},
		{"unknown tool", `{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"nope"}}`, "12", -32602, "unknown tool nope"},
		{"call without params", `{"jsonrpc":"2.0","id":13,"method":"tools/call"}`, "13", -32600, "missing required \"params\""},
		{"a fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "1.5", -32600, "the id must be a string, or a whole number"},
		{"an id beyond 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", -32600, "the id must be"},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600, "the id must be"},
		{"null as id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600, "must not have the id null"},
		{"neither request nor response", `{"jsonrpc":"2.0","id":16}`, "16", -32600, "neither a method nor a result"},
		{"key twice", `{"jsonrpc":"2.0","id":17,"method":"ping","method":"tools/list"}`, "17", -32600, `"method" is given twice`},
		{"key twice in params", `{"jsonrpc":"2.0","id":18,"method":"tools/call","params":{"name":"probe","arguments":{"name":"a"},"arguments":{"name":"b"}}}`, "18", -32600, `"arguments" is given twice in params`},
		{"a list as params", `{"jsonrpc":"2.0","id":19,"method":"tools/call","params":[]}`, "19", -32600, "params must be an object"},
		{"other era", `{"jsonrpc":"2.0","id":14,"method":"tools/call","params":{"name":"probe","arguments":{"name":"n"},` + modern + `}}`, "14", -32600, "this session began with a request of the legacy protocol era"},
		{"second handshake", `{"jsonrpc":"2.0","id":15,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "15", -32600, "duplicate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newServer(t, toolkit.Options{}, nil)
			k := newTalk(t, s, "")
			fmt.Fprint(k.in, tt.line+"\n\n \r\n")
			a := k.answer(tt.id)
			switch {
			case tt.code == 0 && a.Error != nil:
				t.Errorf("refused: %+v", a.Error)
			case tt.code != 0 && (a.Error == nil || a.Error.Code != tt.code || !strings.Contains(a.Error.Message, tt.want)):
				t.Errorf("got %+v, want code %d and %q", a.Error, tt.code, tt.want)
			}
			fmt.Fprint(k.in, callLine(1, `{"name":"after"}`))
			if after := k.answer("1"); after.Result == nil || !strings.Contains(after.Result.Content[0].Text, "after") {
				t.Errorf("the session does not live on: %+v", after)
			}
		})
	}
}

func TestStdioBeforeTheHandshake(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	got := serveAll(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n")
	if a := got["1"]; a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("got %+v, want an error with a real code", a)
	}
}

func TestStdioModernThenLegacy(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	in, feed := io.Pipe()
	outR, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- s.ServeStdio(t.Context(), in, out) }()
	lines := bufio.NewReader(outR)
	fmt.Fprintf(feed, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"probe","arguments":{"name":"n"},`+modern+"}}\n")
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"resultType":"complete"`) {
		t.Errorf("got %s %v", line, err)
	}
	fmt.Fprint(feed, callLine(2, `{"name":"n"}`))
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "began with a request of the modern protocol era") {
		t.Errorf("got %s %v", line, err)
	}
	feed.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestStdioIDInUse(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
		time.Sleep(500 * time.Millisecond) // the second comes meanwhile
		return "first", nil
	})
	got := serveAll(t, s, fmt.Sprintf(hello, "")+callLine(1, `{"name":"a"}`)+callLine(1, `{"name":"b"}`))
	if a := got["1"]; a.Result == nil || a.Result.Content[0].Text != "first" {
		t.Errorf("got %+v", a)
	}
	if a := got["null"]; a.Error == nil || !strings.Contains(a.Error.Message, "request id 1 is still in use") {
		t.Errorf("got %+v", a)
	}
}

// A client may use an id again as soon as it has the answer.
func TestStdioIDUsedAgain(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	k := newTalk(t, s, "")
	for i := range 500 {
		fmt.Fprint(k.in, callLine(1, fmt.Sprintf(`{"name":"n%d"}`, i)))
		if a := k.answer("1"); !strings.Contains(a.Result.Content[0].Text, fmt.Sprintf("n%d", i)) {
			t.Fatalf("call %d: %+v", i, a)
		}
	}
}

func TestStdioThousandCallsAtOnce(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	var input strings.Builder
	fmt.Fprintf(&input, hello, "")
	for i := range 1000 {
		input.WriteString(callLine(i, fmt.Sprintf(`{"name":"n%d"}`, i)))
	}
	got := serveAll(t, s, input.String())
	for i := range 1000 {
		if a := got[fmt.Sprint(i)]; a.Result == nil || !strings.Contains(a.Result.Content[0].Text, fmt.Sprintf(`"n%d"`, i)) {
			t.Fatalf("call %d: %+v", i, a)
		}
	}
}

// More calls than may be pending are taken as fast as they are answered.
func TestStdioBackpressure(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	k := newTalk(t, s, "")
	const calls = 10_000
	go func() {
		for i := range calls {
			io.WriteString(k.in, callLine(i, `{"name":"n"}`))
		}
	}()
	seen := 0
	for seen < calls && k.out.Scan() {
		seen++
	}
	if seen != calls {
		t.Errorf("%d of %d answered", seen, calls)
	}
}

// A client that sends and does not read cannot keep a server alive once its input ends,
// nor make it hold more and more.
func TestStdioUnread(t *testing.T) {
	for name, line := range map[string]string{"bad lines": "nonsense\n", "calls": callLine(1, `{"name":"n"}`)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := newServer(t, toolkit.Options{}, nil)
				unread, out := io.Pipe()
				defer unread.Close()
				start := time.Now()
				input := strings.NewReader(fmt.Sprintf(hello, "") + strings.Repeat(line, 50))
				if err := s.ServeStdio(t.Context(), input, out); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took > 13*time.Second {
					t.Errorf("it took %s to end", took)
				}
			})
		})
	}
}

// A client that closes its side while an answer is on its way has not made the server fail.
func TestStdioClientGone(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	answers, out := io.Pipe()
	answers.Close()
	input := fmt.Sprintf(hello, "") + callLine(1, `{"name":"n"}`)
	if err := s.ServeStdio(t.Context(), strings.NewReader(input), out); err != nil {
		t.Error(err)
	}
}
