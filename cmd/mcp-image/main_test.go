package main

import (
	"flag"
	"net/http/httptest"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

var update = flag.Bool("update", false, "write the texts of calls into the scripts")

// The test binary is the program, so that scripts run what is shipped.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mcp-image": main})
}

func TestScripts(t *testing.T) {
	upstream := httptest.NewServer(openaitest.New("sk-right"))
	t.Cleanup(upstream.Close) // scripts go on after Run
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("UPSTREAM", upstream.URL+"/v1")
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			return nil
		},
	})
}
