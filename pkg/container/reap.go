package container

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"
)

// reapWithin bounds the reaping that comes before the first sandbox.
const reapWithin = 2 * time.Second

// staleAfter is the age at which the volume of another agent is removed.
const staleAfter = 7 * 24 * time.Hour

// Reap removes the sandboxes that a dead process of this machine left behind, and those of
// other machines that are older than their lifetime, and says how many. It removes unused
// volumes of old agents as well. What has a living owner stays.
func (e *Engine) Reap(ctx context.Context) (removed int, err error) {
	all, err := e.api.ContainerList(ctx, container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", labelSandbox+"=1")),
	})
	if err != nil {
		return 0, fmt.Errorf("list sandboxes: %w", err)
	}
	var errs []error
	for _, c := range all {
		if !e.owner.leftBehind(c.Labels, time.Now()) {
			continue
		}
		if err := e.removeContainer(ctx, c.ID); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	errs = append(errs, e.removeOldAgents(ctx, staleAfter))
	return removed, errors.Join(errs...)
}

// reapOnce reaps before the first sandbox. What goes wrong there is no reason not to make one.
func (e *Engine) reapOnce(ctx context.Context) {
	e.reap.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, reapWithin)
		defer cancel()
		e.Reap(ctx)
	})
}

// removeOldAgents removes the volumes of other agents that are older than age. The engine
// refuses to remove one that is in use.
func (e *Engine) removeOldAgents(ctx context.Context, age time.Duration) error {
	list, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelAgent))})
	if err != nil {
		return fmt.Errorf("list volumes of agents: %w", err)
	}
	a, _ := e.agent(ctx)
	for _, v := range list.Volumes {
		created, err := time.Parse(time.RFC3339, v.CreatedAt)
		if err != nil || time.Since(created) < age || v.Name == agentVolume(a) {
			continue
		}
		if err := e.api.VolumeRemove(ctx, v.Name, false); err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
			return fmt.Errorf("remove volume %s: %w", v.Name, err)
		}
	}
	return nil
}

// removeContainer ends and removes a container with its anonymous volumes, and returns when it
// is gone.
func (e *Engine) removeContainer(ctx context.Context, id string) error {
	for {
		err := e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		if errdefs.IsNotFound(err) {
			return nil
		}
		if err != nil && !errdefs.IsConflict(err) { // a conflict: it is being removed
			return fmt.Errorf("remove container %.12s: %w", id, err)
		}
		if _, err := e.api.ContainerInspect(ctx, id); errdefs.IsNotFound(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove container %.12s: %w", id, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
