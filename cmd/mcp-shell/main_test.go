package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is the program, so that scripts run what is shipped.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mcp-shell": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true})
}
