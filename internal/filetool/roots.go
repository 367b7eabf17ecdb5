package filetool

import (
	"context"
	"errors"
	"path"
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
	set, err := r.operator.NarrowedBy(ctx, call.ClientRoots)
	if err != nil {
		return nil, err
	}
	if set.Empty() {
		return nil, toolkit.Errorf("no directory is served: the operator adds one with --root DIR "+
			"(or %s in the environment), or the client declares roots", "MCP_FILES_ROOT")
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
		dir, below := root.Named(rel)
		a.Paths = append(a.Paths, approval.Path{Access: access, Root: dir, Rel: below})
	}
	return a
}

// find returns the place that a caller means by name. The action is that of reading it, for
// errors that come before more is known: the policy judges the name before it is told what
// lies there, or near.
func find(set *fsroot.Set, name string) (fsroot.Place, approval.Action, error) {
	place, err := set.Resolve(name)
	if place.Root == nil {
		return place, approval.Action{}, err
	}
	n := namerFor(set, place, name)
	a := reading(place.Root, approval.Read, "look for "+n.name(place.Rel), place.Rel)
	if err != nil {
		err = nearby{err, place.Root}
	}
	return place, a, err
}

// A nearby is an error that may name what lies near a path that is not there.
type nearby struct {
	error
	root *fsroot.Root
}

// Unwrap returns the cause.
func (e nearby) Unwrap() error { return e.error }

// Under leaves out the names that the grant does not show.
func (e nearby) Under(g approval.Grant) error {
	var of *fsroot.Error
	if g.Unfiltered() || !errors.As(e.error, &of) || of.Kind != fsroot.NotExist {
		return e.error
	}
	return of.Naming(func(name string) bool { return shows(g, e.root, name, false) })
}

// isAbsolute reports whether a caller wrote path in an absolute form.
func isAbsolute(path string) bool {
	return filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") || isURI(path)
}

// isURI reports whether path is a file URI; a name may begin with "file:" as well.
func isURI(path string) bool { return strings.HasPrefix(strings.ToLower(path), "file:/") }

// visible returns what a call may show of what lies below dir, by path below dir; nil is
// everything. Directories decide for themselves only where they are results: their files
// are asked for one by one, as Read would.
func visible(g approval.Grant, dir *fsroot.Dir, directories bool) func(rel string, isDir bool) bool {
	if g.Unfiltered() {
		return nil
	}
	return func(rel string, isDir bool) bool {
		if isDir && !directories {
			return true
		}
		return shows(g, dir.Root, path.Join(dir.Real, rel), isDir)
	}
}

// shows reports whether the grant shows the path below root: a directory to those who may
// list it, all else to those who may read it.
func shows(g approval.Grant, root *fsroot.Root, rel string, isDir bool) bool {
	access := approval.Read
	if isDir {
		access = approval.List
	}
	dir, below := root.Named(rel)
	return g.Shows(approval.Path{Access: access, Root: dir, Rel: below})
}

// seen refuses a path that a call names and the grant does not show: what may not be read is not
// told by another tool either.
func seen(tool string, g approval.Grant, root *fsroot.Root, isDir bool, rels ...string) error {
	for _, rel := range rels {
		if !g.Unfiltered() && !shows(g, root, rel, isDir) {
			return &approval.DeniedError{Tool: tool, Verdict: approval.Verdict{Reason: "the policy refuses a read of it"}}
		}
	}
	return nil
}

// explain lets through what is made for the model and the end of the call; the rest is of
// the system, and the model gets the text instead.
func explain(err error, format string, args ...any) error {
	_, ok := toolkit.VisibleText(err)
	if err == nil || ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return toolkit.Because(err, format, args...)
}
