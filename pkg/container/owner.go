package container

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"time"
)

// The labels by which the reaper knows whose a container is.
const (
	labelSandbox  = "toolhost.sandbox"   // 1
	labelOwner    = "toolhost.owner"     // random, one for each Engine
	labelHost     = "toolhost.host"      // where the owner's pid means something
	labelPID      = "toolhost.pid"       // of the owner
	labelPIDStart = "toolhost.pid-start" // when that process began, so that another one with its pid is told apart
	labelCreated  = "toolhost.created"   // RFC 3339
	labelLifetime = "toolhost.lifetime"  // as Go writes a duration
	labelAgent    = "toolhost.agent"     // of a volume: the hash of the agent in it
)

// An owner is the process that a sandbox belongs to.
type owner struct {
	id       string
	host     string
	pid      int
	pidStart string // "" where the system does not say
}

func thisOwner() owner {
	id := make([]byte, 8)
	rand.Read(id) // never fails
	start, _ := processStart(os.Getpid())
	return owner{id: hex.EncodeToString(id), host: thisHost(), pid: os.Getpid(), pidStart: start}
}

// labels returns those of a sandbox that is made now.
func (o owner) labels(now time.Time, lifetime time.Duration) map[string]string {
	return map[string]string{
		labelSandbox:  "1",
		labelOwner:    o.id,
		labelHost:     o.host,
		labelPID:      strconv.Itoa(o.pid),
		labelPIDStart: o.pidStart,
		labelCreated:  now.UTC().Format(time.RFC3339),
		labelLifetime: lifetime.String(),
	}
}

// leftBehind reports whether nobody cares any more for a sandbox with these labels. One of
// another host, whose processes cannot be seen, is given its lifetime. Where the labels cannot
// be read it is not ours to remove.
func (o owner) leftBehind(labels map[string]string, now time.Time) bool {
	if labels[labelSandbox] != "1" || labels[labelOwner] == o.id {
		return false
	}
	if labels[labelHost] == o.host {
		pid, err := strconv.Atoi(labels[labelPID])
		return err == nil && pid > 0 && !lives(pid, labels[labelPIDStart])
	}
	created, err := time.Parse(time.RFC3339, labels[labelCreated])
	if err != nil {
		return false
	}
	lifetime, err := time.ParseDuration(labels[labelLifetime])
	return err == nil && lifetime > 0 && now.Sub(created) > lifetime
}

// lives reports whether a process has this pid, and began then where that is known.
func lives(pid int, start string) bool {
	if now, known := processStart(pid); known && start != "" {
		return now == start
	}
	return exists(pid)
}
