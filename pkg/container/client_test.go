package container_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// An answer is what a scripted agent does with a request; false ends it.
type answer func(f protocol.Frame, say func(protocol.Kind, uint64, any, string)) bool

// scripted returns an agent that greets, and answers all else by do.
func scripted(do answer) func(io.Reader, io.Writer) {
	return func(in io.Reader, out io.Writer) {
		say := func(kind protocol.Kind, id uint64, header any, body string) {
			f, err := protocol.Make(kind, id, header, []byte(body))
			if err != nil {
				panic(err)
			}
			_, _ = f.WriteTo(out) // the server may have gone
		}
		for {
			f, err := protocol.Read(in)
			if err != nil {
				return
			}
			switch f.Kind {
			case protocol.Hello:
				say(protocol.Hello, f.ID, protocol.Greeting{Version: protocol.Version, Build: "b", PID: 1}, "")
			case protocol.Ping:
				say(protocol.Ping, f.ID, nil, "")
			default:
				if !do(f, say) {
					return
				}
			}
		}
	}
}

func open(t *testing.T, do answer) (container.Backend, *container.ScriptedHost) {
	t.Helper()
	h := &container.ScriptedHost{Agent: scripted(do)}
	b, err := container.NewAgentBackend(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, h
}

var sleeper = container.Command{Argv: []string{"sleep", "9"}, Timeout: time.Second, Limit: 100}

func silent(protocol.Frame, func(protocol.Kind, uint64, any, string)) bool { return true }

func TestGreeting(t *testing.T) {
	greet := func(g any) func(io.Reader, io.Writer) {
		return func(in io.Reader, out io.Writer) {
			f, err := protocol.Read(in)
			if err != nil {
				return
			}
			a, _ := protocol.Make(protocol.Hello, f.ID, g)
			_, _ = a.WriteTo(out)
			_, _ = io.Copy(io.Discard, in)
		}
	}
	tests := map[string]struct {
		agent func(io.Reader, io.Writer)
		err   error
		stale bool
		want  string
	}{
		"another build":     {agent: greet(protocol.Greeting{Version: protocol.Version, Build: "a"}), stale: true, want: `"a"`},
		"another version":   {agent: greet(protocol.Greeting{Version: protocol.Version + 1, Build: "b"}), stale: true},
		"it ends at once":   {agent: func(io.Reader, io.Writer) {}, want: "said before the end"},
		"it says nonsense":  {agent: func(_ io.Reader, out io.Writer) { fmt.Fprint(out, strings.Repeat("nonsense ", 9)) }, want: "the sandbox is gone"},
		"it does not start": {err: errors.New("no such image"), want: "no such image"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := &container.ScriptedHost{Agent: tt.agent, Err: tt.err}
			b, err := container.NewAgentBackend(t.Context(), h)
			if b != nil || err == nil || container.IsStale(err) != tt.stale || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v", b, err)
			}
			if h.Removed != 1 {
				t.Errorf("the host was removed %d times", h.Removed)
			}
		})
	}
}

func TestSilentAtTheGreeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &container.ScriptedHost{Agent: func(in io.Reader, _ io.Writer) { _, _ = io.Copy(io.Discard, in) }}
		if _, err := container.NewAgentBackend(t.Context(), h); err == nil || h.Removed != 1 {
			t.Errorf("got %v, removed %d times", err, h.Removed)
		}
	})
}

// An agent that does not end a command in time is started again by the server.
func TestServerEndsWhatTheAgentDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := open(t, silent)
		other := make(chan error, 1)
		go func() {
			c := sleeper
			c.Timeout = time.Hour
			_, err := b.Run(t.Context(), c, nil)
			other <- err
		}()
		start := time.Now()
		res, err := b.Run(t.Context(), sleeper, nil)
		if err != nil || !res.TimedOut || !res.Restarted || h.Starts != 2 {
			t.Errorf("got %+v, %v after %d starts", res, err, h.Starts)
		}
		if took := time.Since(start); took < sleeper.Timeout+protocol.RestartAt || took > sleeper.Timeout+4*protocol.RestartAt {
			t.Errorf("it took %s", took)
		}
		var restarted *container.RestartedError
		if err := <-other; !errors.As(err, &restarted) {
			t.Errorf("the other command: got %v", err)
		}
		if _, err := b.Jobs(t.Context()); err == nil || errors.As(err, new(*container.LostError)) {
			t.Errorf("a silent agent: got %v", err)
		}
	})
}

