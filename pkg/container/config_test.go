package container_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testengine"
	"github.com/toolhost/toolhost/pkg/container"
)

// What cannot be is said before anything is made, in words for who configured it.
func TestBadConfig(t *testing.T) {
	dir, other := shortDir(t), shortDir(t)
	write(t, dir+"/file", "x")
	if err := errors.Join(os.Symlink("/var/run", dir+"/link"), os.MkdirAll(other+"/deep er", 0o755)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", other+"/deep er/containerd.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	one := func(source, target string) container.Config {
		return container.Config{Mounts: []container.Mount{{Source: source, Target: target}}}
	}
	tests := map[string]struct {
		config container.Config
		want   string // in the error
	}{
		"source does not exist": {one(dir+"/none", "/data"), "the mount at /data: its directory cannot be opened: it does not exist"},
		"source is relative":    {one("here", "/data"), "its directory is not an absolute path"},
		"source is a file":      {one(dir+"/file", "/data"), "it is not a directory"},
		"the socket":            {one("/var/run/docker.sock", "/data"), "it is not a directory"},
		"directory of a socket": {one("/var/run", "/data"), "the engine's socket is never mounted"},
		"link to one":           {one(dir+"/link", "/data"), "the engine's socket is never mounted"},
		"the whole machine":     {one("/", "/data"), "the engine's socket is never mounted"},
		"processes":             {one("/proc/1", "/data"), "/proc is this machine's own view of itself"},
		"target /":              {one(dir, "/"), "/ cannot be the target"},
		"target is relative":    {one(dir, "data"), `"data" of a mount is not an absolute path`},
		"target /proc":          {one(dir, "/proc/1"), "/proc/1 cannot be the target of a mount: /proc belongs to the sandbox"},
		"target /sys":           {one(dir, "/sys"), "/sys belongs"},
		"target /dev":           {one(dir, "/x/../dev/shm"), "/dev belongs"},
		"target of the agent":   {one(dir, "/.mcp"), "/.mcp belongs"},
		"target /tmp":           {one(dir, "/tmp/"), "/tmp cannot be the target"},
		"two of a target": {container.Config{Mounts: []container.Mount{
			{Source: dir, Target: "/data"}, {Source: dir, Target: "/data/"},
		}}, "two mounts have the target /data"},
		"a place that is not there": {container.Config{Mounts: []container.Mount{
			{Source: dir, Target: "/data"}, {Source: "/etc", Target: "/data/none/sub", ReadOnly: true},
		}}, "where there is no directory none/sub: make it first"},
		"a directory of the image": {one(dir, "/etc/passwd"), "nothing can be mounted at /etc/passwd"},
		"a uid too large":          {container.Config{User: "4294967296"}, "does not know the user"},
		"another's socket":         {one(other, "/data"), "the engine's socket is never mounted"},
		"directory /":              {container.Config{Dir: "/"}, "not an absolute path below /"},
		"directory /proc":          {container.Config{Dir: "/proc/x"}, "/proc belongs"},
		"profile":                  {container.Config{Profile: "lax"}, "there are safe and dev"},
		"network":                  {container.Config{Network: "host"}, "there are none and bridge"},
		"pull policy":              {container.Config{Pull: "often"}, "there are missing, never and always"},
		"a limit":                  {container.Config{Memory: -1}, "negative"},
		"a variable":               {container.Config{Env: map[string]string{"A=B": "x"}}, `"A=B" cannot be a variable`},
		"a value":                  {container.Config{Env: map[string]string{"A": "x\x00"}}, `"A" cannot be a variable`},
		"little memory":            {container.Config{Memory: 1000}, "the engine does not make such a sandbox: Minimum memory limit"},
		"unknown user":             {container.Config{User: "somebody"}, `does not know the user "somebody"`},
		"unknown runtime":          {container.Config{Runtime: "runsc-none"}, `no runtime "runsc-none"`},
	}
	e := engine(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.config.Image = testengine.Busybox(t)
			s, err := e.Open(t.Context(), test.config, nil)
			if err == nil {
				s.Close()
				t.Fatal("it opened")
			}
			if !errors.As(err, new(*container.ConfigError)) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want a ConfigError that says %q", err, test.want)
			}
		})
	}
}

