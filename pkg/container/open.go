package container

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/pkg/container/agents"
)

// Open makes a sandbox. Pulling its image, where the policy says so, is reported line by line;
// report may be nil. Several calls that need the same pull share it, and it goes on when the one
// that began it is cancelled. Before the first sandbox it removes what dead owners left.
//
// A configuration that cannot be is a [*ConfigError], an image that cannot be had an
// [*ImageError].
func (e *Engine) Open(ctx context.Context, c Config, report func(line string)) (*Sandbox, error) {
	c = c.withDefaults()
	s, err := e.prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	e.reapOnce(ctx)
	imageID, err := e.image(ctx, c, report)
	if err != nil {
		return nil, err
	}
	s.config.Image = imageID
	info := Info{
		Image: c.Image, ImageID: imageID, User: s.config.User, Dir: c.Dir,
		Runtime: c.Runtime, Network: c.Network, Profile: c.Profile,
	}
	b, id, err := e.openWithAgent(ctx, c, s)
	if cannotRun(err) && ctx.Err() == nil {
		info.Degraded = err.Error() + ": commands run by docker exec, which is slower, cannot list what a command leaves running, and at a timeout misses a process that clears its environment"
		if b, id, err = e.openForExec(ctx, c, s); err != nil {
			return nil, fmt.Errorf("open a sandbox: %s; and docker exec does not do either: %w", info.Degraded, err)
		}
	}
	if err != nil {
		return nil, err
	}
	info.ID = id
	return &Sandbox{Backend: b, Info: info}, nil
}

// Check says what is wrong with c as far as that can be said before anything is pulled or
// made; see [Engine.Open].
func (e *Engine) Check(ctx context.Context, c Config) error {
	_, err := e.prepare(ctx, c.withDefaults())
	return err
}

// prepare finds what is wrong with c before anything is pulled or made.
func (e *Engine) prepare(ctx context.Context, c Config) (spec, error) {
	if err := c.check(); err != nil {
		return spec{}, err
	}
	facts, err := e.known(ctx)
	if err != nil {
		return spec{}, err
	}
	if facts.OSType != "linux" {
		return spec{}, fmt.Errorf("the engine runs %s containers, and sandboxes are Linux", facts.OSType)
	}
	// An engine refuses more CPUs than it has, and any limit on them that it cannot set.
	if !facts.CPUCfsQuota {
		c.CPUs = 0
	} else if facts.NCPU > 0 {
		c.CPUs = min(c.CPUs, float64(facts.NCPU))
	}
	return e.spec(c, isRootless(facts))
}

// openWithAgent makes a sandbox with the agent in it, and returns the id of its container. An
// agent that does not start, or is another one, is put into its volume again: the volume may
// have been made by somebody who is not done, or did not get that far.
func (e *Engine) openWithAgent(ctx context.Context, c Config, s spec) (b Backend, id string, err error) {
	a, err := e.agent(ctx)
	if err != nil {
		return nil, "", err
	}
	if err := e.provide(ctx, a, s.config.Image); err != nil {
		return nil, "", err
	}
	b, id, err = e.startAgent(ctx, c, s, a)
	if !cannotRun(err) || ctx.Err() != nil {
		return b, id, err
	}
	if err := e.fill(ctx, a, s.config.Image); err != nil {
		return nil, "", err
	}
	return e.startAgent(ctx, c, s, a)
}

func (e *Engine) startAgent(ctx context.Context, c Config, s spec, a agents.Agent) (Backend, string, error) {
	h := &dockerHost{engine: e, spec: s.running([]string{agentPath}, agentMount(a, true)), settle: func() {}}
	defer func() { h.settle() }()
	can := Abilities{ExactKill: true, Jobs: true, OOM: true, Isolated: true}
	b, err := newAgentBackend(ctx, h, agentOptions{name: "agent", can: can, dir: c.Dir, build: a.Build, mounts: s.seen})
	if err != nil {
		return nil, "", h.explain(err)
	}
	return b, h.id, nil
}

// openForExec makes a sandbox in which commands run by docker exec.
func (e *Engine) openForExec(ctx context.Context, c Config, s spec) (b Backend, id string, err error) {
	h := &dockerHost{engine: e, spec: s.running(keeper), settle: func() {}}
	defer func() { h.settle() }()
	if b, err = newExecBackend(ctx, h, c.Dir); err != nil {
		return nil, "", err
	}
	return b, h.id, nil
}

// cannotRun reports whether err says that the agent cannot run in a container, which others
// may.
func cannotRun(err error) bool {
	var start *agentStartError
	var stale *staleAgentError
	return errors.As(err, &start) || errors.As(err, &stale) || errors.Is(err, errNoAgent)
}
