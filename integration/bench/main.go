// Program bench measures what our servers cost beside a minimal go-sdk server, and prints
// tables in Markdown: time from start to the answer to tools/list, memory when idle,
// size of that answer, CPU time a call over stdio and over HTTP; and how long a call over
// HTTP takes when others call too; calls of mcp-patch beside git apply; commands by mcp-shell beside
// the engine's own ways; and pictures of mcp-image: their time beside encoding them, and the memory that one takes.
//
// All servers are measured in turns in one run, and medians compared: on a busy machine
// the ratios hold where the times do not. It judges nothing; a target that is missed is a
// question, not a failed test.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolhost/toolhost/integration/load"
)

func main() {
	rounds := flag.Int("rounds", 21, "starts of each server")
	calls := flag.Int("calls", 3000, "calls in a row, for the CPU time of one")
	crowded := flag.Duration("crowded", time.Second, "how long crowds of clients call each server")
	only := flag.String("only", "", "measure only servers, patch, shell or image")
	flag.Parse()
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"servers", func() error { return bench(os.Stdout, *rounds, *calls, *crowded) }},
		{"patch", func() error { return patches(os.Stdout, *rounds) }},
		{"shell", func() error { return shells(os.Stdout, *rounds) }},
		{"image", func() error { return images(os.Stdout, *rounds) }},
	} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.measure(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
}

func bench(out io.Writer, rounds, calls int, crowded time.Duration) error {
	dir, err := os.MkdirTemp("", "toolhost-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, err := subjects(dir)
	if err != nil {
		return err
	}
	repeats := max(rounds/4, 3)
	callable := slices.DeleteFunc(slices.Clone(all), func(s *subject) bool { return s.tool == "" })
	for _, do := range []struct {
		times    int
		subjects []*subject
		each     func(*subject) error
	}{
		{rounds, all, (*subject).start},
		{repeats, callable, func(s *subject) error { return s.callMany(calls) }},
		{repeats, callable, func(s *subject) error { return s.callManyHosted(load.Legacy, calls) }},
		{repeats, callable, func(s *subject) error { return s.callManyHosted(load.Modern, calls) }},
		{3, callable, func(s *subject) error { return s.meetCrowds(crowded) }},
	} {
		for range do.times {
			for _, s := range do.subjects {
				if err := do.each(s); err != nil {
					return err
				}
			}
		}
	}
	if err := costs(out, all, calls); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return latencies(out, callable)
}

// A subject is a server under measurement, and what was measured.
type subject struct {
	name    string
	command []string
	http    []string // arguments that make it serve HTTP on a free port
	modern  string   // path where it does so for 2026-07-28, if it is another than /mcp
	tool    string   // of a trivial call; "": it has none, and only its start is measured
	args    string
	beside  int // which subject it is compared with

	started []time.Duration // start to tools/list answered
	cpu     []time.Duration // of a process that only starts
	working []time.Duration // of a process that makes many calls
	rss     []int64         // bytes, when idle after tools/list
	listing int             // bytes of the answer to tools/list
	figures map[string]*httpFigures
}

// subjects builds the servers into dir. The first is what most others are compared with.
func subjects(dir string) ([]*subject, error) {
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("hello\n"), 0o644); err != nil {
		return nil, err
	}
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, manyRules(100), 0o600); err != nil {
		return nil, err
	}
	const text = `{"text":"hello"}`
	port := []string{"--http", "127.0.0.1:0"}
	all := []*subject{
		{name: "minimal", command: []string{"integration/minimal"}, http: port, modern: "/stateless", tool: "echo", args: text},
		{name: "fixture", command: []string{"integration/fixture"}, http: port, tool: "echo", args: text},
		{name: "raw handler", command: []string{"integration/minimal", "-raw"}, http: port, modern: "/stateless", tool: "echo", args: text},
		{name: "100 rules", command: []string{"integration/fixture", "--policy", policy}, http: port, tool: "echo", args: text, beside: 2},
		{name: "mcp-files", command: []string{"cmd/mcp-files", "--root", root}, http: port, tool: "Stat", args: `{"path":"a.txt"}`},
		{name: "mcp-shell", command: []string{"cmd/mcp-shell"}},
		{name: "mcp-image", command: []string{"cmd/mcp-image"}},
	}
	for _, s := range all {
		s.figures = map[string]*httpFigures{}
		for _, v := range versions {
			s.figures[v] = &httpFigures{p50: map[int][]time.Duration{}, p99: map[int][]time.Duration{}}
		}
		bin := filepath.Join(dir, s.name)
		if err := build(bin, s.command[0]); err != nil {
			return nil, err
		}
		s.command[0] = bin
	}
	return all, nil
}

// manyRules is a policy of n rules of every kind, of which the last allows the call that is
// measured: all of the others are looked at, and none decides.
func manyRules(n int) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\ndefault: deny\nrules:\n")
	for i := range n - 1 {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "  - {id: secrets-%d, effect: deny, tools: [\"*\"], paths: {globs: [\"**/.env%d*\", \"**/*.pem\"]}}\n", i, i)
		case 1:
			fmt.Fprintf(&b, "  - {id: size-%d, effect: ask, tools: [\"*\"], args: {\"/text\": {equals: \"text %d\"}}}\n", i, i)
		case 2:
			fmt.Fprintf(&b, "  - {id: team-%d, effect: allow, tools: [\"*\"], principals: [\"team:%d/*\"], transports: [http]}\n", i, i)
		default:
			fmt.Fprintf(&b, "  - {id: command-%d, effect: deny, tools: [shell], command: {argv: [program%d]}}\n", i, i)
		}
	}
	fmt.Fprintf(&b, "  - {id: echo, effect: allow, tools: [echo]}\n")
	return b.Bytes()
}

// build makes the program of a directory of this repository.
func build(bin, dir string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "./"+dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", dir, err)
	}
	return nil
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
		if _, err := p.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, s.tool, s.args)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	cpu, err := p.end()
	s.working = append(s.working, cpu)
	return err
}

// meetCrowds measures calls of every version by every size of crowd.
func (s *subject) meetCrowds(d time.Duration) error {
	for _, version := range versions {
		for _, n := range crowds {
			if err := s.crowd(version, n, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// perCall is the CPU time of one of n calls, the start left out, in microseconds.
func (s *subject) perCall(working []time.Duration, n int) float64 {
	return 1000 * ms(median(working)-median(s.cpu)) / float64(n)
}

func median[T int64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
