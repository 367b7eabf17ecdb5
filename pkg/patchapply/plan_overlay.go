package patchapply

import (
	"cmp"
	"io/fs"
	"path"
)

// maxContent bounds what a plan holds: all content that is loaded, and all that is made.
const maxContent = 256 << 20

// An overlay is a storage as the sections so far leave it.
type overlay struct {
	view  View
	left  int64            // of maxContent
	names map[string]*name // by clean path
	nodes map[any]*node    // of the files that were loaded, by what their names have in common
	order []*name          // as they were first touched
	below map[string]int   // directories: how many files the patch has put below
	mem   scratch
}

// A name is a path: what it was, and what it is now.
type name struct {
	path   string
	was    *File // as loaded; nil: nothing
	now    *node // nil: nothing, or a link
	put    bool  // a section put now there
	gone   bool  // a section removed what was there
	link   *name // what it leads to, as long as it is a link
	broken error // of a link that leads nowhere
}

// A node is a file. It may have several names.
type node struct {
	first   *File  // as loaded, also of one that was moved since; nil for one that the patch makes
	from    string // where one that was moved was before the patch
	content []byte
	held    int64       // how much of it was counted when the patch made it
	perm    fs.FileMode // 0: the storage's own
	touched *name       // by which a section last updated it, perhaps to what it was
	hunks   []HunkReport
}

func newOverlay(v View) *overlay {
	return &overlay{
		view: v, left: maxContent,
		names: map[string]*name{}, nodes: map[any]*node{}, below: map[string]int{},
	}
}

// clean returns the clean path of asked. The storage may resolve links in its directories, of
// which the patch must not have removed any.
func (o *overlay) clean(asked string) (string, error) {
	p, err := o.view.Clean(asked)
	if err != nil {
		return "", err
	}
	return p, o.belowFile(path.Clean(asked))
}

// at returns the name of a clean path.
func (o *overlay) at(p string) (*name, error) {
	if n := o.names[p]; n != nil {
		return n, nil
	}
	n := &name{path: p}
	if err := o.belowFile(p); err != nil {
		return nil, err
	}
	f, err := o.view.Load(p, o.left)
	if err != nil {
		return nil, err
	}
	if n.was = f; f == nil {
		return o.enter(n), nil
	}
	if f.IsLink {
		return o.enter(n), o.follow(n)
	}
	n.now = o.node(f)
	return o.enter(n), nil
}

func (o *overlay) enter(n *name) *name {
	o.names[n.path] = n
	o.order = append(o.order, n)
	return n
}

// belowFile is an error if something above p is, or was, a file for this patch.
func (o *overlay) belowFile(p string) error {
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		n := o.names[dir]
		switch {
		case n == nil || n.isLink():
		case n.now != nil:
			return refusal(InvalidPath, "%s is a file, so nothing can be below it", quotePath(dir))
		case n.was != nil:
			return refusal(InvalidPath, "%s is deleted or moved by this patch, and a directory cannot replace it within the same one; use two patches", quotePath(dir))
		}
	}
	return nil
}

// follow finds what the link n leads to.
func (o *overlay) follow(n *name) (err error) {
	if n.was.Broken != nil {
		n.broken = n.was.Broken
		return nil
	}
	n.link, err = o.at(n.was.Real)
	return err
}

// node returns the file that f is a name of.
func (o *overlay) node(f *File) *node {
	key := cmp.Or(f.Same, any(f.Real))
	if o.nodes[key] == nil {
		o.left -= int64(len(f.Content))
		o.nodes[key] = &node{first: f, content: f.Content, perm: f.Perm}
	}
	return o.nodes[key]
}

// isLink reports whether n is a symbolic link now.
func (n *name) isLink() bool { return n.link != nil || n.broken != nil }

// taken reports whether n names anything now.
func (n *name) taken() bool { return n.now != nil || n.isLink() }

// put makes n a name of f, which the patch has made or moved there.
func (o *overlay) put(n *name, f *node) error {
	switch {
	case o.below[n.path] > 0:
		return refusal(IsDirectory, "%s is a directory that this patch makes", quotePath(n.path))
	case n.was != nil && n.was.IsLink:
		return refusal(AlreadyExists, "%s is a symbolic link, which a file cannot replace within one patch; delete the link in a patch of its own first", quotePath(n.path))
	}
	n.now, n.put = f, true
	o.count(n.path, 1)
	return nil
}

// drop removes the name n, and never what a link leads to.
func (o *overlay) drop(n *name) {
	if n.put {
		o.count(n.path, -1)
	}
	n.now, n.link, n.broken = nil, nil, nil
	n.put, n.gone = false, true
}

func (o *overlay) count(p string, by int) {
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		o.below[dir] += by
	}
}

// hold accounts for the content of f, which the patch has made, in the place of what it made
// before.
func (o *overlay) hold(f *node) error {
	o.left += f.held
	f.held = int64(len(f.content))
	if o.left -= f.held; o.left < 0 {
		return refusal(TooLarge, "the files of this patch have more than %d MiB together; send it in parts", maxContent>>20)
	}
	return nil
}
