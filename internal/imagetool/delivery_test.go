package imagetool_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// overHTTP serves h over HTTP too, and returns a function that sends a call of 2026-07-28.
func overHTTP(t *testing.T, h *harness) (send func(accept string) *http.Response) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.server.ServeHTTP(ctx, l, streamable.Options{Loopback: true}) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		must(t, <-served)
	})
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"image_generation","arguments":{"prompt":"a house"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	return func(accept string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+"/mcp", strings.NewReader(body))
		must(t, err)
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": accept, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "image_generation"} {
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		must(t, err)
		return res
	}
}

// A result of which a client took only a part goes to the repeat of the call; one that arrived
// does not, and the same call is a new one.
func TestUndelivered(t *testing.T) {
	for name, accept := range map[string]string{"as JSON": "application/json", "as events": "application/json, text/event-stream"} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.do = func(context.Context, provider.Request, func(provider.Event)) (*provider.Result, error) {
				r := pictures(1)
				r.Images[0].Data = append(r.Images[0].Data, make([]byte, 20<<20)...) // more than a system holds for a reader
				return r, nil
			}
			h := newHarness(t, options{provider: f, flags: append([]string{"result-format=openai"}, elsewhere...)})
			send := overHTTP(t, h)
			for range 2 {
				res := send(accept)
				_, err := io.ReadFull(res.Body, make([]byte, 100<<10))
				must(t, err)
				must(t, res.Body.Close())
			}
			whole := func() string {
				res := send(accept)
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				must(t, err)
				if len(body) < 20<<20 || !strings.Contains(string(body[len(body)-1000:]), "completed") {
					t.Errorf("the answer has %d bytes", len(body))
				}
				return string(body)
			}
			whole()
			if n := len(f.requests()); n != 1 {
				t.Errorf("%d pictures were made for a call that was repeated", n)
			}
			whole()
			if n := len(f.requests()); n != 2 {
				t.Errorf("%d pictures were made when it was called anew, want 2", n)
			}
		})
	}
}
