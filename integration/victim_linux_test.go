package integration_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/integration/load"
)

// A victim is a server under attack, whose memory and descriptors are looked at.
type victim struct {
	t            *testing.T
	url, address string
	pid          int
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	at, p := launchHTTP(t, nil, fixture(t))
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return &victim{t: t, url: at, address: u.Host, pid: p.Pid}
}

// peak is the most memory that the process had resident, in MiB.
func (v *victim) peak() int {
	v.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.pid))
	if err != nil {
		v.t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kib int
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		v.t.Fatalf("read VmHWM: %v", err)
	}
	return kib >> 10
}

// staysBelow checks the peak of memory against a bound in MiB.
func (v *victim) staysBelow(limit int) {
	v.t.Helper()
	peak := v.peak()
	v.t.Logf("the server took up to %d MiB", peak)
	if peak > limit {
		v.t.Errorf("the server took %d MiB, want at most %d", peak, limit)
	}
}

// descriptors counts those that the process has open.
func (v *victim) descriptors() int {
	v.t.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", v.pid))
	if err != nil {
		v.t.Fatal(err)
	}
	return len(names)
}

// dropsTo waits until the process has at most so many descriptors.
func (v *victim) dropsTo(limit int, within time.Duration) {
	v.t.Helper()
	for end := time.Now().Add(within); v.descriptors() > limit; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			v.t.Errorf("%s later the server has %d descriptors, want %d", within, v.descriptors(), limit)
			return
		}
	}
}

// dial opens a connection that ends with the test.
func (v *victim) dial() net.Conn {
	v.t.Helper()
	c, err := net.Dial("tcp", v.address)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { c.Close() })
	return c
}

// neighbourTime is how long a small call of somebody else may take meanwhile, on a machine that has more to do.
const neighbourTime = 20 * time.Second

// servesOthers starts clients of every kind that make small calls, until the function that
// it returns is called: every call must have been answered in time.
func (v *victim) servesOthers() (stop func()) {
	v.t.Helper()
	ctx, cancel := context.WithCancel(v.t.Context())
	var all sync.WaitGroup
	for _, version := range []string{load.Legacy, load.Modern} {
		kept := connect(v.t, v.url, version)
		all.Go(func() { v.keepCalling(ctx, kept) })
		each := &load.Client{URL: v.url, Version: version, HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
		all.Go(func() { v.keepCalling(ctx, each) })
	}
	stop = func() {
		cancel()
		all.Wait()
	}
	v.t.Cleanup(stop) // of a test that fails before it stops them
	return stop
}

func (v *victim) keepCalling(ctx context.Context, c *load.Client) {
	calls, longest := 0, time.Duration(0)
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		start := time.Now()
		if err := callOnce(c); err != nil {
			v.t.Errorf("call %d of a neighbour (%s): %v", calls, c.Version, err)
			return
		}
		longest = max(longest, time.Since(start))
		calls++
	}
	if longest > neighbourTime {
		v.t.Errorf("one of %d calls of a neighbour (%s) took %s", calls, c.Version, longest)
	}
	v.t.Logf("a neighbour's %d calls took up to %s", calls, longest)
}

// callOnce calls a tool, in a session that it opens where there is none.
func callOnce(c *load.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*neighbourTime)
	defer cancel()
	if c.Session == "" {
		if err := c.Open(ctx); err != nil {
			return fmt.Errorf("open: %w", err)
		}
	}
	m, err := c.Call(ctx, "echo", `{"text":"alive"}`, nil)
	if err == nil && m.Text() != "alive" {
		err = fmt.Errorf("answer %s", m.Result)
	}
	return err
}
