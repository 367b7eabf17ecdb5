package toolkit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval/seal"
)

// questionKey is the key of our question among a result's inputRequests.
const questionKey = "approval"

// A retry is a call that a client makes with the answer to a question, or at least with what was
// sealed for it. What it says is a client's word (MCP 2026-07-28, server/tools, multi round-trip
// requests): the seal holds that it was asked for this call, and was not used before.
type retry struct {
	claims seal.Claims
	answer *mcp.ElicitResult // nil where there is none
}

// retryOf returns what a call brings of an earlier one, nil where that is nothing. Answers to
// what was not asked, and a state that was not sealed for this call, are protocol errors.
func (s *Server) retryOf(req *mcp.CallToolRequest, tool string, c *Call) (*retry, error) {
	p := req.Params
	if p.RequestState == "" && len(p.InputResponses) == 0 {
		return nil, nil
	}
	if !c.modern {
		return nil, &stateError{errors.New("sent before 2026-07-28")}
	}
	claims, err := s.opts.Keys.Open(s.purpose(tool, c), p.RequestState, time.Now())
	if err != nil {
		return nil, &stateError{err}
	}
	answer, _ := p.InputResponses[questionKey].(*mcp.ElicitResult)
	return &retry{claims, answer}, nil
}

func (s *Server) purpose(tool string, c *Call) seal.Purpose {
	return seal.Purpose{Server: s.opts.Name, Tool: tool, Principal: c.Caller.Principal}
}

// A stateError is the error of a call that brings a state which does not belong to it. Why is
// for the log.
type stateError struct{ why error }

func (e *stateError) Error() string { return e.why.Error() }
func (e *stateError) Unwrap() error { return e.why }

// refuseState is the protocol error for it.
func (s *Server) refuseState(tool string, e *stateError) error {
	s.opts.Log.Warn().Str("tool", tool).Err(e).Msg("request state refused")
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: seal.Invalid}
}

// redeem uses up what a retry brings, once its arguments are decoded, and returns the yes that it
// is. Without an answer it returns nil: the question is asked again.
func (s *Server) redeem(ctx context.Context, x *exchange) (*approved, error) {
	r, tool := x.retry, x.def.Name
	if sum := sha256.Sum256(x.args); !bytes.Equal(r.claims.Arguments, sum[:]) {
		return nil, &stateError{errors.New("sealed for other arguments")}
	}
	first, err := s.opts.Nonces.Use(ctx, r.claims.Nonce, r.claims.Expires)
	switch {
	case err != nil:
		return nil, Because(err, "call again in a minute: %s was approved, but approvals cannot be taken at the moment. Nothing was done.", tool)
	case !first:
		return nil, &stateError{errors.New("used before")}
	case r.answer == nil:
		return nil, nil
	}
	yes := &approved{rule: r.claims.Rule, revision: r.claims.Revision, parts: r.claims.Parts}
	copy(yes.digest[:], r.claims.Digest)
	_, mayRemember := x.call.Caller.StateKey()
	yes.session, err = heard(tool, r.answer, mayRemember)
	return yes, err
}

// inputRequired is the result that asks a question. What the client holds until it calls again
// is of no use for any other call.
func (s *Server) inputRequired(c *Call, q *question, args json.RawMessage) (*mcp.CallToolResult, error) {
	shown, sum := q.shown(), sha256.Sum256(args)
	state, err := s.opts.Keys.Seal(s.purpose(q.action.Tool, c), seal.Claims{
		Expires:   time.Now().Add(time.Duration(askTime(q.verdict))),
		Arguments: sum[:], Digest: shown.digest[:], Parts: shown.parts,
		Rule: shown.rule, Revision: shown.revision,
	})
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{questionKey: c.elicitation(q)},
		RequestState:  state,
	}, nil
}
