package shelltool_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/container"
)

// A recorder answers all with one decision, and keeps what it was asked.
type recorder struct {
	decision approval.Decision
	mu       sync.Mutex
	asked    []approval.Action
}

func (r *recorder) Evaluate(_ context.Context, _ approval.Caller, a approval.Action) approval.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, a)
	return approval.Verdict{Decision: r.decision, Reason: "test"}
}

func (*recorder) Hides(approval.Caller, string) bool { return false }

func (r *recorder) last() approval.Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.asked) == 0 {
		return approval.Action{}
	}
	return r.asked[len(r.asked)-1]
}

// realTemp returns a temporary directory whose path has no links.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// The policy sees what would run, with what, where and in which image; what it denies makes
// no sandbox.
func TestThePolicySeesWhatRuns(t *testing.T) {
	root, other := realTemp(t), realTemp(t)
	rules := &recorder{decision: approval.Deny}
	e := &fakeEngine{image: "sha256:abc"}
	h := newHarness(t, e, rules, "--root="+root, "--mount="+other+":/other:ro", "--image=debian:12", "--shell=/bin/bash")
	got := h.call(t, "shell", args{"command": "make\ntest", "working_directory": "src", "env": args{"A": "1"}, "stdin": "x"})
	if !got.refused || !strings.HasPrefix(got.text, "shell is denied: test") || len(e.sandboxes()) != 0 {
		t.Errorf("got %q, %d sandboxes", got.text, len(e.sandboxes()))
	}
	stdin := "x"
	want := approval.Action{
		Tool: "shell", Effect: approval.RunContained,
		Args: []byte(`{"commands":["make\ntest"],"env":{"A":"1"},"max_output_length":30000,"stdin":"x","timeout_ms":120000,"working_directory":"/data/src"}`),
		Shell: &approval.Shell{
			Commands: []string{"make\ntest"}, Dialect: "bash", Dir: "/data/src", Env: map[string]string{"A": "1"}, Stdin: &stdin,
			Image: "debian:12", ImageID: "sha256:abc", Profile: "safe", Network: "none", Mounts: []string{root + ":/data", other + ":/other:ro"},
		},
		Summary: "run a command in a container of debian:12, network none\n$ make\n  test",
	}
	if diff := cmp.Diff(want, rules.last()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The effect of commands tells those that the container holds from those that reach further.
func TestEffects(t *testing.T) {
	root := realTemp(t)
	inner := filepath.Join(root, "inner")
	must(t, os.Mkdir(inner, 0o755))
	outer := realTemp(t)
	for name, c := range map[string]struct {
		flags []string
		want  approval.Effect
	}{
		"usual":                 {nil, approval.RunContained},
		"a root":                {[]string{"--root=" + root}, approval.RunContained},
		"a runtime":             {[]string{"--runtime=runsc"}, approval.RunContained},
		"profile dev":           {[]string{"--profile=dev"}, approval.RunCommands},
		"network":               {[]string{"--network=bridge"}, approval.RunCommands},
		"a mount":               {[]string{"--root=" + root, "--mount=" + outer + ":/o"}, approval.RunCommands},
		"a mount without roots": {[]string{"--mount=" + outer + ":/o"}, approval.RunCommands},
		"one that is read only": {[]string{"--root=" + root, "--mount=" + outer + ":/o:ro"}, approval.RunContained},
		"one in the root":       {[]string{"--root=" + root, "--mount=" + inner + ":/i"}, approval.RunContained},
		"root, no directory":    {[]string{"--user=0"}, approval.RunContained},
	} {
		t.Run(name, func(t *testing.T) {
			rules := &recorder{decision: approval.Allow}
			h := newHarness(t, &fakeEngine{}, rules, c.flags...)
			for _, call := range []struct {
				tool string
				args args
				want approval.Effect
			}{
				{"shell", args{"command": "ls"}, c.want},
				{"shell_job", args{"action": "kill", "job_id": "j1"}, c.want},
				{"shell_job", args{"action": "restart"}, c.want},
				{"shell_job", args{"action": "list"}, approval.SeeCommands},
				{"shell_job", args{"action": "poll", "job_id": "j1"}, approval.SeeCommands},
				{"shell_job", args{"action": "status"}, approval.SeeCommands},
			} {
				h.call(t, call.tool, call.args)
				if got := rules.last().Effect; got != call.want {
					t.Errorf("%s %v: %s, want %s", call.tool, call.args, got, call.want)
				}
			}
		})
	}
}

// An image that is missing is named to the policy as one that would be pulled; planning
// itself pulls nothing, and never is refused at once.
func TestMissingImage(t *testing.T) {
	rules := &recorder{decision: approval.Deny}
	e := &fakeEngine{}
	h := newHarness(t, e, rules)
	e.image = ""
	h.shell(t, "ls")
	a := rules.last()
	if want := "run a command in a container of ubuntu:latest, network none; the image ubuntu:latest would be pulled first\n$ ls"; a.Summary != want || a.Shell.ImageID != "" {
		t.Errorf("got %q, image %q", a.Summary, a.Shell.ImageID)
	}
	e = &fakeEngine{}
	h = newHarness(t, e, nil, "--pull=never")
	e.image = ""
	if got := h.shell(t, "ls"); !got.refused || got.text != "image ubuntu:latest: the engine does not have it (pull policy never)" || len(e.sandboxes()) != 0 {
		t.Errorf("got %q", got.text)
	}
}

// A sandbox that is there is not asked about again: the engine is out of a command's way.
func TestPlanningCostsNothingLater(t *testing.T) {
	rules := &recorder{decision: approval.Allow}
	e := &fakeEngine{}
	h := newHarness(t, e, rules)
	for range 3 {
		h.shell(t, "ls")
	}
	if e.asked != 1 || rules.last().Shell.ImageID != "sha256:1" {
		t.Errorf("asked %d times, image %q", e.asked, rules.last().Shell.ImageID)
	}
}

// Without an engine a call says what was tried; the next one looks again.
func TestNoEngine(t *testing.T) {
	e := &fakeEngine{fail: &container.NoEngineError{Tried: []container.Attempt{{Source: "default socket", Host: "unix:///x.sock", Err: errAway}}}}
	h := newHarness(t, e, nil)
	want := "no Docker engine answers; looked for it at:\n  unix:///x.sock (default socket): connection refused\nhint: start the engine, or name it with --host or DOCKER_HOST"
	if got := h.shell(t, "ls"); !got.refused || got.text != want {
		t.Errorf("got %q", got.text)
	}
	e.setFail(nil)
	if got := h.shell(t, "ls"); got.text != "ls\n" {
		t.Errorf("got %q", got.text)
	}
}

// Mounts that cannot be are refused before anything is made; what the error names is in the
// sandbox, not on the host.
func TestRefusedMounts(t *testing.T) {
	dir := realTemp(t)
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	must(t, os.Symlink(dir, filepath.Join(dir, "sub", "back")))
	for name, c := range map[string]struct {
		flags   []string
		refuses error
		want    string
	}{
		"missing source":        {[]string{"--mount=/nowhere/at/all:/x"}, nil, "the mount at /x: its directory cannot be opened: it does not exist"},
		"missing root":          {[]string{"--root=/nowhere/at/all"}, nil, "the root directory /nowhere/at/all does not exist"},
		"root is a file":        {[]string{"--root=" + file}, nil, "is not a directory"},
		"what the engine finds": {nil, &container.ConfigError{Text: "it holds the socket"}, "it holds the socket"},
		"in the root":           {[]string{"--root=" + dir, "--mount=" + dir + "/sub:/x:ro"}, nil, "the mount at /x is refused: its directory lies in the one mounted at /data"},
		"by a link in the root": {[]string{"--root=" + dir, "--mount=" + dir + "/sub/back:/x:ro"}, nil, "the mount at /x is refused"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &fakeEngine{refuses: c.refuses}
			got := newHarness(t, e, &recorder{decision: approval.Allow}, c.flags...).shell(t, "ls")
			if !got.refused || !strings.Contains(got.text, c.want) || len(e.sandboxes()) != 0 {
				t.Errorf("got %q", got.text)
			}
		})
	}
}

// A root in another one is seen there.
func TestRootInARoot(t *testing.T) {
	dir := realTemp(t)
	sub := filepath.Join(dir, "sub")
	must(t, os.Mkdir(sub, 0o755))
	e := &fakeEngine{}
	newHarness(t, e, &recorder{decision: approval.Allow}, "--root="+sub, "--root="+dir).shell(t, "ls")
	if got := e.sandboxes()[0].config.Mounts; len(got) != 1 || got[0].Source != dir || got[0].Target != "/data" {
		t.Errorf("mounted: %v", got)
	}
}

// A directory that was looked at once may not lead elsewhere later: what lies on the way may be
// for others to change.
func TestDirectoriesArePinned(t *testing.T) {
	for _, kind := range []string{"root", "mount"} {
		t.Run(kind, func(t *testing.T) {
			dir := realTemp(t)
			link := filepath.Join(dir, "link")
			must(t, os.Symlink(dir, link))
			flag := map[string]string{"root": "--root=" + link, "mount": "--mount=" + link + ":/x:ro"}[kind]
			e := &fakeEngine{}
			h := newHarness(t, e, &recorder{decision: approval.Allow}, flag)
			if got := h.shell(t, "ls"); got.refused {
				t.Fatal(got.text)
			}
			must(t, os.Remove(link))
			must(t, os.Symlink("/usr", link))
			if got := h.shell(t, "ls"); !got.refused || !strings.Contains(got.text, "leads elsewhere than when the server first looked") || len(e.sandboxes()) != 1 {
				t.Errorf("got %q, %d sandboxes", got.text, len(e.sandboxes()))
			}
		})
	}
}
