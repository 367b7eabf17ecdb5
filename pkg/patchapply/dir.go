package patchapply

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// A Dir is a [Storage] of the files below directories. All who write there must use the same
// state directory: it holds the lock, and the journal by which a commit that died is undone.
//
// Clean paths are relative to the root where there is one, and absolute where there are
// several. A patch may touch one root only.
type Dir struct {
	set   *fsroot.Set
	roots []*fsroot.Root // of set
	state string
}

// NewDir returns the storage of the files below the roots of set. "" is the usual state
// directory. Nothing is opened or locked before the first use.
func NewDir(set *fsroot.Set, stateDir string) *Dir { return &Dir{set, set.Roots(), stateDir} }

// View returns a reader that takes no lock.
func (d *Dir) View(context.Context) View { return &dirView{dir: d} }

// Begin locks the root; where there are several, the one that is first touched.
func (d *Dir) Begin(ctx context.Context) (Tx, error) {
	tx := &dirTx{dirView: dirView{dir: d}}
	tx.lock = func(r *fsroot.Root) (err error) {
		tx.tx, err = fsroot.Begin(ctx, d.state, r)
		var e *Error
		if err = dirError(err); errors.As(err, &e) {
			e.Text += "." + unchanged
		}
		return err
	}
	if roots := d.roots; len(roots) == 1 {
		return tx, tx.choose(roots[0])
	}
	return tx, nil
}

// Place returns where a clean path lies.
func (d *Dir) Place(p string) (place fsroot.Place, ok bool) {
	roots := d.roots
	if len(roots) == 1 {
		return fsroot.Place{Root: roots[0], Rel: p}, true
	}
	for _, r := range roots {
		rel, below := strings.CutPrefix(p, strings.TrimSuffix(d.form(r, "."), "/")+"/")
		if below && (place.Root == nil || len(rel) < len(place.Rel)) {
			place, ok = fsroot.Place{Root: r, Rel: rel}, true
		}
	}
	return place, ok
}

// Real returns the clean path of what the path p of a patch leads to, links resolved as far
// as they lead; ok is false where p cannot be in the storage.
func (d *Dir) Real(p string) (clean string, ok bool) {
	v := &dirView{dir: d}
	clean, err := v.Clean(p)
	if err != nil {
		return "", false
	}
	place, _ := d.Place(clean)
	if info, err := place.Root.Stat(place.Rel); err == nil {
		clean = d.form(place.Root, info.Real)
	}
	return clean, true
}

// form returns the clean path of what is at rel below r.
func (d *Dir) form(r *fsroot.Root, rel string) string {
	if len(d.roots) == 1 {
		return rel
	}
	return filepath.ToSlash(r.Abs(rel))
}

// A dirView is also what a dirTx reads by.
type dirView struct {
	dir  *Dir
	root *fsroot.Root             // that is touched; nil before the first
	lock func(*fsroot.Root) error // called when it is known; may be nil
	real map[fsroot.Place]string  // of directories: the path with links resolved

	held   bool
	reader *fsroot.Reader // while held; nil before the first file
}

// choose makes r the root that is touched.
func (v *dirView) choose(r *fsroot.Root) error {
	switch {
	case v.root == r:
		return nil
	case v.root != nil:
		return refusal(InvalidPath, "a patch may touch one root only, and this one is about %s and %s; send a patch for each", quotePath(v.root.Dir()), quotePath(r.Dir()))
	}
	if v.lock != nil {
		if err := v.lock(r); err != nil {
			return err
		}
	}
	v.root = r
	return nil
}

// enter returns the place of a clean path, in the root that is touched.
func (v *dirView) enter(p string) (fsroot.Place, error) {
	place, ok := v.dir.Place(p)
	if !ok {
		return place, refusal(PathEscape, "%s is outside the roots", quotePath(p))
	}
	return place, v.choose(place.Root)
}

// Clean returns the clean path of p: links are resolved in all but its last component, so
// that a file that is still to be made has one name too.
func (v *dirView) Clean(p string) (string, error) {
	place, err := v.locate(p)
	if err != nil {
		return "", err
	}
	rel, err := v.realParent(place)
	if err != nil {
		return "", err
	}
	return v.dir.form(place.Root, rel), nil
}

