package streamable_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// ask sends a ping with headers to a new endpoint and returns the answer.
func ask(t *testing.T, o streamable.Options, verb string, header http.Header) *http.Response {
	t.Helper()
	e, err := streamable.New(mcp.NewServer(&mcp.Implementation{Name: "x"}, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), verb, "/mcp", strings.NewReader(call("ping", "")))
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	r.Host = header.Get("Host")
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Result()
}

func TestHosts(t *testing.T) {
	loopback := streamable.Options{Loopback: true}
	public := streamable.Options{Hosts: []string{"Tools.example.com", "10.0.0.5:8801"}}
	tests := []struct {
		host   string
		o      streamable.Options
		served bool
	}{
		{"localhost", loopback, true},
		{"LOCALHOST:8801", loopback, true},
		{"127.0.0.1:8801", loopback, true},
		{"127.0.0.2", loopback, true},
		{"[::1]:8801", loopback, true},
		{"[::1]", loopback, true},
		{"[::ffff:127.0.0.1]:8801", loopback, true},
		{"", loopback, false},
		{"evil.example", loopback, false},
		{"localhost.evil.example", loopback, false},
		{"127.0.0.1.evil.example", loopback, false},
		{"127.1", loopback, false},
		{"0.0.0.0:8801", loopback, false},
		{"[::]:8801", loopback, false},
		{"192.168.1.5:8801", loopback, false},
		{"localhost:8801@evil.example", loopback, false},
		{"tools.example.com", streamable.Options{Loopback: true, Hosts: public.Hosts}, true},
		{"localhost", public, false},
		{"127.0.0.1:8801", public, false},
		{"tools.example.com", public, true},
		{"TOOLS.EXAMPLE.COM:443", public, true},
		{"x.tools.example.com", public, false},
		{"10.0.0.5:8801", public, true},
		{"10.0.0.5:8802", public, false},
		{"10.0.0.5", public, false},
		{"tools.example.com.", public, true},
		{"[2001:db8::1]:9", streamable.Options{Hosts: []string{"[2001:DB8:0::1]"}}, true},
		{"[2001:db8::1]", streamable.Options{Hosts: []string{"2001:db8::1"}}, true},
		{"[2001:db8::1]:9", streamable.Options{Hosts: []string{"[2001:db8::1]:8"}}, false},
		{"x.example.com", streamable.Options{Hosts: []string{"x.example.com."}}, true},
		{"[fe80::1%25eth0]", streamable.Options{Loopback: true}, false},
		{"anything", streamable.Options{Hosts: []string{"*"}}, true},
		{"", streamable.Options{Hosts: []string{"*"}}, false},
	}
	for _, tc := range tests {
		res := ask(t, tc.o, "POST", http.Header{"Host": {tc.host}})
		if served := res.StatusCode == http.StatusOK; served != tc.served || !served && res.StatusCode != http.StatusForbidden {
			t.Errorf("host %q with %+v: %s", tc.host, tc.o, res.Status)
		}
	}
}

func TestOrigins(t *testing.T) {
	loopback := streamable.Options{Loopback: true, Origins: []string{"https://App.example.com", "vscode-webview://abc"}}
	public := streamable.Options{Hosts: []string{"*"}, Origins: loopback.Origins}
	tests := []struct {
		origin string
		o      streamable.Options
		served bool
	}{
		{"http://localhost:6274", loopback, true},
		{"http://127.0.0.1", loopback, true},
		{"https://[::1]:99", loopback, true},
		{"https://app.example.com", loopback, true},
		{"vscode-webview://abc", loopback, true},
		{"http://app.example.com", loopback, false},
		{"https://app.example.com:8443", loopback, false},
		{"https://app.example.com.evil.example", loopback, false},
		{"https://evil.example", loopback, false},
		{"http://localhost.evil.example", loopback, false},
		{"ftp://localhost", loopback, false},
		{"localhost", loopback, false},
		{"null", loopback, false},
		{"file://", loopback, false},
		{"https://app.example.com:443", loopback, true},
		{"http://localhost:6274", public, false},
		{"https://app.example.com", public, true},
	}
	for _, tc := range tests {
		for _, verb := range []string{"POST", "OPTIONS"} {
			res := ask(t, tc.o, verb, http.Header{"Host": {"localhost"}, "Origin": {tc.origin}})
			if served := res.StatusCode < 300; served != tc.served || !served && res.StatusCode != http.StatusForbidden {
				t.Errorf("%s from %q, loopback %t: %s", verb, tc.origin, tc.o.Loopback, res.Status)
			}
			if shared := res.Header.Get("Access-Control-Allow-Origin"); (shared != "") != tc.served || shared != tc.origin && tc.served {
				t.Errorf("%s from %q: the answer is shared with %q", verb, tc.origin, shared)
			}
		}
	}
	if res := ask(t, loopback, "POST", http.Header{"Host": {"localhost"}, "Origin": {"http://localhost", "https://evil.example"}}); res.StatusCode != http.StatusForbidden {
		t.Errorf("two origins: %s", res.Status)
	}
}

