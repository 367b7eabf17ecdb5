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
// thread once it serves, as far as that can be arranged: where a limit on processes is
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

// Goroutines that may be in a system call at once, and so need a thread each.
const (
	agentThreads      = 6
	supervisorThreads = 2
)

func main() {
	hide()
	args := os.Args[1:]
	if len(args) == 2 && args[0] == supervise {
		prepare(1, supervisorThreads)
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
	prepare(2, agentThreads)
	os.Exit(agentMain(lease))
}

// The exit codes of an agent.
const (
	exitEOF   = 0
	exitUsage = 2
	exitLease = 3
	exitIO    = 4
)

func prepare(procs, threads int) {
	runtime.GOMAXPROCS(procs)
	warm(threads)
	if err := subreaper(); err != nil {
		complain("become a subreaper: %v", err)
	}
}

// warm makes the runtime start n threads, which it keeps.
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
