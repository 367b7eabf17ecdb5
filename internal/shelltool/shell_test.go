package shelltool_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/container/capture"
)

// What a model reads, and what it gets as data, for each way in which commands end.
func TestResults(t *testing.T) {
	type obj = map[string]any
	code := func(n float64) obj { return obj{"type": "exit", "exit_code": n} }
	entry := func(stdout, stderr string, outcome obj, more obj) obj {
		o := obj{"stdout": stdout, "stderr": stderr, "outcome": outcome, "duration_ms": 5.0, "working_directory": "/data"}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	with := func(r container.Result, change func(*container.Result)) container.Result { change(&r); return r }
	for name, c := range map[string]struct {
		results []container.Result // of the commands, of which there is one more if it has a timeout
		text    string
		output  []any
		more    obj
	}{
		"quiet": {
			[]container.Result{wrote("hi\n", "")}, "hi\n", []any{entry("hi\n", "", code(0), nil)}, nil,
		},
		"silent": {
			[]container.Result{wrote("", "")}, "[exit code 0, no output]", []any{entry("", "", code(0), nil)}, nil,
		},
		"long, and quiet": {
			[]container.Result{with(wrote("hi\n", ""), func(r *container.Result) { r.Took = 65 * time.Second })},
			"hi\n",
			[]any{entry("hi\n", "", code(0), obj{"duration_ms": 65000.0})},
			nil,
		},
		"long, and not": {
			[]container.Result{with(wrote("", ""), func(r *container.Result) { r.Code, r.Took = 2, 2345*time.Millisecond })},
			"[exit code 2 after 2.3s, no output]",
			[]any{entry("", "", code(2), obj{"duration_ms": 2345.0})},
			nil,
		},
		"both streams": {
			[]container.Result{wrote("a", "b")}, "[exit code 0]\na\n[stderr]\nb", []any{entry("a", "b", code(0), nil)}, nil,
		},
		"exit code": {
			[]container.Result{with(wrote("a\n", "b\n"), func(r *container.Result) { r.Code = 7 })},
			"[exit code 7]\na\n[stderr]\nb",
			[]any{entry("a\n", "b\n", code(7), nil)},
			nil,
		},
		"signal": {
			[]container.Result{with(wrote("", ""), func(r *container.Result) { r.Code, r.Signal = 137, "SIGKILL" })},
			"[exit code 137 (SIGKILL), no output]",
			[]any{entry("", "", code(137), obj{"signal": "SIGKILL"})},
			nil,
		},
		"out of memory": {
			[]container.Result{with(wrote("", ""), func(r *container.Result) { r.Code, r.Signal, r.OOM = 137, "SIGKILL", true })},
			"[exit code 137 (SIGKILL), the memory limit of the sandbox killed a process, no output]",
			[]any{entry("", "", code(137), obj{"signal": "SIGKILL", "oom": true})},
			nil,
		},
		"left running": {
			[]container.Result{with(wrote("hi\n", ""), func(r *container.Result) { r.Left, r.Job = 3, "j4" })},
			"hi\n[note: 3 processes left running as job j4: shell_job {\"action\": \"poll\", \"job_id\": \"j4\"} reads its output, kill ends it]",
			[]any{entry("hi\n", "", code(0), obj{
				"left_running": 3.0, "job_id": "j4",
				"note": `3 processes left running as job j4: shell_job {"action": "poll", "job_id": "j4"} reads its output, kill ends it`,
			})},
			nil,
		},
		"several": {
			[]container.Result{wrote("one\n", ""), with(wrote("", "no\n"), func(r *container.Result) { r.Code = 1 }), wrote("three\n", "")},
			"[command 1 of 3: exit code 0]\none\n[command 2 of 3: exit code 1]\n[stderr]\nno\n[command 3 of 3: exit code 0]\nthree",
			[]any{entry("one\n", "", code(0), nil), entry("", "no\n", code(1), nil), entry("three\n", "", code(0), nil)},
			nil,
		},
		"timeout": {
			[]container.Result{wrote("one\n", ""), with(wrote("part\n", ""), func(r *container.Result) { r.TimedOut, r.Killed = true, 2 })},
			"[command 1 of 3: exit code 0]\none\n[command 2 of 3: timed out after 2m and was ended, 2 processes killed]\npart\n[not run: 1 command after the timeout]",
			[]any{entry("one\n", "", code(0), nil), entry("part\n", "", obj{"type": "timeout"}, obj{"killed": 2.0})},
			obj{"not_run": 1.0},
		},
		"restarted": {
			[]container.Result{with(wrote("", ""), func(r *container.Result) { r.TimedOut, r.Restarted = true, true })},
			"[command 1 of 2: timed out after 2m and was ended, no output]\n" +
				"[note: only a restart of the sandbox ended it: all other processes are gone; files stay]\n[not run: 1 command after the timeout]",
			[]any{entry("", "", obj{"type": "timeout"}, obj{"note": "only a restart of the sandbox ended it: all other processes are gone; files stay"})},
			obj{"not_run": 1.0, "environment_restarted": true},
		},
		"made anew": {
			[]container.Result{with(wrote("", ""), func(r *container.Result) { r.TimedOut, r.Restarted, r.Emptied = true, true, true })},
			"[command 1 of 2: timed out after 2m and was ended, no output]\n" +
				"[note: only a restart of the sandbox ended it: all other processes are gone; files stay in roots and mounts only, since it had to be made anew]\n[not run: 1 command after the timeout]",
			[]any{entry("", "", obj{"type": "timeout"}, obj{"note": "only a restart of the sandbox ended it: all other processes are gone; files stay in roots and mounts only, since it had to be made anew"})},
			obj{"not_run": 1.0, "environment_restarted": true},
		},
		"cut": {
			[]container.Result{with(wrote("", ""), func(r *container.Result) {
				r.Stdout = capture.Text{Text: "a[... 9 characters omitted ...]z", Omitted: 9}
			})},
			"[exit code 0, 9 characters of stdout left out]\na[... 9 characters omitted ...]z",
			[]any{entry("a[... 9 characters omitted ...]z", "", code(0), obj{"stdout_omitted": 9.0})},
			nil,
		},
		"lost its output": {
			[]container.Result{with(wrote("", ""), func(r *container.Result) { r.Code, r.Signal, r.Orphaned = 137, "SIGKILL", true })},
			"[exit code 137 (SIGKILL), no output]\n[note: the process that watches over it was killed, by itself or by a command beside it: its output is lost]",
			[]any{entry("", "", code(137), obj{"signal": "SIGKILL", "note": "the process that watches over it was killed, by itself or by a command beside it: its output is lost"})},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			next := 0
			e := &fakeEngine{run: func(context.Context, container.Command, func(container.Progress)) (container.Result, error) {
				next++
				return c.results[next-1], nil
			}}
			commands := strings.Fields(strings.Repeat("x ", len(c.results)))
			if c.results[len(c.results)-1].TimedOut {
				commands = append(commands, "never")
			}
			got := newHarness(t, e, nil).shell(t, commands...)
			if got.refused || got.text != c.text {
				t.Errorf("got %q\nwant %q", got.text, c.text)
			}
			id, _ := got.result["sandbox_id"].(string)
			if !strings.HasPrefix(id, "sb_") {
				t.Errorf("sandbox_id is %q", id)
			}
			want := obj{"output": c.output, "sandbox_id": id}
			for k, v := range c.more {
				want[k] = v
			}
			if diff := cmp.Diff(want, got.result); diff != "" {
				t.Errorf("structured (-want +got)\n%s", diff)
			}
		})
	}
}

