package container_test

import (
	"testing"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/container/backendtest"
)

func TestLocalBackend(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) container.Backend {
		s, err := container.OpenLocal(t.Context(), container.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
