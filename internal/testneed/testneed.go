// Package testneed is how a test says that it needs something a machine may lack: a
// program, root, files that a build step makes.
//
// Where the thing is missing the test is skipped with a line that says what to install.
// With REQUIRE_ALL=1 in the environment (.ci/run sets it) it fails instead, so that CI cannot
// pass by leaving tests out; with REQUIRE_DOCKER=1 for want of a Docker engine only. This is the only place that skips tests; it installs nothing.
package testneed

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The environment variables that turn skips into failures, all of them or those of tests that
// need a Docker engine.
const (
	requireAll    = "REQUIRE_ALL"
	requireDocker = "REQUIRE_DOCKER"
)

// Tool returns the path of the executable name, looked up in PATH.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "the program "+name, "install it and put it in PATH")
	}
	return path
}

// Root wants the test to run as root.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Missing(t, "root", "run the tests as root")
	}
}

// Files wants path to exist and returns it as an absolute path. The hint says what makes it.
func Files(t testing.TB, path, hint string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(abs); err != nil {
		Missing(t, path, hint)
	}
	return abs
}

// Missing ends the test: what is missing, and the hint says how to get it. It is for needs
// that the other functions do not know.
func Missing(t testing.TB, what, hint string) {
	t.Helper()
	missing(t, what, hint, requireAll)
}

// MissingDocker is Missing for a Docker engine and what it has to have.
func MissingDocker(t testing.TB, what, hint string) {
	t.Helper()
	missing(t, what, hint, requireAll, requireDocker)
}

func missing(t testing.TB, what, hint string, require ...string) {
	t.Helper()
	for _, name := range require {
		if os.Getenv(name) == "1" {
			t.Fatalf("%s is missing, and %s=1 asks for it; hint: %s", what, name, hint)
		}
	}
	t.Skipf("%s is missing; hint: %s", what, hint)
}
