package shelltool_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
	"github.com/toolhost/toolhost/internal/testleak"
)

// TestMain wants nothing left of what tests make, containers included.
func TestMain(m *testing.M) {
	code := testleak.Run(m)
	if err := testengine.Left(engineapi.Host(), fmt.Sprintf("toolhost.pid=%d", os.Getpid())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
