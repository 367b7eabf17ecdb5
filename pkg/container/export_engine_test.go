package container

import (
	"context"
	"time"
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
