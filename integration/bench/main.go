// Program bench measures what our servers cost beside a minimal go-sdk server, and prints
// a table in Markdown: time from start to the answer to tools/list, memory when idle,
// size of that answer, CPU time a call.
//
// All servers are measured in turns in one run, and medians compared: on a busy machine
// the ratios hold where the times do not. It judges nothing; a target that is missed is a
// question, not a failed test.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 21, "starts of each server")
	calls := flag.Int("calls", 3000, "calls in a row, for the CPU time of one")
	flag.Parse()
	if err := bench(os.Stdout, *rounds, *calls); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(out io.Writer, rounds, calls int) error {
	dir, err := os.MkdirTemp("", "toolhost-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, err := subjects(dir)
	if err != nil {
		return err
	}
	for range rounds {
		for _, s := range all {
			if err := s.start(); err != nil {
				return err
			}
		}
	}
	for range max(rounds/4, 3) {
		for _, s := range all {
			if err := s.callMany(calls); err != nil {
				return err
			}
		}
	}
	return table(out, all, calls)
}

// A subject is a server under measurement, and what was measured.
type subject struct {
	name    string
	command []string
	call    string // params of a trivial tools/call

	started []time.Duration // start to tools/list answered
	cpu     []time.Duration // of a process that only starts
	working []time.Duration // of a process that makes many calls
	rss     []int64         // bytes, when idle after tools/list
	listing int             // bytes of the answer to tools/list
}

// subjects builds the servers into dir. The first is what the others are compared with.
func subjects(dir string) ([]*subject, error) {
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("hello\n"), 0o644); err != nil {
		return nil, err
	}
	const echo = `{"name":"echo","arguments":{"text":"hello"}}`
	all := []*subject{
		{name: "minimal", command: []string{"integration/minimal"}, call: echo},
		{name: "fixture", command: []string{"integration/fixture"}, call: echo},
		{name: "mcp-files", command: []string{"cmd/mcp-files", "--root", root}, call: `{"name":"Stat","arguments":{"path":"a.txt"}}`},
	}
	for _, s := range all {
		bin := filepath.Join(dir, s.name)
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./"+s.command[0])
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("build %s: %w", s.name, err)
		}
		s.command[0] = bin
	}
	return all, nil
}

// start measures a start, and an end without any call.
func (s *subject) start() error {
	begin := time.Now()
	p, err := launch(s.command)
	if err != nil {
		return err
	}
	answer, err := p.greet()
	if err != nil {
		return err
	}
	s.started = append(s.started, time.Since(begin))
	s.listing = len(answer)
	time.Sleep(50 * time.Millisecond) // until it is idle
	if rss, err := p.rss(); err == nil {
		s.rss = append(s.rss, rss)
	}
	cpu, err := p.end()
	s.cpu = append(s.cpu, cpu)
	return err
}

// callMany measures the CPU time of a process that makes n calls.
func (s *subject) callMany(n int) error {
	p, err := launch(s.command)
	if err != nil {
		return err
	}
	if _, err := p.greet(); err != nil {
		return err
	}
	for range n {
		if _, err := p.ask("tools/call", s.call); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	cpu, err := p.end()
	s.working = append(s.working, cpu)
	return err
}

// perCall is the CPU time of one of n calls, the start left out.
func (s *subject) perCall(n int) time.Duration {
	return (median(s.working) - median(s.cpu)) / time.Duration(n)
}

func median[T int64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
