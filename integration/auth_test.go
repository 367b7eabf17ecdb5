package integration_test

import (
	"strings"
	"testing"
)

// token is the one of serveWithToken.
const token = "correct-horse-battery-staple"

func serveWithToken(t *testing.T) (url string) {
	t.Helper()
	return serveHTTPEnv(t, []string{"MCP_FIXTURE_TOKEN=" + token}, fixture(t))
}

// withAuthorization returns the server at url for clients that send the header, if any.
func withAuthorization(url, header string) target {
	at := target{URL: url}
	if header != "" {
		at.Headers = map[string]string{"Authorization": header}
	}
	return at
}

// A server with a token serves who shows it, and others learn what they lack.
func TestClientsToken(t *testing.T) {
	node(t)
	url := serveWithToken(t)
	tests := []struct {
		name, authorization string
		want                string // part of the error; empty: it is served
	}{
		{"right", "Bearer " + token, ""},
		{"wrong", "Bearer " + strings.Repeat("x", len(token)), "the bearer token is not known here"},
		{"none", "", "a bearer token is wanted"},
	}
	for _, c := range clients {
		if c.stdioOnly {
			continue
		}
		for _, tc := range tests {
			t.Run(c.name+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				at := withAuthorization(url, tc.authorization)
				got := c.play(t, scenario{target: at, Steps: []step{{Do: "call", Tool: "echo", Args: map[string]any{"text": "hello"}}}})
				if tc.want != "" {
					if c.modern {
						tc.want = "HTTP 401" // what this library says instead of passing on our text
					}
					if e := got[0].Error; len(got) != 1 || e == nil || !strings.Contains(e.Message, tc.want) {
						t.Errorf("connecting: %+v, want the error %q", e, tc.want)
					}
					return
				}
				if len(got) != 3 || got[1].text(t) != "hello" {
					t.Errorf("with the right token: %+v", got)
				}
			})
		}
	}
}

func TestInspectorToken(t *testing.T) {
	node(t)
	url := serveWithToken(t)
	tests := []struct {
		name, authorization string
		exit                int
	}{
		{"right", "Bearer " + token, 0},
		{"wrong", "Bearer x" + token, inspectorNoAuth},
	}
	for _, tc := range tests {
		for _, era := range inspectorEras {
			t.Run(tc.name+"/"+era, func(t *testing.T) {
				t.Parallel()
				got := inspect(t, withAuthorization(url, tc.authorization), "--protocol-era", era, "--method", "tools/list")
				if got.exit != tc.exit {
					t.Errorf("exit code %d, want %d\n%s\n%s", got.exit, tc.exit, got.stdout, got.stderr)
				}
			})
		}
	}
}
