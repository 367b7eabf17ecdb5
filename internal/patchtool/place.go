package patchtool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/patchapply"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A place is where patches are applied: the operator's roots, which a client's own only
// narrow, and the state directory.
type place struct {
	operator *fsroot.Set
	state    string
}

// storage returns the files that a call may change.
func (p place) storage(ctx context.Context, call *toolkit.Call) (*patchapply.Dir, error) {
	set, err := narrow(ctx, p.operator, call.ClientRoots)
	if err != nil {
		return nil, err
	}
	return patchapply.NewDir(set, p.state), nil
}

// narrow returns the part of the operator's roots that is also the client's, who is asked
// by ask. Without an operator's the client's serve; with neither the call explains what to
// add.
func narrow(ctx context.Context, set *fsroot.Set, ask func(context.Context) ([]string, bool, error)) (*fsroot.Set, error) {
	set, err := set.NarrowedBy(ctx, ask)
	if err != nil {
		return nil, err
	}
	if set.Empty() {
		return nil, toolkit.Errorf("no directory is served: the operator adds one with --root DIR " +
			"(or MCP_PATCH_ROOT in the environment), or the client declares roots")
	}
	return set, nil
}

// An access is what a patch does to one clean path.
type access struct {
	path string
	kind approval.Access
	file *patchapply.File // what a change starts from; nil where that is nothing
}

// accesses are all that a plan would touch. A file that stays as it is counts as updated:
// whether it does depends on what is in it.
func accesses(plan *patchapply.Plan) (out []access) {
	for _, o := range plan.Outcomes {
		switch o.Effect {
		case patchapply.Created:
			out = append(out, access{o.Real, approval.Create, nil})
		case patchapply.Deleted:
			out = append(out, access{o.Real, approval.Delete, o.Before})
		case patchapply.Moved:
			out = append(out, access{o.From, approval.Move, o.Before})
			if o.Lost != nil {
				out = append(out, access{o.Real, approval.Update, o.Lost})
				continue
			}
			out = append(out, access{o.Real, approval.Create, nil})
		default:
			out = append(out, access{o.Real, approval.Update, o.Before})
		}
	}
	return out
}

// attempted are the paths of a patch that could not be planned. Its error may say what is in
// a file, so they count as read too.
func attempted(d *patchapply.Dir, p *patchapply.Patch) (out []access) {
	for _, s := range p.Sections {
		real, ok := d.Real(s.Path)
		if !ok {
			continue
		}
		kind := approval.Update
		switch s.Kind {
		case patchapply.Add:
			kind = approval.Create
		case patchapply.Delete:
			kind = approval.Delete
		}
		out = append(out, access{real, approval.Read, nil}, access{real, kind, nil})
		if to, ok := d.Real(s.MoveTo); ok {
			out = append(out, access{to, approval.Create, nil})
		}
	}
	return out
}

// paths puts accesses into the terms of a policy, which is written against the operator's
// roots.
func paths(d *patchapply.Dir, all []access) (out []approval.Path) {
	for _, a := range all {
		if at, ok := d.Place(a.path); ok {
			dir, below := at.Root.Named(at.Rel)
			p := approval.Path{Access: a.kind, Root: dir, Rel: below}
			if a.file != nil {
				sum := sha256.Sum256(a.file.Content)
				p.SHA256 = hex.EncodeToString(sum[:])
			}
			out = append(out, p)
		}
	}
	return out
}
