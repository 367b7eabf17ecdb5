//go:build linux

// How many processors to use is said below, and need not be looked for in /proc.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command agent runs commands for a server that it hears on its standard input and answers on
// its standard output, as package protocol says. In a sandbox it is the first process; it
// serves as a plain process of a Linux machine as well.
//
// For each command it starts itself again as that command's supervisor. A supervisor is a
// child subreaper: whatever the command starts stays below it, however it detaches, and so
// can be counted and ended without privilege. The agent relays frames between the server and
// the supervisors, kills what a supervisor leaves behind when it is killed, and ends when
// its input does or no frame has come for [protocol.Lease]; then everything below it ends too.
//
// Neither process can be traced or read by commands of the same user. Neither asks for a
// thread once it serves, as far as that can be arranged ([conn], [warm]): where a limit on processes is
// reached, the Go runtime would end for want of one.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// build names the sources, the toolchain and the architecture that this program is made of;
// the linker fills it in.
var build string

// supervise is the first argument that makes a supervisor of the program.
const supervise = "supervise"

// Threads that may be wanted at once beside the one that waits for events and the runtime's own: one for
// each goroutine in a call of the kernel, where those of a conn do not count, and one that runs another.
const (
	maxStarts         = 2             // supervisors that the agent starts at once
	agentThreads      = maxStarts + 6 // those, and who reaps, reads, lists and resets
	supervisorThreads = 2             // one goroutine calls
)

func main() {
	hide()
	args := os.Args[1:]
	if len(args) == 2 && args[0] == supervise {
		prepare(1)
		os.Exit(supervisorMain(args[1] == sandboxed))
	}
	lease := protocol.Lease
	if len(args) == 1 { // for tests
		d, err := time.ParseDuration(args[0])
		if err != nil {
			complain("lease: %v", err)
			os.Exit(exitUsage)
		}
		lease = d
	}
	prepare(2)
	os.Exit(agentMain(lease))
}

// The exit codes of an agent.
const (
	exitEOF   = 0
	exitUsage = 2
	exitLease = 3
	exitIO    = 4
)

func prepare(procs int) {
	runtime.GOMAXPROCS(procs)
	if err := subreaper(); err != nil {
		complain("become a subreaper: %v", err)
	}
}

// warm makes the runtime have n threads to spare, which it keeps. Signals must be taken before: that
// takes two away.
func warm(n int) {
	ready, release := make(chan struct{}), make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready <- struct{}{}
			<-release
		}()
	}
	for range n {
		<-ready
	}
	close(release)
}

// complain writes a line of diagnostics, which the server shows when an agent ends.
func complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "agent "+strconv.Itoa(os.Getpid())+": "+format+"\n", args...)
}
