package toolkit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

const (
	secret     = "0123456789abcdef"
	begin      = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{%s},"clientInfo":{"name":"t","version":"1"}}}`
	probed     = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"probe"}}`
	newestCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"probe","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// A web is a server over HTTP.
type web struct {
	t   *testing.T
	url string
}

func newWeb(t *testing.T, s *toolkit.Server, o streamable.Options) *web {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Loopback = true
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.ServeHTTP(ctx, l, o) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &web{t, "http://" + l.Addr().String() + "/mcp"}
}

// open sends a request; header holds names and values in turn.
func (w *web) open(verb, body string, header ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), verb, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { res.Body.Close() })
	return res
}

// post sends a message as a client that takes JSON only, and returns the text of the result.
func (w *web) post(body string, header ...string) (text string, res *http.Response) {
	w.t.Helper()
	res = w.open(http.MethodPost, body, header...)
	data, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	var a answer
	if len(data) > 0 {
		if err := json.Unmarshal(data, &a); err != nil {
			w.t.Fatalf("%s: %s", res.Status, data)
		}
	}
	if a.Result != nil && len(a.Result.Content) > 0 {
		text = a.Result.Content[0].Text
	}
	return text, res
}

// session begins a session and returns its header.
func (w *web) session(capabilities string, header ...string) []string {
	w.t.Helper()
	_, res := w.post(fmt.Sprintf(begin, capabilities), header...)
	header = append(header, "Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))
	w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, header...)
	return header
}

