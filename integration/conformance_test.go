package integration_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
)

// The versions of the official suite: the last release, and the one that knows 2026-07-28.
const (
	suiteStable = "0.1.16"
	suiteNext   = "0.2.0-alpha.12"
)

// A conformanceRun is one run of a suite against one server.
type conformanceRun struct {
	name    string
	server  func(*testing.T) []string // its command line
	version string                    // of the suite
	args    []string                  // that choose the scenarios
	only    []string                  // the scenarios that count; nil: all
	known   []excuse                  // what does not pass, and why

	// How much there is in these versions of the suite. Less means that something was not
	// looked at, which a suite does not always call a failure.
	scenarios, passed int
}

var conformanceRuns = []conformanceRun{
	{
		name: "stable", server: conformanceServer, version: suiteStable,
		args: []string{"--suite", "all"}, known: fixtureStable, scenarios: 32, passed: 44,
	},
	{
		name: "next 2025-11-25", server: conformanceServer, version: suiteNext,
		args: []string{"--requirements", "2025-11-25"}, known: fixture2025, scenarios: 33, passed: 82,
	},
	{
		name: "next 2026-07-28", server: conformanceServer, version: suiteNext,
		args: []string{"--requirements", "2026-07-28"}, known: fixture2026, scenarios: 50, passed: 165,
	},
	{
		name: "mcp-files stable", server: filesServer, version: suiteStable,
		args: []string{"--suite", "all"}, known: filesStable, scenarios: 9, passed: 10,
		only: legacyScenarios,
	},
	{
		name: "mcp-files next 2025-11-25", server: filesServer, version: suiteNext,
		args: []string{"--requirements", "2025-11-25"}, known: files2025, scenarios: 10, passed: 21,
		only: append([]string{"server-session-lifecycle"}, legacyScenarios...),
	},
	{
		name: "mcp-files next 2026-07-28", server: filesServer, version: suiteNext,
		args: []string{"--requirements", "2026-07-28"}, known: files2026, scenarios: 11, passed: 65,
		only: modernScenarios,
	},
}

// legacyScenarios and modernScenarios are those that ask for no tool, prompt or resource by
// name, so that every server can be put to them.
var (
	legacyScenarios = []string{
		"dns-rebinding-protection", "logging-set-level", "ping", "prompts-list", "resources-list",
		"server-initialize", "server-sse-multiple-streams", "server-sse-polling", "tools-list",
	}
	modernScenarios = []string{
		"caching", "dns-rebinding-protection", "http-header-validation",
		"input-required-result-unsupported-methods", "input-required-result-validate-input",
		"prompts-list", "resources-list", "sep-2164-resource-not-found",
		"server-sse-multiple-streams", "server-stateless", "tools-list",
	}
)

func conformanceServer(t *testing.T) []string {
	return []string{binary(t, "integration/conformance")}
}

func filesServer(t *testing.T) []string {
	return []string{binary(t, "cmd/mcp-files"), "--root", t.TempDir()}
}

func TestConformance(t *testing.T) {
	node(t)
	for _, r := range conformanceRuns {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			server := r.server(t)
			got := r.run(t, startHTTP(t, server[0], server[1:]...))
			if len(got.scenarios) != r.scenarios || got.passed != r.passed {
				t.Errorf("%d scenarios with %d passed checks, want %d with %d; there are %s",
					len(got.scenarios), got.passed, r.scenarios, r.passed, strings.Join(got.scenarios, ", "))
			}
			for _, complaint := range compareFindings(got.findings, r.known) {
				t.Error(complaint)
			}
		})
	}
}

// run runs the suite against the server at url. The suite's own verdict is of no use, it
// knows scenarios only: its results are read instead.
func (r conformanceRun) run(t *testing.T, url string) suiteResult {
	t.Helper()
	program := filepath.Join("clients", "node_modules", "@modelcontextprotocol", "conformance-"+r.version, "dist", "index.js")
	program = testneed.Files(t, program, "make clients")
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{program, "server", "--url", url, "-o", dir}, r.args...)
	out, runErr := exec.CommandContext(ctx, node(t), args...).CombinedOutput()
	got, err := readResults(dir, func(scenario string) bool { return r.only == nil || slices.Contains(r.only, scenario) })
	if err != nil {
		t.Fatalf("conformance %s: %v; it ended with: %v\n%s", r.version, err, runErr, out)
	}
	return got
}
