package filetool

import (
	"context"
	"errors"
	"io"
)

// A gate lets so many bytes through, and then looks like the end of the text: so the line
// that a scanner is in comes out as far as it was read. Time that runs out is the same.
type gate struct {
	r    io.Reader
	left int64
	shut bool // the end was none
}

// Read reads on, as long as the gate is open.
func (g *gate) Read(p []byte) (int, error) {
	if g.shut || g.left <= 0 {
		g.shut = true
		return 0, io.EOF
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	if errors.Is(err, context.DeadlineExceeded) {
		g.shut, err = true, io.EOF
	}
	return n, err
}
