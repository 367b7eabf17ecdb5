package imagetool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// How long things wait for their caller.
const (
	lingerTime = time.Minute      // a picture that nobody waits for any more, and a result that nobody got
	unsavedFor = 10 * time.Minute // a result that lies nowhere but in memory, to be collected by its id
)

// A key is the same for requests that are the same, of one principal.
type key [32]byte

// jobs are the pictures that are being made, and those that were made and not fetched. A call
// does not make a picture: it joins a job, so that a call that is made again, after its
// connection was lost, costs nothing.
type jobs struct {
	ctx    context.Context // the end of the server
	slots  chan struct{}   // one for each request to the provider
	linger time.Duration
	work   sync.WaitGroup

	mu    sync.Mutex
	byKey map[key]*job // an identical request gets these
	byID  map[string]*job
}

func newJobs(ctx context.Context, upstream int) *jobs {
	return &jobs{
		ctx: ctx, slots: make(chan struct{}, upstream), linger: lingerTime,
		byKey: map[key]*job{}, byID: map[string]*job{},
	}
}

// A job is one request to the provider.
type job struct {
	id     string
	key    key
	order  order
	begun  time.Time
	cancel context.CancelFunc
	done   chan struct{} // closed when made or err is there
	made   *made
	err    error

	// Held by jobs.mu.
	text     string        // how far it is
	news     chan struct{} // closed when text changes
	waiting  int           // calls
	promised bool          // its id was given to a caller who will collect it
	left     int           // how often a call left it
}

// wait waits for the end of all work, after the context of the jobs has ended.
func (js *jobs) wait() { js.work.Wait() }

// join returns the job that an identical request began, else begins one; the caller waits for
// it until leave.
func (js *jobs) join(k key, o order, do func(context.Context, *job) (*made, error)) *job {
	js.mu.Lock()
	defer js.mu.Unlock()
	if j := js.byKey[k]; j != nil {
		j.waiting++
		return j
	}
	ctx, cancel := context.WithCancel(js.ctx)
	j := &job{
		id: newID(), key: k, order: o, begun: time.Now(), cancel: cancel, done: make(chan struct{}),
		text: "waiting", news: make(chan struct{}), waiting: 1,
	}
	js.byKey[k], js.byID[j.id] = j, j
	js.work.Go(func() { js.run(ctx, j, do) })
	return j
}

// take returns the job of an id, to be waited for; nil where there is none.
func (js *jobs) take(id string) *job {
	js.mu.Lock()
	defer js.mu.Unlock()
	j := js.byID[id]
	if j != nil {
		j.waiting++
	}
	return j
}

// run does the work when there is a slot. A panic is the job's error: here it would end the program.
func (js *jobs) run(ctx context.Context, j *job, do func(context.Context, *job) (*made, error)) {
	defer j.cancel()
	var m *made
	err := js.enter(ctx, j)
	if err == nil {
		func() {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("panic: %v", r)
				}
				<-js.slots
			}()
			m, err = do(ctx, j)
		}()
	}
	js.finish(j, m, err)
}

// enter waits for a slot.
func (js *jobs) enter(ctx context.Context, j *job) error {
	select {
	case js.slots <- struct{}{}:
		return nil
	default:
		js.note(j, fmt.Sprintf("waiting, %d others are being made", cap(js.slots)))
	}
	select {
	case js.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &provider.Error{Code: provider.Cancelled, Message: "the request was cancelled before it was sent", Err: ctx.Err()}
	}
}

// note says how far a job is.
func (js *jobs) note(j *job, text string) {
	js.mu.Lock()
	defer js.mu.Unlock()
	j.text = text
	close(j.news)
	j.news = make(chan struct{})
}

// progress returns how far a job is, and what is closed when that changes.
func (js *jobs) progress(j *job) (text string, news <-chan struct{}) {
	js.mu.Lock()
	defer js.mu.Unlock()
	return j.text, j.news
}

// finish tells those who wait. Where nobody does, the result stays for who asks again.
func (js *jobs) finish(j *job, m *made, err error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	j.made, j.err = m, err
	close(j.done)
	js.lingerLocked(j)
	if m != nil && m.unsaved() {
		time.AfterFunc(unsavedFor, func() { js.drop(j) })
		return
	}
	time.AfterFunc(js.linger, func() { js.drop(j) })
}

// lingerLocked keeps a result for who asks again, for a while.
func (js *jobs) lingerLocked(j *job) {
	left := j.left
	time.AfterFunc(js.linger, func() {
		js.mu.Lock()
		defer js.mu.Unlock()
		if j.left == left && j.waiting == 0 {
			js.forgetLocked(j)
		}
	})
}

// forgetLocked makes an identical request begin anew.
func (js *jobs) forgetLocked(j *job) {
	if js.byKey[j.key] == j {
		delete(js.byKey, j.key)
	}
}

// drop lets go of a result; where it was saved, the file is found by its id.
func (js *jobs) drop(j *job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	delete(js.byID, j.id)
}

// An end is why a call does not wait any more.
type end int

// The ends.
const (
	fetched   end = iota // the result was delivered
	promised             // it will collect it
	cancelled            // its client does not want the picture
	lost                 // its client has gone, or could not be given the result
)

// ended is the end of a call that a result was made for.
func ended(delivered bool) end {
	if delivered {
		return fetched
	}
	return lost
}

// leave ends the waiting of a call. Work that costs money is stopped only if all who
// waited cancelled it: after a lost connection it goes on for a while, to be collected.
func (js *jobs) leave(j *job, why end) {
	js.mu.Lock()
	defer js.mu.Unlock()
	j.waiting--
	j.left++
	select {
	case <-j.done:
		js.leaveDoneLocked(j, why)
		return
	default:
	}
	j.promised = j.promised || why == promised
	if j.waiting > 0 || j.promised {
		return
	}
	if why == lost && j.order.bought {
		left := j.left
		time.AfterFunc(js.linger, func() { js.abandon(j, left) })
		return
	}
	js.stopLocked(j)
}

// leaveDoneLocked ends the waiting for a result that is there.
func (js *jobs) leaveDoneLocked(j *job, why end) {
	switch {
	case j.waiting > 0:
	case why == fetched:
		js.forgetLocked(j)
	default:
		js.lingerLocked(j)
	}
}

// abandon stops work that nobody came back for since it was left for that time.
func (js *jobs) abandon(j *job, left int) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if j.left == left && j.waiting == 0 && !j.promised {
		js.stopLocked(j)
	}
}

// stopLocked ends work under way; a result that is there stays.
func (js *jobs) stopLocked(j *job) {
	select {
	case <-j.done:
	default:
		j.cancel()
		js.forgetLocked(j)
		delete(js.byID, j.id)
	}
}
