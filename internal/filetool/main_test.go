package filetool_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain fails the package if its tests leave goroutines or descriptors behind.
func TestMain(m *testing.M) {
	startPoller()
	fds, routines := openFiles(), runtime.NumGoroutine()
	code := m.Run()
	deadline := time.Now().Add(2 * time.Second)
	for (openFiles() > fds || runtime.NumGoroutine() > routines) && time.Now().Before(deadline) {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if n := openFiles(); n > fds {
		fmt.Fprintf(os.Stderr, "descriptors leaked: %d at the start, %d at the end\n", fds, n)
		code = 1
	}
	if n := runtime.NumGoroutine(); n > routines {
		fmt.Fprintf(os.Stderr, "goroutines leaked: %d at the start, %d at the end\n", routines, n)
		code = 1
	}
	os.Exit(code)
}

// startPoller makes the runtime open the descriptors that it keeps.
func startPoller() {
	if r, w, err := os.Pipe(); err == nil {
		r.Close()
		w.Close()
	}
}

func openFiles() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}
