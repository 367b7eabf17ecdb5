package fsroot

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"slices"
	"time"
)

// apply gives the staged files their names.
func (c *commit) apply() error {
	for _, it := range c.items {
		x, err := c.dirs.at(it.at)
		if err == nil {
			err = c.place(it, x)
		}
		if err != nil {
			return it.blame(err)
		}
	}
	return nil
}

func (c *commit) place(it *item, x *dir) error {
	portable := c.dirs.root.portable
	switch it.op {
	case create:
		return it.placeNew(x, portable)
	case update:
		return it.placeOver(x, portable)
	case remove:
		return it.takeAway(x, portable)
	default:
		return it.writeInPlace(x)
	}
}

// placeNew never replaces: where there is no such rename, a hard link does not either.
func (it *item) placeNew(x *dir, portable bool) error {
	err := fs.ErrInvalid
	if !portable {
		err = renameNew(x, it.temp, it.name)
	}
	if portable || (err != nil && unable(err)) {
		it.stray = it.temp
		if err = x.handle.Link(it.temp, it.name); err != nil && !os.IsExist(err) {
			err = it.placeChecked(x)
		}
	}
	if os.IsExist(err) {
		return &Error{Kind: Exists, Err: err}
	}
	return err
}

// placeChecked is for file systems that have no links.
func (it *item) placeChecked(x *dir) error {
	if info, err := x.lstat(it.name); info != nil || err != nil {
		return &Error{Kind: Exists, Err: err}
	}
	return x.handle.Rename(it.temp, it.name)
}

// placeOver replaces the old file, which stays under another name.
func (it *item) placeOver(x *dir, portable bool) error {
	if !portable {
		it.stray = it.temp
		err := exchange(x, it.temp, it.name)
		if err == nil && !it.isOld(x, it.temp) {
			exchange(x, it.temp, it.name) // it was replaced since it was checked
			return &Error{Kind: Stale}
		}
		if err == nil || !unable(err) {
			return err
		}
	}
	// Without such a call somebody else's file may be lost that comes between the last look
	// and the renaming.
	it.stray = it.kept()
	if err := x.handle.Link(it.name, it.kept()); err != nil {
		// No links here: for a moment there is no file of that name.
		if err := x.handle.Rename(it.name, it.kept()); err != nil {
			return err
		}
	}
	if !it.isOld(x, it.kept()) {
		if !x.has(it.name) {
			x.handle.Rename(it.kept(), it.name)
		}
		return &Error{Kind: Stale}
	}
	return x.handle.Rename(it.temp, it.name)
}

// takeAway removes the name. What it held stays under another one.
func (it *item) takeAway(x *dir, portable bool) error {
	if !it.isOld(x, it.name) {
		return &Error{Kind: Stale}
	}
	it.stray = it.temp
	if err := x.handle.Rename(it.name, it.temp); err != nil {
		return err
	}
	if !it.isOld(x, it.temp) { // it was replaced since
		if portable || renameNew(x, it.temp, it.name) != nil {
			x.handle.Rename(it.temp, it.name)
		}
		return &Error{Kind: Stale}
	}
	return nil
}

// isOld reports whether name holds what was checked, unchanged.
func (it *item) isOld(x *dir, name string) bool {
	info, err := x.look(name)
	if info == nil || err != nil {
		return false
	}
	is := stampAt(x.handle, name, info)
	if it.shared {
		return is.id == it.old.id
	}
	if is != it.old || it.link == nil {
		return is == it.old
	}
	link, err := linkAt(x.handle, name, info)
	return err == nil && link != nil && *link == *it.link
}

