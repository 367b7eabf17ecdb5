package fsroot_test

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// raceTime is how long each swap race runs in each way.
const raceTime = 500 * time.Millisecond

// swapping runs swap all the time while try is called over and over.
func swapping(t *testing.T, swap func(), try func()) {
	t.Helper()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				swap()
			}
		}
	})
	tries := 0
	for end := time.Now().Add(raceTime); time.Now().Before(end); tries++ {
		start := time.Now()
		try()
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("a try took %v", took)
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d tries", tries)
}

// TestSwapDirectory is case 32: a directory that becomes a link to outside and back while
// it is read from.
func TestSwapDirectory(t *testing.T) {
	tr := plant(t, "d/passwd", "to-d -> d", "evil -> ../out")
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		d := tr.root + "/d"
		swap := func() {
			os.Rename(d, tr.root+"/kept")
			os.Rename(tr.root+"/evil", d)
			os.Rename(d, tr.root+"/evil")
			os.Rename(tr.root+"/kept", d)
		}
		opened := 0
		swapping(t, swap, func() {
			for _, path := range []string{"d/passwd", "to-d/passwd"} {
				content, real, err := read(s, path)
				if strings.Contains(content, secret) || (err == nil && real != "d/passwd") {
					t.Fatalf("read %q at %q", content, real)
				}
				if err == nil {
					opened++
				}
				info, err := s.Roots()[0].Stat(path)
				if err == nil && info.Size() == int64(len(secret)) {
					t.Fatalf("saw the outside file: %v", info)
				}
			}
		})
		if opened == 0 {
			t.Error("no try found the directory")
		}
	})
}

// TestSwapFile is case 33: the last component is a file, a FIFO, a link to outside and a
// link to another file by turns.
func TestSwapFile(t *testing.T) {
	tr := plant(t, "file", "other", "out -> ../S", "in -> other")
	must(t, mkfifo(tr.root+"/fifo"))
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		target := tr.root + "/x"
		swap := func() {
			for _, name := range []string{"file", "fifo", "out", "in"} {
				os.Rename(tr.root+"/"+name, target)
				os.Rename(target, tr.root+"/"+name)
			}
		}
		swapping(t, swap, func() {
			content, real, err := read(s, "x")
			if err != nil {
				return
			}
			if want := map[string]string{"file": "x", "other": "other"}[content]; real != want {
				t.Fatalf("read %q at %q", content, real)
			}
		})
	})
}
