package container_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/container"
)

// facts are what an engine says of a container, as far as it matters here.
type facts struct {
	Config struct {
		User, WorkingDir, StopSignal            string
		Tty, OpenStdin, StdinOnce               bool
		AttachStdin, AttachStdout, AttachStderr bool
		Entrypoint, Cmd                         []string
		Healthcheck                             struct{ Test []string }
		Labels                                  map[string]string
	}
	HostConfig struct {
		AutoRemove, Privileged, Init, ReadonlyRootfs bool
		CapAdd, CapDrop, SecurityOpt, Binds          []string
		NetworkMode, IpcMode, Runtime                string
		PidMode, UTSMode, UsernsMode                 string
		LogConfig                                    struct{ Type string }
		Memory, MemorySwap, NanoCpus, ShmSize        int64
		PidsLimit                                    int64
		Ulimits                                      []struct {
			Name       string
			Soft, Hard int64
		}
		Tmpfs map[string]string
	}
	Mounts []struct {
		Type, Name, Destination string
		RW                      bool
	}
}

func factsOf(t *testing.T, s *container.Sandbox) (f facts) {
	t.Helper()
	if !inspect(t, s.Info.ID, &f) {
		t.Fatal("the engine does not know the container")
	}
	return f
}

// What the engine was asked for, in its own words.
func TestHardeningAsked(t *testing.T) {
	f := factsOf(t, sandbox(t, engine(t), busybox(t, container.Config{})))
	c, h := f.Config, f.HostConfig
	got := fmt.Sprintf("user %s, in %s, tty %v, stdin %v once %v, attached %v %v %v, runs %v %v, health %v",
		c.User, c.WorkingDir, c.Tty, c.OpenStdin, c.StdinOnce, c.AttachStdin, c.AttachStdout, c.AttachStderr, c.Entrypoint, c.Cmd, c.Healthcheck.Test)
	want := "user 1000:1000, in /, tty false, stdin true once true, attached true true true, runs [/.mcp/agent] [], health [NONE]"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the process (-want +got):\n%s", diff)
	}
	got = fmt.Sprintf("remove %v, privileged %v, init %v, read-only %v, +%v -%v %v, binds %v, network %s, ipc %s, pid %q, uts %q, userns %q, log %s",
		h.AutoRemove, h.Privileged, h.Init, h.ReadonlyRootfs, h.CapAdd, h.CapDrop, h.SecurityOpt, h.Binds, h.NetworkMode, h.IpcMode, h.PidMode, h.UTSMode, h.UsernsMode, h.LogConfig.Type)
	want = `remove true, privileged false, init false, read-only false, +[] -[ALL] [no-new-privileges], binds [], network none, ipc private, pid "", uts "", userns "", log none`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the isolation (-want +got):\n%s", diff)
	}
	got = fmt.Sprintf("memory %d, with swap %d, cpu %d, shm %d, pids %d, %v, %v", h.Memory, h.MemorySwap, h.NanoCpus, h.ShmSize, h.PidsLimit, h.Ulimits, h.Tmpfs)
	want = "memory 1073741824, with swap 1073741824, cpu 2000000000, shm 67108864, pids 512, [{nofile 4096 4096} {core 0 0}], " +
		"map[/data:rw,exec,nosuid,nodev,size=536870912,mode=0755,uid=1000,gid=1000 /tmp:rw,exec,nosuid,nodev,size=268435456,mode=1777,uid=1000,gid=1000]"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the limits (-want +got):\n%s", diff)
	}
	for _, m := range f.Mounts {
		if m.Destination != "/.mcp" || m.RW {
			t.Errorf("there is a mount %+v", m)
		}
	}
}

