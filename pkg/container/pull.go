package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/docker/docker/api/types/image"
)

// reportEvery is how often progress of a pull is reported.
const reportEvery = time.Second

// errPullTimeout says that a pull took longer than it may.
var errPullTimeout = errors.New("the pull timed out")

// pulls are the pulls under way, one for each image. The zero value is ready.
type pulls struct {
	mu  sync.Mutex
	now map[string]*pull
}

// A pull is one that several callers may wait for.
type pull struct {
	done chan struct{}
	err  error // once done is closed

	mu   sync.Mutex
	line string // how far it is
}

// pull pulls c's image, or waits for the pull of it that is under way. That goes on when ctx
// ends: the next caller will want it.
func (e *Engine) pull(ctx context.Context, c Config, report func(string)) error {
	p := e.pulls.join(c.Image, func(p *pull) { p.err = e.pullNow(c, p) })
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for last := ""; ; {
		select {
		case <-p.done:
			return p.err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if line := p.progress(); line != last && report != nil {
				report(line)
				last = line
			}
		}
	}
}

// join returns the pull of an image, which do makes if there is none.
func (p *pulls) join(image string, do func(*pull)) *pull {
	p.mu.Lock()
	defer p.mu.Unlock()
	if running := p.now[image]; running != nil {
		return running
	}
	if p.now == nil {
		p.now = map[string]*pull{}
	}
	fresh := &pull{done: make(chan struct{}), line: "pulling " + image}
	p.now[image] = fresh
	go func() {
		do(fresh)
		p.mu.Lock()
		delete(p.now, image)
		p.mu.Unlock()
		close(fresh.done)
	}()
	return fresh
}

func (p *pull) progress() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line
}

func (e *Engine) pullNow(c Config, p *pull) error {
	ctx, cancel := context.WithTimeoutCause(e.live, c.PullTimeout, errPullTimeout)
	defer cancel()
	answer, err := e.api.ImagePull(ctx, c.Image, image.PullOptions{})
	if err == nil {
		defer answer.Close()
		err = follow(answer, c.Image, p)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A pullMessage is one line of what an engine answers to a pull.
type pullMessage struct {
	ID     string // of a layer, or a tag
	Status string
	Detail struct{ Current, Total int64 } `json:"progressDetail"`
	Error  struct{ Message string }       `json:"errorDetail"`
	Text   string                         `json:"error"`
}

// follow reads an answer to its end: a pull whose answer is not read stops, and its error, if
// there is one, comes last.
func follow(answer io.Reader, image string, p *pull) error {
	layers := map[string]layer{}
	for d := json.NewDecoder(answer); ; {
		var m pullMessage
		err := d.Decode(&m)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the progress of a pull: %w", err)
		}
		if m.Error.Message != "" || m.Text != "" {
			return errors.New(max(m.Error.Message, m.Text))
		}
		note(layers, m)
		p.mu.Lock()
		p.line = "pulling " + image + summary(layers)
		p.mu.Unlock()
	}
}

// A layer is how far one layer is.
type layer struct {
	done       bool
	got, total int64 // bytes, while it is downloaded; total is 0 where that is not known
}

func note(layers map[string]layer, m pullMessage) {
	l, known := layers[m.ID]
	switch m.Status {
	case "Pulling fs layer", "Waiting":
	case "Downloading":
		l.got, l.total = m.Detail.Current, m.Detail.Total
	case "Download complete", "Verifying Checksum":
		l.got = l.total
	case "Pull complete", "Already exists":
		l.got, l.done = l.total, true
	default:
		if !known {
			return
		}
	}
	layers[m.ID] = l
}

func summary(layers map[string]layer) string {
	var done int
	var got, total int64
	for _, l := range layers {
		if l.done {
			done++
		}
		got, total = got+l.got, total+l.total
	}
	switch {
	case len(layers) == 0:
		return ""
	case total == 0:
		return fmt.Sprintf(": %d of %d layers", done, len(layers))
	}
	return fmt.Sprintf(": %d of %d layers, %.1f of %.1f MB", done, len(layers), megabytes(got), megabytes(total))
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }
