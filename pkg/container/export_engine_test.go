package container

import (
	"archive/tar"
	"bytes"
	"context"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/volume"
)

// SocketHosts returns where engines are looked for that nobody named.
func SocketHosts() (hosts []string) {
	for _, p := range socketPlaces() {
		hosts = append(hosts, p.host)
	}
	return hosts
}

// FirstOf returns the first engine of hosts that answers.
func FirstOf(ctx context.Context, hosts ...string) (*Engine, error) {
	var places []place
	for _, h := range hosts {
		places = append(places, place{source: "test", host: h})
	}
	return firstOf(ctx, places, guessedWithin)
}

// Labels returns what a sandbox of this process that was made at a time is labelled with.
func Labels(made time.Time, lifetime time.Duration) map[string]string {
	return thisOwner().labels(made, lifetime)
}

// OpenExec opens a sandbox as where no agent runs.
func (e *Engine) OpenExec(ctx context.Context, c Config) (Backend, error) {
	c = c.withDefaults()
	s, err := e.prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	s.config.Image = c.Image
	b, _, err := e.openForExec(ctx, c, s)
	return b, err
}

// ReapWithin is how long the first Open may spend on what others left.
const ReapWithin = reapWithin

// MakeVolume makes a volume.
func (e *Engine) MakeVolume(ctx context.Context, name string, labels, options map[string]string) error {
	_, err := e.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels, DriverOpts: options})
	return err
}

// RemoveVolume removes a volume.
func (e *Engine) RemoveVolume(ctx context.Context, name string) error {
	return e.api.VolumeRemove(ctx, name, false)
}

// HasVolume reports whether there is a volume.
func (e *Engine) HasVolume(ctx context.Context, name string) bool {
	_, err := e.api.VolumeInspect(ctx, name)
	return err == nil
}

// AgentVolume returns the name of the volume with the agent.
func (e *Engine) AgentVolume(ctx context.Context) (string, error) {
	a, err := e.agent(ctx)
	return agentVolume(a), err
}

// RemoveOldAgents removes the volumes of other agents, whatever their age.
func (e *Engine) RemoveOldAgents(ctx context.Context) error { return e.removeOldAgents(ctx, 0) }

// ReplaceAgent puts another program in the place of the agent.
func (e *Engine) ReplaceAgent(ctx context.Context, image, program string) error {
	a, err := e.agent(ctx)
	if err != nil {
		return err
	}
	s := spec{config: &container.Config{Image: image}, host: &container.HostConfig{}}.running([]string{agentPath}, agentMount(a, false))
	id, err := e.create(ctx, s.config, s.host)
	if err != nil {
		return err
	}
	defer e.discard(ctx, id)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "agent", Mode: 0o755, Size: int64(len(program))}); err != nil {
		return err
	}
	_, _ = w.Write([]byte(program)) // into memory
	_ = w.Close()                   // into memory
	return e.api.CopyToContainer(ctx, id, agentDir, &b, container.CopyToContainerOptions{})
}

// PretendArch makes the engine one of another kind of machine.
func (e *Engine) PretendArch(ctx context.Context, name string) error {
	facts, err := e.known(ctx)
	if err == nil {
		facts.Architecture = name
	}
	return err
}

// UserFor returns who runs commands.
func UserFor(c Config, rootless bool) (string, error) {
	u, err := userFor(c, rootless)
	return string(u), err
}
