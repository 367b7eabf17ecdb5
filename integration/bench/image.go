package main

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/sketch"
)

// images measures how long a sketch takes beside encoding it, and what a large one costs in
// memory on a running mcp-image.
func images(out io.Writer, rounds int) error {
	dir, err := os.MkdirTemp("", "toolhost-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := sketchRace()
	if err != nil {
		return err
	}
	for range rounds {
		if err := r.round(); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	if err := results(out, "picture of sketch, drawn and encoded; the same encoded again", []race{r}); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return pictureMemory(out, dir, max(rounds/4, 3))
}

// sketchRace draws a picture, against encoding what was drawn in the same way. Drawing may take
// twice as long as encoding, so both together three times.
func sketchRace() (race, error) {
	r := race{name: "1024x1024 as PNG", target: 3}
	ask := provider.Request{Prompt: "a red boat on a lake at dawn", Size: provider.Size{Width: 1024, Height: 1024}}
	made, err := sketch.Provider{}.Generate(context.Background(), ask, nil)
	if err != nil {
		return r, err
	}
	m, err := png.Decode(bytes.NewReader(made.Images[0].Data))
	if err != nil {
		return r, err
	}
	r.ours = contender{took: new([]time.Duration), do: func() error {
		_, err := sketch.Provider{}.Generate(context.Background(), ask, nil)
		return err
	}}
	r.theirs = contender{took: new([]time.Duration), do: func() error { return png.Encode(io.Discard, m) }}
	return r, nil
}

// pictureMemory reads the peak of a process that makes one picture, and that of one that makes
// none.
func pictureMemory(out io.Writer, dir string, rounds int) error {
	bin := filepath.Join(dir, "mcp-image")
	if err := build(bin, "cmd/mcp-image"); err != nil {
		return err
	}
	const decoded = 3840 * 2160 * 4
	var idle, busy []int64
	for range rounds {
		before, after, err := peaks([]string{bin, "--provider", "sketch", "--output-dir", filepath.Join(dir, "out")})
		if err != nil {
			return err
		}
		idle, busy = append(idle, before), append(busy, after)
	}
	above := float64(median(busy) - median(idle))
	return table(out, [][]string{
		{"memory of a picture of 3840x2160", "idle, MB", "peak, MB", "above idle, in decoded pictures", "target"},
		{"mcp-image, sketch, result form mcp", fmt.Sprintf("%.0f", float64(median(idle))/1e6), fmt.Sprintf("%.0f", float64(median(busy))/1e6), fmt.Sprintf("%.2f", above/decoded), "<= 4"},
	})
}

func peaks(command []string) (idle, busy int64, err error) {
	p, err := launch(command)
	if err != nil {
		return 0, 0, err
	}
	if _, err := p.greet(); err != nil {
		return 0, 0, err
	}
	if idle, err = peak(p.cmd.Process.Pid); err != nil {
		return 0, 0, err
	}
	if _, err := p.ask("tools/call", `{"name":"image_generation","arguments":{"prompt":"a red boat on a lake at dawn","size":"3840x2160"}}`); err != nil {
		return 0, 0, err
	}
	if busy, err = peak(p.cmd.Process.Pid); err != nil {
		return 0, 0, err
	}
	_, err = p.end()
	return idle, busy, err
}

// peak returns the most memory that a process has had, in bytes, where the system says so.
func peak(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("/proc/%d/status says no VmHWM", pid)
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	return kb << 10, err
}
