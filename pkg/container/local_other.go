//go:build !linux

package container

import (
	"context"
	"errors"
)

// OpenLocal makes a sandbox that isolates nothing: the agent runs as a plain process of this
// machine, and so do commands, as this user. Of c only Dir and Env count. Linux only.
func OpenLocal(context.Context, Config) (*Sandbox, error) {
	return nil, errors.New("run commands on this machine: only Linux can; use a Docker engine")
}