// What a command sees of it.
func TestHardeningSeen(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	e := engine(t)
	const dev = "00000000000000fb" // CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID, and nothing else
	tests := map[string]struct {
		config    container.Config
		id, cap   string
		writeRoot bool
	}{
		"safe":                     {id: "1000:1000", cap: "0000000000000000"},
		"safe as root":             {config: container.Config{User: "0:0"}, id: "0:0", cap: "0000000000000000", writeRoot: true},
		"dev":                      {config: container.Config{Profile: container.Dev}, id: "0:0", cap: dev, writeRoot: true},
		"another user":             {config: container.Config{User: "7:8"}, id: "7:8", cap: "0000000000000000"},
		"user of a name":           {config: container.Config{User: "nobody"}, id: "65534:65534", cap: "0000000000000000"},
		"read-only":                {config: container.Config{ReadOnly: true, User: "0:0"}, id: "0:0", cap: "0000000000000000"},
		"more CPUs than there are": {config: container.Config{CPUs: 10_000}, id: "1000:1000", cap: "0000000000000000"},
		"other directory":          {config: container.Config{Dir: "/srv/deep"}, id: "1000:1000", cap: "0000000000000000"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := sandbox(t, e, busybox(t, test.config))
			if got := output(t, s, `echo $(id -u):$(id -g)`); got != test.id {
				t.Errorf("user %s, want %s", got, test.id)
			}
			got := output(t, s, `for n in CapEff CapPrm CapBnd NoNewPrivs Seccomp; do echo $n $(sed -n "s/^$n:\s*//p" /proc/self/status); done`)
			want := fmt.Sprintf("CapEff %[1]s\nCapPrm %[1]s\nCapBnd %[1]s\nNoNewPrivs 1\nSeccomp 2", test.cap)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rights (-want +got):\n%s", diff)
			}
			if got := output(t, s, "(echo x >/written) 2>/dev/null && echo yes || echo no"); (got == "yes") != test.writeRoot {
				t.Errorf("/ can be written: %s, want %v", got, test.writeRoot)
			}
			output(t, s, "cd && echo x >file && echo x >/tmp/file && echo x >/dev/shm/file && cd "+s.Info.Dir+" && echo x >file")
			output(t, s, "printf '#!/bin/sh\nexit 0\n' >/tmp/run && chmod +x /tmp/run && /tmp/run")
			for _, change := range []string{"echo x >>/.mcp/agent", "rm -f /.mcp/agent", "mv /.mcp/agent /.mcp/b", "echo x >/.mcp/b", "chmod 777 /.mcp/agent", "mount -o remount,rw /.mcp", "mount -t tmpfs x /mnt"} {
				if got := output(t, s, "("+change+") 2>/dev/null && echo done || echo no"); got != "no" {
					t.Errorf("%s: %s", change, got)
				}
			}
			if env := output(t, s, "env"); strings.Contains(env, "sk-secret") || strings.Contains(env, "OPENAI") {
				t.Errorf("the environment of this process is in the sandbox:\n%s", env)
			}
			if got := output(t, s, "ls /sys/class/net"); got != "lo" {
				t.Errorf("there are networks: %q", got)
			}
		})
	}
}

// An image's own settings do not get in the way, and variables are those that were asked for.
func TestEnvironment(t *testing.T) {
	s := sandbox(t, engine(t), busybox(t, container.Config{Env: map[string]string{"LANG": "de_DE.UTF-8", "MINE": "a b=c\n$d"}}))
	got := strings.Split(output(t, s, "env -0 | tr '\\n\\0' '|\\n'"), "\n")
	got = slices.DeleteFunc(got, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "HOSTNAME" || name == "SHLVL" || name == "PWD" || name == "PATH"
	})
	slices.Sort(got)
	want := []string{
		"CI=1", "DEBIAN_FRONTEND=noninteractive", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "HOME=/tmp", "LANG=de_DE.UTF-8",
		"MINE=a b=c|$d", "NO_COLOR=1", "PAGER=cat", "PIP_NO_INPUT=1", "TERM=dumb", "npm_config_yes=true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestNetworkBridge(t *testing.T) {
	s := sandbox(t, engine(t), busybox(t, container.Config{Network: container.NetworkBridge}))
	if got := output(t, s, "ls /sys/class/net"); got != "eth0\nlo" {
		t.Errorf("there are the networks %q, want eth0 and lo", got)
	}
	if s.Info.Network != container.NetworkBridge {
		t.Errorf("it says that its network is %q", s.Info.Network)
	}
}
