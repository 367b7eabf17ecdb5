package main_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testengine"
)

// The demo shows mcp-shell where an engine answers; where none does it says so, and goes on.
func TestDemo(t *testing.T) {
	tests := map[string]struct {
		host func() string
		want []string
	}{
		"an engine": {
			func() string { return testengine.Docker(t) },
			[]string{"\n== mcp-shell --image " + testengine.Debian(t) + " --pull never\n", "\n-- the next costs milliseconds\n"},
		},
		"none": {
			func() string { return "unix://" + t.TempDir() + "/none.sock" },
			[]string{"no Docker engine answers", "so mcp-shell is left out\n"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("go", "run", "./integration/demo")
			cmd.Dir = "../.."
			cmd.Env = append(cmd.Environ(), "DOCKER_HOST="+test.host())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range append(test.want, "\nall answers are as they should be\n") {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
		})
	}
}
