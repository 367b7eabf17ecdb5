//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"unsafe"
)

// A conn is an end of a pipe or socket whose reads and writes hold no thread: not while they wait,
// and not in the kernel either. They do not block, so the runtime need not be told of them, which
// otherwise lets another thread go on meanwhile, and starts one where none is idle. On a busy machine
// each stream that is read could come to that.
type conn struct {
	file *os.File
	raw  syscall.RawConn
}

func newConn(fd int, name string) (*conn, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("poll %s: %w", name, err)
	}
	file := os.NewFile(uintptr(fd), name)
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("poll %s: %w", name, err)
	}
	return &conn{file, raw}, nil
}

func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := call(syscall.SYS_READ, c.raw.Read, b)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n, err := call(syscall.SYS_WRITE, c.raw.Write, b[done:])
		if done += n; err != nil {
			return done, err
		}
	}
	return len(b), nil
}

// call makes a call of the kernel when wait says that it can do something.
func call(number uintptr, wait func(func(uintptr) bool) error, b []byte) (n int, err error) {
	failed := wait(func(fd uintptr) bool {
		for {
			r, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
			switch errno {
			case 0:
				n = int(r)
				return true
			case syscall.EAGAIN:
				return false
			case syscall.EINTR:
			default:
				err = errno
				return true
			}
		}
	})
	if failed != nil {
		err = failed
	}
	return n, err
}

func (c *conn) Close() error { return c.file.Close() }

// lowest is where the descriptors begin that this program keeps for itself.
const lowest = 64

// claim moves a descriptor to where no child can get it, and puts /dev/null in its place.
func claim(fd int, name string) (*conn, error) {
	high, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, lowest)
	if errno != 0 {
		return nil, fmt.Errorf("move %s: %w", name, errno)
	}
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer syscall.Close(null)
	if err := syscall.Dup3(null, fd, 0); err != nil {
		return nil, fmt.Errorf("replace %s: %w", name, err)
	}
	return newConn(int(high), name)
}
