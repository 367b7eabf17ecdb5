//go:build linux

package main

import (
	"syscall"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// A job is a command, seen from the agent: its supervisor, and what the server waits for. The
// agent's lock guards what changes.
type job struct {
	agent    *agent
	id       uint64
	began    time.Duration // on the monotonic clock
	timeout  time.Duration
	queue    *queue           // to the supervisor; nil before there is one
	early    []protocol.Frame // for it, from before
	link     *conn
	run      protocol.Frame // until the supervisor says that it starts it
	dead     chan struct{}  // closed when the supervisor is reaped
	over     chan struct{}  // closed when all is answered
	pid      int            // of the supervisor; 0 before it is started
	status   syscall.WaitStatus
	spoke    bool  // the supervisor was about to start the command
	answered bool  // the Run
	left     bool  // the command left something running
	ended    bool  // and the server was told of its end
	killed   bool  // the server wants it to end
	dropped  bool  // a reset ends it
	purges   bool  // counted in agent.purging
	forced   int   // processes below a supervisor that the agent ended with it
	oom      int64 // kills by the memory limit before it began
	asked    map[uint64]protocol.Kind
	timers   []*time.Timer
}

func newJob(a *agent, run protocol.Frame, timeout time.Duration) *job {
	return &job{
		agent: a, id: run.ID, run: run, began: monotonic(), timeout: timeout, oom: oomKills(),
		dead: make(chan struct{}), over: make(chan struct{}), asked: map[uint64]protocol.Kind{},
	}
}

// live accompanies the job to its end.
func (j *job) live() {
	j.climb(j.began+j.timeout, func() bool { return !j.answered })
	used := j.agent.takeSpare(j)
	if used {
		j.serve()
	}
	if !used || j.lost() { // who kills everything kills the spare as well
		if err := j.start(); err != nil {
			reason := protocol.Internal
			if outOfResources(err) {
				reason = protocol.NoResources
			}
			j.remove(failed(j.id, reason, "start a supervisor: "+err.Error()), 0)
			return
		}
		j.serve()
	}
	killed := 0
	if j.status != 0 {
		killed = j.agent.clean()
	}
	j.finish(killed)
}

func outOfResources(err error) bool {
	switch err {
	case syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC:
		return true
	}
	return false
}

// serve hands the command to the supervisor and accompanies that to its end.
func (j *job) serve() {
	j.agent.mu.Lock()
	if j.dropped { // before the supervisor could be told to start anything
		j.agent.mu.Unlock()
		j.link.Close()
		<-j.dead
		return
	}
	q := newQueue()
	q.send(frame(protocol.Hello, j.id, beginning{j.began}))
	q.send(j.run)
	for _, f := range j.early {
		q.send(f)
	}
	j.queue, j.early = q, nil
	j.agent.mu.Unlock()
	go q.run(j.link)
	j.relay()
	<-j.dead
	q.close()
	j.link.Close()
}

// lost reports whether the supervisor ended before it began with the command, and makes the
// job ready for another.
func (j *job) lost() bool {
	j.agent.mu.Lock()
	defer j.agent.mu.Unlock()
	if j.spoke || j.answered || j.dropped {
		return false
	}
	j.dead, j.pid, j.status = make(chan struct{}), 0, 0
	return true
}

// start starts a supervisor for the job.
func (j *job) start() error {
	link, err := j.agent.fork(func(pid int) *job {
		j.pid = pid
		return j
	})
	j.link = link
	return err
}

// tell sends f to the supervisor, once there is one.
func (j *job) tell(f protocol.Frame) {
	if j.queue == nil {
		j.early = append(j.early, f)
		return
	}
	j.queue.send(f)
}

// relay passes on what the supervisor says until it ends.
func (j *job) relay() {
	for {
		f, err := protocol.Read(j.link)
		if err != nil {
			return
		}
		if j.note(f) {
			j.agent.send(f)
		}
		if f.Kind == protocol.Result {
			go j.agent.makeSpare()
		}
	}
}

// note keeps account of what the server has been told. It reports whether f is for it.
func (j *job) note(f protocol.Frame) bool {
	j.agent.mu.Lock()
	defer j.agent.mu.Unlock()
	switch f.Kind {
	case protocol.Hello:
		j.spoke, j.run = true, protocol.Frame{}
		return false
	case protocol.Result:
		var outcome struct{ Left int }
		j.left = f.Decode(&outcome) == nil && outcome.Left > 0
		j.answer()
	case protocol.Failed:
		if f.ID == j.id {
			j.answer()
		}
	case protocol.Ended:
		j.ended = true
	}
	delete(j.asked, f.ID)
	return true
}

// answer notes that the Run is answered: nothing will be purged for its sake.
func (j *job) answer() {
	j.answered = true
	j.spare()
}

func (j *job) spare() {
	if j.purges {
		j.purges = false
		j.agent.purging--
		j.agent.unpurged.Broadcast()
	}
}

// ask hands a request to the supervisor, unless the job is over.
func (j *job) ask(f protocol.Frame) bool {
	if j.answered && !j.left || j.ended {
		return false
	}
	j.asked[f.ID] = f.Kind
	j.killed = j.killed || f.Kind == protocol.Kill
	j.tell(f)
	return true
}

// climb takes the agent's rungs of the ladder after from, if the supervisor still lives then
// and the job must end.
func (j *job) climb(from time.Duration, must func() bool) {
	rung := func(after time.Duration, do func()) {
		j.timers = append(j.timers, time.AfterFunc(from+after-monotonic(), func() {
			j.agent.mu.Lock()
			defer j.agent.mu.Unlock()
			if must() && j.agent.jobs[j.id] == j {
				do()
			}
		}))
	}
	j.agent.mu.Lock()
	defer j.agent.mu.Unlock()
	rung(protocol.AloneAfter, j.purge)
	rung(protocol.AgentAfter, j.force)
}

// purge lets the supervisor kill everything else, if no other job would be hit. Until the job is
// over, no other starts.
func (j *job) purge() {
	if j.purges || !j.agent.first || len(j.agent.jobs) > 1 {
		return
	}
	j.purges = true
	j.agent.purging++
	j.tell(frame(protocol.Alone, j.id, nil))
}

// force ends a supervisor that does not answer. What it leaves is killed when it is reaped.
func (j *job) force() {
	a := j.agent
	complain("supervisor %d of command %d does not answer: kill", j.pid, j.id)
	target := j.pid
	switch {
	case a.first && len(a.jobs) == 1:
		target = -1
	case a.pids[j.pid] != j:
		return
	}
	j.forced = len(below(processes(), j.pid, alive))
	syscall.Kill(target, syscall.SIGKILL)
}

// finish answers in the place of a supervisor whatever it did not, after killed processes
// that it left behind were killed.
func (j *job) finish(killed int) {
	j.agent.mu.Lock()
	spoke, answered, dropped := j.spoke, j.answered, j.dropped
	orphaned := j.left && !j.ended && len(j.asked) == 0
	late := monotonic() >= j.began+j.timeout
	killed = max(killed, j.forced) // some may have been counted twice
	j.agent.mu.Unlock()
	switch {
	case dropped && !answered:
		j.remove(failed(j.id, protocol.Restarted, "everything was ended"), killed)
	case dropped:
		j.remove(protocol.Frame{}, killed)
	case !answered && !spoke:
		j.remove(failed(j.id, protocol.NoResources, "the supervisor ended before it could start the command"), killed)
	case !answered:
		code, signal := exitCode(syscall.WaitStatus(syscall.SIGKILL))
		j.remove(frame(protocol.Result, j.id, protocol.Outcome{
			Code: code, Signal: signal, Orphaned: true, Killed: killed, OOM: oomKills() > j.oom,
			TimedOut: late && !j.killed, Stopped: j.killed, TookUS: (monotonic() - j.began).Microseconds(),
		}), killed)
	case orphaned:
		j.remove(frame(protocol.Ended, j.id, protocol.JobState{Killed: killed}), killed)
	default:
		j.remove(protocol.Frame{}, killed)
	}
}

// remove forgets the job, sends its last frame, if any, and answers what is still asked.
func (j *job) remove(last protocol.Frame, killed int) {
	a := j.agent
	a.mu.Lock()
	j.answer()
	delete(a.jobs, j.id)
	asked := j.asked
	for _, t := range j.timers {
		t.Stop()
	}
	a.mu.Unlock()
	if last.Kind != 0 {
		a.send(last)
	}
	go a.makeSpare()
	for id, kind := range asked {
		if kind == protocol.Kill {
			a.send(frame(protocol.State, id, protocol.JobState{Killed: killed}))
		} else {
			a.send(failed(id, protocol.NoJob, "the job has ended"))
		}
	}
	close(j.over)
}
