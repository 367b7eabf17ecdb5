package fsroot

import (
	"crypto/rand"
	"io/fs"
	"os"
	"strings"
)

// TempPrefix starts the names of the files that [Root.Replace] makes. One that is left
// belongs to a process that was killed.
const TempPrefix = ".toolhost-tmp-"

// A Change is what [Root.Replace] does to a path.
type Change struct {
	Content []byte
	Perm    fs.FileMode // of a new file, less the umask; 0666 when zero
	Was     fs.FileInfo // if not nil, the file must still be this one, with this size and time
}

// Replace makes the file rel hold c.Content: at every moment a reader finds all of the old
// content or all of the new. A new file is made in its directory, which must exist.
//
// Links that stay below the root are written through; dangling ones, those that leave the
// root and anything but a regular file are refused. Permission bits and owner are kept;
// setuid and setgid are not, nor are hard links. Where the owner cannot be kept the content
// is written in place, which is not atomic. Nothing is synced to disk.
//
// The result is the path that was written, links resolved.
func (r *Root) Replace(rel string, c Change) (real string, err error) {
	rel, err = clean("write", rel)
	if err != nil {
		return "", err
	}
	err = r.walkTo("write", rel, followNew, func(n node) error {
		real = n.real
		return replaceNode(n, rel, c)
	})
	return real, err
}

func replaceNode(n node, rel string, c Change) error {
	if n.info != nil {
		if err := regular(rel, n.info.Mode()); err != nil {
			return err
		}
	}
	if c.Was != nil && !unchanged(n.info, c.Was) {
		return &Error{Op: "write", Path: rel, Kind: Stale}
	}
	temp, err := n.writeTemp(c)
	if os.IsPermission(err) && n.info != nil {
		return inPlace(n, rel, c.Content)
	}
	if err == nil {
		err = n.commit(temp)
	}
	if err != nil {
		return errorAt("write", rel, err)
	}
	return nil
}

func unchanged(is, was fs.FileInfo) bool {
	return is != nil && os.SameFile(is, was) && is.Size() == was.Size() && is.ModTime().Equal(was.ModTime())
}

// writeTemp writes the content to a new file beside n and returns its name.
func (n node) writeTemp(c Change) (name string, err error) {
	name = TempPrefix + strings.ToLower(rand.Text())
	perm := c.Perm.Perm()
	if perm == 0 {
		perm = 0o666
	}
	if n.info != nil {
		perm = 0o600 // until it has the owner of the old one
	}
	f, err := n.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	if err = n.finish(f, c.Content); err != nil {
		n.dir.Remove(name)
		return "", err
	}
	return name, nil
}

func (n node) finish(f *os.File, content []byte) error {
	_, err := f.Write(content)
	if err == nil && n.info != nil {
		err = keepOwner(f, n.info)
	}
	if err == nil && n.info != nil {
		err = f.Chmod(n.info.Mode().Perm())
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// commit puts temp in the place of n if that is still what the walk saw.
func (n node) commit(temp string) error {
	if n.info == nil {
		return n.create(temp)
	}
	is, err := n.dir.Lstat(n.name)
	if err == nil && !os.SameFile(is, n.info) {
		err = &Error{Op: "write", Path: n.real, Kind: Changed}
	}
	if err == nil {
		err = n.dir.Rename(temp, n.name)
	}
	if err != nil {
		n.dir.Remove(temp)
	}
	return err
}

// create gives temp the name of n, which must be free: a hard link never replaces, where
// the file system has them.
func (n node) create(temp string) error {
	defer n.dir.Remove(temp)
	err := n.dir.Link(temp, n.name)
	switch {
	case err == nil:
		return nil
	case os.IsExist(err):
		return &Error{Op: "write", Path: n.real, Kind: Changed, Err: err}
	}
	if _, err := n.dir.Lstat(n.name); err == nil {
		return &Error{Op: "write", Path: n.real, Kind: Changed}
	}
	return n.dir.Rename(temp, n.name)
}

// inPlace writes into the file itself, if it is still what the walk saw.
func inPlace(n node, rel string, content []byte) error {
	f, err := n.dir.OpenFile(n.name, os.O_WRONLY|nonBlocking, 0)
	if err != nil {
		return errorAt("write", rel, changedOr(n.dir, n.name, n.info, err))
	}
	defer f.Close()
	if is, err := f.Stat(); err != nil || !os.SameFile(is, n.info) {
		return &Error{Op: "write", Path: rel, Kind: Changed, Err: err}
	}
	if err := f.Truncate(0); err != nil {
		return errorAt("write", rel, err)
	}
	if _, err := f.Write(content); err != nil {
		return errorAt("write", rel, err)
	}
	return nil
}

// Remove removes the name rel: a file, link or special file, never what a link leads to,
// and no directory. If was is not nil, the file must still be that one.
func (r *Root) Remove(rel string, was fs.FileInfo) error {
	rel, err := clean("remove", rel)
	if err != nil {
		return err
	}
	return r.walkTo("remove", rel, asItIs, func(n node) error {
		switch {
		case n.info.IsDir():
			return &Error{Op: "remove", Path: rel, Kind: IsDir}
		case was != nil && !unchanged(n.info, was):
			return &Error{Op: "remove", Path: rel, Kind: Stale}
		}
		if err := n.dir.Remove(n.name); err != nil {
			return errorAt("remove", rel, err)
		}
		return nil
	})
}

// MkdirAll makes the directory rel and those above it that are missing. The mode is 0777
// less the umask. It returns those that it made, the outermost first.
func (r *Root) MkdirAll(rel string) (made []string, err error) {
	rel, err = clean("mkdir", rel)
	if err != nil || rel == "." {
		return nil, err
	}
	for i := 0; i <= len(rel); i++ {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		isNew, err := r.mkdir(rel[:i])
		if err != nil {
			return made, err
		}
		if isNew {
			made = append(made, rel[:i])
		}
	}
	return made, nil
}

// mkdir makes one directory, unless it is there.
func (r *Root) mkdir(rel string) (made bool, err error) {
	err = r.walkTo("mkdir", rel, followNew, func(n node) error {
		if n.info != nil {
			if !n.info.IsDir() {
				return &Error{Op: "mkdir", Path: rel, Kind: NotDir}
			}
			return nil
		}
		if err := n.dir.Mkdir(n.name, 0o777); err != nil && !os.IsExist(err) {
			return errorAt("mkdir", rel, err)
		}
		made = true
		return nil
	})
	return made, err
}
