package backendtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
)

func timeouts(t *testing.T, e env) {
	mark := marker()
	tests := []struct {
		name, line string
		exact      bool // only backends with ExactKill end it
	}{
		{name: "a program", line: "exec sleep " + mark},
		{name: "a child", line: "sleep " + mark},
		{name: "signals ignored", line: "trap '' TERM INT HUP; sleep " + mark + "; sleep " + mark},
		{name: "in the background", line: "sleep " + mark + " & wait"},
		{name: "stopped", line: "sleep " + mark + " & kill -STOP $!; wait"},
		{name: "no environment", line: "env -i sleep " + mark + " & wait", exact: true},
		{name: "a daemon", line: "(trap '' HUP; env -i sleep " + mark + " </dev/null >/dev/null 2>&1 &) ; sleep " + mark, exact: true},
	}
	ended, restarts := 0, 0
	for _, tt := range tests {
		if tt.exact && !e.b.Abilities().ExactKill {
			continue
		}
		c := sh("echo before; " + tt.line)
		c.Timeout = time.Second // on a busy machine a shell takes its time to begin
		start := time.Now()
		res := e.run(c)
		if took := time.Since(start); !res.TimedOut || res.Stdout.Text != "before\n" || took > c.Timeout+generous {
			t.Errorf("%s: after %s got %+v", tt.name, took, res)
		}
		if ended++; res.Restarted {
			restarts++
		}
		e.none(mark)
	}
	if restarts == ended { // one or the other may be for want of time
		t.Errorf("each of %d timeouts restarted the environment", ended)
	}
	if res := e.run(sh("echo fine")); res.Stdout.Text != "fine\n" {
		t.Errorf("after timeouts: %+v", res)
	}
}

func cancelled(t *testing.T, e env) {
	mark := marker()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heard := make(chan struct{})
	var once sync.Once
	go func() {
		<-heard
		cancel()
	}()
	start := time.Now()
	_, err := e.b.Run(ctx, sh("echo ready; sleep "+mark), func(container.Progress) { once.Do(func() { close(heard) }) })
	if !ctxError(err) || time.Since(start) > generous {
		t.Errorf("after %s got %v", time.Since(start), err)
	}
	e.none(mark)
	if _, err := e.b.Run(ctx, sh("sleep "+mark), nil); !ctxError(err) {
		t.Errorf("a call that was cancelled before: got %v", err)
	}
	e.none(mark)
}