func (v *dirView) locate(p string) (fsroot.Place, error) {
	slashed := filepath.ToSlash(p)
	if !absolute(slashed) {
		rel, err := cleanRelative(slashed)
		if err != nil {
			return fsroot.Place{}, err
		}
		return v.relative(p, rel)
	}
	if strings.HasSuffix(slashed, "/") && path.Clean(slashed) != "/" {
		if _, err := cleanRelative(strings.TrimLeft(slashed, "/")); err != nil {
			return fsroot.Place{}, err
		}
	}
	place, err := v.dir.set.Resolve(p)
	switch {
	case err != nil && fsroot.KindOf(err) != fsroot.NotExist:
		return place, dirError(err)
	case place.Rel == ".":
		return place, refusal(InvalidPath, "%s is the root itself; name a file below it", quotePath(p))
	}
	return place, nil
}

// absolute reports whether p starts elsewhere than in a root.
func absolute(p string) bool {
	return filepath.IsAbs(p) || strings.HasPrefix(p, "/") || filepath.VolumeName(p) != "" ||
		p == "~" || strings.HasPrefix(p, "~/") || strings.HasPrefix(strings.ToLower(p), "file:/")
}

// relative finds the root that has rel; else the one that is touched, has its directory, or
// is the first.
func (v *dirView) relative(asked, rel string) (fsroot.Place, error) {
	roots := v.dir.roots
	switch len(roots) {
	case 0:
		return fsroot.Place{}, refusal(InvalidPath, "%s cannot be looked up, since no directory is served", quotePath(asked))
	case 1:
		return fsroot.Place{Root: roots[0], Rel: rel}, nil
	}
	var hits []string
	var hit, parent *fsroot.Root
	for _, r := range roots {
		if _, err := r.Lstat(rel); err == nil {
			hits, hit = append(hits, quotePath(r.Abs(rel))), r
		}
		if info, err := r.Stat(path.Dir(rel)); err == nil && info.IsDir() && parent == nil {
			parent = r
		}
	}
	switch {
	case len(hits) > 1:
		return fsroot.Place{}, refusal(InvalidPath, "%s is in several roots; use one of %s", quotePath(asked), strings.Join(hits, ", "))
	case len(hits) == 1:
	case v.root != nil:
		hit = v.root
	case parent != nil:
		hit = parent
	default:
		hit = roots[0]
	}
	return fsroot.Place{Root: hit, Rel: rel}, nil
}

// realParent resolves the links in the directories of a place, as far as they exist.
func (v *dirView) realParent(place fsroot.Place) (string, error) {
	rest := path.Base(place.Rel)
	for dir := path.Dir(place.Rel); dir != "."; dir = path.Dir(dir) {
		real, err := v.realDir(fsroot.Place{Root: place.Root, Rel: dir})
		if err != nil {
			return "", err
		}
		if real != "" {
			return path.Join(real, rest), nil
		}
		rest = path.Join(path.Base(dir), rest)
	}
	return place.Rel, nil
}

// realDir returns the path of the directory at place, links resolved; "" if there is none.
func (v *dirView) realDir(place fsroot.Place) (string, error) {
	if real, known := v.real[place]; known {
		return real, nil
	}
	info, err := place.Root.Stat(place.Rel)
	switch kind := fsroot.KindOf(err); {
	case kind == fsroot.NotExist || kind == fsroot.NotDir || err == nil && !info.IsDir():
		return "", nil
	case err != nil:
		return "", dirError(err)
	}
	if v.real == nil {
		v.real = map[fsroot.Place]string{}
	}
	v.real[place] = info.Real
	return info.Real, nil
}

// Load reads the file at p.
func (v *dirView) Load(p string, limit int64) (*File, error) {
	place, err := v.enter(p)
	if err != nil {
		return nil, err
	}
	content, was, err := v.read(place)
	switch {
	case fsroot.KindOf(err) == fsroot.NotExist:
		return nil, nil
	case err != nil:
		return v.brokenLink(p, place, err)
	case int64(len(content)) > limit:
		return nil, refusal(TooLarge, "%s has %d bytes, too many for this patch", quotePath(p), len(content))
	}
	return &File{
		Content: content, Perm: was.Perm(), IsLink: was.IsLink(),
		Real: v.dir.form(place.Root, was.Real()), Same: was.ID(), Token: was,
	}, nil
}

