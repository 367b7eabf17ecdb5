package toolkit

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// person returns what puts questions to the person at the terminal, or nil where nobody is there:
// then none is declared to the server, which treats the call as unattended. A question needs
// both: what is piped in is no person's answer. Nor is what was typed before they saw the question.
func (r *run) person(b *bar) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if !isTerminal(r.std.In) || !isTerminal(r.std.Err) {
		return nil
	}
	return func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		b.interrupt()
		fmt.Fprintln(r.std.Err, terminal(req.Params.Message))
		if err := flushInput(r.std.In); err != nil {
			return nil, err
		}
		fmt.Fprint(r.std.Err, "Run it? [y/N] ")
		action := make(chan string, 1)
		go func() { action <- actionOf(bufio.NewReader(r.std.In).ReadString('\n')) }()
		select {
		case a := <-action:
			return &mcp.ElicitResult{Action: a}, nil
		case <-ctx.Done():
			fmt.Fprintln(r.std.Err)
			return nil, context.Cause(ctx)
		}
	}
}

// actionOf is what a line that a person typed means: only y and yes are a yes, and no line, as
// at the end of input, is no decision.
func actionOf(line string, err error) string {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		if err == nil {
			return "accept"
		}
	case "":
		if err != nil {
			return "cancel"
		}
	}
	return "decline"
}
