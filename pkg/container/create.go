package container

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// How long an engine may take to make a container, and to remove one that nobody uses yet.
const (
	createWithin  = time.Minute
	discardWithin = 5 * time.Second
)

// create makes a container and does not start it. It is not cancelled half-way: then nobody
// would know the container that the engine makes all the same.
func (e *Engine) create(ctx context.Context, c *container.Config, h *container.HostConfig) (id string, err error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createWithin)
	defer cancel()
	tag := make([]byte, 6)
	rand.Read(tag) // never fails
	made, err := e.api.ContainerCreate(ctx, c, h, nil, nil, "toolhost-"+hex.EncodeToString(tag))
	if err != nil {
		return "", e.createError(c, h, err)
	}
	return made.ID, nil
}

// createError says what of a configuration the engine does not take.
func (e *Engine) createError(c *container.Config, h *container.HostConfig, err error) error {
	text := err.Error()
	switch {
	case h.Runtime != "" && strings.Contains(strings.ToLower(text), "runtime"):
		return configError(err, "the engine has no runtime %q", h.Runtime)
	case errdefs.IsNotFound(err) && strings.Contains(text, "No such image"):
		return &ImageError{Image: c.Image, Pull: PullNever, Why: "it was removed from the engine just now", Err: err}
	case strings.Contains(text, "bind source path does not exist"), strings.Contains(text, "Mounts denied"):
		return configError(err, "the engine cannot mount a directory: %s", engineSays(err))
	case errdefs.IsInvalidArgument(err):
		return configError(err, "the engine does not make such a sandbox: %s", engineSays(err))
	}
	return fmt.Errorf("create a container: %w", err)
}

// engineSays returns the first line of an error of the engine, without what the client puts
// before it.
func engineSays(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(line, "Error response from daemon: ")
}

// startError tells an agent that cannot run from a container that cannot.
func (e *Engine) startError(s spec, err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "uids and gids must be in range"), strings.Contains(text, "unable to find user"), strings.Contains(text, "unable to find group"), strings.Contains(text, "no matching entries in"):
		return configError(err, "the image does not know the user %q; hint: a uid, or uid:gid, needs no entry", s.config.User)
	case s.config.Entrypoint[0] != agentPath && strings.Contains(text, s.config.Entrypoint[0]):
		return fmt.Errorf("the image has no %s that runs: %w", s.config.Entrypoint[0], err)
	case strings.Contains(text, agentPath), strings.Contains(text, "exec format error"):
		return &agentStartError{why: agentTrouble(err), err: err}
	case strings.Contains(text, "mount"):
		if target := s.targetIn(text); target != "" {
			return configError(err, "nothing can be mounted at %s in this image: what is there, or above it, is no directory or cannot be written", target)
		}
	}
	if s.host.Runtime != "" && strings.Contains(strings.ToLower(text), "runtime") {
		return configError(err, "the runtime %q cannot start a container: %s", s.host.Runtime, engineSays(err))
	}
	return fmt.Errorf("start a container: %w", err)
}

// targetIn returns the longest target of a mount that text names, or "".
func (s spec) targetIn(text string) (longest string) {
	targets := slices.Collect(maps.Keys(s.host.Tmpfs))
	for _, m := range s.host.Mounts {
		targets = append(targets, m.Target)
	}
	for _, t := range targets {
		if t != agentDir && len(t) > len(longest) && strings.Contains(text, t) {
			longest = t
		}
	}
	return longest
}

// agentTrouble finds the reason in what a runtime says.
func agentTrouble(err error) string {
	for _, reason := range []string{"no such file or directory", "permission denied", "exec format error"} {
		if strings.Contains(err.Error(), reason) {
			return reason
		}
	}
	return engineSays(err)
}

// discard removes a container that nobody uses yet, also when ctx has ended.
func (e *Engine) discard(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardWithin)
	defer cancel()
	e.removeContainer(ctx, id) // the reaper of the next server gets it otherwise
}