// callerServer has a tool that prints who calls, and the key of what is kept for the caller.
func callerServer(t *testing.T) *toolkit.Server {
	t.Helper()
	s, err := toolkit.NewServer(toolkit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = toolkit.Add(s, toolkit.Tool[struct{}, string, string]{
		Definition: toolkit.Definition{Name: "probe", Title: "Probe", Description: "Prints the caller."},
		Plan: func(_ context.Context, call *toolkit.Call, _ struct{}) (string, approval.Action, error) {
			key, ok := call.Caller.StateKey()
			return fmt.Sprintf("%s%v by %s key=%s %t", call.Caller.Principal, call.Caller.Scopes, call.Caller.Transport, key, ok), approval.Action{Effect: approval.ReadFiles}, nil
		},
		Run:    func(_ context.Context, p string, _ approval.Grant, _ toolkit.Progress) (string, error) { return p, nil },
		Render: func(out string, _ toolkit.Budget) toolkit.Result { return toolkit.Result{Text: out} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What may be kept for a caller, and under which key.
func TestStateKey(t *testing.T) {
	open := newWeb(t, callerServer(t), streamable.Options{})
	guarded := newWeb(t, callerServer(t), streamable.Options{Tokens: []streamable.Token{{Name: "alice", Secret: secret, Scopes: []string{"read", "write"}}}})
	token := []string{"Authorization", "Bearer " + secret}
	newest := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "probe"}
	mine := open.session("")
	hers := guarded.session("", token...)
	tests := []struct {
		name   string
		w      *web
		body   string
		header []string
		want   string
	}{
		{"session", open, probed, mine, "anonymous[] by http key=session:" + mine[1] + " true"},
		{"session with a token", guarded, probed, hers, "alice[read write] by http key=session:" + hers[3] + " true"},
		{"newest era", open, newestCall, newest, "anonymous[] by http key= false"},
		{"newest era with a token", guarded, newestCall, append(newest, token...), "alice[read write] by http key=principal:alice true"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if text, res := tc.w.post(tc.body, tc.header...); text != tc.want {
				t.Errorf("%s: got %q, want %q", res.Status, text, tc.want)
			}
		})
	}
	t.Run("stdio", func(t *testing.T) {
		k := newTalk(t, callerServer(t), "")
		if got, want := k.probe(1), "local[] by stdio key=process true"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A client whose calls are answered in JSON is asked for its roots on the session's own stream.
func TestRootsBesideJSON(t *testing.T) {
	w := newWeb(t, rootsServer(t), streamable.Options{})
	header := w.session(`"roots":{}`)
	stream := w.open(http.MethodGet, "", append(header, "Accept", "text/event-stream")...)
	asked := make(chan string, 1)
	go func() {
		defer close(asked)
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var m answer
			if !ok || json.Unmarshal([]byte(data), &m) != nil || m.Method != "roots/list" {
				continue
			}
			w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file:///a"}]}}`, m.ID), header...)
			asked <- string(m.ID)
			return
		}
	}()
	if text, _ := w.post(probed, header...); text != "true [file:///a]" {
		t.Errorf("got %q", text)
	}
	if <-asked == "" {
		t.Error("the client was not asked on its stream")
	}
}

func TestHTTPFlags(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, short := file("good", "alice "+secret+"\n"), file("short", "alice hunter2\n")
	tests := []struct {
		name string
		args []string
		env  [2]string
		want string
	}{
		{"no port", []string{"--http", "127.0.0.1"}, [2]string{}, "want HOST:PORT, such as 127.0.0.1:8801"},
		{"a URL", []string{"--http", "http://127.0.0.1:8801"}, [2]string{}, "want HOST:PORT"},
		{"only a number", []string{"--http", "8801"}, [2]string{}, "want HOST:PORT"},
		{"everybody, no token", []string{"--http", ":8801", "--allowed-hosts", "x"}, [2]string{}, "--token-file FILE or MCP_PROBE_TOKEN"},
		{"another address, no token", []string{"--http", "0.0.0.0:8801"}, [2]string{}, "other machines can reach this address"},
		{"no hosts", []string{"--http", ":8801", "--token-file", good}, [2]string{}, "--allowed-hosts tools.example.com"},
		{"no hosts, insecure", []string{"--http", ":8801", "--insecure-no-auth"}, [2]string{}, "--allowed-hosts"},
		{"no such file", []string{"--http", "127.0.0.1:0", "--token-file", dir + "/none"}, [2]string{}, "--token-file: open"},
		{"a short token", []string{"--http", "127.0.0.1:0", "--token-file", short}, [2]string{}, "line 1: the token has 7 characters"},
		{"an empty file name", []string{"--http", "127.0.0.1:0", "--token-file", ""}, [2]string{}, "--token-file is empty"},
		{"an empty file name from outside", []string{"--http", "127.0.0.1:0"}, [2]string{"MCP_PROBE_TOKEN_FILE", ""}, "--token-file is empty"},
		{"an empty variable", []string{"--http", "127.0.0.1:0"}, [2]string{"MCP_PROBE_TOKEN", ""}, "MCP_PROBE_TOKEN: there is no token"},
		{"a secret that a gateway did not have", []string{"--http", "127.0.0.1:0"}, [2]string{"MCP_PROBE_TOKEN", "<UNKNOWN>"}, "at least 16"},
		{"a bad host", []string{"--http", "127.0.0.1:0", "--allowed-hosts", "a, https://b"}, [2]string{}, `host "https://b"`},
		{"a bad origin", []string{"--http", "127.0.0.1:0"}, [2]string{"MCP_PROBE_ALLOWED_ORIGINS", "https://a.example,b"}, `origin "b"`},
		{"hosts without HTTP", []string{"--allowed-hosts", "a"}, [2]string{}, "--allowed-hosts works with --http only"},
		{"no token without HTTP", []string{"--insecure-no-auth"}, [2]string{}, "--insecure-no-auth works with --http only"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if tc.env[0] != "" {
				t.Setenv(tc.env[0], tc.env[1])
			}
			code, out, errs := run(t, "", tc.args...)
			if code != 2 || out != "" || !strings.Contains(errs, tc.want) {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %q", code, out, errs, tc.want)
			}
			if strings.Contains(errs, "hunter2") || strings.Contains(errs, secret) {
				t.Errorf("the error tells the token: %s", errs)
			}
		})
	}
}

// The whole program: it says where it serves, asks for the token, and ends well.
func TestServeHTTPProgram(t *testing.T) {
	t.Setenv("MCP_PROBE_TOKEN", "alice "+secret)
	t.Setenv("MCP_PROBE_ALLOWED_HOSTS", "tools.example.com:8443,other.example.com")
	ctx, stop := context.WithCancel(t.Context())
	errs, errw := io.Pipe()
	exit := make(chan int)
	go func() {
		defer errw.Close()
		exit <- app().Run(ctx, []string{"--http", "127.0.0.1:0"}, toolkit.Streams{In: strings.NewReader(""), Out: io.Discard, Err: errw})
	}()
	line, err := bufio.NewReader(errs).ReadString('\n')
	var url string
	if _, scanErr := fmt.Sscanf(line, "mcp-probe: serving %s (token required)\n", &url); err != nil || scanErr != nil {
		t.Fatalf("it said %q: %v, %v", line, err, scanErr)
	}
	go io.Copy(io.Discard, errs)
	w := &web{t, url}
	if _, res := w.post(probed); res.StatusCode != http.StatusUnauthorized || !strings.Contains(res.Header.Get("WWW-Authenticate"), `realm="mcp-probe"`) {
		t.Errorf("without the token: %s, %q", res.Status, res.Header.Get("WWW-Authenticate"))
	}
	header := w.session("", "Authorization", "Bearer "+secret)
	if text, _ := w.post(strings.Replace(probed, `"probe"`, `"probe","arguments":{"name":"n"}`, 1), header...); !strings.Contains(text, `"name":"n"`) {
		t.Errorf("got %q", text)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if code := <-exit; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Whatever says how it may be cached is for its caller alone: tools, names and resources
// differ from token to token and from operator to operator.
func TestNothingIsCachedForAll(t *testing.T) {
	s := callerServer(t)
	s.MCP().AddResource(&mcp.Resource{Name: "r", URI: "file:///r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "file:///r", Text: "x"}}}, nil
	})
	w := newWeb(t, s, streamable.Options{})
	for method, params := range map[string]string{
		"tools/list": "", "prompts/list": "", "resources/list": "", "resources/templates/list": "",
		"resources/read": `"uri":"file:///r",`, "server/discover": "",
	} {
		body := strings.Replace(strings.Replace(newestCall, "tools/call", method, 1), `"name":"probe",`, params, 1)
		header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
		if params != "" {
			header = append(header, "Mcp-Name", "file:///r")
		}
		res := w.open(http.MethodPost, body, header...)
		data, err := io.ReadAll(res.Body)
		if err != nil || !strings.Contains(string(data), `"cacheScope":"private"`) {
			t.Errorf("%s: %s %v %s", method, res.Status, err, data)
		}
	}
}

// Without a token other machines are served only if somebody says so in full, and it is
// said again where the program says where it serves.
func TestInsecureProgram(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0"} {
		ctx, stop := context.WithCancel(t.Context())
		errs, errw := io.Pipe()
		exit := make(chan int)
		go func() {
			defer errw.Close()
			exit <- app().Run(ctx, []string{"--http", addr, "--insecure-no-auth", "--allowed-hosts", "*", "--allowed-origins", "https://a.example"}, toolkit.Streams{In: strings.NewReader(""), Out: io.Discard, Err: errw})
		}()
		line, err := bufio.NewReader(errs).ReadString('\n')
		var url string
		if _, scanErr := fmt.Sscanf(line, "mcp-probe: serving %s (NO TOKEN", &url); err != nil || scanErr != nil {
			t.Errorf("%s: it said %q: %v, %v", addr, line, err, scanErr)
		}
		go io.Copy(io.Discard, errs)
		if url != "" {
			port := url[strings.LastIndexByte(url, ':')+1:]
			if c, err := net.Dial("tcp6", "[::1]:"+strings.TrimSuffix(port, "/mcp")); err == nil {
				if c.Close(); addr == "0.0.0.0:0" {
					t.Error("0.0.0.0 is served over IPv6 as well")
				}
			}
			w := &web{t, "http://127.0.0.1:" + port}
			header := w.session("", "Origin", "https://a.example")
			if text, res := w.post(strings.Replace(probed, `"probe"`, `"probe","arguments":{"name":"n"}`, 1), header...); !strings.Contains(text, `"name":"n"`) {
				t.Errorf("%s: %s, got %q", addr, res.Status, text)
			}
			http.DefaultClient.CloseIdleConnections()
		}
		stop()
		if code := <-exit; code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}

// doctor says what would keep the server from starting, and whom it would serve. Of two
// sources of tokens the file counts.
func TestDoctorOfHTTP(t *testing.T) {
	if code, out, errs := run(t, "", "--http", ":8801", "doctor"); code == 0 || !strings.Contains(out, "FAIL  HTTP: --http :8801: other machines") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, out, errs := run(t, "", "--http", "127.0.0.1:8801", "doctor"); !strings.Contains(out, "would serve http://127.0.0.1:8801/mcp (no token") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MCP_PROBE_TOKEN", "short")
	if code, out, errs := run(t, "", "--http", "127.0.0.1:8801", "--token-file", file, "doctor"); !strings.Contains(out, "(token required)") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if toolkit.DefaultMaxConcurrent != 32 {
		t.Error("docs/http.md has another limit of calls that run at once")
	}
}
