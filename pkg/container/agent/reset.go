//go:build linux

package main

import (
	"os"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// reset ends everything that runs below this agent and answers all that waits for it, then the
// request. Meanwhile no supervisor starts.
func (a *agent) reset(id uint64) {
	a.mu.Lock()
	a.purging++
	dropped := make([]*job, 0, len(a.jobs))
	for _, j := range a.jobs {
		j.dropped = true
		dropped = append(dropped, j)
	}
	a.mu.Unlock()
	for pause := shortestPause; !a.empty(); pause = min(2*pause, longestPause) {
		time.Sleep(pause)
	}
	a.mu.Lock()
	a.purging--
	a.unpurged.Broadcast()
	a.mu.Unlock()
	for _, j := range dropped {
		<-j.over
	}
	a.send(frame(protocol.Reset, id, nil))
}

// empty kills all that lives below this agent and reports whether there was nothing.
func (a *agent) empty() bool {
	a.mu.Lock()
	forking := a.forking > 0
	a.mu.Unlock()
	left := below(processes(), os.Getpid(), alive)
	if len(left) > 0 && a.first {
		syscall.Kill(-1, syscall.SIGKILL)
	}
	for _, p := range left {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
	return len(left) == 0 && !forking
}
