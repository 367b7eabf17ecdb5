package container_test

import (
	"testing"

	"github.com/toolhost/toolhost/pkg/container"
)

// A restart is not raced by the end of the stream that a container lives by.
func TestManyRestarts(t *testing.T) {
	s := sandbox(t, engine(t), busybox(t, container.Config{}))
	for range 20 {
		output(t, s, "sleep 100 >/dev/null 2>&1 &")
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
