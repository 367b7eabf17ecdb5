//go:build linux

package main

import "syscall"

// A spare is a supervisor that waits for a command. Most commands take less time than the start
// of their supervisor, which so is over before they come.
type spare struct {
	pid  int
	link *conn // nil until it is known
}

func (s *spare) is(pid int) bool { return s != nil && s.pid == pid }

// makeSpare starts a supervisor to come, if there is none. Where that is not possible, there is
// none.
func (a *agent) makeSpare() {
	a.mu.Lock()
	wanted := a.spare == nil
	s := &spare{}
	if wanted {
		a.spare = s
	}
	a.mu.Unlock()
	if !wanted {
		return
	}
	link, err := a.fork(func(pid int) *job {
		s.pid = pid
		return nil
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil:
		a.spare = nil
	case a.spare == s:
		s.link = link
	default: // it has died
		link.Close()
	}
}

// takeSpare makes the spare the supervisor of j, if there is one. As with a new one, that waits
// until nobody may kill everything.
func (a *agent) takeSpare(j *job) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.purging > 0 {
		a.unpurged.Wait()
	}
	s := a.spare
	if s == nil || s.link == nil {
		return false
	}
	a.spare = nil
	syscall.Kill(s.pid, syscall.SIGCONT) // a command may have stopped all that it could
	j.pid, j.link = s.pid, s.link
	a.pids[s.pid] = j
	return true
}
