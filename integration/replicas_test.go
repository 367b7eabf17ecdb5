package integration_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/toolhost/toolhost/integration/load"
)

// replicated returns the URL of two processes of the fixture between which nginx takes
// turns, request by request. To nginx the name of the upstream is the host, unless it is told another.
func replicated(t *testing.T) string {
	t.Helper()
	config := "upstream replicas {\n"
	for range 2 {
		u, err := url.Parse(startHTTP(t, fixture(t), "--allowed-hosts", "public.example"))
		if err != nil {
			t.Fatal(err)
		}
		config += fmt.Sprintf("server %s;\n", u.Host)
	}
	return serveNginx(t, config+"}\nserver { listen LISTEN; location / { proxy_pass http://replicas; proxy_set_header Host public.example; } }") + "/mcp"
}

// From 2026-07-28 on a request needs nothing that another one left behind: replicas need
// neither shared state nor affinity.
func TestReplicas(t *testing.T) {
	c := connect(t, replicated(t), load.Modern)
	const calls = 200
	for range calls {
		if echoes(t, c); t.Failed() {
			return
		}
	}
}

func TestReplicasClients(t *testing.T) {
	node(t)
	at := target{URL: replicated(t)}
	for _, c := range clients {
		if !c.modern {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			steps := []step{{Do: "list"}}
			for range 10 {
				steps = append(steps, step{Do: "call", Tool: "echo", Args: map[string]any{"text": "one of two"}})
			}
			for _, l := range c.drive(t, scenario{target: at, Steps: steps})[1:] {
				if text := l.text(t); text != "one of two" {
					t.Errorf("echo returned %q", text)
				}
			}
		})
	}
}

// A session lives in one process. The other one says so in the way by which clients know
// that they should begin anew; affinity by Mcp-Session-Id is what such clients need.
func TestReplicasWithoutAffinity(t *testing.T) {
	c := &load.Client{URL: replicated(t), Version: load.Legacy}
	opened := c.Open(t.Context()) // fails already where the second request meets the other process
	if c.Session == "" {
		t.Fatalf("there is no session: %v", opened)
	}
	const requests = 10
	served, lost := 0, 0
	for range requests {
		m, err := c.Call(t.Context(), "echo", `{"text":"alive"}`, nil)
		e := new(load.StatusError)
		switch {
		case err == nil && m.Text() == "alive":
			served++
		case errors.As(err, &e) && e.Status == http.StatusNotFound && e.Message.Error != nil && e.Message.Error.Code == -32001:
			lost++
		default:
			t.Errorf("echo: %s, %v, want the text or 404 with code -32001", m.Result, err)
		}
	}
	if served != requests/2 || lost != requests/2 {
		t.Errorf("%d requests were served and %d were not, want half of %d each", served, lost, requests)
	}
}
