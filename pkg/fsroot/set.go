package fsroot

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Set is the roots that a call may use, in order. It is safe for concurrent use; the
// methods never change it.
type Set struct {
	roots []*Root
}

// NewSet returns the set of the directories dirs, as an operator gave them. Nothing is
// opened; empty and repeated entries are left out.
func NewSet(dirs ...string) *Set {
	s := &Set{}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if abs, err := filepath.Abs(dir); err == nil {
			s.add(&Root{dir: abs})
		}
	}
	return s
}

func (s *Set) add(r *Root) {
	same := func(have *Root) bool { return have.dir == r.dir }
	if !slices.ContainsFunc(s.roots, same) {
		s.roots = append(s.roots, r)
	}
}

// Empty reports whether there is no root; every call fails then.
func (s *Set) Empty() bool { return len(s.roots) == 0 }

// Roots returns the roots in order.
func (s *Set) Roots() []*Root { return slices.Clone(s.roots) }

// Narrow returns the part of s that also lies in the client's roots, given as file URIs or
// absolute paths. A client can only narrow: where it names a directory above a root, the
// root stays as it is; a directory below one becomes a root that is opened through it.
// An empty s serves the client's roots. No URIs at all leave s as it is; entries that
// cannot be used are skipped, and it is an error if nothing remains.
func (s *Set) Narrow(uris []string) (*Set, error) {
	if len(uris) == 0 {
		return s, nil
	}
	narrow := &Set{}
	for _, uri := range uris {
		abs, err := fromURI(native, uri)
		if err != nil || !native.isAbs(abs) || invalid(abs) != "" {
			continue
		}
		s.narrowTo(filepath.Clean(filepath.FromSlash(abs)), narrow)
	}
	if narrow.Empty() {
		return nil, &Error{Op: "narrow", Path: strings.Join(uris, ", "), Kind: Outside, Roots: s.dirs()}
	}
	return narrow, nil
}

// NarrowedBy returns s narrowed by the client that ask asks, as [Set.Narrow] does. A client
// that declares no roots leaves s as it is.
func (s *Set) NarrowedBy(ctx context.Context, ask func(context.Context) (uris []string, declared bool, err error)) (*Set, error) {
	uris, declared, err := ask(ctx)
	if err != nil || !declared {
		return s, err
	}
	return s.Narrow(uris)
}

func (s *Set) narrowTo(abs string, narrow *Set) {
	if s.Empty() {
		chosen := abs
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			chosen = real
		}
		narrow.add(&Root{dir: abs, chosen: chosen})
		return
	}
	if p, ok := s.locate(abs); ok {
		narrow.add(p.Root.narrowed(p.Rel))
		return
	}
	for _, r := range s.roots {
		for _, form := range r.forms() {
			if _, ok := native.below(abs, form); ok {
				narrow.add(r)
			}
		}
	}
}

// narrowed returns the root at rel below r. Its links are resolved now, so that policies
// judge the real path; openBase refuses it should that change.
func (r *Root) narrowed(rel string) *Root {
	if info, err := r.Stat(rel); err == nil {
		rel = info.Real
	}
	if rel == "." {
		return r
	}
	return &Root{dir: r.Abs(rel), within: r, sub: rel, portable: r.portable}
}

func (s *Set) dirs() []string {
	dirs := make([]string, len(s.roots))
	for i, r := range s.roots {
		dirs[i] = r.dir
	}
	return dirs
}

// Resolve returns the place that a client's path means.
//
// It accepts an absolute path in any form of a root, a path relative to the only root that
// has it (or else to the first), file URIs, and ~ where the home directory lies in a root.
// Only if nothing has exactly that name are blanks and quotes round it, a leading @, Go's
// escapes (as toolkit.Inline prints them) and the other Unicode form tried.
//
// Where nothing is found the error is of kind NotExist and names up to three similar
// paths; the place is then where the path would be, for a caller that creates it.
func (s *Set) Resolve(path string) (Place, error) {
	if s.Empty() {
		return Place{}, &Error{Op: "resolve", Path: path, Kind: NoRoots}
	}
	var misses []Place
	var failure error
	for _, form := range spellings(path) {
		p, err := s.resolveForm(form)
		switch KindOf(err) {
		case NotExist:
			misses = append(misses, p)
		case Outside, InvalidName:
			failure = asAsked(err, path, s)
		default:
			return p, asAsked(err, path, s)
		}
	}
	if len(misses) == 0 || (failure != nil && KindOf(failure) == Outside) {
		return Place{}, failure
	}
	return s.missed(path, misses)
}

