package fsroot

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many links a path may go through, as in the Linux kernel.
const maxLinks = 40

// maxTries bounds how often a walk starts again because something was swapped under it.
const maxTries = 5

// A walk resolves a path one component at a time: it sees what is there, opens it without
// following, and compares. So a link is only followed by reading it, and what it says is
// resolved below the root like the path itself.
type walk struct {
	root  *Root
	op    string
	asked string // the path as asked for, in errors
	last  end
	dirs  []*os.Root // open directories from the root down
	names []string   // their names; one fewer than dirs
	todo  []string   // components to come, last first
	hops  int
	links []origin // of the components at hand, outermost first
}

// An origin is a link whose target's components are on w.todo from position at on.
type origin struct {
	link string
	at   int
}

// An end says what a walk does with the last component.
type end uint8

const (
	asItIs    end = iota // a link is the end
	followed             // a link is followed
	followNew            // a link is followed, and a name that does not exist is an end
)

// A node is where a walk ended: name in the directory dir, "." for a directory the walk
// stands in.
type node struct {
	dir  *os.Root
	name string
	real string
	info fs.FileInfo // by Lstat; a link only by asItIs, nil only by followNew
}

// walkTo walks to rel and calls use with what is there. Handles are valid during use only.
func (r *Root) walkTo(op, rel string, last end, use func(node) error) error {
	var err error
	for range maxTries {
		if err = r.walkOnce(op, rel, last, use); KindOf(err) != Changed {
			return err
		}
	}
	return err
}

func (r *Root) walkOnce(op, rel string, last end, use func(node) error) error {
	base, err := r.openBase()
	if err != nil {
		return err
	}
	w := &walk{root: r, op: op, asked: rel, last: last, dirs: []*os.Root{base}}
	defer w.close()
	w.push(rel)
	n, err := w.run()
	if err != nil {
		return err
	}
	return use(n)
}

func (w *walk) close() {
	for _, d := range w.dirs {
		d.Close()
	}
}

func (w *walk) push(rel string) {
	parts := strings.Split(rel, "/")
	slices.Reverse(parts)
	w.todo = append(w.todo, parts...)
}

func (w *walk) run() (node, error) {
	for len(w.todo) > 0 {
		name := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.leaveLinks()
		n, done, err := w.step(name)
		if err != nil || done {
			return n, err
		}
	}
	return w.here()
}

// leaveLinks forgets the links whose targets are used up.
func (w *walk) leaveLinks() {
	for len(w.links) > 0 && len(w.todo) < w.links[len(w.links)-1].at {
		w.links = w.links[:len(w.links)-1]
	}
}

// link returns the link that the component at hand comes from, or "".
func (w *walk) link() string {
	if len(w.links) == 0 {
		return ""
	}
	return w.links[len(w.links)-1].link
}

// step takes one component; done says that n is the end of the path.
func (w *walk) step(name string) (n node, done bool, err error) {
	switch name {
	case "", ".":
		return n, false, nil
	case "..":
		return n, false, w.up()
	}
	name, info, err := w.look(name)
	last := len(w.todo) == 0
	if last && w.last == followNew && KindOf(err) == NotExist {
		return w.node(name, nil), true, nil
	}
	if err != nil {
		return n, false, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0 && (w.last != asItIs || !last):
		return n, false, w.follow(name)
	case last:
		return w.node(name, info), true, nil
	case info.IsDir():
		return n, false, w.down(name, info)
	default:
		return n, false, &Error{Op: w.op, Path: w.asked, Kind: NotDir}
	}
}

func (w *walk) node(name string, info fs.FileInfo) node {
	return node{dir: w.top(), name: name, real: w.real(name), info: info}
}

func (w *walk) top() *os.Root { return w.dirs[len(w.dirs)-1] }

func (w *walk) real(name string) string {
	return path.Join(path.Join(w.names...), name)
}

// look returns what is called name in the current directory, and how it is spelled there.
func (w *walk) look(name string) (string, fs.FileInfo, error) {
	info, err := w.top().Lstat(name)
	if err != nil {
		return name, nil, w.missing(err)
	}
	if foldsNames {
		name = spelling(w.top(), name, info)
	}
	return name, info, nil
}