// openOld opens the file that was checked, and makes sure that it still is the same.
func (it *item) openOld(x *dir, flag int) (f *os.File, info fs.FileInfo, err error) {
	if f, err = x.handle.OpenFile(it.name, flag|nonBlocking, 0); err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && stampOf(f, info) != it.old {
		err = &Error{Kind: Stale}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (it *item) writeInPlace(x *dir) error {
	f, info, err := it.openOld(x, os.O_WRONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := overwrite(f, it.step.Content, info.Size()); err != nil {
		return err
	}
	if perm := it.step.Perm.Perm(); perm != 0 && perm != info.Mode().Perm() {
		return f.Chmod(perm)
	}
	return nil
}

// overwrite gives f the content. It gives no space back before all is written, so that
// there is room to write the old content again.
func overwrite(f *os.File, content []byte, size int64) error {
	head := content[:min(int64(len(content)), size)]
	if tail := content[len(head):]; len(tail) > 0 {
		if _, err := f.WriteAt(tail, size); err != nil {
			return err
		}
	}
	if _, err := f.WriteAt(head, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(content)))
}

// tidy removes the old files after a commit.
func (c *commit) tidy() error {
	for _, it := range c.items {
		if it.stray == "" {
			continue
		}
		x, err := c.dirs.at(it.at)
		if err == nil {
			err = x.remove(it.stray)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (it *item) removeTemps(x *dir) error {
	return cmp.Or(x.remove(it.temp), x.remove(it.kept()))
}

// undo puts everything back, and returns what it could not.
func (c *commit) undo() losses {
	var l losses
	for _, it := range slices.Backward(c.items) {
		l.add(it.real(), c.undoItem(it))
	}
	for _, x := range slices.Backward(c.dirs.list) {
		if x.made {
			l.add(x.real, c.dirs.unmake(x))
		}
	}
	return l
}

// losses are what could not be put back.
type losses struct {
	texts []string
	again bool // a repetition may help
}

func (l *losses) add(real string, err error) {
	if err == nil {
		return
	}
	l.texts = append(l.texts, quote(real)+" ("+cmp.Or(reason(err), "unknown reason")+")")
	l.again = l.again || !hopeless(err)
}

// hopeless reports whether err will stay, because something else is there now.
func hopeless(err error) bool {
	switch KindOf(err) {
	case Changed, Outside, NotExist, NotDir, Dangling, TooManyLinks, NotRegular, IsDir:
		return true
	}
	return false
}

func (c *commit) undoItem(it *item) error {
	if it.at.gone || (it.at.parent != nil && !it.at.made) {
		return nil
	}
	x, err := c.dirs.at(it.at)
	if err != nil {
		return err
	}
	if c.ready {
		switch it.op {
		case create:
			err = it.takeBack(x)
		case inPlace:
			err = c.restore(it, x)
		default:
			err = it.putBack(x)
		}
	}
	if err != nil {
		return errorAt("restore", it.real(), err)
	}
	if err := it.removeTemps(x); err != nil {
		return errorAt("remove", it.real(), err)
	}
	return nil
}

// takeBack removes the new file, unless somebody else has put or written something there.
func (it *item) takeBack(x *dir) error {
	if !it.isFresh(x) {
		return nil
	}
	return x.handle.Remove(it.name)
}

func (it *item) isFresh(x *dir) bool {
	info, err := x.lstat(it.name)
	return err == nil && info != nil && stampAt(x.handle, it.name, info) == it.fresh
}

// putBack gives the old file its name again, unless somebody else has put or written
// something there: then the old one has no place any more.
func (it *item) putBack(x *dir) error {
	info, err := x.lstat(it.name)
	if err != nil {
		return err
	}
	from, fresh := "", it.isFresh(x)
	switch {
	case x.holds(it.name, it.old.id), info != nil && !fresh:
		return nil
	case x.has(it.kept()):
		from = it.kept()
	case x.holds(it.temp, it.old.id), fresh && x.has(it.temp), it.op == remove && x.has(it.temp):
		from = it.temp // if it is not the old file, it is one that came in its place just before
	case fresh:
		return &Error{Kind: NotExist}
	default:
		return nil
	}
	return x.handle.Rename(from, it.name)
}

// restore writes the old content into the file again, if it differs.
func (c *commit) restore(it *item, x *dir) error {
	content, err := os.ReadFile(c.state.path(it.copy))
	if err != nil {
		return err
	}
	f, err := x.handle.OpenFile(it.name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if id, _ := idOf(f, info); id != it.old.id {
		return nil // somebody else's
	}
	if info.Mode().Perm() != it.perm {
		if err := f.Chmod(it.perm); err != nil {
			return err
		}
	}
	if is, err := readWhole(f, info, it.name); err == nil && bytes.Equal(is, content) {
		return nil
	}
	w, err := x.handle.OpenFile(it.name, os.O_WRONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer w.Close()
	if is, err := w.Stat(); err != nil || !os.SameFile(is, info) {
		return &Error{Kind: Changed, Err: err}
	}
	if err := overwrite(w, content, info.Size()); err != nil {
		return err
	}
	// So that those who saw the old file still know it; only its owner may do this.
	x.handle.Chtimes(it.name, time.Time{}, time.Unix(0, it.old.time))
	return nil
}
