package integration_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/integration/load"
)

// openSandboxes opens n sessions at once and runs a command in each, so that each has a sandbox.
func openSandboxes(ctx context.Context, t *testing.T, url string, n int) {
	t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			c := &load.Client{URL: url, Version: load.Legacy}
			if errs[i] = c.Open(ctx); errs[i] != nil {
				return
			}
			m, err := c.Call(ctx, "shell", `{"commands":["sleep 1000 & echo up"]}`, nil)
			if err == nil && m.Text() == "" {
				err = fmt.Errorf("session %d: %s", i, m.Result)
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// receive waits for a value.
func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatalf("nothing came within %s", patience)
	}
	return v
}
