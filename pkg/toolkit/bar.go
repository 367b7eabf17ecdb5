package toolkit

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A bar shows a call's progress to a person, on one line that it redraws. It is off where
// nobody watches.
type bar struct {
	on bool
	w  io.Writer

	mu    sync.Mutex
	drawn bool
}

func newBar(w io.Writer) *bar { return &bar{on: isTerminal(w), w: w} }

func (b *bar) update(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.on {
		return
	}
	b.drawn = true
	fmt.Fprintf(b.w, "\r\x1b[K%s", barLine(req.Params.Progress, req.Params.Total, req.Params.Message))
}

// barLine is a bar where the total is known, and the bare state otherwise.
func barLine(done, total float64, message string) string {
	message = Inline(message)
	if total <= 0 {
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", done, message))
	}
	const width = 24
	filled := min(width, max(0, int(done/total*width)))
	return fmt.Sprintf("[%s%s] %.0f/%.0f %s", strings.Repeat("#", filled), strings.Repeat(".", width-filled), done, total, message)
}

// clear ends the bar.
func (b *bar) clear() {
	b.interrupt()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on = false
}

// interrupt leaves the line to something else, until the next update.
func (b *bar) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	b.drawn = false
}
