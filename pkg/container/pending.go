package container

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// What stands here comes from elsewhere soon.

type agentFile struct {
	build string
	bytes func() ([]byte, error)
}

func agentFor(string) (agentFile, bool) {
	data, err := os.ReadFile(os.Getenv("TRIAL_AGENT"))
	if err != nil {
		return agentFile{}, false
	}
	return agentFile{build: fmt.Sprintf("%x", sha256.Sum256(data)), bytes: func() ([]byte, error) { return data, nil }}, true
}

type agentOptions struct {
	name  string
	can   Abilities
	dir   string
	build string
}

type staleAgentError struct{ got, want string }

func (e *staleAgentError) Error() string { return "stale agent" }

type trialBackend struct {
	Backend
	h host
	s stream
}

func (b *trialBackend) Close() error { return b.h.remove(context.Background()) }

func newAgentBackend(ctx context.Context, h host, o agentOptions) (Backend, error) {
	b := &trialBackend{h: h}
	var err error
	if b.s, err = h.start(ctx); err == nil {
		err = b.hello(o.build)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *trialBackend) hello(build string) error {
	protocol.Frame{Kind: protocol.Hello, ID: 1}.WriteTo(b.s)
	f, err := protocol.Read(b.s)
	if err != nil {
		return err
	}
	var g protocol.Greeting
	if err := f.Decode(&g); err != nil {
		return err
	}
	if g.Build != build {
		return &staleAgentError{g.Build, build}
	}
	return nil
}

func newExecBackend(context.Context, *Engine, Config, string) (Backend, error) {
	return nil, errors.New("not built yet")
}

// OpenLocal is not built yet.
func OpenLocal(ctx context.Context, c Config) (*Sandbox, error) {
	return nil, errors.New("not built yet")
}
