// Package integration_test runs the programs of the suite as their users do: the real
// binaries, by the clients of others and by plain JSON-RPC.
//
// What needs Node is driven by the scripts in clients; `make clients` installs what they
// need, the tests install nothing.
package integration_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// binDir holds the binaries built by binary, for this run of the tests.
var binDir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "toolhost-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binDir = dir
	if err := manyAtOnce(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// manyAtOnce lets more parallel tests run than there are processors, since most of them
// wait for processes that wait. An explicit -parallel stands.
func manyAtOnce() error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
}

// builds holds a function for each package that builds it once.
var builds sync.Map

// binary builds the program in a folder of this repository, such as cmd/mcp-files, once a
// run, and returns its path.
func binary(t testing.TB, folder string) string {
	t.Helper()
	once, _ := builds.LoadOrStore(folder, sync.OnceValues(func() (string, error) { return build(folder) }))
	path, err := once.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func build(folder string) (string, error) {
	path := filepath.Join(binDir, filepath.Base(folder))
	out, err := exec.Command("go", "build", "-o", path, "../"+folder).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", folder, err, out)
	}
	return path, nil
}

// fixture is the server whose tools do what tests want to see handled.
func fixture(t testing.TB) string {
	t.Helper()
	return binary(t, "integration/fixture")
}
