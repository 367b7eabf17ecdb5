//go:build linux

package main

import (
	"os"
	"syscall"
	"time"
)

// A cleaning asks for a time at which no stray lives, and for how many were killed meanwhile.
type cleaning chan int

// Arguments that tell a supervisor whether the agent is the first process.
const (
	sandboxed = "sandbox"
	plain     = "plain"
)

// fork starts a supervisor and returns the link to it, the other end of which is its standard
// input. Known is called with its pid under the lock, and returns its job, if it has one by
// now. While supervisors start, no stray is killed, since it could be one of them.
func (a *agent) fork(known func(pid int) *job) (*conn, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(pair[1])
	link, err := newConn(pair[0], "link")
	if err != nil {
		syscall.Close(pair[0])
		return nil, err
	}
	a.starts <- struct{}{}
	defer func() { <-a.starts }()
	place := plain
	if a.first {
		place = sandboxed
	}
	a.mu.Lock()
	for a.purging > 0 {
		a.unpurged.Wait()
	}
	a.forking++
	a.mu.Unlock()

	pid, err := syscall.ForkExec("/proc/self/exe", []string{"agent", supervise, place}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{uintptr(pair[1]), 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true}, // out of reach of a kill of the agent's group
	})

	a.mu.Lock()
	defer a.mu.Unlock()
	a.forking--
	if err == nil {
		j := known(pid)
		if j != nil {
			a.pids[pid] = j
		}
		if status, over := a.early[pid]; over {
			a.bury(pid, status)
		}
	}
	if a.forking == 0 {
		clear(a.early)
	}
	if err != nil {
		link.Close()
		return nil, err
	}
	return link, nil
}

// reap collects the dead and kills strays, at each signal and for each cleaning.
func (a *agent) reap(children <-chan os.Signal) {
	for {
		select {
		case <-children:
			if a.collect() {
				a.sweep()
			}
		case c := <-a.cleanings:
			a.collect()
			c <- a.sweep()
		}
	}
}

// clean returns when no stray lives, and how many were killed for that.
func (a *agent) clean() int {
	c := make(cleaning)
	a.cleanings <- c
	return <-c
}

// collect reaps, and reports whether there may be strays: a supervisor that ended well has
// left none.
func (a *agent) collect() (strays bool) {
	reaped(func(pid int, status syscall.WaitStatus) {
		a.mu.Lock()
		defer a.mu.Unlock()
		known := a.pids[pid] != nil || a.spare.is(pid)
		strays = strays || !known || status != 0
		switch {
		case known:
			a.bury(pid, status)
		case a.forking > 0:
			a.early[pid] = status
		}
	})
	return strays
}

// bury notes the death of a supervisor.
func (a *agent) bury(pid int, status syscall.WaitStatus) {
	if a.spare.is(pid) {
		if a.spare.link != nil {
			a.spare.link.Close()
		}
		a.spare = nil
		if len(a.jobs) == 0 { // else the end of a job brings another
			go a.makeSpare()
		}
		return
	}
	j := a.pids[pid]
	delete(a.pids, pid)
	j.status = status
	close(j.dead)
}

// strayPause is how long the killed are given to die before /proc is read again.
const strayPause = 2 * time.Millisecond

// sweep kills until no stray is left: a child of the agent that is not the supervisor of a
// command, and what is below it. It returns how many that were.
func (a *agent) sweep() int {
	killed := map[int]bool{}
	for {
		strays, sure := a.strays()
		for _, p := range strays {
			killed[p.pid] = true
		}
		if sure && len(strays) == 0 {
			return len(killed)
		}
		time.Sleep(strayPause)
		a.collect()
	}
}

// strays kills those that there are and returns them. It is not sure of the answer while a
// supervisor is being started.
func (a *agent) strays() (found []process, sure bool) {
	all := processes()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.forking > 0 {
		return nil, false
	}
	self := os.Getpid()
	for _, child := range all {
		if child.parent == self && a.pids[child.pid] == nil && !a.spare.is(child.pid) {
			found = append(found, below(all, child.pid, alive)...)
			if child.alive {
				found = append(found, child)
			}
		}
	}
	if len(found) > 0 && a.first && len(a.pids) == 0 {
		syscall.Kill(-1, syscall.SIGKILL)
		return found, true
	}
	for _, p := range found {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
	return found, true
}

// endPatience bounds how long a process that ends waits for what it kills.
const endPatience = 2 * time.Second

// killBelow kills what descends from this process until nothing does, while somebody reaps.
func killBelow() {
	for end := time.Now().Add(endPatience); time.Now().Before(end); time.Sleep(strayPause) {
		left := below(processes(), os.Getpid(), alive)
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}
