package container_test

import (
	"errors"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testengine"
	"github.com/toolhost/toolhost/pkg/container"
)

// An engine that goes away takes its sandboxes with it: who waits for a command is told, and the
// next sandbox is made by the engine that comes after it.
func TestEngineRestarted(t *testing.T) {
	own := testengine.Private(t, testengine.Busybox(t))
	e := connectTo(t, own.Host)
	for name, end := range map[string]func(){"stopped": own.Stop, "killed": own.Kill} {
		t.Run(name, func(t *testing.T) {
			s, err := e.Open(t.Context(), busybox(t, container.Config{}), nil)
			if err != nil {
				t.Fatal(err)
			}
			ran := make(chan error, 1)
			started := make(chan struct{}, 1)
			go func() {
				_, err := s.Run(t.Context(), container.Command{Argv: []string{"sleep", "1000"}, Timeout: time.Hour, Limit: 1000},
					func(container.Progress) {
						select {
						case started <- struct{}{}:
						default:
						}
					})
				ran <- err
			}()
			<-started
			end()
			select {
			case err := <-ran:
				if !errors.As(err, new(*container.LostError)) {
					t.Errorf("the command ended with %v, want a LostError", err)
				}
			case <-time.After(3 * soon):
				t.Fatal("the command goes on")
			}
			<-s.Done()
			own.Start()
			if err := s.Close(); err != nil {
				t.Errorf("close what is lost: %v", err)
			}
			testengine.NoLeaks(t, own.Host, "toolhost.sandbox")
			if got := output(t, sandbox(t, e, busybox(t, container.Config{})), "echo works"); got != "works" {
				t.Errorf("a command says %q", got)
			}
		})
	}
}
