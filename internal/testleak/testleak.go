// Package testleak fails a package's tests if they leave goroutines or descriptors behind.
//
//	func TestMain(m *testing.M) { testleak.Main(m) }
//
// It counts; it does not say who leaked.
package testleak

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// patience is how long what was told to end may take to do so.
const patience = 20 * time.Second

// Main runs the tests and exits.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a package that looks for more than that at the end, such as containers. It
// returns the exit code.
func Run(m *testing.M) (code int) {
	startPoller()
	fds, routines := descriptors(), runtime.NumGoroutine()
	code = m.Run()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		return code // fuzzing keeps goroutines of its own
	}
	for end := time.Now().Add(patience); (descriptors() > fds || runtime.NumGoroutine() > routines) && time.Now().Before(end); {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if !even("descriptors", fds, descriptors()) || !even("goroutines", routines, runtime.NumGoroutine()) {
		code = 1
	}
	return code
}

func even(what string, before, after int) bool {
	if after > before {
		fmt.Fprintf(os.Stderr, "%s leaked: %d at the start, %d at the end\n", what, before, after)
	}
	return after <= before
}

// startPoller makes the runtime open the descriptors that it keeps.
func startPoller() {
	if r, w, err := os.Pipe(); err == nil {
		r.Close()
		w.Close()
	}
}

// descriptors counts the open ones; 0 on systems that do not tell.
func descriptors() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}
