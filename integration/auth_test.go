package integration_test

import (
	"strings"
	"testing"
)

// token is the one of serveWithToken.
const token = "correct-horse-battery-staple"

func serveWithToken(t *testing.T) (url string) {
	t.Helper()
	return startHTTPEnv(t, []string{"MCP_FIXTURE_TOKEN=" + token}, fixture(t))
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
		{"wrong", "Bearer x" + token, "the bearer token is not known here"},
	}
	for _, c := range clients {
		if c.stdioOnly {
			continue
		}
		for _, tc := range tests {
			t.Run(c.name+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				at := target{URL: url, Headers: map[string]string{"Authorization": tc.authorization}}
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
		name, era, authorization string
		exit                     int
	}{
		{"right, legacy", "legacy", "Bearer " + token, 0},
		{"right, modern", "modern", "Bearer " + token, 0},
		{"wrong", "auto", "Bearer x" + token, inspectorNoAuth},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			at := target{URL: url, Headers: map[string]string{"Authorization": tc.authorization}}
			got := inspect(t, at, "--protocol-era", tc.era, "--method", "tools/list")
			if got.exit != tc.exit {
				t.Errorf("exit code %d, want %d\n%s\n%s", got.exit, tc.exit, got.stdout, got.stderr)
			}
		})
	}
}
