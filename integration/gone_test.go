package integration_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// goneTime is how soon the work for a client must end once its connection is gone.
const goneTime = time.Second

// A client that dies cancels nothing, and its work has to end all the same. The server has
// to notice by itself: the call has one step only, so that nothing is written meanwhile.
func TestClientsGone(t *testing.T) {
	eachTransport(t, func(t *testing.T, c client, http bool) {
		log := filepath.Join(t.TempDir(), "slow.log")
		at := serve(t, http, fixture(t), "--slow-log", log)
		ctx, cancel := context.WithCancel(t.Context())
		cmd := c.command(ctx, t, scenario{target: at, Steps: []step{
			{Do: "call", Tool: "slow", Args: map[string]any{"seconds": 30, "steps": 1}, Progress: true},
		}})
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cancel()
		waitForText(t, log, "slow began", patience)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		gone := time.Now()
		if http {
			waitForText(t, log, "slow was cancelled", goneTime)
			return
		}
		// A server over stdio ends with its client. It holds the client's standard error, so
		// Wait waits for both.
		cmd.Wait()
		if took := time.Since(gone); took > goneTime {
			t.Errorf("the server was gone %s after its client\n%s", took, &output)
		}
	})
}

// waitForText waits until a file holds text.
func waitForText(t *testing.T, name, text string, limit time.Duration) {
	t.Helper()
	var data []byte
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		data, _ = os.ReadFile(name) // it is there once it is needed
		if strings.Contains(string(data), text) {
			return
		}
	}
	t.Fatalf("%s later there is no %q in %q", limit, text, data)
}
