package filetool

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// roots are the operator's, which a client's own only narrow.
type roots struct{ operator *fsroot.Set }

// of returns the roots that hold for a call. Without an operator's the client's serve;
// with neither the call explains what to add.
func (r roots) of(ctx context.Context, call *toolkit.Call) (*fsroot.Set, error) {
	uris, declared, err := call.ClientRoots(ctx)
	if err != nil {
		return nil, err
	}
	set := r.operator
	if declared {
		if set, err = set.Narrow(uris); err != nil {
			return nil, err
		}
	}
	if set.Empty() {
		return nil, toolkit.Errorf("no directory is served: the operator adds one with --root DIR (or %s in the environment), or the client declares roots", "MCP_FILES_ROOT")
	}
	return set, nil
}

// A namer prints paths so that they can be handed back to any of the tools: below the
// root where there is only one, absolute where there are several or the caller wrote an
// absolute path. Names are escaped, so that none can forge a line.
type namer struct {
	root     *fsroot.Root
	absolute bool
}

// namerFor returns the namer for results of a call that asked for path in set.
func namerFor(set *fsroot.Set, place fsroot.Place, path string) namer {
	return namer{root: place.Root, absolute: len(set.Roots()) > 1 || isAbsolute(path)}
}

// name returns rel, a path below the root, as clients see it.
func (n namer) name(rel string) string {
	if n.absolute {
		return toolkit.Inline(n.root.Abs(rel))
	}
	return toolkit.Inline(rel)
}

// reading is the action of showing what lies at paths, which are real: links resolved.
func reading(root *fsroot.Root, access approval.Access, summary string, rels ...string) approval.Action {
	a := approval.Action{Effect: approval.ReadFiles, Summary: summary}
	for _, rel := range rels {
		origin, below := root.Origin(rel)
		a.Paths = append(a.Paths, approval.Path{Access: access, Root: origin.Dir(), Rel: below})
	}
	return a
}

// isAbsolute reports whether a caller wrote path in an absolute form.
func isAbsolute(path string) bool {
	return filepath.IsAbs(path) || strings.HasPrefix(path, "~") || strings.HasPrefix(path, "file:")
}

// visible returns what a search below root may show, by path below root; nil is everything.
func visible(g approval.Grant, root *fsroot.Root) func(rel string) bool {
	if g.Unfiltered() {
		return nil
	}
	return func(rel string) bool {
		origin, below := root.Origin(rel)
		return g.Shows(approval.Path{Access: approval.Read, Root: origin.Dir(), Rel: below})
	}
}
