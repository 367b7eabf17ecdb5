package container_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/testengine"
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
		"map[/data:rw,exec,nosuid,nodev,size=357913941,mode=0755,uid=1000,gid=1000 /tmp:rw,exec,nosuid,nodev,size=268435456,mode=1777,uid=1000,gid=1000]"
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
			if got := output(t, s, "cat /.mcp/agent >/dev/null 2>&1 && echo yes || echo no"); got != "no" && test.cap != dev {
				t.Error("the agent's file can be read, so the agent can be traced before it hides")
			}
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

// attacks are what a command may try, in Python, since the kernel is to be asked itself: each prints
// the error's name, or "done". 1 is the agent, the parent its supervisor.
const attacks = `
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
ATTACH, SEIZE = 16, 0x4206

def call(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")

class Vec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

def peek(pid):
    room = ctypes.create_string_buffer(8)
    mine, other = Vec(ctypes.addressof(room), 8), Vec(0x400000, 8)
    call(libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(other), 1, 0))

def read(name):
    with open(name, "rb") as f:
        f.read(1)

def write(name):
    with open(name, "wb", 0) as f:
        f.write(b"x")

def links(pid):
    for fd in os.listdir("/proc/%d/fd" % pid):
        os.readlink("/proc/%d/fd/%s" % (pid, fd))

tries = {
    "mount": lambda: call(libc.mount(b"x", b"/mnt", b"tmpfs", 0, None)),
    "bind": lambda: call(libc.mount(b"/tmp", b"/mnt", None, 4096, None)),
    "umount": lambda: call(libc.umount2(b"/.mcp", 2)),
    "unshare": lambda: call(libc.unshare(0x10000000 | 0x20000)), # user and mount namespaces
    "raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "packet socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0),
    "output of 1": lambda: write("/proc/1/fd/65"),
    "agent": lambda: write("/.mcp/agent"),
    "beside it": lambda: write("/.mcp/new"),
}
for name, pid in (("1", 1), ("parent", os.getppid())):
    tries["attach to " + name] = lambda pid=pid: call(libc.ptrace(ATTACH, pid, None, None))
    tries["seize " + name] = lambda pid=pid: call(libc.ptrace(SEIZE, pid, None, None))
    tries["peek into " + name] = lambda pid=pid: peek(pid)
    tries["mem of " + name] = lambda pid=pid: read("/proc/%d/mem" % pid)
    tries["write mem of " + name] = lambda pid=pid: write("/proc/%d/mem" % pid)
    tries["environ of " + name] = lambda pid=pid: read("/proc/%d/environ" % pid)
    tries["fd of " + name] = lambda pid=pid: links(pid)
    tries["input of " + name] = lambda pid=pid: read("/proc/%d/fd/64" % pid)
for name, do in tries.items():
    try:
        do()
        print(name, "done", sep=": ")
    except OSError as e:
        print(name, errno.errorcode.get(e.errno, e.errno), sep=": ")
`

// What reaches for the engine, the network or the agent fails, whoever runs it: the agent runs as the
// same user as its commands.
func TestAttacksFail(t *testing.T) {
	e := engine(t)
	for name, config := range map[string]container.Config{
		"safe": {}, "safe as root": {User: "0:0"}, "dev": {Profile: container.Dev}, "read-only": {ReadOnly: true},
	} {
		t.Run(name, func(t *testing.T) {
			config.Image, config.Pull = testengine.Debian(t), container.PullNever
			s := sandbox(t, e, config)
			got := strings.Split(output(t, s, "exec python3 -c '"+attacks+"'"), "\n")
			if len(got) != 25 {
				t.Errorf("%d attacks say how they ended: %q", len(got), got)
			}
			for _, line := range got {
				attack, end, _ := strings.Cut(line, ": ")
				want := []string{"EPERM", "EACCES"}
				if attack == "agent" || attack == "beside it" {
					want = append(want, "EROFS")
				}
				if !slices.Contains(want, end) {
					t.Errorf("%s: %s, want one of %q", attack, end, want)
				}
			}
			if got := output(t, s, "echo works"); got != "works" {
				t.Errorf("after the attacks a command says %q", got)
			}
		})
	}
}

// With a read-only root file system nothing of the image can be changed, by nobody, and all that is
// mounted to be written can be.
func TestReadOnly(t *testing.T) {
	rw, ro := t.TempDir(), t.TempDir()
	mounts := []container.Mount{{Source: rw, Target: "/rw"}, {Source: ro, Target: "/ro", ReadOnly: true}}
	// Dev is root with DAC_OVERRIDE: the mode of a directory does not hold it back.
	s := sandbox(t, engine(t), busybox(t, container.Config{Profile: container.Dev, ReadOnly: true, Mounts: mounts}))
	got := output(t, s, `find / -xdev -type d | while read d; do grep -q " $d " /proc/mounts || { (: >"$d/new") 2>/dev/null && echo "$d"; }; done; (: >/new) 2>/dev/null && echo /
		for f in /ro/new /.mcp/new /etc/hosts /etc/hostname /etc/resolv.conf /proc/sys/kernel/hostname; do (echo x >>$f) 2>/dev/null && echo $f; done; true`)
	if got != "" {
		t.Errorf("these can be written:\n%s", got)
	}
	output(t, s, "echo x >/rw/new && echo x >/data/new && echo x >/tmp/new && echo x >/dev/shm/new")
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