// What is mounted must not be for commands to decide: they could replace a directory, or a
// link on the way to it, by a link to anything.
func TestMountThroughAnother(t *testing.T) {
	top := shortDir(t)
	for _, dir := range []string{"open/sub/deep", "other", "open/down", "openness"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"in": "open/sub", "open/out": top + "/other", "away": "open/out", "same": "open", "loop": "loop", "open/up": "down/../..",
	} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		source   string
		readOnly bool // the other mount
		refused  bool
	}{
		"below":                   {source: "open/sub", refused: true},
		"far below":               {source: "open/sub/deep", refused: true},
		"by a link":               {source: "in", refused: true},
		"by a link in it":         {source: "open/out", refused: true},
		"by a link to a link":     {source: "away", refused: true},
		"through and back":        {source: "open/sub/../../other", refused: true}, // as sub decides where .. is
		"out by a link":           {source: "open/up/other", refused: true},
		"beside":                  {source: "other"},
		"the same":                {source: "open"},
		"the same by a link":      {source: "same"},
		"below one to read":       {source: "open/sub", readOnly: true},
		"in a circle":             {source: "loop", refused: true},
		"a name that begins like": {source: "openness"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			mounts := []container.Mount{{Source: top + "/open", Target: "/a", ReadOnly: tt.readOnly}, {Source: top + "/" + tt.source, Target: "/b", ReadOnly: true}}
			got, err := container.ResolveMounts(mounts)
			if refused := errors.As(err, new(*container.ConfigError)); refused != tt.refused || err != nil && !strings.Contains(err.Error(), "the mount at /b") {
				t.Errorf("%v, %v; want refused: %v", got, err, tt.refused)
			}
			if err == nil && strings.Contains(got[1].Source, "same") {
				t.Errorf("a link is left: %v", got)
			}
		})
	}
}

// A directory that holds the socket of the very engine is not mounted, wherever that listens.
func TestMountOfOwnSocket(t *testing.T) {
	dir := shortDir(t)
	l, err := net.Listen("unix", filepath.Join(dir, "engine"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go forward(l, strings.TrimPrefix(testengine.Docker(t), "unix://"))
	e, err := container.Connect(t.Context(), container.EngineOptions{Host: "unix://" + dir + "/engine"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.Open(t.Context(), busybox(t, container.Config{Mounts: []container.Mount{{Source: dir, Target: "/data"}}}), nil)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "the engine's socket is never mounted") {
		t.Errorf("%v, want a refusal", err)
	}
}

// An engine that is reached over the network sees other directories than this process.
func TestRemoteMount(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go forward(l, strings.TrimPrefix(testengine.Docker(t), "unix://"))
	e, err := container.Connect(t.Context(), container.EngineOptions{Host: "tcp://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s, err := e.Open(t.Context(), busybox(t, container.Config{Mounts: []container.Mount{{Source: t.TempDir(), Target: "/data"}}}), nil)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "it cannot show directories of this one") {
		t.Errorf("%v, want a refusal", err)
	}
	if got := output(t, sandbox(t, e, busybox(t, container.Config{})), "id -u; pwd"); got != "1000\n/data" {
		t.Errorf("without a mount: %q", got)
	}
}

// Commands run as who owns the directory where they run, whatever else is mounted.
func TestUserIsTheOwnerOfTheDirectory(t *testing.T) {
	top := t.TempDir()
	mine := filepath.Join(top, "mine")
	if err := errors.Join(os.Mkdir(mine, 0o755), os.Chown(mine, 4242, 4343)); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		mounts []container.Mount
		want   string
	}{
		"none":               {nil, "1000:1000"},
		"elsewhere":          {[]container.Mount{{Source: "/etc", Target: "/e", ReadOnly: true}}, "1000:1000"},
		"where commands run": {[]container.Mount{{Source: "/etc", Target: "/e", ReadOnly: true}, {Source: mine, Target: "/data"}}, "4242:4343"},
		"below it":           {[]container.Mount{{Source: mine, Target: "/data/mine"}}, "4242:4343"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := sandbox(t, engine(t), busybox(t, container.Config{Mounts: tt.mounts}))
			if got := output(t, s, "echo $(id -u):$(id -g)"); got != tt.want || s.Info.User != tt.want {
				t.Errorf("got %q, Info says %q, want %q", got, s.Info.User, tt.want)
			}
		})
	}
}
