package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the texts of refused calls into the scripts")

// The test binary is the program, so that scripts run what is shipped.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mcp-patch": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			// Scripts are text, so this file cannot stand in one.
			return os.WriteFile(filepath.Join(e.WorkDir, "nul"), []byte("x\x00\n"), 0o644)
		},
	})
}
