package imagetool

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// What becomes of work and result when a call does not wait any more, by the clock.
func TestLeave(t *testing.T) {
	tests := map[string]struct {
		bought  bool
		why     end
		takes   time.Duration // the work
		again   time.Duration // when the same is asked for again
		posts   int           // that were begun by then
		stopped bool          // the first work was stopped
		fails   bool          // it ends with an error, which may have cost as much
	}{
		"lost and asked for again":     {bought: true, why: lost, takes: 30 * time.Second, again: 10 * time.Second, posts: 1},
		"lost, ready, asked for again": {bought: true, why: lost, takes: 5 * time.Second, again: 30 * time.Second, posts: 1},
		"lost and nobody came":         {bought: true, why: lost, takes: 3 * time.Minute, again: 2 * time.Minute, posts: 2, stopped: true},
		"lost, ready, too late":        {bought: true, why: lost, takes: 5 * time.Second, again: 70 * time.Second, posts: 2},
		"lost, failed, asked again":    {bought: true, why: lost, takes: 5 * time.Second, again: 30 * time.Second, posts: 1, fails: true},
		"lost, failed, too late":       {bought: true, why: lost, takes: 5 * time.Second, again: 70 * time.Second, posts: 2, fails: true},
		"lost, and costs nothing":      {why: lost, takes: 30 * time.Second, again: time.Second, posts: 2, stopped: true},
		"cancelled":                    {bought: true, why: cancelled, takes: 30 * time.Second, again: time.Second, posts: 2, stopped: true},
		"promised":                     {bought: true, why: promised, takes: 5 * time.Minute, again: 4 * time.Minute, posts: 1},
		"fetched":                      {bought: true, why: fetched, takes: time.Millisecond, again: time.Second, posts: 2},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				js := newJobs(ctx, 4)
				posts, ended := 0, error(nil)
				do := func(ctx context.Context, _ *job) (*made, error) {
					posts++
					first := posts == 1
					select {
					case <-time.After(c.takes):
						if c.fails {
							return nil, &provider.Error{Code: provider.TimedOut, MayHaveRun: true}
						}
						return &made{Result: &provider.Result{}, files: []string{"a"}}, nil
					case <-ctx.Done():
						if first {
							ended = ctx.Err()
						}
						return nil, ctx.Err()
					}
				}
				j := js.join(key{1}, order{bought: c.bought}, do)
				time.Sleep(2 * time.Millisecond) // of the bubble
				js.leave(j, c.why)
				time.Sleep(c.again)
				js.join(key{1}, order{bought: c.bought}, do)
				synctest.Wait()
				if posts != c.posts || (ended != nil) != c.stopped {
					t.Errorf("%d were begun, the first ended with %v; want %d, stopped %v", posts, ended, c.posts, c.stopped)
				}
				stop()
				js.wait()
				time.Sleep(time.Hour) // until no timer is left
			})
		})
	}
}

// One that was left, joined and left again lives for the whole time after that.
func TestLeaveAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		js := newJobs(ctx, 4)
		var stopped atomic.Bool
		do := func(ctx context.Context, _ *job) (*made, error) {
			<-ctx.Done()
			stopped.Store(true)
			return nil, ctx.Err()
		}
		for range 3 {
			j := js.join(key{1}, order{bought: true}, do)
			js.leave(j, lost)
			time.Sleep(50 * time.Second)
		}
		if synctest.Wait(); stopped.Load() {
			t.Error("it was stopped 50 s after the last call was lost")
		}
		time.Sleep(11 * time.Second)
		if synctest.Wait(); !stopped.Load() {
			t.Error("it goes on 61 s after the last call was lost")
		}
		stop()
		js.wait()
		time.Sleep(time.Hour)
	})
}

// A result that could not be saved stays for ten minutes, a saved one for the time of a repeat.
func TestUnsavedStays(t *testing.T) {
	for file, want := range map[string]time.Duration{"": 10 * time.Minute, "a": time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			js := newJobs(t.Context(), 4)
			j := js.join(key{1}, order{bought: true}, func(context.Context, *job) (*made, error) {
				return &made{Result: &provider.Result{}, files: []string{file}}, nil
			})
			<-j.done
			js.leave(j, fetched)
			there := func() bool { return js.take(j.id) != nil }
			if time.Sleep(want - time.Second); !there() {
				t.Errorf("file %q: it is gone before %s", file, want)
			}
			if time.Sleep(2 * time.Second); there() {
				t.Errorf("file %q: it is there after %s", file, want)
			}
			time.Sleep(time.Hour)
		})
	}
}

// A result stays joinable until it was delivered, however long that takes, and for the time of
// a repeat where that failed.
func TestSlowDelivery(t *testing.T) {
	for why, posts := range map[end]int{fetched: 2, lost: 1} {
		synctest.Test(t, func(t *testing.T) {
			js, n := newJobs(t.Context(), 4), 0
			do := func(context.Context, *job) (*made, error) {
				n++
				return &made{Result: &provider.Result{}, files: []string{"a"}}, nil
			}
			first := js.join(key{1}, order{bought: true}, do)
			<-first.done
			time.Sleep(2 * time.Minute)
			second := js.join(key{1}, order{bought: true}, do)
			js.leave(second, fetched) // the first one is still on its way
			time.Sleep(2 * time.Minute)
			js.leave(first, why)
			time.Sleep(50 * time.Second)
			<-js.join(key{1}, order{bought: true}, do).done
			if n != posts {
				t.Errorf("ended by %d: %d were made, want %d", why, n, posts)
			}
			time.Sleep(time.Hour)
		})
	}
}
