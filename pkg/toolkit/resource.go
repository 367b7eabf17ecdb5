package toolkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// ErrNoResource is what Plan returns, wrapped or not, where a URI names nothing that the
// caller may know of.
var ErrNoResource = errors.New("no such resource")

// A ResourceTemplate serves resources whose URIs fit a template. It takes the way of a
// tool's call: Plan resolves and says what would be read, the policy decides, Run reads.
//
// P is as for [Tool].
type ResourceTemplate[P any] struct {
	Name        string // canonical name of the tool whose rules hold for it
	Title       string
	Description string
	URITemplate string // RFC 6570
	Effect      approval.Effect
	Plan        func(ctx context.Context, call *Call, uri string) (P, approval.Action, error)
	Run         func(ctx context.Context, p P, g approval.Grant) ([]*mcp.ResourceContents, error)
}

// AddResources registers t with s.
func AddResources[P any](s *Server, t ResourceTemplate[P]) {
	def := &mcp.ResourceTemplate{Name: t.Name, Title: t.Title, Description: t.Description, URITemplate: t.URITemplate}
	s.mcp.AddResourceTemplate(def, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		contents, err := readResource(ctx, s, &t, s.callOf(req.Session, req.Extra, isModern(req)), req.Params.URI)
		if err != nil {
			return nil, s.resourceError(err, req.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: contents}, nil
	})
}

func readResource[P any](ctx context.Context, s *Server, t *ResourceTemplate[P], call *Call, uri string) ([]*mcp.ResourceContents, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(ctx, DefaultDeadline)
	defer cancel()
	p, action, err := t.Plan(ctx, call, uri)
	if c, ok := any(p).(io.Closer); ok && err == nil {
		defer c.Close()
	}
	action.Tool, action.Effect = t.Name, cmp.Or(action.Effect, t.Effect)
	grant, err := s.decide(ctx, call, action, err)
	if err != nil {
		return nil, err
	}
	return t.Run(ctx, p, grant)
}

// resourceError is the protocol error for a resource that could not be read.
func (s *Server) resourceError(err error, uri string) error {
	if errors.Is(err, ErrNoResource) {
		return mcp.ResourceNotFoundError(uri)
	}
	if text, ok := VisibleText(err); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
	}
	id := newID()
	s.opts.Log.Error().Str("uri", uri).Str("id", id).Err(err).Msg("internal error")
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("internal error (id %s): the server's log has the cause", id)}
}
