package shelltool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/container"
)

// Before a command has run there is nothing to look at, and nothing is made for looking.
func TestJobsWithoutSandbox(t *testing.T) {
	e := &fakeEngine{}
	h := newHarness(t, e, nil)
	none := "there is no sandbox yet; the next call of shell makes one"
	for _, c := range []struct {
		args    args
		want    string
		refused bool
	}{
		{args{"action": "list"}, none, false},
		{args{"action": "restart"}, none, false},
		{args{"action": "poll", "job_id": "j1"}, none + ", and so no job j1", true},
		{args{"action": "kill", "job_id": "j1"}, none + ", and so no job j1", true},
		{args{"action": "status"}, none + "\nit would be:\nimage: ubuntu:latest\nshell: /bin/sh\nworking directory: /data\nnetwork: none\nprofile: safe\n" +
			"limits: 1g of memory, 2 processors, 512 processes\nends: after 15m without a call, or 24h in all", false},
	} {
		if got := h.call(t, "shell_job", c.args); got.text != c.want || got.refused != c.refused {
			t.Errorf("%v: got %q", c.args, got.text)
		}
	}
	if len(e.sandboxes()) != 0 || e.asked != 0 {
		t.Errorf("%d sandboxes, the engine was asked %d times", len(e.sandboxes()), e.asked)
	}
}

func TestJobArguments(t *testing.T) {
	h := newHarness(t, &fakeEngine{}, nil)
	h.shell(t, "ls")
	for name, c := range map[string]struct {
		args args
		want string
	}{
		"no action":      {args{}, "action is missing"},
		"unknown action": {args{"action": "write"}, `action: got "write", want one of list, poll, kill, restart, status`},
		"no job":         {args{"action": "poll"}, `job_id is missing: poll needs the id that shell or list named, for example {"action": "poll", "job_id": "j1"}`},
		"unknown job":    {args{"action": "poll", "job_id": "j9"}, `there is no job "j9", and no other`},
		"negative wait":  {args{"action": "poll", "job_id": "j9", "timeout_ms": -1}, "timeout_ms: got -1"},
		"negative limit": {args{"action": "poll", "job_id": "j9", "max_output_length": -1}, "max_output_length: got -1"},
	} {
		if got := h.call(t, "shell_job", c.args); !got.refused || !strings.Contains(got.text, c.want) {
			t.Errorf("%s: got %q", name, got.text)
		}
	}
}

func TestJobs(t *testing.T) {
	type obj = map[string]any
	e := &fakeEngine{}
	h := newHarness(t, e, nil)
	id := h.shell(t, "ls").result["sandbox_id"]
	box := e.sandboxes()[0]
	if got := h.call(t, "shell_job", args{"action": "list"}); got.text != "no job is running" {
		t.Errorf("got %q", got.text)
	}
	box.jobs = []container.Job{
		{ID: "j1", Argv: []string{"/bin/sh", "-c", "sleep 100 &\nsleep 200 &"}, Started: time.Now().Add(-time.Minute), Alive: 2},
		{ID: "j2", Argv: []string{"/bin/sh", "-c", strings.Repeat("x", 300)}, Started: time.Now(), Alive: 1},
	}
	list := h.call(t, "shell_job", args{"action": "list"})
	lines := strings.Split(list.text, "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "job j1: 2 processes, begun 1m0") || !strings.HasSuffix(lines[0], ` ago: sleep 100 &\nsleep 200 &`) ||
		!strings.HasSuffix(lines[1], strings.Repeat("x", 200)+"...") {
		t.Errorf("list: got %q", list.text)
	}
	if jobs := list.result["jobs"].([]any); len(jobs) != 2 || jobs[0].(obj)["processes"] != 2.0 || jobs[0].(obj)["age_ms"].(float64) < 60_000 {
		t.Errorf("list: got %v", list.result)
	}
	poll := h.call(t, "shell_job", args{"action": "poll", "job_id": "j1", "timeout_ms": 1500, "max_output_length": 99})
	if want := "[job j1: 2 processes running]\ntick\n[stderr]\ntock"; poll.text != want || box.polled[0] != "j1 1.5s 99" {
		t.Errorf("poll: got %q, asked %v", poll.text, box.polled)
	}
	want := obj{"action": "poll", "sandbox_id": id, "job": obj{"job_id": "j1", "processes": 2.0, "stdout": "tick\n", "stderr": "tock\n"}}
	if diff := cmp.Diff(want, poll.result); diff != "" {
		t.Errorf("poll (-want +got)\n%s", diff)
	}
	kill := h.call(t, "shell_job", args{"action": "kill", "job_id": "j1"})
	if want := "[job j1: ended, 2 processes killed]\nlast"; kill.text != want || kill.result["job"].(obj)["killed"] != 2.0 {
		t.Errorf("kill: got %q", kill.text)
	}
	status := h.call(t, "shell_job", args{"action": "status"})
	for _, part := range []string{"up for ", ", 1 command run, 2 jobs", "\nbackend: agent", "\nimage id: sha256:1", "\nuser: 1000:1000", "\nworking directory: /data"} {
		if !strings.Contains(status.text, part) {
			t.Errorf("status lacks %q: %q", part, status.text)
		}
	}
	if s := status.result["status"].(obj); s["made"] != true || s["commands_run"] != 1.0 || s["jobs"] != 2.0 {
		t.Errorf("status: got %v", s)
	}
	again := h.call(t, "shell_job", args{"action": "restart"})
	if !strings.HasPrefix(again.text, "the sandbox was restarted: all processes have ended") || again.result["environment_restarted"] != true || box.restarts != 1 {
		t.Errorf("restart: got %q", again.text)
	}
	if got := h.shell(t, "ls"); got.text != "ls\n" || len(e.sandboxes()) != 1 {
		t.Errorf("after the restart: got %q", got.text)
	}
	box.empties = true
	anew := "the sandbox was restarted: all processes have ended; files stay in roots and mounts only, since it had to be made anew"
	if again := h.call(t, "shell_job", args{"action": "restart"}); again.text != anew {
		t.Errorf("a restart that empties: got %q", again.text)
	}
}

// A sandbox that is lost is said to be, whoever finds out, and replaced by the next command.
func TestLostSandboxes(t *testing.T) {
	for _, a := range []args{{"action": "list"}, {"action": "restart"}, {"action": "status"}} {
		e := &fakeEngine{}
		h := newHarness(t, e, nil)
		h.shell(t, "ls")
		e.setFail(&container.LostError{Why: "the engine ended the container", Err: errAway})
		if got := h.call(t, "shell_job", a); !got.refused || !strings.HasPrefix(got.text, "the sandbox is gone: the engine ended the container; the next call") || strings.Contains(got.text, errAway.Error()) {
			t.Errorf("%v: got %q", a, got.text)
		}
		e.setFail(nil)
		if got := h.shell(t, "ls"); got.refused || got.result["environment_restarted"] != true {
			t.Errorf("%v: next: %q", a, got.text)
		}
	}
	e := &fakeEngine{}
	h := newHarness(t, e, nil)
	h.shell(t, "ls")
	e.sandboxes()[0].Close() // it ended while nobody looked
	if got := h.call(t, "shell_job", args{"action": "poll", "job_id": "j1"}); !strings.HasPrefix(got.text, "there is no sandbox any more (it ended by itself)") {
		t.Errorf("got %q", got.text)
	}
	if got := h.shell(t, "ls"); got.refused || got.result["environment_restarted"] != true {
		t.Errorf("next: %q", got.text)
	}
}
