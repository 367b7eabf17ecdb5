//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// From linux/prctl.h and time.h.
const (
	prSetDumpable       = 4
	prSetChildSubreaper = 36
	clockMonotonic      = 1
)

// hide keeps other processes of the same user from reading this one's memory and files, and
// from tracing it.
func hide() { prctl(prSetDumpable, 0) }

// subreaper makes orphans below this process its children.
func subreaper() error { return prctl(prSetChildSubreaper, 1) }

func prctl(option, value uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// bootID names the kernel since it booted.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// monotonic returns the time since the machine started, which is the same in all processes.
func monotonic() time.Duration {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}

// Signals that Go leaves to a C library, for which it takes no handler, and what can be done
// about a signal besides (linux/signal.h).
const (
	firstUntaken, lastUntaken = 32, 34

	byDefault = 0
	ignored   = 1
)

// untaken sets what the signals do that Go does not take. The kernel keeps signals from the
// first process of a namespace that would end it, but looks at its first thread only: one that
// finds that thread blocking signals, as Go has it do around a fork, ends all of it.
func untaken(disposition uintptr) {
	action := [4]uintptr{disposition} // of flags, restorer and mask there are none
	for sig := uintptr(firstUntaken); sig <= lastUntaken; sig++ {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&action)), 0, unsafe.Sizeof(uint64(0)), 0, 0)
	}
}

// closeOnExec keeps what else was inherited from children.
func closeOnExec() {
	names, _ := os.ReadDir("/proc/self/fd")
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// reaped calls dead for each child that has ended, and reports whether there are others.
func reaped(dead func(pid int, status syscall.WaitStatus)) (others bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return false
		case pid == 0:
			return true
		default:
			dead(pid, status)
		}
	}
}

// exitCode returns what a shell would say of status, and the name of the signal if there was
// one.
func exitCode(status syscall.WaitStatus) (code int, signal string) {
	if status.Signaled() {
		return 128 + int(status.Signal()), signalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGABRT: "SIGABRT", syscall.SIGALRM: "SIGALRM", syscall.SIGBUS: "SIGBUS", syscall.SIGCHLD: "SIGCHLD",
	syscall.SIGCONT: "SIGCONT", syscall.SIGFPE: "SIGFPE", syscall.SIGHUP: "SIGHUP", syscall.SIGILL: "SIGILL",
	syscall.SIGINT: "SIGINT", syscall.SIGIO: "SIGIO", syscall.SIGKILL: "SIGKILL", syscall.SIGPIPE: "SIGPIPE",
	syscall.SIGPROF: "SIGPROF", syscall.SIGPWR: "SIGPWR", syscall.SIGQUIT: "SIGQUIT", syscall.SIGSEGV: "SIGSEGV",
	syscall.SIGSTKFLT: "SIGSTKFLT", syscall.SIGSTOP: "SIGSTOP", syscall.SIGSYS: "SIGSYS", syscall.SIGTERM: "SIGTERM",
	syscall.SIGTRAP: "SIGTRAP", syscall.SIGTSTP: "SIGTSTP", syscall.SIGTTIN: "SIGTTIN", syscall.SIGTTOU: "SIGTTOU",
	syscall.SIGURG: "SIGURG", syscall.SIGUSR1: "SIGUSR1", syscall.SIGUSR2: "SIGUSR2", syscall.SIGVTALRM: "SIGVTALRM",
	syscall.SIGWINCH: "SIGWINCH", syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ",
}

func signalName(s syscall.Signal) string {
	if name := signalNames[s]; name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}
