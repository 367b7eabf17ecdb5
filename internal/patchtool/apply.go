package patchtool

import (
	"context"
	"errors"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/patchapply"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

var definition = toolkit.Definition{
	Effect: approval.WriteFiles,
	Name:   "apply_patch",
	Title:  "Apply a patch",
	Description: "Changes files below the roots, all or nothing. Between *** Begin Patch and *** End Patch stand sections: " +
		"*** Add File: path, + lines; *** Delete File: path; *** Update File: path, maybe *** Move to: path, then hunks: " +
		"@@ (maybe with a line above, such as func x), context lines (leading space), - and + lines.",
	Params: params,
	Hints:  toolkit.Hints{ClosedWorld: true},
}

// addApplyPatch registers apply_patch.
func addApplyPatch(s *toolkit.Server, p place) error {
	return toolkit.Add(s, toolkit.Tool[applyIn, *applyPlan, applyOut]{
		Definition: definition, Plan: p.planApply, Run: runApply, Render: applyOut.render,
	})
}

// An applyPlan is a patch worked out on the files as they are.
type applyPlan struct {
	storage *patchapply.Dir
	plan    *patchapply.Plan
	dry     bool
}

func (p place) planApply(ctx context.Context, call *toolkit.Call, in applyIn) (*applyPlan, approval.Action, error) {
	var a approval.Action
	storage, err := p.storage(ctx, call)
	if err != nil {
		return nil, a, err
	}
	patch, err := in.parse()
	if err != nil {
		return nil, a, err
	}
	plan, err := work(ctx, storage, patch)
	if err != nil {
		a.Summary, a.Paths = "apply a patch that does not fit", paths(storage, attempted(storage, patch))
		return nil, a, misfit{err}
	}
	var whole bool
	if a.Summary, whole = summary(plan); !whole {
		a.Unshown = in.unshown(patch)
	}
	a.Paths = paths(storage, accesses(plan))
	return &applyPlan{storage, plan, in.DryRun}, a, nil
}

// A misfit is why a patch could not be planned.
type misfit struct{ error }

// Unwrap returns the cause.
func (e misfit) Unwrap() error { return e.error }

// Under leaves out the names of similar paths where a policy may hide some.
func (e misfit) Under(g approval.Grant) error {
	var of *patchapply.Error
	if !g.Unfiltered() && errors.As(e.error, &of) {
		return of.WithoutNames()
	}
	return e.error
}

// work plans a patch without waiting for others. What does not fit may have been seen half
// changed: only who alone may write can say that it does not.
func work(ctx context.Context, d *patchapply.Dir, p *patchapply.Patch) (*patchapply.Plan, error) {
	plan, err := p.Plan(ctx, d.View(ctx))
	if err == nil || !dependsOnOthers(patchapply.ClassOf(err)) {
		return plan, err
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tx, busy := d.Begin(wait)
	if busy != nil {
		return nil, err
	}
	defer tx.End()
	return p.Plan(ctx, tx)
}

// patience is how long the refusal of a patch waits for others to end.
const patience = 5 * time.Second

// dependsOnOthers reports whether an error may be due to a commit that was seen half done.
func dependsOnOthers(c patchapply.Class) bool {
	switch c {
	case patchapply.ParseError, patchapply.EmptyPatch, patchapply.InvalidOperation, patchapply.InvalidPath, patchapply.PathEscape, patchapply.TooLarge:
		return false
	}
	return true
}

func runApply(ctx context.Context, p *applyPlan, g approval.Grant, _ toolkit.Progress) (applyOut, error) {
	if p.dry {
		return applyOut{plan: p.plan, dry: true}, nil
	}
	commit := p.plan.Commit
	if g.Exact() {
		commit = p.plan.CommitExactly
	}
	done, err := commit(ctx, p.storage)
	switch patchapply.ClassOf(err) {
	case patchapply.ContextNotFound, patchapply.AnchorNotFound, patchapply.Ambiguous, patchapply.FileNotFound:
		// It was planned again, and the error shows lines or names that nobody has judged.
		if !g.Unfiltered() {
			err = refuse(patchapply.StaleFile, "files were changed meanwhile; send the patch again")
		}
	}
	if err != nil {
		return applyOut{}, err
	}
	return applyOut{plan: done}, nil
}
