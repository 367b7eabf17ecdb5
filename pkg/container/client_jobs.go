package container

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// maxEnded is how many ended jobs are kept for somebody to ask about; the oldest one goes.
const maxEnded = 64

// A jobTable holds what commands left running, and the last words of what has ended.
type jobTable struct {
	mu   sync.Mutex
	jobs map[uint64]*jobEntry
}

// A jobEntry is a job, or a command that may become one.
type jobEntry struct {
	job   Job
	limit int
	left  bool            // it is a job: its command has ended
	last  *protocol.Frame // how it ended
}

func jobID(id uint64) string { return "j" + strconv.FormatUint(id, 10) }

// expect makes room for a command that runs, so that its last words are kept even if they
// come before anyone knows that it left something running.
func (t *jobTable) expect(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.jobs == nil {
		t.jobs = map[uint64]*jobEntry{}
	}
	t.jobs[id] = &jobEntry{}
}

// drop forgets a command that left nothing running.
func (t *jobTable) drop(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.jobs[id]; e != nil && !e.left {
		delete(t.jobs, id)
	}
}

// keep makes a job of a command that has ended, and returns its id. It is "" if the sandbox was
// restarted meanwhile.
func (t *jobTable) keep(id uint64, j Job, limit int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.jobs[id]
	if e == nil {
		return ""
	}
	j.ID = jobID(id)
	e.job, e.limit, e.left = j, limit, true
	t.trim()
	return j.ID
}

// trim drops the oldest ended jobs over the limit.
func (t *jobTable) trim() {
	var ended []uint64
	for id, e := range t.jobs {
		if e.left && e.last != nil {
			ended = append(ended, id)
		}
	}
	slices.Sort(ended)
	for _, id := range ended[:max(0, len(ended)-maxEnded)] {
		delete(t.jobs, id)
	}
}

func (t *jobTable) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.jobs)
}

// ended keeps the last words of a job, or of a command that is about to become one.
func (t *jobTable) ended(f protocol.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.jobs[f.ID]; e != nil {
		e.last = &f
		t.trim()
	}
}

// find returns a job by its name.
func (t *jobTable) find(name string) (uint64, jobEntry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	missing := &NoJobError{ID: name}
	for id, e := range t.jobs {
		if e.left && e.job.ID == name {
			return id, *e, nil
		}
		if e.left {
			missing.Have = append(missing.Have, e.job.ID)
		}
	}
	slices.Sort(missing.Have)
	return 0, jobEntry{}, missing
}

// take removes a job.
func (t *jobTable) take(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, id)
}

// list returns the jobs, the oldest first, with the number of processes that the agent sees.
func (t *jobTable) list(alive map[uint64]int) []Job {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []uint64
	for id, e := range t.jobs {
		if e.left {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	out := make([]Job, len(ids))
	for i, id := range ids {
		out[i] = t.jobs[id].job
		out[i].Alive = alive[id]
	}
	return out
}

// late gets the frames that nobody waits for.
func (b *agentBackend) late(f protocol.Frame) {
	if f.Kind == protocol.Ended {
		b.jobs.ended(f)
	}
}

// Jobs implements [Backend].
func (b *agentBackend) Jobs(ctx context.Context) ([]Job, error) {
	f, err := b.ask(ctx, protocol.List, nil, protocol.RestartAt)
	if err != nil {
		return nil, err
	}
	var l protocol.JobList
	if err := decode(f, protocol.Jobs, &l); err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	alive := map[uint64]int{}
	for _, j := range l.Jobs {
		alive[j.ID] = j.Alive
	}
	return b.jobs.list(alive), nil
}

// asked is what requests are for, in words.
var asked = map[protocol.Kind]string{protocol.List: "list jobs", protocol.Poll: "poll a job", protocol.Kill: "kill a job"}

// ask puts a question of one answer to the agent, which must come within a time.
func (b *agentBackend) ask(ctx context.Context, kind protocol.Kind, header any, within time.Duration) (protocol.Frame, error) {
	if _, err := b.now(); err != nil {
		return protocol.Frame{}, err
	}
	f, err := protocol.Make(kind, b.ids.Add(1), header)
	if err != nil {
		return protocol.Frame{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within+busyMachine, &SilentError{What: asked[kind]})
	defer cancel()
	return b.current.Load().ask(ctx, f)
}

// Poll implements [Backend].
func (b *agentBackend) Poll(ctx context.Context, name string, wait time.Duration, limit int) (JobState, error) {
	id, e, err := b.jobs.find(name)
	if err != nil {
		return JobState{}, err
	}
	if e.last != nil {
		return b.final(id, e, *e.last, limit)
	}
	f, err := b.ask(ctx, protocol.Poll, protocol.Target{Job: id, WaitMS: wait.Milliseconds()}, wait+protocol.RestartAt)
	if err != nil {
		return JobState{}, err
	}
	return b.answer(id, f, limit)
}

// Kill implements [Backend].
func (b *agentBackend) Kill(ctx context.Context, name string, limit int) (JobState, error) {
	id, e, err := b.jobs.find(name)
	if err != nil {
		return JobState{}, err
	}
	if e.last != nil {
		return b.final(id, e, *e.last, limit)
	}
	turn, err := b.now()
	if err != nil {
		return JobState{}, err
	}
	c := b.current.Load()
	f, err := b.ask(ctx, protocol.Kill, protocol.Target{Job: id}, protocol.RestartAt)
	if err == nil {
		return b.answer(id, f, limit)
	}
	if ctx.Err() != nil || c.cause() != nil {
		return JobState{}, err
	}
	if _, err := b.restart(turn, "a job could not be ended in any other way"); err != nil {
		return JobState{}, err
	}
	return JobState{}, &RestartedError{Why: "job " + name + " could not be ended in any other way"}
}

// answer reads what the agent says of a job. If it knows none, the job has just ended.
func (b *agentBackend) answer(id uint64, f protocol.Frame, limit int) (JobState, error) {
	e, known := b.jobs.entry(id)
	if f.Kind == protocol.Failed && known && e.last != nil {
		return b.final(id, e, *e.last, limit)
	}
	if !known || f.Kind == protocol.Failed {
		b.jobs.take(id)
		return JobState{}, &NoJobError{ID: jobID(id)}
	}
	var s protocol.JobState
	if err := decode(f, protocol.State, &s); err != nil {
		return JobState{}, fmt.Errorf("job %s: %w", jobID(id), err)
	}
	if s.Alive == 0 {
		return b.final(id, e, f, limit)
	}
	return b.state(e, f, limit)
}

func (t *jobTable) entry(id uint64) (jobEntry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.jobs[id]
	if e == nil {
		return jobEntry{}, false
	}
	return *e, true
}

// final returns the last state of a job and forgets it.
func (b *agentBackend) final(id uint64, e jobEntry, f protocol.Frame, limit int) (JobState, error) {
	b.jobs.take(id)
	return b.state(e, f, limit)
}

func (b *agentBackend) state(e jobEntry, f protocol.Frame, limit int) (JobState, error) {
	var s protocol.JobState
	if err := f.Decode(&s); err != nil {
		return JobState{}, fmt.Errorf("job %s: %w", e.job.ID, err)
	}
	if limit <= 0 {
		limit = e.limit
	}
	out, errs, err := texts(s.Output, f.Body, limit)
	if err != nil {
		return JobState{}, fmt.Errorf("job %s: %w", e.job.ID, err)
	}
	st := JobState{Job: e.job, Stdout: out, Stderr: errs, OOM: s.OOM && b.can.OOM, Killed: s.Killed}
	st.Alive = s.Alive
	return st, nil
}
