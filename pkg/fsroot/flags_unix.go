//go:build unix && !linux

package fsroot

import "syscall"

// nonBlocking opens a FIFO without waiting for a writer, and no terminal as our own.
const nonBlocking = syscall.O_NONBLOCK | syscall.O_NOCTTY