// So is one that does not kill the command of a caller who has gone.
func TestServerEndsWhatIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := open(t, silent)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := b.Run(ctx, sleeper, nil); !errors.Is(err, context.DeadlineExceeded) || h.Starts != 2 {
			t.Errorf("got %v after %d starts", err, h.Starts)
		}
	})
}

func TestRestartThatDoesNotWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := open(t, silent)
		h.Err = errors.New("no space left")
		var lost *container.LostError
		if _, err := b.Run(t.Context(), sleeper, nil); !errors.As(err, &lost) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got %v", err)
		}
		<-b.Done()
		if _, err := b.Run(t.Context(), sleeper, nil); !errors.As(err, &lost) {
			t.Errorf("after it: got %v", err)
		}
	})
}

func TestSilentAgentIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &container.ScriptedHost{Agent: func(in io.Reader, out io.Writer) {
			f, err := protocol.Read(in)
			if err != nil {
				return
			}
			a, _ := protocol.Make(protocol.Hello, f.ID, protocol.Greeting{Version: protocol.Version, Build: "b"})
			_, _ = a.WriteTo(out)
			_, _ = io.Copy(io.Discard, in)
		}}
		b, err := container.NewAgentBackend(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		<-b.Done()
		if took := time.Since(start); took < 30*time.Second || took > 2*time.Minute {
			t.Errorf("noticed after %s", took)
		}
		b.Close()
	})
}

// A server with nothing to say renews the lease of its agent all the same, well before it ends.
func TestLeaseIsRenewed(t *testing.T) {
	if protocol.Lease != time.Minute {
		t.Errorf("a sandbox lives for %s without its server, and a minute is promised", protocol.Lease)
	}
	synctest.Test(t, func(t *testing.T) {
		frames, longest, last := 0, time.Duration(0), time.Now()
		agent := scripted(silent)
		h := &container.ScriptedHost{Agent: func(in io.Reader, out io.Writer) {
			fromServer, to := io.Pipe()
			go agent(fromServer, out)
			defer to.Close()
			for {
				f, err := protocol.Read(in)
				if err != nil {
					return
				}
				frames, longest, last = frames+1, max(longest, time.Since(last)), time.Now()
				_, _ = f.WriteTo(to) // it may have ended
			}
		}}
		b, err := container.NewAgentBackend(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * protocol.Lease)
		select {
		case <-b.Done():
			t.Error("it is gone")
		default:
		}
		b.Close()
		synctest.Wait()
		if longest = max(longest, time.Since(last)); longest > protocol.Lease/2 {
			t.Errorf("%d frames, and none for %s", frames, longest)
		}
	})
}

// Whatever an agent says, its server does not come to harm.
func TestNonsense(t *testing.T) {
	span := protocol.Span{Head: 5, Bytes: 5, Runes: 5}
	tests := map[string]struct {
		kind   protocol.Kind
		header any
		body   string
	}{
		"another kind":       {protocol.Jobs, protocol.JobList{}, ""},
		"no header":          {protocol.Result, nil, ""},
		"less than it says":  {protocol.Result, protocol.Outcome{Output: protocol.Output{Stdout: span}}, "abc"},
		"a negative span":    {protocol.Result, protocol.Outcome{Output: protocol.Output{Stdout: protocol.Span{Head: -1}}}, "abc"},
		"a second too large": {protocol.Result, protocol.Outcome{Output: protocol.Output{Stderr: protocol.Span{Tail: 9}}}, "abc"},
		"a failure of none":  {protocol.Failed, nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b, _ := open(t, func(f protocol.Frame, say func(protocol.Kind, uint64, any, string)) bool {
				say(99, 12345, nil, "of no request")
				say(protocol.Ended, 54321, protocol.JobState{}, "of no job")
				say(tt.kind, f.ID, tt.header, tt.body)
				return true
			})
			var lost *container.LostError
			if res, err := b.Run(t.Context(), sleeper, nil); !errors.As(err, &lost) {
				t.Errorf("got %+v, %v", res, err)
			}
			<-b.Done()
		})
	}
}

