package container

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/system"
	"github.com/toolhost/toolhost/pkg/container/agents"
)

// errNoAgent says that there is no agent for an engine's kind of machine.
var errNoAgent = errors.New("there is no agent for this kind of machine")

// Info asks the engine about itself.
func (e *Engine) Info(ctx context.Context) (EngineInfo, error) {
	f, err := e.api.Info(ctx)
	if err != nil {
		return EngineInfo{}, fmt.Errorf("ask the engine about itself: %w", err)
	}
	info := EngineInfo{
		Source: e.at.source, Host: withoutPassword(e.at.host), Version: f.ServerVersion, API: e.api.ClientVersion(),
		Arch: goArch(f.Architecture), Remote: e.at.remote(), Rootless: isRootless(&f),
		Runtimes: slices.Sorted(maps.Keys(f.Runtimes)),
	}
	info.Notes = notes(info, &f)
	return info, nil
}

// known returns what the engine said of itself when it was asked first.
func (e *Engine) known(ctx context.Context) (*system.Info, error) {
	e.mu.Lock()
	facts := e.facts
	e.mu.Unlock()
	if facts != nil {
		return facts, nil
	}
	f, err := e.api.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the engine about itself: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.facts = &f
	return e.facts, nil
}

// agent returns the agent for the engine's kind of machine, or errNoAgent.
func (e *Engine) agent(ctx context.Context) (agents.Agent, error) {
	facts, err := e.known(ctx)
	if err != nil {
		return agents.Agent{}, err
	}
	a, ok := agents.For(goArch(facts.Architecture))
	if !ok {
		return agents.Agent{}, fmt.Errorf("%w: %s", errNoAgent, facts.Architecture)
	}
	return a, nil
}

// notes says what will not work as it should, one line each.
func notes(info EngineInfo, f *system.Info) (notes []string) {
	add := func(when bool, format string, args ...any) {
		if when {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(f.OSType != "linux", "the engine runs %s containers: sandboxes need Linux ones", f.OSType)
	if _, ok := agents.For(info.Arch); !ok {
		add(true, "there is no agent for %s: commands run by docker exec, which is slower and can do less", f.Architecture)
	}
	add(info.Remote, "the engine is reached over the network: directories of this machine cannot be mounted")
	add(info.Rootless, "the engine is rootless: uid 0 in a sandbox is the user who runs the engine, and sandboxes use it")
	add(hasSecurity(f, "userns"), "the engine maps user ids: files in mounts may seem to be nobody's")
	add(hasSecurity(f, "selinux"), "SELinux is on: directories may not be readable in a sandbox; hint: chcon -Rt container_file_t DIR")
	add(!hasSecurity(f, "seccomp"), "the engine has no seccomp: system calls are not filtered")
	add(!f.MemoryLimit, "the engine cannot limit memory")
	add(!f.CPUCfsQuota, "the engine cannot limit CPUs")
	add(!f.PidsLimit, "the engine cannot limit processes")
	for _, w := range f.Warnings {
		add(strings.Contains(w, "swap limit"), "the engine cannot limit swap: a sandbox may use more than its memory")
	}
	return notes
}

func isRootless(f *system.Info) bool { return hasSecurity(f, "rootless") }

// hasSecurity looks for an option such as "name=seccomp,profile=default".
func hasSecurity(f *system.Info, name string) bool {
	return slices.ContainsFunc(f.SecurityOptions, func(o string) bool {
		return o == name || slices.Contains(strings.Split(o, ","), "name="+name)
	})
}

// goArch returns the name that Go has for what uname says.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return machine
}
