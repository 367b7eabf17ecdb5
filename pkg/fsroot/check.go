package fsroot

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
)

// check finds out what each step means and that it can be made, without touching anything.
func (c *commit) check(steps []Step) error {
	byName, byFile := map[string]*item{}, map[fileID]*item{}
	for i := range steps {
		s := &steps[i]
		it, err := c.plan(s)
		if err == nil && byName[it.real()] != nil {
			err = conflict("the change names it twice")
		}
		if err != nil {
			return s.blame(err)
		}
		byName[it.real()] = it
		if it.op == update || it.op == inPlace {
			if twin := byFile[it.old.id]; twin != nil {
				if !bytes.Equal(twin.step.Content, s.Content) || twin.step.Perm != s.Perm {
					return s.blame(conflict("the change writes the same file as " + quote(twin.step.Rel) + ", with another content"))
				}
				continue
			}
			byFile[it.old.id] = it
		}
		c.items = append(c.items, it)
	}
	for _, it := range c.items {
		if x := c.dirs.real[it.real()]; x != nil && x.parent != nil {
			return it.blame(conflict("the change also uses it as a directory"))
		}
	}
	return nil
}

func conflict(reason string) error { return &Error{Kind: InvalidName, Reason: reason} }

// plan finds what the step s is about.
func (c *commit) plan(s *Step) (*item, error) {
	rel, err := clean("write", s.Rel)
	if err != nil {
		return nil, err
	}
	if rel == "." {
		return nil, &Error{Kind: IsDir}
	}
	it := &item{step: s, op: create}
	x, info, err := c.locate(it, rel)
	if err == nil && info != nil && info.Mode()&fs.ModeSymlink != 0 && !s.Remove && s.Was != nil {
		if rel, err = c.dirs.root.target(rel); err == nil {
			x, info, err = c.locate(it, rel)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case info == nil && s.Was == nil && !s.Remove:
		return it, c.checkLike(it)
	case info == nil:
		return nil, &Error{Kind: Stale, Err: fs.ErrNotExist}
	case s.Was == nil:
		return nil, &Error{Kind: Exists}
	case s.Remove && info.Mode()&fs.ModeSymlink != 0:
		return it, it.checkLink(x, info)
	}
	return it, c.checkFile(it, x, info)
}

// locate sets where rel lies, and returns its open directory and what is there. Both are
// nil where the directory is still to be made, the latter where there is nothing.
func (c *commit) locate(it *item, rel string) (x *dir, info fs.FileInfo, err error) {
	it.name = path.Base(rel)
	if it.at, err = c.dirs.find(path.Dir(rel)); err != nil || it.at.parent != nil {
		return nil, nil, err
	}
	if x, err = c.dirs.at(it.at); err != nil {
		return nil, nil, err
	}
	if info, err = x.look(it.name); info != nil && foldsNames {
		it.name = spelling(x.handle, it.name, info)
	}
	return x, info, err
}

// target returns where rel leads, links followed.
func (r *Root) target(rel string) (real string, err error) {
	err = r.walkTo("write", rel, followed, func(n node) error {
		real = n.real
		return nil
	})
	return real, err
}

// checkLink is for links that are to be removed.
func (it *item) checkLink(x *dir, info fs.FileInfo) (err error) {
	it.op, it.old = remove, stampAt(x.handle, it.name, info)
	if it.link, err = linkAt(x.handle, it.name, info); err != nil {
		return err
	}
	if was := it.step.Was.link; was == nil || *was != *it.link {
		return &Error{Kind: Stale}
	}
	return nil
}

// checkFile looks whether the file is still what was loaded, to the last byte.
func (c *commit) checkFile(it *item, x *dir, info fs.FileInfo) error {
	if err := regular(it.step.Rel, info.Mode()); err != nil {
		return err
	}
	f, err := x.openFile(it.name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if it.like, err = f.Stat(); err != nil {
		return err
	}
	was := it.step.Was
	if it.old = stampOf(f, it.like); it.old != was.file {
		return &Error{Kind: Stale}
	}
	if c.buffer == nil {
		c.buffer = make([]byte, 64<<10)
	}
	same, err := was.same(f, c.buffer)
	if err != nil {
		return err
	}
	if !same {
		return &Error{Kind: Stale}
	}
	_, links := idOf(f, it.like)
	it.shared = links > 1
	switch {
	case it.step.Remove:
		it.op = remove
		return nil
	case it.shared:
		it.op = inPlace
	default:
		it.op = update
	}
	it.attrs, err = readAttrs(f)
	return err
}

// checkLike looks at the file whose mode and owner a new one gets.
func (c *commit) checkLike(it *item) error {
	like := it.step.Like
	if like == nil || like.real == "" {
		return nil
	}
	f, err := c.dirs.root.Open(like.real)
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Kind: Stale, Err: err}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if stampOf(f.File, f.Info).id != like.file.id {
		return &Error{Kind: Stale}
	}
	it.like = f.Info
	it.attrs, err = readAttrs(f.File)
	return err
}
