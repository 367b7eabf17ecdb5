package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A race is two ways to do the same work, in turns. The first is a call of one of our servers.
type race struct {
	name   string
	ours   contender
	theirs contender
	target float64 // of the ratio of the medians, at most
}

// A contender does its work, and puts everything back outside the measured time.
type contender struct {
	do    func() error
	reset func() error // checks what do made, and puts the tree back; may be nil
	took  *[]time.Duration
}

// patches measures mcp-patch in a directory that lies in memory where the system has one.
func patches(out io.Writer, rounds int) error {
	dir, err := os.MkdirTemp("/dev/shm", "toolhost-bench-")
	if err != nil {
		dir, err = os.MkdirTemp("", "toolhost-bench-")
	}
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(out)
	return patchRaces(out, dir, rounds)
}

// patchRaces measures calls on a running mcp-patch, whose trees and state lie in dir.
func patchRaces(out io.Writer, dir string, rounds int) error {
	bin := filepath.Join(dir, "mcp-patch")
	if err := build(bin, "cmd/mcp-patch"); err != nil {
		return err
	}
	root := filepath.Join(dir, "tree")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	p, err := launch([]string{bin, "--root", root, "--state-dir", filepath.Join(dir, "state")})
	if err != nil {
		return err
	}
	if _, err := p.greet(); err != nil {
		return err
	}
	races, err := newRaces(p, root)
	if err != nil {
		return err
	}
	for range rounds {
		for _, r := range races {
			if err := r.round(); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	if _, err := p.end(); err != nil {
		return err
	}
	return results(out, "call of mcp-patch; what it is measured against", races)
}

func newRaces(p *process, root string) ([]race, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	races := []race{
		{name: "5 MiB with 200 hunks; `git apply`", target: 1},
		{name: "1,000 files in one patch; `git apply`", target: 2.5},
	}
	for i, c := range []change{bigFile(), manyFiles()} {
		if races[i].ours, err = c.byCall(p, root, fmt.Sprint("ours", i)); err != nil {
			return nil, err
		}
		if races[i].theirs, err = c.byGit(git, root, fmt.Sprint("git", i)); err != nil {
			return nil, err
		}
	}
	vain := race{name: "400 lines that do not fit 100,000 equal ones; 100,000 different ones", target: 3}
	if vain.ours, err = inVain(p, root, "equal", func(int) string { return "the same line" }); err != nil {
		return nil, err
	}
	vain.theirs, err = inVain(p, root, "different", func(i int) string { return fmt.Sprint("line ", i) })
	return append(races, vain), err
}

// round runs both once.
func (r race) round() error {
	for _, c := range []contender{r.ours, r.theirs} {
		begin := time.Now()
		err := c.do()
		*c.took = append(*c.took, time.Since(begin))
		if err == nil && c.reset != nil {
			err = c.reset()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// byCall makes the change by calls of apply_patch, in a tree of its own below root.
func (c change) byCall(p *process, root, name string) (contender, error) {
	patch := c.envelope(name)
	return contender{
		do: func() error {
			_, err := p.ask("tools/call", applyPatch(patch))
			return err
		},
		reset: func() error { return c.reset(filepath.Join(root, name)) },
		took:  new([]time.Duration),
	}, c.write(filepath.Join(root, name))
}

// byGit makes the change by a process of git, in a tree of its own below root.
func (c change) byGit(git, root, name string) (contender, error) {
	tree := filepath.Join(root, name)
	diff := tree + ".diff"
	if err := os.WriteFile(diff, []byte(c.unified()), 0o644); err != nil {
		return contender{}, err
	}
	return contender{
		do: func() error {
			cmd := exec.Command(git, "apply", diff)
			cmd.Dir = tree
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+root)
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("git apply: %w: %.300s", err, out)
			}
			return err
		},
		reset: func() error { return c.reset(tree) },
		took:  new([]time.Duration),
	}, c.write(tree)
}

// inVain makes calls that are refused: the last of the lines to find is not in the file.
func inVain(p *process, root, name string, line func(int) string) (contender, error) {
	var text, patch []byte
	for i := range 100_000 {
		text = fmt.Appendln(text, line(i))
	}
	patch = fmt.Appendf(patch, "*** Begin Patch\n*** Update File: %s\n@@\n", name)
	for i := range 399 {
		patch = fmt.Appendf(patch, " %s\n", line(50_000+i))
	}
	patch = fmt.Append(patch, "-a line that is not there\n+another\n*** End Patch\n")
	return contender{
		do: func() error {
			line, _, err := p.answer("tools/call", applyPatch(string(patch)))
			if err == nil && !bytes.Contains(line, []byte("context_not_found")) {
				err = fmt.Errorf("apply_patch: answered %.300s", line)
			}
			return err
		},
		took: new([]time.Duration),
	}, os.WriteFile(filepath.Join(root, name), text, 0o644)
}

func applyPatch(patch string) string {
	args, _ := json.Marshal(patch)
	return fmt.Sprintf(`{"name":"apply_patch","arguments":{"patch":%s}}`, args)
}

// results prints a row a race: median and minimum of both sides, and the ratio of the medians.
func results(out io.Writer, what string, races []race) error {
	rows := [][]string{{what, "call, ms", "against, ms", "ratio", "target"}}
	for _, r := range races {
		ours, theirs := *r.ours.took, *r.theirs.took
		rows = append(rows, []string{
			r.name, spread(ours), spread(theirs),
			fmt.Sprintf("%.3g (of minima %.3g)", ratio(median(ours), median(theirs)), ratio(slices.Min(ours), slices.Min(theirs))),
			fmt.Sprintf("<= %.3g", r.target),
		})
	}
	return table(out, rows)
}

func spread(took []time.Duration) string {
	return fmt.Sprintf("%.1f (min %.1f)", ms(median(took)), ms(slices.Min(took)))
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
