package patchapply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Plan is what a patch would do to a storage. It holds the content of all its files.
type Plan struct {
	Outcomes []Outcome // one for each file, in the order of the patch
	Warnings []string  // of the patch as a whole, each one line
	patch    *Patch
	changes  []Change
}

// Changes returns what [Tx.Commit] takes to make the plan so: nothing where all files stay
// as they are.
func (p *Plan) Changes() []Change { return slices.Clone(p.changes) }

// Plan works out what every file would become, section by section, each on what the ones
// before it made, and changes nothing. Where a section cannot be applied it returns an
// [*Error], and none of the patch applies.
func (p *Patch) Plan(ctx context.Context, v View) (*Plan, error) {
	if len(p.Sections) == 0 {
		return nil, refusal(EmptyPatch, "the patch names no files"+unchanged)
	}
	if h, ok := v.(interface{ hold() (release func()) }); ok {
		defer h.hold()()
	}
	o := newOverlay(v)
	for i := range p.Sections {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := &p.Sections[i]
		if err := o.apply(s); err != nil {
			return nil, s.blame(err)
		}
	}
	plan := &Plan{Outcomes: o.outcomes(), Warnings: p.Warnings, patch: p, changes: o.changes()}
	if len(plan.Outcomes) == 0 {
		plan.Warnings = append(slices.Clone(p.Warnings), "the sections undo each other: nothing is left to change")
	}
	return plan, nil
}

// Commit makes the plan so, and returns the plan that was made: where files have changed
// since p was worked out, the patch is planned again, by the one who alone may write. Other
// files than p's are never touched: a plan that would is a StaleFile.
func (p *Plan) Commit(ctx context.Context, s Storage) (*Plan, error) {
	return p.commit(ctx, s, p.again)
}

// CommitExactly makes the plan so, or nothing: where files have changed since it was worked out, it
// is a StaleFile.
func (p *Plan) CommitExactly(ctx context.Context, s Storage) (*Plan, error) {
	return p.commit(ctx, s, nil)
}

// commit makes the plan so. What stale does where files have changed comes of it then; nil does
// nothing.
func (p *Plan) commit(ctx context.Context, s Storage, stale func(context.Context, Tx) (*Plan, error)) (*Plan, error) {
	if len(p.changes) == 0 {
		return p, nil
	}
	tx, err := s.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.End()
	switch err = tx.Commit(p.changes); {
	case ClassOf(err) == StaleFile && stale != nil:
		return stale(ctx, tx)
	case err != nil:
		return nil, err
	}
	return p, nil
}

func (p *Plan) again(ctx context.Context, tx Tx) (*Plan, error) {
	now, err := p.patch.Plan(ctx, tx)
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(p.Outcomes, now.Outcomes, Outcome.touchesAs) {
		return nil, refusal(StaleFile, "the tree was changed meanwhile, so that other files would be changed than when the patch was judged; send it again."+unchanged)
	}
	if len(now.changes) == 0 {
		return now, nil
	}
	if err := tx.Commit(now.changes); err != nil {
		return nil, err
	}
	return now, nil
}

func (o *overlay) apply(s *Section) error {
	p, err := o.clean(s.Path)
	if err != nil {
		return err
	}
	n, err := o.at(p)
	switch {
	case s.Kind == Add && ClassOf(err) == NotText:
		return exists(p)
	case err != nil:
		return err
	case s.Kind == Add:
		return o.add(n, s)
	case !n.taken():
		return o.absent(n, s.Path)
	case s.Kind == Delete:
		if err := o.mayDelete(n, s); err != nil {
			return err
		}
		o.drop(n)
		return nil
	}
	return o.update(n, s)
}

func (o *overlay) add(n *name, s *Section) error {
	switch {
	case n.isLink():
		return refusal(AlreadyExists, "%s exists already, as a symbolic link; update what it leads to, or delete the link in a patch of its own first", quotePath(n.path))
	case n.taken():
		return exists(n.path)
	}
	f := &node{content: s.Content, touched: n}
	if s.Perm != nil {
		f.perm = s.Perm.Perm()
	}
	if err := o.hold(f); err != nil {
		return err
	}
	return o.put(n, f)
}

