package filetool

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/textfile"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// resourceBytes bounds a resource: it is sent whole or not at all.
const resourceBytes = 4 << 20

// addResources serves every file below the roots as a resource. Read's rules hold.
func addResources(s *toolkit.Server, r roots) error {
	toolkit.AddResources(s, toolkit.ResourceTemplate[*resourcePlan]{
		Name: "Read", Title: "Files",
		Description: "Files below the roots, by their absolute path.",
		URITemplate: "file:///{+path}",
		Effect:      approval.ReadFiles,
		Plan:        r.planResource, Run: runResource,
	})
	return nil
}

// A resourcePlan is an open file and the URI it was asked for by.
type resourcePlan struct {
	*fsroot.File
	uri  string
	name string
}

// planResource answers for what lies outside as for what does not exist.
func (r roots) planResource(
	ctx context.Context, call *toolkit.Call, uri string,
) (*resourcePlan, approval.Action, error) {
	set, err := r.of(ctx, call)
	if err != nil {
		return nil, approval.Action{}, err
	}
	place, a, err := find(set, uri)
	if err != nil {
		return nil, a, noResource(err)
	}
	f, err := place.Root.Open(place.Rel)
	if err != nil {
		return nil, a, noResource(err)
	}
	p := &resourcePlan{File: f, uri: uri, name: namerFor(set, place, uri).name(f.Real)}
	return p, reading(place.Root, approval.Read, "read "+p.name, f.Real), nil
}

func noResource(err error) error {
	switch fsroot.KindOf(err) {
	case fsroot.NotExist, fsroot.Outside, fsroot.Dangling, fsroot.TooManyLinks:
		return fmt.Errorf("%w: %w", toolkit.ErrNoResource, err)
	}
	return err
}

func runResource(ctx context.Context, p *resourcePlan, _ approval.Grant) ([]*mcp.ResourceContents, error) {
	in := interruptible{ctx, p.File}
	defer in.arm()()
	data, err := io.ReadAll(io.LimitReader(in, resourceBytes+1))
	if err != nil {
		return nil, toolkit.Because(err, "%s cannot be read: the system reports an error", p.name)
	}
	if len(data) > resourceBytes {
		return nil, toolkit.Errorf("%s is too large to be sent as a resource (at most %s): "+
			"read it by a tool, with offset and limit", p.name, byteSize(resourceBytes))
	}
	return []*mcp.ResourceContents{contents(p.uri, data)}, nil
}

// contents are text as far as the file is. Text that is empty would be left out on the
// wire, and a resource has one of the two.
func contents(uri string, data []byte) *mcp.ResourceContents {
	kind := textfile.Sniff(data[:min(len(data), textfile.HeadSize)])
	c := &mcp.ResourceContents{URI: uri, MIMEType: kind.MIME}
	if !kind.IsText() || len(data) == 0 {
		c.Blob = append([]byte{}, data...)
		return c
	}
	// Reading from memory has no errors.
	text, _ := io.ReadAll(textfile.NewDecoder(bytes.NewReader(data), kind.Encoding))
	c.Text = textfile.Show(text)
	return c
}
