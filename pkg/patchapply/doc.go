// Package patchapply applies the patches that language models write: all of a patch as it
// was meant, or nothing.
//
// A patch comes as an envelope (*** Begin Patch), as one operation with a diff, or as a
// unified diff; [Parse] and [ParseOperations] read them. [Patch.Plan] works out in memory what
// every file would become, and [Plan.Commit] makes it so. What cannot be applied is an [Error]
// that says what was found instead.
//
//	p, err := patchapply.Parse(text)
//	...
//	plan, err := p.Plan(ctx, storage)
//	...
//	err = plan.Commit(ctx)
//
// Files are bytes: what a patch does not name stays as it is, line ends, encoding and a
// missing last newline included.
package patchapply
