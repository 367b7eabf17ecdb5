package shelltool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/container/capture"
)

// A fakeEngine makes sandboxes in memory.
type fakeEngine struct {
	image    string // id; "" where it has none
	info     container.EngineInfo
	name     string        // of the backend; agent where it is ""
	gate     chan struct{} // nil: Open returns at once; else it waits for a receiver, or its end
	report   string        // a line that Open reports
	degraded string

	// run says what a command does; nil: it writes its own text.
	run func(ctx context.Context, c container.Command, report func(container.Progress)) (container.Result, error)

	mu       sync.Mutex
	refuses  error // of Check, and of Open
	fail     error // of all methods
	openFail error // of Open
	opened   []*fakeBackend
	asked    int // calls of HasImage
	closed   int
}

func (e *fakeEngine) failing() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fail
}

func (e *fakeEngine) setFail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail = err
}

func (e *fakeEngine) HasImage(context.Context, string) (string, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	return e.image, e.image != "", e.fail
}

func (e *fakeEngine) Check(context.Context, container.Config) error { return e.refuses }

func (e *fakeEngine) Info(context.Context) (container.EngineInfo, error) { return e.info, e.failing() }

func (e *fakeEngine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed++
	return nil
}

func (e *fakeEngine) Open(ctx context.Context, c container.Config, report func(string)) (*container.Sandbox, error) {
	if e.report != "" {
		report(e.report)
	}
	if e.gate != nil {
		select {
		case <-e.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := e.failing(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := errors.Join(e.openFail, e.refuses); err != nil {
		return nil, err
	}
	b := &fakeBackend{engine: e, config: c, done: make(chan struct{})}
	e.opened = append(e.opened, b)
	return &container.Sandbox{Backend: b, Info: container.Info{
		ID: fmt.Sprint("box", len(e.opened)), Image: c.Image, ImageID: "sha256:1", User: "1000:1000", Dir: "/data", Degraded: e.degraded,
	}}, nil
}

// sandboxes returns those that were made.
func (e *fakeEngine) sandboxes() []*fakeBackend {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.opened)
}

// open counts those that are not closed.
func (e *fakeEngine) open() (n int) {
	for _, b := range e.sandboxes() {
		select {
		case <-b.done:
		default:
			n++
		}
	}
	return n
}

// A fakeBackend is a sandbox in memory.
type fakeBackend struct {
	engine *fakeEngine
	config container.Config
	once   sync.Once
	done   chan struct{}

	mu       sync.Mutex
	commands []container.Command
	jobs     []container.Job
	restarts int
	empties  bool // what restarts say
	polled   []string
}

func (b *fakeBackend) Name() string {
	if b.engine.name != "" {
		return b.engine.name
	}
	return "agent"
}

func (b *fakeBackend) Abilities() container.Abilities { return container.Abilities{Jobs: true} }
func (b *fakeBackend) Done() <-chan struct{}          { return b.done }

func (b *fakeBackend) Close() error {
	b.once.Do(func() { close(b.done) })
	return nil
}

func (b *fakeBackend) Run(ctx context.Context, c container.Command, report func(container.Progress)) (container.Result, error) {
	b.mu.Lock()
	b.commands = append(b.commands, c)
	b.mu.Unlock()
	if b.engine.run != nil {
		return b.engine.run(ctx, c, report)
	}
	return wrote(c.Argv[2]+"\n", ""), nil
}

func (b *fakeBackend) ran() []container.Command {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.commands)
}

func (b *fakeBackend) Jobs(context.Context) ([]container.Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.jobs, b.engine.failing()
}

func (b *fakeBackend) job(id string) (container.Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for _, j := range b.jobs {
		if j.ID == id {
			return j, nil
		}
		ids = append(ids, j.ID)
	}
	return container.Job{}, &container.NoJobError{ID: id, Have: ids}
}

func (b *fakeBackend) Poll(_ context.Context, id string, wait time.Duration, limit int) (container.JobState, error) {
	j, err := b.job(id)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.polled = append(b.polled, fmt.Sprint(id, " ", wait, " ", limit))
	return container.JobState{Job: j, Stdout: capture.Text{Text: "tick\n"}, Stderr: capture.Text{Text: "tock\n"}}, err
}

func (b *fakeBackend) Kill(_ context.Context, id string, _ int) (container.JobState, error) {
	j, err := b.job(id)
	if err != nil {
		return container.JobState{}, err
	}
	s := container.JobState{Job: j, Stdout: capture.Text{Text: "last\n"}, Killed: j.Alive}
	s.Alive = 0
	return s, nil
}

func (b *fakeBackend) Restart(context.Context) (emptied bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.restarts++
	b.jobs = nil
	return b.empties, b.engine.failing()
}

// wrote is the result of a command that wrote so much and ended well.
func wrote(stdout, stderr string) container.Result {
	return container.Result{Stdout: capture.Text{Text: stdout}, Stderr: capture.Text{Text: stderr}, Dir: "/data", Took: 5 * time.Millisecond}
}

var errAway = errors.New("connection refused")
