//go:build linux

package main

import (
	"bytes"
	"os"
)

// oomFiles hold the counter of a sandbox's memory group: version 2, version 1.
var oomFiles = []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}

// oomKills returns how many processes the memory limit has killed here, as far as that can
// be known.
func oomKills() int64 {
	for _, name := range oomFiles {
		if text, err := os.ReadFile(name); err == nil {
			return oomCount(text)
		}
	}
	return 0
}

func oomCount(text []byte) int64 {
	for line := range bytes.Lines(text) {
		if digits, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			return int64(number(bytes.TrimSpace(digits)))
		}
	}
	return 0
}
