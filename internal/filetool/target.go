package filetool

import (
	"context"
	"errors"
	"path"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A target is where Glob, Grep or List search: open directories, one for each root where
// the call names no path, or one file.
type target struct {
	starts  []start
	missing []string     // notes on roots that cannot be searched
	file    *fsroot.File // then there are no starts
	names   namer        // of file
}

// A start is a directory that a search starts from.
type start struct {
	dir   *fsroot.Dir
	names namer
}

// Close closes what is open.
func (t *target) Close() error {
	var errs []error
	for _, s := range t.starts {
		errs = append(errs, s.dir.Close())
	}
	if t.file != nil {
		errs = append(errs, t.file.Close())
	}
	return errors.Join(errs...)
}

// target opens what path means; no path means all roots, of which o says how to search. The
// action is for errors, as that of find.
func (r roots) target(ctx context.Context, call *toolkit.Call, where string, o search.Options) (*target, approval.Action, error) {
	set, err := r.of(ctx, call)
	if err != nil {
		return nil, approval.Action{}, err
	}
	if where == "" || path.Clean(filepath.ToSlash(where)) == "." {
		t, err := allRoots(ctx, set, o)
		return t, approval.Action{}, err
	}
	place, a, err := find(set, where)
	if err != nil {
		return nil, a, err
	}
	names := namerFor(set, place, where)
	dir, err := place.Root.OpenDir(place.Rel)
	if fsroot.KindOf(err) == fsroot.NotDir {
		file, err := place.Root.Open(place.Rel)
		if err != nil {
			return nil, a, err
		}
		return &target{file: file, names: names}, a, nil
	}
	if err != nil {
		return nil, a, err
	}
	return &target{starts: []start{{dir, names}}}, a, nil
}

// directories refuses a file, for tools that search only directories.
func (t *target) directories() error {
	if t.file == nil {
		return nil
	}
	name := t.names.name(t.file.Real)
	t.Close()
	return toolkit.Errorf("%s is a file: give a directory as path, or read the file", name)
}

// action describes the search.
func (t *target) action(access approval.Access, what string) approval.Action {
	if t.file != nil {
		return reading(t.names.root, approval.Read, what+" in "+t.names.name(t.file.Real), t.file.Real)
	}
	a := approval.Action{Effect: approval.ReadFiles, Summary: what}
	for i, s := range t.starts {
		one := reading(s.dir.Root, access, "", s.dir.Real)
		a.Paths = append(a.Paths, one.Paths...)
		join := ", "
		if i == 0 {
			join = " in "
		}
		a.Summary += join + s.names.name(s.dir.Real)
	}
	return a
}

// engine returns the directory as the engine takes it. Ignore files count up to the
// operator's root, or to the top of the repository that it lies in.
func (s start) engine() search.Start {
	e := search.Start{Dir: s.dir.File, OSRoot: s.dir.OSRoot}
	origin, below := s.dir.Root.Origin(s.dir.Real)
	if top, err := filepath.EvalSymlinks(origin.Dir()); err == nil {
		e.Top, e.Path = top, filepath.Join(top, filepath.FromSlash(below))
	}
	return e
}

// hit returns a hit of the engine under the name that clients see.
func (s *start) hit(h search.Hit) hit {
	return hit{Hit: h, name: s.names.name(s.below(h.Path)), start: s}
}

// below returns the path below the root of what the engine found at rel.
func (s start) below(rel string) string { return path.Join(s.dir.Real, rel) }
