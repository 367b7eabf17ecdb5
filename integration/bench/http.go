package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/integration/load"
)

// versions are how the clients of HTTP speak: in sessions, and without.
var versions = []string{load.Legacy, load.Modern}

// crowds are how many clients there are at once.
var crowds = []int{1, 10, 100, 1000}

// httpFigures are what was measured of a subject with clients of one version.
type httpFigures struct {
	working []time.Duration         // CPU of a process that makes many calls
	p50     map[int][]time.Duration // of one call, by the size of the crowd
	p99     map[int][]time.Duration
}

// hosted runs the server over HTTP for as long as do takes, and returns the CPU time of
// the whole process.
func (s *subject) hosted(version string, do func(ctx context.Context, url string) error) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.command[0], append(s.http[:len(s.http):len(s.http)], s.command[1:]...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	url, err := servedAt(bufio.NewReader(stderr))
	if err == nil {
		if version == load.Modern && s.modern != "" {
			url = strings.TrimSuffix(url, "/mcp") + s.modern
		}
		err = do(ctx, url)
	}
	// How it ends is not looked at: the minimal server does nothing to end well.
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if err != nil {
		return 0, fmt.Errorf("%s over HTTP, %s: %w", s.name, version, err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// servedAt returns the address in "NAME: serving URL", and reads what follows so that the
// server can go on writing.
func servedAt(stderr *bufio.Reader) (url string, err error) {
	for {
		line, err := stderr.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("the server says no address: %w", err)
		}
		if _, rest, ok := strings.Cut(line, ": serving "); ok {
			go io.Copy(io.Discard, stderr)
			url, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			return url, nil
		}
	}
}

// callManyHosted is callMany over HTTP: one client, one connection.
func (s *subject) callManyHosted(version string, n int) error {
	cpu, err := s.hosted(version, func(ctx context.Context, url string) error {
		c := newClients(url, version, 1)[0]
		if err := c.Open(ctx); err != nil {
			return err
		}
		for range n {
			if err := s.callHosted(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	s.figures[version].working = append(s.figures[version].working, cpu)
	return err
}

// callHosted makes the trivial call.
func (s *subject) callHosted(ctx context.Context, c *load.Client) error {
	m, err := c.Call(ctx, s.tool, s.args, nil)
	if err == nil && (m.Error != nil || m.Text() == "") {
		err = fmt.Errorf("tools/call: answered %.300s", m.Result)
	}
	return err
}

// newClients returns clients with a connection each.
func newClients(url, version string, n int) []*load.Client {
	shared := &http.Client{Transport: &http.Transport{MaxIdleConns: n, MaxIdleConnsPerHost: n}}
	out := make([]*load.Client, n)
	for i := range out {
		out[i] = &load.Client{URL: url, Version: version, HTTP: shared}
	}
	return out
}

// crowd measures how long calls take when n clients each call as soon as they are answered.
func (s *subject) crowd(version string, n int, d time.Duration) error {
	var took []time.Duration
	_, err := s.hosted(version, func(ctx context.Context, url string) (err error) {
		clients := newClients(url, version, n)
		for _, c := range clients {
			if err := c.Open(ctx); err != nil {
				return err
			}
		}
		took, err = s.callAll(ctx, clients, d)
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(took)
	f := s.figures[version]
	f.p50[n] = append(f.p50[n], took[len(took)/2])
	f.p99[n] = append(f.p99[n], took[len(took)*99/100])
	return nil
}

// callAll returns how long the calls took that began within d. Each client makes one before
// the time begins, which opens its connection.
func (s *subject) callAll(ctx context.Context, clients []*load.Client, d time.Duration) (took []time.Duration, err error) {
	var mu sync.Mutex
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for _, c := range clients {
		ready.Add(1)
		done.Go(func() {
			failed := s.callHosted(ctx, c)
			ready.Done()
			<-begin
			var own []time.Duration
			for start := time.Now(); failed == nil && time.Since(start) < d; {
				call := time.Now()
				failed = s.callHosted(ctx, c)
				own = append(own, time.Since(call))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
			if failed != nil {
				err = failed
			}
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	return took, err
}
