package container_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
	"github.com/toolhost/toolhost/internal/testleak"
)

// TestMain serves as other programs where tests start this one again, and wants nothing left
// of what tests make.
func TestMain(m *testing.M) {
	if socket := os.Getenv("RELAY"); socket != "" {
		relay(socket)
		return
	}
	if image := os.Getenv("HOLD"); image != "" {
		hold(image)
		return
	}
	code := testleak.Run(m)
	if err := testengine.Left(engineapi.Host(), fmt.Sprintf("toolhost.pid=%d", os.Getpid())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
