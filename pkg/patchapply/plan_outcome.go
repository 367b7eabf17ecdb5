package patchapply

import (
	"bytes"
	"io/fs"
)

// An Effect is what becomes of a file.
type Effect uint8

// The effects.
const (
	Unchanged Effect = iota
	Created
	Updated
	Deleted
	Moved // perhaps also updated
)

// An Outcome is what a patch as a whole does to one file. Paths are clean.
type Outcome struct {
	Effect Effect
	Path   string
	From   string // of Moved: where it was
	Real   string // of Path, links resolved; what is written
	Before *File  // what it was; nil of Created
	Lost   *File  // of Moved: what was at Path, and is deleted by the patch; usually nil
	After  []byte // what it becomes; nil of Deleted
	Perm   fs.FileMode
	Hunks  []HunkReport // of all sections for the file, in their order
}

// touchesAs reports whether two outcomes do the same kind of thing to the same file.
func (a Outcome) touchesAs(b Outcome) bool {
	stays := func(e Effect) bool { return e == Unchanged || e == Updated }
	return (a.Effect == b.Effect || stays(a.Effect) && stays(b.Effect)) &&
		a.Path == b.Path && a.From == b.From && a.Real == b.Real
}

// outcomes sums up the sections for each file.
func (o *overlay) outcomes() []Outcome {
	out := make([]Outcome, 0, len(o.order))
	sources := o.sources()
	for _, n := range o.order {
		switch f := n.now; {
		case f != nil && n.put:
			out = append(out, o.arrived(n))
		case f != nil && f.touched != nil && o.written(f) == n:
			out = append(out, stayed(n, f))
		case n.was != nil && !n.taken() && !sources[n.path]:
			out = append(out, Outcome{Effect: Deleted, Path: n.path, Real: n.path, Before: n.was})
		}
	}
	return out
}

// sources are the paths whose files have moved elsewhere.
func (o *overlay) sources() map[string]bool {
	from := map[string]bool{}
	for _, n := range o.order {
		if n.put {
			from[n.now.from] = true
		}
	}
	return from
}

// arrived is the outcome for a name that a section put a file at.
func (o *overlay) arrived(n *name) Outcome {
	f := n.now
	out := Outcome{Effect: Created, Path: n.path, Real: n.path, After: f.content, Perm: f.perm, Hunks: f.hunks}
	switch {
	case f.from == n.path: // there and back again
		return stayed(n, f)
	case f.from != "":
		out.Effect, out.From, out.Before, out.Lost = Moved, f.from, f.first, n.was
	case n.was != nil && n.holds(f):
		out.Effect, out.Before, out.Perm = Unchanged, n.was, n.was.Perm
	case n.was != nil:
		out.Effect, out.Before = Updated, n.was
	}
	return out
}

// holds reports whether n held what f does before the patch.
func (n *name) holds(f *node) bool {
	return (f.perm == 0 || f.perm == n.was.Perm) && bytes.Equal(n.was.Content, f.content)
}

// stayed is the outcome for a file that is where it was.
func stayed(n *name, f *node) Outcome {
	out := Outcome{
		Effect: Unchanged, Path: f.touched.path, Real: n.path,
		Before: f.first, After: f.content, Perm: f.perm, Hunks: f.hunks,
	}
	if f.changed() {
		out.Effect = Updated
	}
	return out
}

// changed reports whether the file differs from what was loaded.
func (f *node) changed() bool {
	return f.perm != f.first.Perm || !bytes.Equal(f.content, f.first.Content)
}

// written returns the name by which a file that stays is written: the one it was updated by,
// as long as that is no link, or any other that is left.
func (o *overlay) written(f *node) *name {
	if f.touched != nil && f.touched.now == f {
		return f.touched
	}
	for _, n := range o.order {
		if n.now == f && !n.put {
			return n
		}
	}
	return nil
}

// changes returns what a commit does.
func (o *overlay) changes() []Change {
	var out []Change
	for _, n := range o.order {
		switch f := n.now; {
		case f == nil && !n.isLink() && n.was != nil:
			out = append(out, Change{Path: n.path, Before: n.was, Remove: true})
		case f == nil:
		case n.put:
			out = append(out, o.putChange(n)...)
		case f.touched != nil && f.changed() && o.written(f) == n:
			out = append(out, Change{Path: n.path, Before: n.was, After: f.content, Perm: f.newPerm()})
		}
	}
	return out
}

// putChange is the change for a name that a section put a file at, if it is one.
func (o *overlay) putChange(n *name) []Change {
	f := n.now
	c := Change{Path: n.path, Before: n.was, After: f.content, Perm: f.perm}
	switch {
	case n.was == nil:
		c.From = f.first
	case n.holds(f):
		return nil
	case f.perm == n.was.Perm:
		c.Perm = 0
	}
	return []Change{c}
}

// newPerm returns the permission bits where they are to change, or 0.
func (f *node) newPerm() fs.FileMode {
	if f.perm == f.first.Perm {
		return 0
	}
	return f.perm
}
