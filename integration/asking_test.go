package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
)

// careful is a fixture that asks about everything, and the file where each run of slow leaves a
// line.
func careful(t *testing.T, http bool) (at target, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "runs")
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(`{version: 1, default: deny, rules: [{id: ask-first, effect: ask, tools: ["*"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return serve(t, http, fixture(t), "--policy", policy, "--slow-log", log), log
}

// runsIn returns how often slow has run.
func runsIn(t *testing.T, log string) int {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "slow began")
}

// decisions are what a person may decide. A no does not run, in words that the model can read.
var decisions = []struct {
	action  string
	isError bool
	want    string
}{
	{"decline", true, "did not approve it. Nothing was done"},
	{"cancel", true, "no decision, since the question was dismissed. Nothing was done"},
	{"accept", false, "1 steps"},
}

// Each question is asked once, and the one yes among the answers is one run.
func TestClientsAreAsked(t *testing.T) {
	eachTransport(t, func(t *testing.T, c client, http bool) {
		if c.unaskable {
			return
		}
		at, log := careful(t, http)
		var steps []step
		for _, a := range decisions {
			steps = append(steps, step{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 0.01}, Answer: a.action})
		}
		got := c.drive(t, scenario{target: at, Answers: true, Steps: steps})
		for i, a := range decisions {
			if text := got[i].text(t); !strings.Contains(text, a.want) || got[i].Result.IsError != a.isError {
				t.Errorf("%s: isError %v: %s", a.action, got[i].Result.IsError, text)
			}
			if asked := got[i].Asked; len(asked) != 1 || !strings.Contains(asked[0], `{"seconds":0.01}`) {
				t.Errorf("%s: it was asked %q", a.action, asked)
			}
		}
		if n := runsIn(t, log); n != 1 {
			t.Errorf("%d runs", n)
		}
	})
}

// Of who cannot be asked the call is refused, as a result that every client takes.
func TestClientsThatCannotBeAsked(t *testing.T) {
	eachTransport(t, func(t *testing.T, c client, http bool) {
		at, log := careful(t, http)
		got := c.drive(t, scenario{target: at, Steps: []step{{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 0.01}}}})
		text := got[0].text(t)
		if !got[0].Result.IsError || !strings.Contains(text, "this client cannot be asked (it does not declare elicitation)") || !strings.Contains(text, "rule ask-first") {
			t.Errorf("isError %v: %s", got[0].Result.IsError, text)
		}
		if n := runsIn(t, log); n != 0 {
			t.Errorf("%d runs", n)
		}
	})
}

// Inspector's one-shot command line declares no elicitation.
func TestInspectorIsNotAsked(t *testing.T) {
	for name, http := range map[string]bool{"stdio": false, "http": true} {
		at, log := careful(t, http)
		for _, era := range inspectorEras {
			t.Run(name+"/"+era, func(t *testing.T) {
				got := inspect(t, at, "--protocol-era", era, "--method", "tools/call", "--tool-name", "slow", "--tool-args-json", `{"seconds":0.01}`)
				if got.exit != inspectorToolError || !strings.Contains(got.stdout, "this client cannot be asked") || runsIn(t, log) != 0 {
					t.Errorf("exit code %d after %d runs:\n%s\n%s", got.exit, runsIn(t, log), got.stdout, got.stderr)
				}
			})
		}
	}
}

// An mcpdo is Inspector's command line for a connection that stays: a person decisions questions
// with it.
type mcpdo struct {
	t    *testing.T
	home string
}

// run runs one of its commands, and returns what it prints.
func (m mcpdo) run(args ...string) (stdout, stderr string) {
	m.t.Helper()
	script := testneed.Files(m.t, filepath.Join("clients", "node_modules", ".bin", "mcpdo"), "make clients")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.t.Context()), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(m.t), append([]string{script, "--format", "json", "--connection", "careful"}, args...)...)
	cmd.Env = append(
		cmd.Environ(), compileCache(), "HOME="+m.home, "MCP_INSPECTOR_SECRET_STORE=memory",
		"MCP_INSPECTOR_DAEMON_DIR="+m.home, "MCP_INSPECTOR_DAEMON_TOKEN=0123456789abcdef0123456789abcdef",
	)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		m.t.Fatalf("mcpdo %q: %v\n%s\n%s", args, err, &out, &errs)
	}
	return out.String(), errs.String()
}

// connect begins a connection, which ends with the test, as does the process that holds it.
func connectMcpdo(t *testing.T, at target, era string) mcpdo {
	t.Helper()
	home, err := os.MkdirTemp("", "mcpdo") // short: it holds a socket
	if err != nil {
		t.Fatal(err)
	}
	m := mcpdo{t, home}
	t.Cleanup(func() {
		m.run("daemon", "stop")
		os.RemoveAll(home)
	})
	args := []string{"connect", "--era", era, "--elicit", "form"}
	if at.URL != "" {
		args = append(args, "--transport", "http", "--server-url", at.URL)
	} else {
		args = append(append(args, "--", at.Command), at.Args...)
	}
	out, errs := m.run(args...)
	if want := `"protocolEra": "` + era + `"`; !strings.Contains(out, want) {
		t.Fatalf("connect, want %s: %s\n%s", want, out, errs)
	}
	return m
}

func TestMcpdoIsAsked(t *testing.T) {
	node(t)
	for name, http := range map[string]bool{"stdio": false, "http": true} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(name+"/"+era, func(t *testing.T) {
				t.Parallel()
				at, log := careful(t, http)
				m := connectMcpdo(t, at, era)
				for _, a := range decisions {
					before := runsIn(t, log)
					out, errs := m.run("tools/call", "slow", `{"seconds":0.01}`)
					var asked struct {
						ElicitationPending struct{ ElicitationID, Message string }
					}
					if err := json.Unmarshal([]byte(out), &asked); err != nil || !strings.Contains(asked.ElicitationPending.Message, "May this run? slow") {
						t.Fatalf("it was not asked: %v: %s\n%s", err, out, errs)
					}
					answer := map[string]string{"accept": "{}", "decline": "--decline", "cancel": "--cancel"}[a.action]
					out, errs = m.run("elicitation/respond", asked.ElicitationPending.ElicitationID, answer)
					if !strings.Contains(out, a.want) || strings.Contains(out, `"isError": true`) != a.isError {
						t.Errorf("%s: %s\n%s", a.action, out, errs)
					}
					if ran := runsIn(t, log) > before; ran == a.isError {
						t.Errorf("%s: ran %v", a.action, ran)
					}
				}
				if n := runsIn(t, log); n != 1 {
					t.Errorf("%d runs", n)
				}
			})
		}
	}
}
