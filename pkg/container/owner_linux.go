package container

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// thisHost names the kernel since it booted and the namespace of process ids: only within
// both does a pid mean the same process to everybody.
func thisHost() string {
	space, err := os.Readlink("/proc/self/ns/pid")
	if boot := bootID(); boot != "" && err == nil {
		return boot + " " + space
	}
	name, _ := os.Hostname()
	return name
}

// bootID names the kernel since it booted; "" where that is unknown.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// processStart returns when a process began, in ticks since boot, and false where that cannot
// be read.
func processStart(pid int) (string, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// The name in parentheses may hold anything, and ends with the last parenthesis; what
	// follows begins with field 3. The start is field 22.
	rest := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(rest) < 20 {
		return "", false
	}
	if state := rest[0][0]; state == 'Z' || state == 'X' {
		return "", true
	}
	return string(rest[19]), true
}