// hold lets the directories of files that are loaded stay open, until release is called.
func (v *dirView) hold() (release func()) {
	v.held = true
	return func() {
		if v.held = false; v.reader != nil {
			v.reader.Close()
			v.reader = nil
		}
	}
}

func (v *dirView) read(place fsroot.Place) ([]byte, *fsroot.Snapshot, error) {
	if !v.held {
		return place.Root.Load(place.Rel)
	}
	if v.reader == nil { // there is one root only
		v.reader = place.Root.Reader()
	}
	return v.reader.Load(place.Rel)
}

// brokenLink returns the link at p that cannot be followed because of why, or the error if
// none is there.
func (v *dirView) brokenLink(p string, place fsroot.Place, why error) (*File, error) {
	switch fsroot.KindOf(why) {
	case fsroot.Dangling, fsroot.Outside, fsroot.IsDir, fsroot.NotRegular, fsroot.TooManyLinks, fsroot.NotDir:
		if _, was, err := place.Root.LoadLink(place.Rel); err == nil {
			return &File{Real: p, IsLink: true, Broken: dirError(why), Token: was}, nil
		}
	}
	return nil, dirError(why)
}

// Similar returns the paths that fsroot would offer for p.
func (v *dirView) Similar(p string) []string {
	place, err := v.dir.set.Resolve(p)
	if err == nil {
		return []string{v.dir.form(place.Root, place.Rel)}
	}
	var e *fsroot.Error
	if !errors.As(err, &e) || e.Kind != fsroot.NotExist {
		return nil
	}
	near := make([]string, len(e.Names))
	for i, name := range e.Names {
		near[i] = v.dir.form(place.Root, name)
	}
	return near
}

type dirTx struct {
	dirView
	tx *fsroot.Tx // nil before the root is known
}

// End gives the lock back.
func (tx *dirTx) End() {
	if tx.tx != nil {
		tx.tx.End()
	}
}

// Commit makes the changes by one transaction of the root.
func (tx *dirTx) Commit(changes []Change) error {
	steps := make([]fsroot.Step, 0, len(changes))
	for _, c := range changes {
		place, err := tx.enter(c.Path)
		if err != nil {
			return err
		}
		steps = append(steps, fsroot.Step{
			Rel: place.Rel, Content: c.After, Remove: c.Remove, Perm: c.Perm,
			Was: snapshot(c.Before), Like: snapshot(c.From),
		})
	}
	if len(steps) == 0 {
		return nil
	}
	return commitError(tx.tx.Commit(steps))
}

// commitError says that all is as it was, unless the error says what is not.
func commitError(err error) error {
	err = dirError(err)
	var of *fsroot.Error
	if e, ok := err.(*Error); ok && (!errors.As(e.Err, &of) || len(of.Lost) == 0) {
		e.Text += "." + unchanged
	}
	return err
}

func snapshot(f *File) *fsroot.Snapshot {
	if f == nil {
		return nil
	}
	s, _ := f.Token.(*fsroot.Snapshot)
	return s
}

// dirError puts an error of fsroot into a class. The end of a context stays what it is.
func dirError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var e *fsroot.Error
	if !errors.As(err, &e) {
		return &Error{Class: IOError, Text: "the system reports an error", Err: err}
	}
	text := e.Visible()
	if e.Kind == fsroot.NotDir {
		text = quotePath(e.Path) + " goes through a file, and nothing can be below one"
	}
	return &Error{Class: classOf(e.Kind), Text: text, Err: err}
}

func classOf(k fsroot.Kind) Class {
	switch k {
	case fsroot.Outside:
		return PathEscape
	case fsroot.IsDir:
		return IsDirectory
	case fsroot.NotRegular:
		return NotText
	case fsroot.NotDir, fsroot.InvalidName, fsroot.TooManyLinks, fsroot.Ambiguous, fsroot.NoRoots:
		return InvalidPath
	case fsroot.NotExist, fsroot.Dangling:
		return FileNotFound
	case fsroot.Stale, fsroot.Exists, fsroot.Changed:
		return StaleFile
	case fsroot.TooLarge:
		return TooLarge
	}
	return IOError
}
