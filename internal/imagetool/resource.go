package imagetool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// addResources serves every picture by its id, which is what one needs to know to see it.
func (t *toolset) addResources(s *toolkit.Server) {
	toolkit.AddResources(s, toolkit.ResourceTemplate[*resourcePlan]{
		Name: toolName, Title: "Pictures",
		Description: "Pictures that were made here, by the id that results name; of one that is being made, how far it is.",
		URITemplate: "image://{id}",
		Effect:      approval.MakePictures,
		Plan:        t.planResource, Run: runResource,
	})
}

// A resourcePlan is a picture, or what is to be said of it.
type resourcePlan struct {
	storedPicture
	uri string
}

func (t *toolset) planResource(_ context.Context, _ *toolkit.Call, uri string) (*resourcePlan, approval.Action, error) {
	id, _ := strings.CutPrefix(uri, "image://")
	a := approval.Action{Summary: "show picture " + toolkit.Inline(toolkit.Cut(id, 100))}
	p, err := t.stored(id)
	switch {
	case errors.Is(err, errNoPicture):
		return nil, a, fmt.Errorf("%w: %w", toolkit.ErrNoResource, err)
	case err != nil:
		return nil, a, toolkit.Because(err, "the picture cannot be read: the system reports an error")
	}
	return &resourcePlan{p, uri}, a, nil
}

func runResource(_ context.Context, p *resourcePlan, _ approval.Grant) ([]*mcp.ResourceContents, error) {
	c := &mcp.ResourceContents{URI: p.uri, MIMEType: p.mime, Blob: p.data}
	if p.data == nil {
		c.MIMEType, c.Text = "text/plain", p.text
	}
	return []*mcp.ResourceContents{c}, nil
}
