package fsroot

import (
	"cmp"
	"crypto/rand"
	"hash/maphash"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// TempPrefix starts the names of the files that a commit makes beside those that it
// changes. After a commit, and after the next [Begin] where a process died, none is left.
const TempPrefix = ".toolhost-tmp-"

// A commit goes through these states; a process may die in each.
//
//	check     every step against the tree: nothing is touched
//	staging   the journal lists all temporary names and directories that may appear
//	ready     the journal also knows the new files; from here on names change
//	done      the journal is renamed: what remains are leftovers to remove
//
// From staging and ready the only way that recovery knows is back, from done it is
// forward. Old files stay beside their names until done: an update exchanges the two
// names in one step, so that neither is ever missing and the old inode needs no copy.
type commit struct {
	state *state
	dirs  *dirs
	items []*item
	ready bool

	buffer []byte // to read files
}

// An op is what happens to a name. They happen in this order: what is most likely to go
// wrong first, and what a reader would miss last.
type op uint8

const (
	inPlace op = iota
	create
	update
	remove
)

// An item is a step with all that is found out about it. Recovery knows less of it.
type item struct {
	op    op
	at    *dir
	name  string
	temp  string
	old   stamp       // of what is to be changed
	perm  fs.FileMode // of the old file, if in place
	copy  string      // file in the state directory with the old content, if in place
	fresh stamp       // of the new file
	stray string      // name that place left for tidy to remove; not known in recovery

	step   *Step
	shared bool        // the old file has other names, by which this commit may write it
	link   *linkStamp  // of a link that is to be removed
	like   fs.FileInfo // whose mode and owner the new file gets; may be nil
	attrs  []attr      // of like
}

// kept is where an old file lies that could not be exchanged with temp.
func (it *item) kept() string { return it.temp + "o" }

func (it *item) real() string { return path.Join(it.at.real, it.name) }

// blame makes err about the item's step.
func (it *item) blame(err error) error { return it.step.blame(err) }

func (s *Step) blame(err error) error {
	op := "write"
	if s.Remove {
		op = "remove"
	}
	e := *errorAt(op, s.Rel, err)
	if e.Op != "mkdir" {
		e.Op, e.Path = op, s.Rel
	}
	return &e
}

// run makes what check found possible.
func (c *commit) run() error {
	token := TempPrefix + strings.ToLower(rand.Text()) + "-"
	for i, it := range c.items {
		it.temp = token + strconv.Itoa(i)
	}
	err := c.writeJournal()
	if err == nil {
		err = c.stage()
	}
	if err == nil {
		c.ready = true
		slices.SortStableFunc(c.items, func(a, b *item) int { return cmp.Compare(a.op, b.op) })
		err = c.writeJournal()
	}
	if err == nil {
		err = c.apply()
	}
	if err == nil {
		err = c.state.decide()
	}
	if err != nil {
		return c.back(err)
	}
	// What cannot be removed now is removed by the next Begin: the commit stands.
	if c.tidy() == nil {
		c.state.finish(c.items)
	}
	return nil
}

// back undoes what was done, and adds to err what could not be.
func (c *commit) back(err error) error {
	if l := c.undo(); len(l.texts) > 0 {
		e := *errorAt("commit", ".", err)
		e.Lost = l.texts
		return &e // with the journal left, for the next Begin to try again
	}
	if c.state.decide() == nil {
		c.state.finish(c.items)
	}
	return err
}

func (c *commit) stage() error {
	for _, x := range c.dirs.list {
		if x.parent != nil {
			if err := c.dirs.make(x); err != nil {
				return err
			}
		}
	}
	for i, it := range c.items {
		x, err := c.dirs.at(it.at)
		if err == nil && it.op != remove {
			err = c.stageFile(it, x, i)
		}
		if err != nil {
			return it.blame(err)
		}
	}
	return nil
}

func (c *commit) stageFile(it *item, x *dir, i int) error {
	if it.op != inPlace {
		bare, err := it.stageTemp(x)
		if err == nil || it.op != update || !(bare || os.IsPermission(err)) {
			return err
		}
		x.handle.Remove(it.temp)
		it.op = inPlace
	}
	return c.stageCopy(it, x, "old-"+strconv.Itoa(i))
}

// stageTemp writes the new content beside the old. Bare says that the file is there, but
// could not be given what the old one has.
func (it *item) stageTemp(x *dir) (bare bool, err error) {
	perm := it.step.Perm.Perm()
	switch {
	case it.like != nil:
		perm = 0o600 // until it has the owner
	case perm == 0:
		perm = 0o666
	}
	f, err := x.openFile(it.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.Write(it.step.Content); err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	it.fresh = stampOf(f, info)
	if it.like != nil {
		if err := it.dress(f, info); err != nil {
			return true, err
		}
	}
	return false, f.Close()
}

// dress gives the new file f what the old one has. A file that only takes the place of
// one with another name gets what it can.
func (it *item) dress(f openFile, is fs.FileInfo) error {
	owner := keepOwner(f, is, it.like)
	perm := it.like.Mode().Perm()
	if it.step.Perm != 0 {
		perm = it.step.Perm.Perm()
	}
	if is.Mode().Perm() != perm {
		if err := f.Chmod(perm); err != nil {
			return err
		}
	}
	attrs := writeAttrs(f, it.attrs)
	if it.op == create {
		return nil
	}
	return cmp.Or(owner, attrs)
}

// stageCopy keeps the content of a file that is written in place, and makes sure that it
// can be written.
func (c *commit) stageCopy(it *item, x *dir, name string) error {
	f, info, err := it.openOld(x, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := readWhole(f, info, it.name)
	if err != nil {
		return err
	}
	if maphash.Bytes(it.step.Was.seed, content) != it.step.Was.sum {
		return &Error{Kind: Stale}
	}
	it.copy, it.perm = name, info.Mode().Perm()
	if err := os.WriteFile(c.state.path(name), content, 0o600); err != nil {
		return noState(err)
	}
	return nil
}
