package container_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
)

// held is how many sandboxes the other process holds.
const held = 20

// hold opens sandboxes, says which, and waits to be killed.
func hold(image string) {
	e, err := container.Connect(context.Background(), container.EngineOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	ids := make([]string, held)
	for i := range ids {
		all.Go(func() {
			s, err := e.Open(context.Background(), container.Config{Image: image, Pull: container.PullNever}, nil)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			ids[i] = s.Info.ID
		})
	}
	all.Wait()
	fmt.Println(strings.Join(ids, " "))
	time.Sleep(time.Hour)
}

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