// A browser asks without the token, and with the names of headers that it will send.
func TestPreflight(t *testing.T) {
	o := streamable.Options{Loopback: true, Tokens: []streamable.Token{{Name: "a", Secret: "0123456789abcdef"}}}
	res := ask(t, o, "OPTIONS", http.Header{
		"Host": {"localhost"}, "Origin": {"http://localhost:6274"},
		"Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"authorization, mcp-param-path"},
		"Access-Control-Request-Private-Network": {"true"},
	})
	if res.StatusCode != http.StatusNoContent {
		t.Errorf("status %s", res.Status)
	}
	for key, want := range map[string]string{
		"Access-Control-Allow-Methods": "DELETE", "Access-Control-Allow-Headers": "mcp-param-path",
		"Access-Control-Allow-Private-Network": "true", "Access-Control-Expose-Headers": "Mcp-Session-Id", "Vary": "Origin",
	} {
		if got := res.Header.Get(key); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", key, got, want)
		}
	}
	// What is refused for want of a token can be read by the page, which else sees a network error.
	res = ask(t, o, "POST", http.Header{"Host": {"localhost"}, "Origin": {"http://localhost:6274"}})
	if res.StatusCode != http.StatusUnauthorized || res.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("without a token: %s, shared with %q", res.Status, res.Header.Get("Access-Control-Allow-Origin"))
	}
	// A plain OPTIONS, which no browser sends, wants the token like the rest.
	if res := ask(t, o, "OPTIONS", http.Header{"Host": {"localhost"}}); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("OPTIONS without an origin: %s", res.Status)
	}
}

func TestBadOptions(t *testing.T) {
	tests := []struct {
		o    streamable.Options
		want string
	}{
		{streamable.Options{Hosts: []string{"https://a.example"}}, "want a name"},
		{streamable.Options{Hosts: []string{"*.example.com"}}, "want a name"},
		{streamable.Options{Hosts: []string{""}}, "want a name"},
		{streamable.Options{Hosts: []string{"a:b:c"}}, "want a name"},
		{streamable.Options{Hosts: []string{"a:x"}}, "want a name"},
		{streamable.Options{Hosts: []string{"a:"}}, "want a name"},
		{streamable.Options{Origins: []string{"https://a.example#x"}}, "as browsers send it"},
		{streamable.Options{Origins: []string{"https://ä.example"}}, "as browsers send it"},
		{streamable.Options{Tokens: []streamable.Token{{Name: "a\x07", Secret: "0123456789abcdef"}}}, "name"},
		{streamable.Options{Origins: []string{"a.example"}}, "as browsers send it"},
		{streamable.Options{Origins: []string{"https://a.example/"}}, "as browsers send it"},
		{streamable.Options{Origins: []string{"*"}}, "as browsers send it"},
		{streamable.Options{Tokens: []streamable.Token{{Name: "a", Secret: "short"}}}, "at least 16"},
		{streamable.Options{Tokens: []streamable.Token{{Secret: "0123456789abcdef"}}}, "name"},
		{streamable.Options{Tokens: []streamable.Token{{Name: streamable.Anonymous, Secret: "0123456789abcdef"}}}, "name"},
		{streamable.Options{MaxBody: 10, MaxBodies: 5}, "exceed"},
		{streamable.Options{MaxConns: -1}, "negative"},
	}
	for _, tc := range tests {
		_, err := streamable.New(mcp.NewServer(&mcp.Implementation{Name: "x"}, nil), tc.o)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, want %q", tc.o, err, tc.want)
		}
	}
}
