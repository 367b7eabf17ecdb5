package container

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
	"github.com/toolhost/toolhost/pkg/container/agents"
)

// Where the agent is in a sandbox.
const (
	agentDir  = "/.mcp"
	agentPath = agentDir + "/agent"
)

// The agent lies in a volume, one for each build, that all sandboxes of an engine mount
// read-only: nothing is copied for a sandbox, and nobody inside can change it. Whoever misses
// the volume makes it. Several may do so at once: the file gets its name only when it is
// whole, and a start that finds none is tried again (see Engine.openWithAgent).

// agentVolume returns the name of the volume for a.
func agentVolume(a agents.Agent) string { return "toolhost-agent-" + a.SHA256[:min(16, len(a.SHA256))] }

// agentMount returns the volume as a sandbox sees it. The labels count where the engine has to
// make the volume because somebody removed it.
func agentMount(a agents.Agent, readOnly bool) mount.Mount {
	return mount.Mount{
		Type: mount.TypeVolume, Source: agentVolume(a), Target: agentDir, ReadOnly: readOnly,
		VolumeOptions: &mount.VolumeOptions{NoCopy: true, Labels: map[string]string{labelAgent: a.SHA256}},
	}
}

// provide makes the volume of a if there is none.
func (e *Engine) provide(ctx context.Context, a agents.Agent, imageID string) error {
	_, err := e.api.VolumeInspect(ctx, agentVolume(a))
	if err == nil {
		return nil
	}
	if !errdefs.IsNotFound(err) {
		return fmt.Errorf("look for volume %s: %w", agentVolume(a), err)
	}
	return e.fill(ctx, a, imageID)
}

// fill puts the agent into its volume, by way of a container that is never started.
func (e *Engine) fill(ctx context.Context, a agents.Agent, imageID string) error {
	content, err := agentArchive(a)
	if err != nil {
		return err
	}
	_, err = e.api.VolumeCreate(ctx, volume.CreateOptions{Name: agentVolume(a), Labels: map[string]string{labelAgent: a.SHA256}})
	if err != nil {
		return fmt.Errorf("make volume %s: %w", agentVolume(a), err)
	}
	id, err := e.create(ctx, &container.Config{
		Image: imageID, Entrypoint: []string{agentPath}, NetworkDisabled: true,
		Labels: e.owner.labels(time.Now(), DefaultLifetime),
	}, &container.HostConfig{Mounts: []mount.Mount{agentMount(a, false)}, NetworkMode: container.NetworkMode(NetworkNone)})
	if err != nil {
		return fmt.Errorf("fill volume %s: %w", agentVolume(a), err)
	}
	defer e.discard(ctx, id)
	err = e.api.CopyToContainer(ctx, id, agentDir, content, container.CopyToContainerOptions{})
	if err != nil && !strings.Contains(err.Error(), "file exists") { // then another has just put one there
		return fmt.Errorf("fill volume %s: %w", agentVolume(a), err)
	}
	return nil
}

// agentArchive returns the agent as a tar. It may be executed and not read, so that nobody can
// trace it. A link gives it its name at once: a half-written file never has it.
func agentArchive(a agents.Agent) (io.Reader, error) {
	data, err := a.Bytes()
	if err != nil {
		return nil, fmt.Errorf("unpack the agent: %w", err)
	}
	tag := make([]byte, 4)
	rand.Read(tag) // never fails
	whole := "agent." + hex.EncodeToString(tag)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeReg, Name: whole, Mode: 0o111, Size: int64(len(data))},
		{Typeflag: tar.TypeLink, Name: "agent", Linkname: whole, Mode: 0o111},
	} {
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			w.Write(data) // into memory, and of the size announced
		}
	}
	return &b, w.Close()
}