func (w *walk) missing(err error) error {
	e := errorAt(w.op, w.asked, err)
	if e.Kind == NotExist && w.link() != "" {
		e.Kind, e.Link = Dangling, w.link()
	}
	return e
}

func (w *walk) up() error {
	if len(w.dirs) == 1 {
		return w.outside()
	}
	w.top().Close()
	w.dirs = w.dirs[:len(w.dirs)-1]
	w.names = w.names[:len(w.names)-1]
	return nil
}

func (w *walk) outside() error {
	return &Error{Op: w.op, Path: w.asked, Kind: Outside, Link: w.link()}
}

func (w *walk) down(name string, seen fs.FileInfo) error {
	sub, err := openSub(w.top(), name, seen)
	if err != nil {
		return errorAt(w.op, w.asked, err)
	}
	w.dirs = append(w.dirs, sub)
	w.names = append(w.names, name)
	return nil
}

// openSub opens the directory name in dir if it still is what was seen there. The "/."
// makes the system open it as a directory: a FIFO put in its place would block.
func openSub(dir *os.Root, name string, seen fs.FileInfo) (*os.Root, error) {
	sub, err := dir.OpenRoot(name + "/.")
	if err != nil {
		return nil, changedOr(dir, name, seen, err)
	}
	if is, err := sub.Stat("."); err != nil || !os.SameFile(is, seen) {
		sub.Close()
		return nil, &Error{Op: "open", Path: name, Kind: Changed}
	}
	return sub, nil
}

// changedOr tells a swap, where a repetition helps, from the error of a thing that is
// still there.
func changedOr(dir *os.Root, name string, seen fs.FileInfo, err error) error {
	if is, again := dir.Lstat(name); again != nil || !os.SameFile(is, seen) {
		return &Error{Op: "open", Path: name, Kind: Changed, Err: err}
	}
	return err
}

func (w *walk) follow(name string) error {
	w.links = append(w.links, origin{w.real(name), len(w.todo)})
	if w.hops++; w.hops > maxLinks {
		return &Error{Op: w.op, Path: w.asked, Kind: TooManyLinks, Link: w.link()}
	}
	target, err := w.top().Readlink(name)
	if err != nil {
		return &Error{Op: w.op, Path: w.asked, Kind: Changed, Err: err}
	}
	if !filepath.IsAbs(target) {
		w.push(filepath.ToSlash(target))
		return nil
	}
	rel, ok := w.root.below(target)
	if !ok {
		return w.outside()
	}
	for len(w.dirs) > 1 {
		if err := w.up(); err != nil {
			return err
		}
	}
	w.push(rel)
	return nil
}

func (w *walk) here() (node, error) {
	info, err := w.top().Stat(".")
	if err != nil {
		return node{}, errorAt(w.op, w.asked, err)
	}
	return node{dir: w.top(), name: ".", real: path.Join(".", path.Join(w.names...)), info: info}, nil
}

// below returns the path below r that the absolute path abs has in one of the forms of r:
// as given, or with its own links resolved. It does not look at abs.
func (r *Root) below(abs string) (string, bool) {
	for _, form := range r.forms() {
		if rel, ok := native.below(form, abs); ok {
			return rel, true
		}
	}
	return "", false
}

func (r *Root) forms() []string {
	forms := []string{r.dir}
	if real, err := filepath.EvalSymlinks(r.dir); err == nil && real != r.dir {
		forms = append(forms, real)
	}
	return forms
}

// openBase opens the root's own directory.
func (r *Root) openBase() (*os.Root, error) {
	if r.within != nil {
		d, err := r.within.OpenDir(r.sub)
		if err != nil {
			return nil, r.gone(err)
		}
		defer d.Close()
		if d.Real != r.sub {
			return nil, r.gone(errors.New("it has become a link"))
		}
		return d.OSRoot()
	}
	info, err := os.Stat(r.dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return nil, r.gone(err)
	}
	base, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, r.gone(err)
	}
	return base, nil
}

func (r *Root) gone(err error) error {
	return &Error{Op: "open", Path: ".", Kind: RootMissing, Roots: []string{r.dir}, Err: err}
}
