//go:build unix && (!linux || portable)

package search

import "golang.org/x/sys/unix"

// nonblock keeps the opening of a pipe from waiting for its other end.
const nonblock = unix.O_NONBLOCK