// What a command is given, from the arguments in all the forms in which they come.
func TestCommands(t *testing.T) {
	text := func(s string) *string { return &s }
	usual := container.Command{Argv: []string{"/bin/sh", "-c", "ls"}, Timeout: 2 * time.Minute, Limit: 30_000}
	with := func(change func(*container.Command)) container.Command { c := usual; change(&c); return c }
	for name, c := range map[string]struct {
		args  args
		flags []string
		want  container.Command
		text  string // of the warning
	}{
		"list":            {args{"commands": []string{"ls"}}, nil, usual, ""},
		"one string":      {args{"commands": "ls"}, nil, usual, ""},
		"command":         {args{"command": "ls"}, nil, usual, ""},
		"cmd":             {args{"cmd": "ls"}, nil, usual, ""},
		"list in string":  {args{"commands": `["ls"]`}, nil, usual, ""},
		"test expression": {args{"command": "[ -f x ]"}, nil, with(func(c *container.Command) { c.Argv = []string{"/bin/sh", "-c", "[ -f x ]"} }), ""},
		"timeout":         {args{"command": "ls", "timeout_ms": "1500"}, nil, with(func(c *container.Command) { c.Timeout = 1500 * time.Millisecond }), ""},
		"timeout 0":       {args{"command": "ls", "timeout_ms": 0}, nil, usual, ""},
		"timeout null":    {args{"command": "ls", "timeout_ms": nil}, nil, usual, ""},
		"timeout huge":    {args{"command": "ls", "timeout_ms": 1e12}, nil, with(func(c *container.Command) { c.Timeout = 10 * time.Minute }), "timeout_ms: 1000000000000 is above 600000; 600000 was used"},
		"limit":           {args{"command": "ls", "max_output_length": 10}, nil, with(func(c *container.Command) { c.Limit = 10 }), ""},
		"limit 0":         {args{"command": "ls", "max_output_length": 0}, nil, usual, ""},
		"limit huge":      {args{"command": "ls", "max_output_length": 1e9}, nil, with(func(c *container.Command) { c.Limit = 200_000 }), "max_output_length: 1000000000 is above 200000"},
		"directory":       {args{"command": "ls", "working_directory": "a/b"}, nil, with(func(c *container.Command) { c.Dir = "a/b" }), ""},
		"cwd":             {args{"command": "ls", "cwd": "/tmp"}, nil, with(func(c *container.Command) { c.Dir = "/tmp" }), ""},
		"workdir":         {args{"command": "ls", "workdir": "/tmp"}, nil, with(func(c *container.Command) { c.Dir = "/tmp" }), ""},
		"env": {
			args{"command": "ls", "env": args{"A": "x y", "B": 5, "C": true, "D": "", "E": nil, "F": 1.50}},
			nil,
			with(func(c *container.Command) {
				c.Env = map[string]string{"A": "x y", "B": "5", "C": "true", "D": "", "E": "", "F": "1.5"}
			}), "",
		},
		"stdin":       {args{"command": "ls", "stdin": "a\n"}, nil, with(func(c *container.Command) { c.Stdin = text("a\n") }), ""},
		"empty stdin": {args{"command": "ls", "stdin": ""}, nil, with(func(c *container.Command) { c.Stdin = text("") }), ""},
		"null stdin":  {args{"command": "ls", "stdin": nil}, nil, usual, ""},
		"flags": {
			args{"command": "ls"},
			[]string{"--shell=bash", "--timeout=3s", "--max-output-length=99"},
			container.Command{Argv: []string{"bash", "-c", "ls"}, Timeout: 3 * time.Second, Limit: 99},
			"",
		},
		"unknown key": {args{"command": "ls", "description": "list"}, nil, usual, "unknown argument description ignored"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &fakeEngine{}
			got := newHarness(t, e, nil, c.flags...).call(t, "shell", c.args)
			if got.refused || !strings.Contains(got.text, c.text) {
				t.Fatalf("got %q", got.text)
			}
			if diff := cmp.Diff([]container.Command{c.want}, e.sandboxes()[0].ran()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The limit on output that a call gives is said back to it, as the Responses API has it.
func TestLimitIsSaidBack(t *testing.T) {
	for name, c := range map[string]struct {
		given, want any
	}{
		"none": {nil, nil}, "0, the default": {0, nil}, "one": {50, 50.0}, "above the largest": {1e9, 200_000.0},
	} {
		got := newHarness(t, &fakeEngine{}, nil).call(t, "shell", args{"command": "ls", "max_output_length": c.given})
		if got.refused || got.result["max_output_length"] != c.want {
			t.Errorf("%s: got %v, %q, want %v", name, got.result["max_output_length"], got.text, c.want)
		}
	}
}

// What cannot be run is refused with the argument's name, what came and what would do, and
// no sandbox is made for it.
func TestRefusedArguments(t *testing.T) {
	many := make([]string, 65)
	for i := range many {
		many[i] = "true"
	}
	for name, c := range map[string]struct {
		args args
		want string
	}{
		"nothing":           {args{}, `commands is missing`},
		"empty list":        {args{"commands": []string{}}, `commands: got 0, want 1 to 64, for example {"commands": ["ls -la", "make test"]}`},
		"empty command":     {args{"commands": []string{"ls", " \n"}}, `commands: number 2 of 2 is empty`},
		"NUL":               {args{"commands": []string{"ls\x00"}}, `commands: number 1 of 1 has a NUL byte`},
		"1 MB":              {args{"commands": []string{strings.Repeat("x", 1<<20)}}, `commands: number 1 of 1 has 1048576 bytes, and the system takes at most 131000: give the text as stdin`},
		"too many":          {args{"commands": many}, `commands: got 65, want 1 to 64`},
		"words of one":      {args{"command": []string{"bash", "-lc", "ls"}}, `commands: number 2 of 3 is "-lc", which is no command: each entry is a whole command line`},
		"objects":           {args{"commands": []any{args{"cmd": "ls"}}}, `commands: got [{"cmd":"ls"}], want an array of strings`},
		"timeout":           {args{"command": "ls", "timeout_ms": -1}, `timeout_ms: got -1, want 1 to 600000`},
		"timeout text":      {args{"command": "ls", "timeout_ms": "1m"}, `timeout_ms: got "1m", want an integer`},
		"limit":             {args{"command": "ls", "max_output_length": -5}, `max_output_length: got -5, want 1 to 200000`},
		"directory":         {args{"command": "ls", "working_directory": "a\x00"}, `working_directory: it has a NUL byte`},
		"variable":          {args{"command": "ls", "env": args{"A=B": "x"}}, `env: the name "A=B" cannot be one`},
		"no name":           {args{"command": "ls", "env": args{"": "x"}}, `env: the name "" cannot be one`},
		"NUL in name":       {args{"command": "ls", "env": args{"A\x00": "x"}}, `env: the name "A\x00" cannot be one`},
		"NUL in value":      {args{"command": "ls", "env": args{"A": "x\x00"}}, `env: the value of A must be a string without NUL`},
		"list as variable":  {args{"command": "ls", "env": args{"A": []string{"x"}}}, `env: the value of A must be a string`},
		"env list":          {args{"command": "ls", "env": []string{"A=B"}}, `env: got ["A=B"], want an object`},
		"stdin of two":      {args{"commands": []string{"cat", "cat"}, "stdin": "x"}, `stdin: got it with 2 commands, and it goes with exactly one`},
		"unknown sandbox":   {args{"command": "ls", "sandbox_id": "sb_nobody"}, `sandbox_id: there is no sandbox sb_nobody of yours`},
		"two that differ":   {args{"command": "ls", "cmd": "pwd"}, `mean the same argument and differ`},
		"sandbox on a line": {args{"command": "ls", "sandbox_id": "a\nb"}, `there is no sandbox a\nb of yours`},
		"null in the list":  {args{"commands": []any{nil}}, `commands: got [null], want an array of strings`},
	} {
		t.Run(name, func(t *testing.T) {
			e := &fakeEngine{}
			got := newHarness(t, e, nil).call(t, "shell", c.args)
			if !got.refused || !strings.Contains(got.text, c.want) || len(e.sandboxes()) > 0 {
				t.Errorf("%d sandboxes, got %q\nwant %q", len(e.sandboxes()), got.text, c.want)
			}
		})
	}
}

// What ends a list before its end leaves what came of the commands before it.
func TestStoppedLists(t *testing.T) {
	for name, c := range map[string]struct {
		err         error
		alone, text string // where it is the first command, the third of four
		next        string // the next call says
	}{
		"no directory": {
			&container.StartError{Reason: container.NoDirectory, Text: "working_directory: /nowhere does not exist"},
			"working_directory: /nowhere does not exist",
			"[stopped at command 3 of 4: working_directory: /nowhere does not exist]\n[command 1 of 4: exit code 0]\n1\n[command 2 of 4: exit code 0]\n2\n[not run to its end: 2 commands]",
			"",
		},
		"lost": {
			&container.LostError{Why: "the engine ended the container", Err: errAway},
			"the sandbox is gone: the engine ended the container; the next call gets a new one, without the processes and files of this one, but for those in roots and mounts",
			"[stopped at command 3 of 4: the sandbox is gone: the engine ended the container; the next call gets a new one, without the processes and files of this one, but for those in roots and mounts]\n" +
				"[command 1 of 4: exit code 0]\n1\n[command 2 of 4: exit code 0]\n2\n[not run to its end: 2 commands]",
			"[note: the environment was restarted: the engine ended the container; processes and files of before are gone, but for files in roots and mounts]",
		},
		"restarted": {
			&container.RestartedError{Why: "another command could not be ended otherwise"},
			"the sandbox was restarted while the command ran: another command could not be ended otherwise",
			"[stopped at command 3 of 4: the sandbox was restarted while the command ran: another command could not be ended otherwise]\n" +
				"[command 1 of 4: exit code 0]\n1\n[command 2 of 4: exit code 0]\n2\n[not run to its end: 2 commands]",
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &fakeEngine{run: func(_ context.Context, cmd container.Command, _ func(container.Progress)) (container.Result, error) {
				if cmd.Argv[2] == "bad" {
					return container.Result{}, c.err
				}
				return wrote(cmd.Argv[2]+"\n", ""), nil
			}}
			h := newHarness(t, e, nil)
			if got := h.shell(t, "bad", "2"); !got.refused || got.text != c.alone || got.result != nil {
				t.Errorf("alone: got %q", got.text)
			}
			h.shell(t, "1")
			got := h.shell(t, "1", "2", "bad", "4")
			if !got.refused || got.text != c.text {
				t.Errorf("got %q\nwant %q", got.text, c.text)
			}
			if out, _ := got.result["output"].([]any); len(out) != 2 || got.result["not_run"] != 2.0 || !strings.Contains(c.text, got.result["error"].(string)) {
				t.Errorf("structured %v", got.result)
			}
			next := h.shell(t, "1")
			if _, restarted := next.result["environment_restarted"]; restarted != (c.next != "") || !strings.Contains(next.text, c.next) || next.refused {
				t.Errorf("next: got %q, %v", next.text, next.result)
			}
			if next = h.shell(t, "1"); next.text != "1\n" {
				t.Errorf("the one after that: got %q", next.text)
			}
		})
	}
}

// A sandbox that answers neither in a command's time nor soon after is given up.
func TestSilentSandbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{run: func(ctx context.Context, c container.Command, _ func(container.Progress)) (container.Result, error) {
			if c.Argv[2] == "hang" {
				<-ctx.Done()
				return container.Result{}, ctx.Err()
			}
			return wrote("ok\n", ""), nil
		}}
		h := newHarness(t, e, nil)
		begun := time.Now()
		got := h.call(t, "shell", args{"commands": []string{"a", "hang", "b"}, "timeout_ms": 1000})
		if took := time.Since(begun); took < 10*time.Second || took > 20*time.Second {
			t.Errorf("it took %s", took)
		}
		if !got.refused || !strings.HasPrefix(got.text, "[stopped at command 2 of 3: the sandbox is gone: it did not answer in time; ") || len(got.result["output"].([]any)) != 1 {
			t.Errorf("got %q", got.text)
		}
		if got := h.shell(t, "a"); got.refused || got.result["environment_restarted"] != true {
			t.Errorf("next: %q", got.text)
		}
	})
}
