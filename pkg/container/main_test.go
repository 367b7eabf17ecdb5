package container_test

import (
	"fmt"
	"io"
	"net"
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

// relay is what the test program does where it stands in for ssh: it passes bytes on, as
// docker system dial-stdio does.
func relay(socket string) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(c, os.Stdin)
		os.Exit(0)
	}()
	_, _ = io.Copy(os.Stdout, c)
}
