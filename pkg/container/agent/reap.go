//go:build linux

package main

import (
	"os"
	"syscall"
	"time"
)

// A cleaning asks for a time at which no stray lives, and for how many were killed meanwhile.
type cleaning chan int

// fork starts a supervisor for j with stdin as its standard input. While supervisors start, no
// stray is killed, since it could be one of them.
func (a *agent) fork(j *job, argv []string, stdin int) error {
	a.mu.Lock()
	for a.purging > 0 {
		a.unpurged.Wait()
	}
	a.forking++
	a.mu.Unlock()

	pid, err := syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{uintptr(stdin), 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true}, // out of reach of a kill of the agent's group
	})

	a.mu.Lock()
	defer a.mu.Unlock()
	a.forking--
	if err == nil {
		j.pid, a.pids[pid] = pid, j
		if status, over := a.early[pid]; over {
			a.bury(pid, status)
		}
	}
	if a.forking == 0 {
		clear(a.early)
	}
	return err
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
		strays = strays || a.pids[pid] == nil || status != 0
		switch {
		case a.pids[pid] != nil:
			a.bury(pid, status)
		case a.forking > 0:
			a.early[pid] = status
		}
	})
	return strays
}

func (a *agent) bury(pid int, status syscall.WaitStatus) {
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
		if child.parent == self && a.pids[child.pid] == nil {
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
