package shelltool_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/shelltool"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// run runs the program over a fake engine.
func run(t *testing.T, e *fakeEngine, words ...string) (code int, out, errs string) {
	t.Helper()
	find := func(context.Context, container.EngineOptions) (shelltool.Engine, error) { return e, e.failing() }
	var stdout, stderr bytes.Buffer
	code = shelltool.AppWith(find).Run(t.Context(), words, toolkit.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// Flags that cannot be are refused at the start, with what would do.
func TestRefusedFlags(t *testing.T) {
	for flag, want := range map[string]string{
		"--image=":                        `--image "": want a name`,
		"--image=-x":                      `--image "-x": want a name`,
		"--image=a b":                     `--image "a b": want a name`,
		"--image=BAD::":                   `--image "BAD::": want a name such as debian:12, or name@sha256:digest: invalid reference format`,
		"--shell=":                        `--shell "": want the path or name of a shell`,
		"--shell=bash -l":                 `--shell "bash -l": want the path or name of a shell, without arguments`,
		"--backend=podman":                `--backend "podman": want docker or local`,
		"--host=/run/docker.sock":         `--host "/run/docker.sock": want an address such as unix:///run/docker.sock`,
		"--profile=root":                  `--profile "root": want safe or dev`,
		"--network=host":                  `--network "host": want none or bridge`,
		"--runtime=a/b":                   `--runtime "a/b": want the name of a runtime`,
		"--memory=lots":                   `--memory "lots": want a size such as 512m or 1g`,
		"--memory=1m":                     `--memory "1m": want 64m to 1024t`,
		"--memory=-1g":                    `--memory "-1g": want a size`,
		"--memory=9999999t":               `--memory "9999999t": want 64m to 1024t`,
		"--cpus=0":                        `--cpus "0": want a number from 0.01 to 1024`,
		"--cpus=NaN":                      `--cpus "NaN": want a number`,
		"--pids=3":                        `--pids 3: want 32 to`,
		"--user=a b":                      `--user "a b": want a uid, uid:gid, or a name`,
		"--mount=/a":                      `--mount "/a": want SRC:DST or SRC:DST:ro`,
		"--mount=/a:b":                    `--mount "/a:b": want SRC:DST or SRC:DST:ro, with an absolute DST`,
		"--mount=:/b":                     `--mount ":/b": want SRC:DST`,
		"--mount=/a:/b:rx":                `--mount "/a:/b:rx": want SRC:DST`,
		"--mount=/a:/":                    `--mount "/a:/": nothing can be mounted at /`,
		"--mount=/a:/x/../.mcp/y":         `nothing can be mounted at /.mcp/y`,
		"--mount=/a:/b --mount=/c:/b/":    `--mount "/c:/b/": /b is the target of another`,
		"--root=/a --mount=/b:/data":      `--mount "/b:/data": /data is where the roots are`,
		"--pull=sometimes":                `--pull "sometimes": want missing, never or always`,
		"--pull-timeout=0s":               `--pull-timeout 0s: want more than 0`,
		"--timeout=0s":                    `--timeout 0s: want 1ms to --max-timeout, which is 10m0s`,
		"--timeout=11m":                   `--timeout 11m0s: want 1ms to --max-timeout`,
		"--max-timeout=25h":               `--max-timeout 25h0m0s: want 1ms to 24h0m0s`,
		"--max-output-length=0":           `--max-output-length 0: want 1 to 200000`,
		"--max-output-length=200001":      `--max-output-length 200001: want 1 to 200000`,
		"--idle-timeout=-1s":              `--idle-timeout -1s: want more than 0`,
		"--max-lifetime=0s":               `--max-lifetime 0s: want more than 0`,
		"--max-sandboxes=0":               `--max-sandboxes 0: want 1 to 1000`,
		"--warm":                          `--warm works with --http only`,
		"--backend=local --network=none":  `--network means nothing with --backend local`,
		"--backend=local --memory=1g":     `--memory means nothing with --backend local`,
		"--backend=local --mount=/a:/b":   `--mount means nothing with --backend local`,
		"--http=127.0.0.1:0 --timeout=5h": `--timeout 5h0m0s`,
	} {
		words := strings.Split(flag, " --")
		for i := range words[1:] {
			words[i+1] = "--" + words[i+1]
		}
		e := &fakeEngine{fail: errAway}
		code, out, errs := run(t, e, append(words, "tools")...)
		if code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %q", flag, code, errs)
		}
	}
}

// Every flag reaches the sandbox.
func TestFlagsReachTheSandbox(t *testing.T) {
	root, other := realTemp(t), realTemp(t)
	e := &fakeEngine{}
	h := newHarness(t, e, &recorder{decision: approval.Allow},
		"--image=debian@sha256:"+strings.Repeat("ab", 32), "--profile=dev", "--runtime=runsc", "--network=bridge", "--memory=512m", "--cpus=1.5", "--pids=100",
		"--user=1000:100", "--root="+root, "--mount="+other+":/b/../c:ro", "--read-only-rootfs", "--pull=always", "--pull-timeout=1m", "--max-lifetime=1h",
	)
	h.shell(t, "ls")
	want := container.Config{
		Image: "debian@sha256:" + strings.Repeat("ab", 32), Pull: container.PullAlways, PullTimeout: time.Minute, Profile: container.Dev, Runtime: "runsc",
		Network: container.NetworkBridge, Memory: 512 << 20, CPUs: 1.5, PIDs: 100, User: "1000:100", ReadOnly: true, Lifetime: time.Hour,
		Mounts: []container.Mount{{Source: root, Target: "/data"}, {Source: other, Target: "/c", ReadOnly: true}},
	}
	if diff := cmp.Diff(want, e.sandboxes()[0].config); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for text, bytes := range map[string]int64{"1g": 1 << 30, "67108864": 64 << 20, "64M": 64 << 20, "1GiB": 1 << 30, "204800k": 200 << 20} {
		e := &fakeEngine{}
		newHarness(t, e, nil, "--memory="+text).shell(t, "ls")
		if got := e.sandboxes()[0].config.Memory; got != bytes {
			t.Errorf("--memory %s: %d", text, got)
		}
	}
}

// The instructions tell the model what it works in.
func TestInstructions(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"usual":  {nil, "Runs commands with /bin/sh in a container of ubuntu:latest, with no network. /data is empty at first"},
		"a root": {[]string{"--root=" + realTemp(t), "--network=bridge"}, "with network. /data is a directory of the user"},
		"roots":  {[]string{"--root=" + realTemp(t), "--root=" + realTemp(t)}, "Below /data are directories of the user"},
	} {
		t.Run(name, func(t *testing.T) {
			app, line := commandLine(t, &fakeEngine{}, c.flags...)
			if got := app.Instructions(line); !strings.Contains(got, c.want) || !strings.Contains(got, "cd and export end with it, files stay") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// What doctor says, for what it finds.
func TestDoctor(t *testing.T) {
	root := realTemp(t)
	info := container.EngineInfo{
		Source: "DOCKER_HOST", Host: "unix:///x.sock", Version: "20.10", API: "1.41", Arch: "amd64",
		Rootless: true, Runtimes: []string{"runc"}, Notes: []string{"no swap limit"},
	}
	for name, c := range map[string]struct {
		engine *fakeEngine
		flags  []string
		code   int
		want   []string
	}{
		"all is well": {
			&fakeEngine{image: "sha256:1", info: info},
			[]string{"--root=" + root},
			0,
			[]string{
				"ok    root " + root + ": belongs to uid ", "ok    engine: version 20.10, API 1.41, amd64, at unix:///x.sock (DOCKER_HOST), rootless, runtimes runc\n",
				"ok    engine: note: no swap limit", "ok    image ubuntu:latest: is there, sha256:1", "ok    sandbox: backend agent, user 1000:1000, made in ",
			},
		},
		"degraded": {
			&fakeEngine{image: "sha256:1", name: "exec", degraded: "the agent cannot run here"}, nil, 0,
			[]string{"ok    roots: none. /data is empty at first", "ok    sandbox: backend exec, ", "; degraded: the agent cannot run here"},
		},
		"no engine": {
			&fakeEngine{fail: &container.NoEngineError{Tried: []container.Attempt{{Source: "--host", Host: "unix:///x", Err: errAway}}}}, nil, 1,
			[]string{"FAIL  engine: no Docker engine answers; looked for it at:\n  unix:///x (--host): connection refused", "hint: start Docker, or name the engine"},
		},
		"no image":     {&fakeEngine{}, nil, 0, []string{"ok    image ubuntu:latest: is missing; the first call pulls it"}},
		"never pulled": {&fakeEngine{}, []string{"--pull=never"}, 1, []string{"FAIL  image ubuntu:latest: is missing, and --pull never", "hint: docker pull ubuntu:latest"}},
		"no root":      {&fakeEngine{image: "sha256:1"}, []string{"--root=" + filepath.Join(root, "none")}, 1, []string{"FAIL  root ", "does not exist", "hint: give an existing directory"}},
		"remote":       {&fakeEngine{image: "sha256:1", info: container.EngineInfo{Remote: true, Host: "ssh://far"}, refuses: &container.ConfigError{Text: "far"}}, []string{"--root=" + root}, 1, []string{"on another machine", "FAIL  sandbox: far"}},
		"no sandbox":   {&fakeEngine{image: "sha256:1", openFail: errAway}, nil, 1, []string{"FAIL  sandbox: connection refused"}},
		"no shell": {
			&fakeEngine{image: "sha256:1", run: func(context.Context, container.Command, func(container.Progress)) (container.Result, error) {
				r := wrote("", "not found\n")
				r.Code = 127
				return r, nil
			}}, []string{"--shell=/bin/fish"}, 1, []string{"FAIL  sandbox: /bin/fish -c true: exit code 127: not found", "hint: name a shell that the image has"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := run(t, c.engine, append(c.flags, "doctor")...)
			if code != c.code || errs != "" {
				t.Errorf("exit code %d, %q", code, errs)
			}
			for _, w := range c.want {
				if !strings.Contains(out, w) {
					t.Errorf("%q is not in\n%s", w, out)
				}
			}
			if c.engine.open() != 0 {
				t.Error("a sandbox was left")
			}
		})
	}
}

// Results name the tool for jobs as clients see it.
func TestJobToolsName(t *testing.T) {
	left := func(context.Context, container.Command, func(container.Progress)) (container.Result, error) {
		return container.Result{Left: 1, Job: "j7"}, nil
	}
	for name, c := range map[string]struct {
		names toolkit.Names
		shell string
		want  string
	}{
		"as it is":   {toolkit.Names{}, "shell", `as job j7: shell_job {"action"`},
		"prefixed":   {toolkit.Names{Prefix: "x_"}, "x_shell", `as job j7: x_shell_job {"action"`},
		"renamed":    {toolkit.Names{Rename: map[string]string{"shell_job": "jobs"}}, "shell", `as job j7: jobs {"action"`},
		"not served": {toolkit.Names{Only: []string{"shell"}}, "shell", "left running as job j7]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, &fakeEngine{run: left}, toolkit.Options{Names: c.names})
			client, end, err := s.Connect(t.Context(), nil)
			must(t, err)
			defer end()
			if got := call(t, client, c.shell, args{"command": "x"}); !strings.Contains(got.text, c.want) {
				t.Errorf("got %q", got.text)
			}
		})
	}
}
