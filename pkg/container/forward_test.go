package container_test

import (
	"io"
	"net"
	"sync"
)

// forward passes connections on to a unix socket, until l is closed.
func forward(l net.Listener, socket string) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", socket)
		if err != nil {
			near.Close()
			continue
		}
		all.Go(func() {
			defer near.Close()
			defer far.Close()
			var back sync.WaitGroup
			back.Go(func() { pass(near, far) })
			pass(far, near)
			back.Wait()
		})
	}
}

// pass copies until one side ends, and says so to the other.
func pass(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		from.Close()
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it may be gone
	}
}