// mayDelete returns an error where a diff that deletes a file shows other lines than it has.
func (o *overlay) mayDelete(n *name, s *Section) error {
	if len(s.Hunks) == 0 {
		return nil
	}
	f, err := o.file(n)
	if err != nil {
		return err
	}
	rest, report, err := s.Apply(f.content)
	if err != nil {
		return err
	}
	for _, r := range report {
		if r.Pass > PassRightTrim {
			return refusal(ContextNotFound, "%s is not deleted: its lines differ in white space or punctuation from those that the diff removes, from line %d on", quotePath(n.path), r.OldLine)
		}
	}
	if rest = bytes.TrimPrefix(rest, []byte(bom)); len(rest) > 0 {
		return refusal(ContextNotFound, "%s is not deleted: it has %d lines that the diff does not remove, such as %s; remove all lines as they are in the file, or use *** Delete File",
			quotePath(n.path), 1+bytes.Count(bytes.TrimSuffix(rest, []byte{'\n'}), []byte{'\n'}), quoteLine(string(firstLine(rest))))
	}
	return nil
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

func exists(p string) error {
	return refusal(AlreadyExists, "%s exists already; use *** Update File to change it, or *** Delete File and then *** Add File in one patch to replace it", quotePath(p))
}

// absent says that there is no such file, and what may have been meant.
func (o *overlay) absent(n *name, asked string) error {
	if n.gone {
		return refusal(FileNotFound, "%s is deleted or moved earlier in this patch", quotePath(n.path))
	}
	near := ""
	if names := o.view.Similar(asked); len(names) > 0 {
		for i := range names {
			names[i] = quotePath(names[i])
		}
		near = "; similar: " + strings.Join(names, ", ")
	}
	e := refusal(FileNotFound, "%s does not exist%s", quotePath(n.path), near)
	e.near = near
	return e
}

// update changes a file, moves it, or both.
func (o *overlay) update(n *name, s *Section) error {
	to, err := o.destination(n, s)
	if err != nil {
		return err
	}
	f, err := o.file(n)
	switch {
	case err != nil:
		return err
	case len(s.Hunks) == 0 && s.MoveTo == "" && s.Perm == nil:
		return refusal(ParseError, "the section for %s changes nothing: give hunks that start with @@, or *** Move to: path", quotePath(n.path))
	}
	after, report := f.content, []HunkReport(nil)
	if len(s.Hunks) > 0 {
		if after, report, err = s.apply(f.content, &o.mem); err != nil {
			return err
		}
	}
	if to != n {
		// Other names of the file keep what they have.
		f = &node{first: f.first, from: f.from, content: f.content, perm: f.perm, hunks: f.hunks}
		if !n.put {
			f.from = n.path
		}
	}
	if s.Perm != nil {
		f.perm = s.Perm.Perm()
	}
	f.touched, f.hunks = n, append(f.hunks, report...)
	if !bytes.Equal(f.content, after) {
		f.content = after
		if err := o.hold(f); err != nil {
			return err
		}
	}
	if to == n {
		return nil
	}
	f.touched = to
	o.drop(n)
	return o.put(to, f)
}

// destination returns the name that a section moves n to, or n itself.
func (o *overlay) destination(n *name, s *Section) (*name, error) {
	if s.MoveTo == "" {
		return n, nil
	}
	p, err := o.clean(s.MoveTo)
	if err != nil {
		return nil, err
	}
	if p == n.path {
		return n, nil
	}
	to, err := o.at(p)
	switch {
	case err == nil && to.isLink():
		return nil, refusal(AlreadyExists, "%s cannot move to %s, which exists already, as a symbolic link; delete the link in a patch of its own first, or choose another name", quotePath(n.path), quotePath(p))
	case ClassOf(err) == NotText || err == nil && to.taken():
		return nil, refusal(AlreadyExists, "%s cannot move to %s, which exists already; delete that first in the same patch, or choose another name", quotePath(n.path), quotePath(p))
	case err != nil:
		return nil, err
	case n.isLink():
		return nil, refusal(InvalidPath, "%s is a symbolic link, which a patch cannot move; move what it leads to", quotePath(n.path))
	}
	return to, nil
}

// file returns the file that n names, links followed.
func (o *overlay) file(n *name) (*node, error) {
	switch {
	case n.broken != nil:
		return nil, n.broken
	case n.link == nil:
		return n.now, nil
	case n.link.isLink():
		return o.file(n.link)
	case n.link.now == nil:
		return nil, refusal(FileNotFound, "%s is a link to %s, which is deleted or moved earlier in this patch", quotePath(n.path), quotePath(n.link.path))
	}
	return n.link.now, nil
}

// blame says which section err is about, and that nothing was changed.
func (s *Section) blame(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	own := *e
	if own.Path == "" {
		own.Path = s.Path
	}
	if own.Line == 0 {
		own.Line = s.Line
	}
	if !strings.HasSuffix(own.Text, unchanged) {
		if s.Line > 0 {
			own.Text += fmt.Sprintf(" (patch line %d)", s.Line)
		}
		own.Text += "." + unchanged
	}
	return &own
}

func refusal(c Class, format string, args ...any) *Error {
	return &Error{Class: c, Text: fmt.Sprintf(format, args...)}
}