// asAsked puts the path as the client wrote it into err.
func asAsked(err error, path string, s *Set) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	named := *e
	named.Path = path
	if e.Kind == Outside {
		named.Roots = s.dirs()
	}
	return &named
}

// resolveForm resolves one way to read the client's path; err is nil, or an [*Error].
func (s *Set) resolveForm(form string) (Place, error) {
	form, err := plain(native, form)
	if err != nil {
		return Place{}, err
	}
	if native.isAbs(form) {
		p, ok := s.locate(form)
		if !ok {
			return Place{}, &Error{Op: "resolve", Path: form, Kind: Outside}
		}
		return p, p.Root.present(p.Rel)
	}
	return s.relative(form)
}

// locate finds the root that the absolute path abs lies in; of nested roots the innermost.
// Paths that match no root as strings are compared by the identity of their parents: that
// finds other spellings on volumes that fold case, short names, and links to a root.
func (s *Set) locate(abs string) (Place, bool) {
	if p, ok := s.innermost(func(r *Root) (string, bool) { return native.below(r.dir, abs) }); ok {
		return p, true
	}
	if p, ok := s.innermost(func(r *Root) (string, bool) { return r.below(abs) }); ok {
		return p, true
	}
	return s.innermost(func(r *Root) (string, bool) { return belowByIdentity(r.dir, abs) })
}

func (s *Set) innermost(below func(*Root) (string, bool)) (best Place, ok bool) {
	for _, r := range s.roots {
		rel, in := below(r)
		if in && (!ok || len(r.dir) > len(best.Root.dir)) {
			best, ok = Place{r, rel}, true
		}
	}
	return best, ok
}

// belowByIdentity is [naming.below] with os.SameFile in the place of comparing names.
func belowByIdentity(root, abs string) (string, bool) {
	want, err := os.Stat(root)
	if err != nil {
		return "", false
	}
	rest := "."
	for dir := filepath.Clean(abs); ; dir = filepath.Dir(dir) {
		if is, err := os.Stat(dir); err == nil && os.SameFile(is, want) {
			return rest, true
		}
		if filepath.Dir(dir) == dir {
			return "", false
		}
		rest = path.Join(filepath.Base(dir), rest)
	}
}

// present returns nil if something is at rel, a link to anywhere included.
func (r *Root) present(rel string) error {
	rel, err := clean("resolve", rel)
	if err != nil {
		return err
	}
	_, err = r.stat(rel, false)
	return err
}

// relative resolves a path that is relative to a root.
func (s *Set) relative(form string) (Place, error) {
	rel, err := clean("resolve", native.slashed(form))
	if err != nil {
		return Place{}, err
	}
	first := Place{s.roots[0], rel}
	var hits []Place
	var failure error
	for _, r := range s.roots {
		switch err := r.present(rel); KindOf(err) {
		case NotExist, RootMissing, NotDir:
			failure = cmp.Or(failure, err)
		default:
			if err != nil {
				return Place{}, err
			}
			hits = append(hits, Place{r, rel})
		}
	}
	switch {
	case len(hits) == 0:
		return first, failure
	case len(hits) == 1 || rel == ".":
		return hits[0], nil
	}
	return Place{}, &Error{Op: "resolve", Path: form, Kind: Ambiguous, Names: absolute(hits)}
}

func absolute(places []Place) []string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.Root.Abs(p.Rel)
	}
	return names
}

// missed ends a resolution that found nothing: another Unicode form is still found, else
// the place that has a parent directory, or the first, is what was meant.
func (s *Set) missed(asked string, misses []Place) (Place, error) {
	for _, p := range misses {
		if rel, ok := p.Root.respell(p.Rel); ok {
			return Place{p.Root, rel}, nil
		}
	}
	meant := misses[0]
	for _, p := range misses {
		if info, err := p.Root.Stat(path.Dir(p.Rel)); err == nil && info.IsDir() {
			meant = p
			break
		}
	}
	names := meant.Root.similar(meant.Rel)
	return meant, &Error{Op: "resolve", Path: asked, Kind: NotExist, Names: names}
}
