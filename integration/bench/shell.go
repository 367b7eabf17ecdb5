package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/engineapi"
)

// shellImage is what all containers of the measurement are made of.
const shellImage = "toolhost-test/busybox"

// parallel is how many commands run at once where many do.
const parallel = 50

// shells measures mcp-shell against the same commands by the engine's API. Where no engine
// answers, or it lacks the image, there is nothing to measure.
func shells(out io.Writer, rounds int) error {
	api, err := engineapi.New(engineapi.Host())
	if err != nil {
		return err
	}
	defer api.Close()
	has, err := api.HasImage(context.Background(), shellImage)
	if err != nil || !has {
		fmt.Fprintf(os.Stderr, "bench: mcp-shell is left out: the engine has no image %s (%v); hint: make images\n", shellImage, err)
		return nil
	}
	dir, err := os.MkdirTemp("", "toolhost-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "mcp-shell")
	if err := build(bin, "cmd/mcp-shell"); err != nil {
		return err
	}
	theirs, err := newContained(api)
	if err != nil {
		return err
	}
	return errors.Join(shellTables(out, bin, theirs, rounds), theirs.remove())
}

// shellTables measures on a running mcp-shell, whose sandbox is warm.
func shellTables(out io.Writer, bin string, theirs *contained, rounds int) error {
	p, err := launch([]string{bin, "--host", theirs.api.Host, "--image", shellImage, "--pull", "never"})
	if err != nil {
		return err
	}
	if _, err := p.greet(); err != nil {
		return err
	}
	if err := p.command("true", 1); err != nil {
		return err
	}
	races := shellRaces(p, theirs)
	for range rounds {
		for _, r := range races {
			if err := r.round(); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	fmt.Fprintln(out)
	if err := results(out, "call of mcp-shell; what it is measured against", races); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := flood(out, p, theirs); err != nil {
		return err
	}
	_, err = p.end()
	return err
}

func shellRaces(p *process, theirs *contained) []race {
	one := func() error { return p.command("true", 1) }
	many := func() error { return p.command("true", parallel) }
	versus := func(do func() error) contender { return contender{do: do, took: new([]time.Duration)} }
	return []race{
		{name: "`true`; exec by the API", ours: versus(one), theirs: versus(theirs.exec), target: 1.0 / 8},
		{name: "`true`; a container for it", ours: versus(one), theirs: versus(theirs.container), target: 1.0 / 40},
		{
			name: fmt.Sprintf("%d times `true` at once; as many execs at once", parallel),
			ours: versus(many), theirs: versus(theirs.manyExecs), target: 1.0 / 10,
		},
	}
}

// command runs a command n times at once and wants each to succeed.
func (p *process) command(line string, n int) error {
	var calls strings.Builder
	for range n {
		p.nextID++
		fmt.Fprintf(&calls, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"shell","arguments":{"commands":[%q]}}}`+"\n", p.nextID, line)
	}
	if _, err := io.WriteString(p.in, calls.String()); err != nil {
		return err
	}
	for range n {
		answer, err := p.out.ReadString('\n')
		if err != nil {
			return err
		}
		if !strings.Contains(answer, `"exit_code":0`) {
			return fmt.Errorf("shell answered %.300s", answer)
		}
	}
	return nil
}

// flooding writes 1 GB; the engine's way has to read all of it.
const flooding = "yes 0123456789abcdefghijklmnopqrstuvwxyz | head -c 1000000000"

// flood prints what a command that writes 1 GB costs: memory of the server, and time.
func flood(out io.Writer, p *process, theirs *contained) error {
	before, err := p.rss()
	if err != nil {
		return err
	}
	stop := p.watch()
	begin := time.Now()
	err = p.command(flooding, 1)
	took, peak := time.Since(begin), stop()
	if err != nil {
		return err
	}
	begin = time.Now()
	if err := theirs.run(flooding); err != nil {
		return err
	}
	byAPI := time.Since(begin)
	return table(out, [][]string{
		{"1 GB of output", "mcp-shell", "exec by the API, all of it read", "target"},
		{"growth of the server's RSS, MB", fmt.Sprintf("%.1f", float64(peak-before)/1e6), "", "<= 10"},
		{"time, s", fmt.Sprintf("%.1f", took.Seconds()), fmt.Sprintf("%.1f", byAPI.Seconds()), ""},
	})
}

// watch looks at the process's memory until the function that it returns is called, which returns
// the most that there was, in bytes.
func (p *process) watch() (stop func() int64) {
	var most int64
	ending, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			if rss, err := p.rss(); err == nil {
				most = max(most, rss)
			}
			select {
			case <-ending:
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 {
		close(ending)
		<-ended
		return most
	}
}

// contained is how commands are run by the engine's API alone: in a running container, or in
// one that is made for each. Both are as restricted as a sandbox of ours.
type contained struct {
	api     *engineapi.Client
	running string
}

func newContained(api *engineapi.Client) (*contained, error) {
	ctx := context.Background()
	id, err := api.Create(ctx, restricted("sleep", "86400"))
	if err != nil {
		return nil, err
	}
	return &contained{api: api, running: id}, api.Start(ctx, id)
}

func (c *contained) remove() error { return c.api.Remove(context.Background(), c.running) }

// restricted is the profile safe of mcp-shell, without an agent.
func restricted(argv ...string) engineapi.Spec {
	const gib = 1 << 30
	s := engineapi.Spec{Image: shellImage, Cmd: argv, User: "1000:1000", Labels: map[string]string{"toolhost.bench": ""}}
	s.HostConfig = engineapi.HostConfig{
		NetworkMode: "none", CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
		Memory: gib, MemorySwap: gib, NanoCpus: 2e9, PidsLimit: 512, IpcMode: "private",
		Tmpfs:     map[string]string{"/tmp": "rw,exec,nosuid,nodev,size=256m,mode=1777", "/data": "rw,exec,nosuid,nodev,uid=1000,gid=1000"},
		LogConfig: engineapi.LogConfig{Type: "none"},
	}
	return s
}

func (c *contained) exec() error { return c.run("true") }

func (c *contained) run(line string) error {
	code, err := c.api.Exec(context.Background(), c.running, "sh", "-c", line)
	if err == nil && code != 0 {
		err = fmt.Errorf("exec ended with %d", code)
	}
	return err
}

func (c *contained) manyExecs() error {
	errs := make([]error, parallel)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = c.exec() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// container makes a container for a command, and removes it.
func (c *contained) container() error {
	ctx := context.Background()
	id, err := c.api.Create(ctx, restricted("sh", "-c", "true"))
	if err != nil {
		return err
	}
	if err := c.api.Start(ctx, id); err != nil {
		return err
	}
	code, err := c.api.Wait(ctx, id)
	if err == nil && code != 0 {
		err = fmt.Errorf("the container ended with %d", code)
	}
	return errors.Join(err, c.api.Remove(ctx, id))
}