func atOnce(t *testing.T, e env) {
	const n = 20
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		wg.Go(func() {
			res, err := e.b.Run(t.Context(), sh("sleep 0.5; echo "+strings.Repeat("x", i)), nil)
			if err != nil || res.Stdout.Text != strings.Repeat("x", i)+"\n" {
				t.Errorf("command %d: got %+v, %v", i, res, err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(start); took > n*500*time.Millisecond {
		t.Errorf("%d commands of half a second took %s", n, took)
	}
}

func progress(t *testing.T, e env) {
	var seen []container.Progress
	res, err := e.b.Run(t.Context(), sh("echo first; echo second; sleep 2.5"), func(p container.Progress) { seen = append(seen, p) })
	if err != nil || res.Code != 0 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if len(seen) == 0 || seen[len(seen)-1].Line != "second" || seen[len(seen)-1].Bytes != int64(len("first\nsecond\n")) {
		t.Errorf("got %+v", seen)
	}
}

func jobs(t *testing.T, e env) {
	if !e.b.Abilities().Jobs {
		refusesJobs(t, e)
		return
	}
	mark := marker()
	start := time.Now()
	res := e.run(sh("echo hi; (while sleep 0.1; do echo tick; done) & sleep " + mark + " & exit 7"))
	if res.Code != 7 || !strings.HasPrefix(res.Stdout.Text, "hi\n") || res.Left < 2 || res.Job == "" || time.Since(start) > generous {
		t.Fatalf("after %s got %+v", time.Since(start), res)
	}
	list, err := e.b.Jobs(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != res.Job || list[0].Alive < 2 || list[0].Argv[0] != "/bin/sh" || list[0].Started.IsZero() {
		t.Fatalf("got %+v, %v", list, err)
	}
	for range 2 { // what was read is not read again, and more comes
		st, err := e.b.Poll(t.Context(), res.Job, time.Second, 1000)
		if err != nil || !strings.HasPrefix(st.Stdout.Text, "tick\n") || strings.Contains(st.Stdout.Text, "hi") || st.Alive < 2 {
			t.Errorf("got %+v, %v", st, err)
		}
	}
	var none *container.NoJobError
	if _, err := e.b.Poll(t.Context(), "j0", 0, 10); !errors.As(err, &none) || len(none.Have) != 1 {
		t.Errorf("an unknown job: got %v", err)
	}
	st, err := e.b.Kill(t.Context(), res.Job, 1000)
	if err != nil || st.Alive != 0 || st.Killed < 2 {
		t.Errorf("kill: got %+v, %v", st, err)
	}
	e.none(mark)
	if _, err := e.b.Kill(t.Context(), res.Job, 1000); !errors.As(err, &none) {
		t.Errorf("kill again: got %v", err)
	}
	if list, err := e.b.Jobs(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("after it: got %+v, %v", list, err)
	}
}

func refusesJobs(t *testing.T, e env) {
	var unable *container.UnableError
	if _, err := e.b.Jobs(t.Context()); !errors.As(err, &unable) {
		t.Errorf("Jobs: got %v", err)
	}
	if _, err := e.b.Poll(t.Context(), "j1", 0, 10); !errors.As(err, &unable) {
		t.Errorf("Poll: got %v", err)
	}
	if _, err := e.b.Kill(t.Context(), "j1", 10); !errors.As(err, &unable) {
		t.Errorf("Kill: got %v", err)
	}
}

// jobEnds wants the last words of a job that ended by itself, once.
func jobEnds(t *testing.T, e env) {
	if !e.b.Abilities().Jobs {
		refusesJobs(t, e)
		return
	}
	for name, wait := range map[string]time.Duration{"polled before": generous, "polled after": 0} {
		res := e.run(sh("(sleep 0.6; echo last words; echo fault >&2) & echo at once"))
		if res.Job == "" || res.Stdout.Text != "at once\n" {
			t.Fatalf("%s: got %+v", name, res)
		}
		if wait == 0 {
			e.ended(res.Job)
		}
		st, err := e.b.Poll(t.Context(), res.Job, wait, 1000)
		if err != nil || st.Stdout.Text != "last words\n" || st.Stderr.Text != "fault\n" || st.Alive != 0 {
			t.Errorf("%s: got %+v, %v", name, st, err)
		}
		var none *container.NoJobError
		if _, err := e.b.Poll(t.Context(), res.Job, 0, 1000); !errors.As(err, &none) {
			t.Errorf("%s: polled again: got %v", name, err)
		}
	}
}

// ended waits for a job to have no process.
func (e env) ended(id string) {
	e.t.Helper()
	for end := time.Now().Add(generous); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list, err := e.b.Jobs(e.t.Context())
		if err != nil {
			e.t.Fatal(err)
		}
		for _, j := range list {
			if j.ID == id && j.Alive == 0 {
				return
			}
		}
	}
	e.t.Fatalf("job %s does not end", id)
}

func restart(t *testing.T, e env) {
	mark := marker()
	e.run(sh("echo kept > kept; (sleep " + mark + " >/dev/null 2>&1 &)"))
	if _, err := e.b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := e.run(sh("cat kept")); res.Stdout.Text != "kept\n" {
		t.Errorf("a file is gone: %+v", res)
	}
	e.none(mark)
	if !e.b.Abilities().Jobs {
		return
	}
	if list, err := e.b.Jobs(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("jobs of before: %+v, %v", list, err)
	}
}

// restartUnder wants commands to be told that the environment was restarted under them.
func restartUnder(t *testing.T, e env) {
	began, ended := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		_, err := e.b.Run(t.Context(), sh("echo x; sleep 60"), func(container.Progress) { once.Do(func() { close(began) }) })
		ended <- err
	}()
	<-began
	if _, err := e.b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	var restarted *container.RestartedError
	if err := <-ended; !errors.As(err, &restarted) {
		t.Errorf("got %v", err)
	}
}

func closed(t *testing.T, e env) {
	began, ended := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		_, err := e.b.Run(t.Context(), sh("echo x; sleep 60"), func(container.Progress) { once.Do(func() { close(began) }) })
		ended <- err
	}()
	<-began
	for range 2 {
		if err := e.b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	var lost *container.LostError
	if err := <-ended; !errors.As(err, &lost) {
		t.Errorf("a command that ran: got %v", err)
	}
	select {
	case <-e.b.Done():
	default:
		t.Error("Done is not closed")
	}
	if _, err := e.b.Run(t.Context(), sh("true"), nil); !errors.As(err, &lost) {
		t.Errorf("Run: got %v", err)
	}
	if _, err := e.b.Restart(t.Context()); !errors.As(err, &lost) {
		t.Errorf("Restart: got %v", err)
	}
}