// The last words of a job may come before anyone knows that there is one.
func TestLastWordsComeFirst(t *testing.T) {
	words := protocol.JobState{Output: protocol.Output{Stdout: protocol.Span{Head: 5, Bytes: 5, Runes: 5}}}
	b, _ := open(t, func(f protocol.Frame, say func(protocol.Kind, uint64, any, string)) bool {
		switch f.Kind {
		case protocol.Run:
			say(protocol.Ended, f.ID, words, "words")
			say(protocol.Result, f.ID, protocol.Outcome{Left: 1}, "")
		case protocol.List:
			say(protocol.Jobs, f.ID, protocol.JobList{}, "")
		}
		return true
	})
	res, err := b.Run(t.Context(), sleeper, nil)
	if err != nil || res.Job == "" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if st, err := b.Poll(t.Context(), res.Job, 0, 100); err != nil || st.Stdout.Text != "words" {
		t.Errorf("got %+v, %v", st, err)
	}
	if list, err := b.Jobs(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("got %+v, %v", list, err)
	}
}

// Commands that have ended, well or not, leave nothing in the server.
func TestEndedCommandsAreForgotten(t *testing.T) {
	b, _ := open(t, func(f protocol.Frame, say func(protocol.Kind, uint64, any, string)) bool {
		switch {
		case f.Kind == protocol.Run && f.ID%3 == 0:
			say(protocol.Failed, f.ID, protocol.Failure{Reason: protocol.NoDirectory}, "")
		case f.Kind == protocol.Run && f.ID%3 == 1:
			say(protocol.Result, f.ID, protocol.Outcome{}, "")
		case f.Kind == protocol.Kill:
			var target protocol.Target
			if err := f.Decode(&target); err != nil {
				t.Error(err)
			}
			say(protocol.Result, target.Job, protocol.Outcome{Stopped: true}, "")
			say(protocol.State, f.ID, protocol.JobState{}, "")
		}
		return true
	})
	for range 30 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond) // for those that are not answered
		_, _ = b.Run(ctx, sleeper, nil)
		cancel()
	}
	if commands, answers := container.Remembered(b); commands != 0 || answers != 0 {
		t.Errorf("%d commands are remembered, and %d answers awaited", commands, answers)
	}
}

// Of jobs that have ended and that nobody asks about, only so many are kept.
func TestEndedJobsAreBounded(t *testing.T) {
	b, _ := open(t, func(f protocol.Frame, say func(protocol.Kind, uint64, any, string)) bool {
		switch f.Kind {
		case protocol.Run:
			say(protocol.Result, f.ID, protocol.Outcome{Left: 1}, "")
			say(protocol.Ended, f.ID, protocol.JobState{}, "")
		case protocol.List:
			say(protocol.Jobs, f.ID, protocol.JobList{}, "")
		}
		return true
	})
	last := ""
	for range 100 {
		res, err := b.Run(t.Context(), sleeper, nil)
		if err != nil || res.Job == "" {
			t.Fatalf("got %+v, %v", res, err)
		}
		last = res.Job
	}
	list, err := b.Jobs(t.Context())
	if err != nil || len(list) != 64 || list[63].ID != last {
		t.Errorf("%d jobs are kept, %v", len(list), err)
	}
}
