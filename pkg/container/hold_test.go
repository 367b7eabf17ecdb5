package container_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// startHolder starts this program again as one that holds sandboxes, and returns their ids.
func startHolder(t *testing.T, image string) (*os.Process, []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "HOLD="+image)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be dead
		_ = cmd.Wait()         // killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the other process says nothing: %v", err)
	}
	return cmd.Process, strings.Fields(line)
}
