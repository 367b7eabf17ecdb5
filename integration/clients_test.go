package integration_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestClientsCall(t *testing.T) {
	eachClient(t, []string{fixture(t)}, func(t *testing.T, c client, at target) {
		got := c.drive(t, scenario{target: at, Steps: []step{
			{Do: "list"},
			{Do: "ping"},
			{Do: "call", Tool: "echo", Args: map[string]any{"text": "grüß dich"}},
			{Do: "call", Tool: "count", Args: map[string]any{"text": "four"}},
			{Do: "call", Tool: "fail"},
			{Do: "call", Tool: "boom"},
			{Do: "call", Tool: "no_such_tool"},
		}})
		if n := len(got[0].Result.Tools); n != 7 {
			t.Errorf("tools/list has %d tools, want 7", n)
		}
		if !c.modern && got[1].Error != nil {
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
	const steps = 5
	eachClient(t, []string{fixture(t)}, func(t *testing.T, c client, at target) {
		got := c.drive(t, scenario{target: at, Steps: []step{
			{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 0.6, "steps": steps}, Progress: true},
			{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 0.05, "steps": steps}},
		}})
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
	eachTransport(t, func(t *testing.T, c client, http bool) {
		at := serve(t, http, fixture(t))
		var steps []step
		for _, progress := range []bool{false, true} {
			steps = append(
				steps,
				step{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 20, "steps": 20}, CancelAfterMs: 800, Progress: progress},
				step{Do: "call", Tool: "last_cancel"},
				step{Do: "call", Tool: "echo", Args: map[string]any{"text": "alive"}},
			)
		}
		got := c.drive(t, scenario{target: at, Steps: steps})
		for ; len(got) > 0; got = got[3:] {
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
