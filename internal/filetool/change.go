package filetool

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/edit"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// This is what Write and Edit share: the way of a file from its old content to the new.
//
// Plan makes the change without writing, for the policy and for whoever is asked. Run makes
// it under the lock of the root, on what the file holds then: where that is what Plan saw it
// is the same change, and where another call came between, it is made anew. A refusal
// instead would let all but one of many edits at once fail, each of which fits. What was
// judged holds all the same: the path is the one that Plan found, links resolved, a file
// that is there is not created, and one that is not is not replaced.

// summaryBytes bounds the diff that is shown to a person who is asked.
const summaryBytes = 16 << 10

// A writer serves the tools that change files.
type writer struct {
	roots
	stateDir string // of locks and journals; "" is the usual one
}

// A changeRequest is a change as it was asked for.
type changeRequest struct {
	path    string
	sha     string // of what the file must hold, or the start of it; "" is anything
	creates bool   // a file that is missing is made
	dirs    bool   // and so are its directories
	shows   bool   // the result shows what the file holds
	verb    string // for a person
	make    func(ctx context.Context, old []byte) (content []byte, places int, err error)
}

// A changePlan is where a change goes, and the change as Plan saw it.
type changePlan struct {
	changeRequest
	stateDir string
	names    namer
	root     *fsroot.Root
	real     string // links resolved
	exists   bool
	change
}

// A change is the content of a file, and what it becomes.
type change struct {
	old, new []byte
	places   int
	compared *edit.Diff // see diff
}

// diff shows the change within limit bytes. It is compared once, however often it is shown.
func (c *change) diff(limit int) string { return c.comparison().Show(limit) }

func (c *change) comparison() *edit.Diff {
	if c.compared == nil {
		c.compared = edit.Compare(c.old, c.new)
	}
	return c.compared
}

func (w writer) plan(ctx context.Context, call *toolkit.Call, req changeRequest) (*changePlan, approval.Action, error) {
	set, err := w.of(ctx, call)
	if err != nil {
		return nil, approval.Action{}, err
	}
	place, a, err := find(set, req.path)
	a.Effect = approval.WriteFiles
	if err != nil && !(fsroot.KindOf(err) == fsroot.NotExist && req.creates && place.Root != nil) {
		return nil, a, err
	}
	p := &changePlan{changeRequest: req, stateDir: w.stateDir, names: namerFor(set, place, req.path), root: place.Root}
	if err := p.find(place.Rel); err != nil {
		return nil, a, err
	}
	// From here on an error may tell what the file holds: the policy judges the path first.
	err = p.settle(ctx)
	return p, p.action(), err
}

// find sets where the file is, or is to be.
func (p *changePlan) find(rel string) error {
	f, err := p.root.Open(rel)
	if err == nil {
		p.real, p.exists = f.Real, true
		return f.Close()
	}
	if fsroot.KindOf(err) != fsroot.NotExist || !p.creates {
		return err
	}
	if strings.HasSuffix(p.path, "/") || rel == "." {
		return toolkit.Errorf("%s names a directory: give the name of a file", toolkit.Inline(p.path))
	}
	p.real, err = p.realOf(rel)
	return err
}

// realOf resolves the links of rel, of which the end is missing.
func (p *changePlan) realOf(rel string) (string, error) {
	dir, rest := path.Dir(rel), path.Base(rel)
	for {
		info, err := p.root.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return "", &fsroot.Error{Op: "write", Path: dir, Kind: fsroot.NotDir}
		case err == nil:
			return path.Join(info.Real, rest), nil
		case fsroot.KindOf(err) != fsroot.NotExist || dir == ".":
			return "", err
		case !p.dirs:
			return "", toolkit.Because(err, "the directory %s does not exist: set create_dirs to true to make it", p.names.name(dir))
		}
		dir, rest = path.Dir(dir), path.Join(path.Base(dir), rest)
	}
}

// settle makes the change on what the file holds. It can be read in the middle of being
// written in place by others: what does not fit is believed when the file stands still.
func (p *changePlan) settle(ctx context.Context) error {
	const tries, pause = 5, 5 * time.Millisecond
	var unfit error
	for range tries {
		old, err := p.read(ctx)
		if err != nil || unfit != nil && bytes.Equal(old, p.old) {
			return cmp.Or(err, unfit)
		}
		if unfit = p.apply(ctx, old); unfit == nil || !p.exists {
			return unfit
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return unfit
}

// read returns what the file holds, without the lock.
func (p *changePlan) read(ctx context.Context) ([]byte, error) {
	if !p.exists {
		return nil, nil
	}
	f, err := p.root.Open(p.real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Real != p.real {
		return nil, &fsroot.Error{Op: "write", Path: p.real, Kind: fsroot.Changed}
	}
	if f.Info.Size() > fsroot.MaxLoad {
		return nil, &fsroot.Error{Op: "write", Path: p.real, Kind: fsroot.TooLarge}
	}
	in := interruptible{ctx, f}
	defer in.arm()()
	old, err := io.ReadAll(io.LimitReader(in, fsroot.MaxLoad+1))
	if err == nil && len(old) > fsroot.MaxLoad {
		err = &fsroot.Error{Op: "write", Path: p.real, Kind: fsroot.TooLarge}
	}
	return old, explain(err, "%s cannot be read: the system reports an error; try another file", p.names.name(p.real))
}

// apply makes the change on old. On an error p holds what it was about.
func (p *changePlan) apply(ctx context.Context, old []byte) error {
	p.change = change{old: old, new: old}
	if err := p.checkSHA(old); err != nil {
		return err
	}
	content, places, err := p.make(ctx, old)
	var unfit *edit.Error
	if errors.As(err, &unfit) {
		return toolkit.Because(err, "%s: %s", p.shortName(), unfit.Visible())
	}
	if err == nil {
		p.new, p.places = content, places
	}
	return err
}

// shortName is the name for errors that show something else as well.
func (p *changePlan) shortName() string {
	const most = 200
	name := []rune(p.names.name(p.real))
	if len(name) <= most {
		return string(name)
	}
	return "..." + string(name[len(name)-most:])
}

// checkSHA refuses a change of what the caller has not seen.
func (p *changePlan) checkSHA(old []byte) error {
	if p.sha == "" {
		return nil
	}
	sum := sha256.Sum256(old)
	switch {
	case !p.exists:
		return toolkit.Errorf("%s does not exist, so it is not what expected_sha says; nothing was changed", p.shortName())
	case !strings.HasPrefix(hex.EncodeToString(sum[:]), p.sha):
		return toolkit.Errorf("%s has changed: it is not what expected_sha says, nothing was changed; read it again first", p.shortName())
	}
	return nil
}

// shaPrefix returns expected_sha as it is compared.
func shaPrefix(given string) (string, error) {
	sha := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(given)), "sha256:")
	if _, err := hex.DecodeString(sha[:len(sha)/2*2]); sha != "" && (err != nil || len(sha) < 16 || len(sha) > 64) {
		return "", toolkit.Errorf("expected_sha: got %s, want the SHA-256 in hexadecimal, or its first 16 digits, "+
			`for example {"expected_sha": "9f86d081884c7d65"}`, toolkit.Inline(sha[:min(len(sha), 80)]))
	}
	return sha, nil
}

// action says what would happen. A result that shows the file's text is also a read.
func (p *changePlan) action() approval.Action {
	dir, below := p.root.Named(p.real)
	at := approval.Path{Access: approval.Create, Root: dir, Rel: below}
	a := approval.Action{Effect: approval.WriteFiles, Summary: p.verb + " " + p.names.name(p.real)}
	if p.exists {
		at.Access = approval.Update
		sum := sha256.Sum256(p.old)
		at.SHA256 = hex.EncodeToString(sum[:])
		if p.shows {
			a.Paths = append(a.Paths, approval.Path{Access: approval.Read, Root: at.Root, Rel: at.Rel})
		}
	}
	a.Paths = append(a.Paths, at)
	d := p.comparison()
	diff, whole := d.ShowWhole(summaryBytes)
	if diff != "" {
		a.Summary += "\n" + diff
	}
	if !whole {
		added, removed := d.Counts()
		a.Unshown = fmt.Sprintf("%d lines added, %d removed; the file would have %d bytes with SHA-256 %x", added, removed, len(p.new), sha256.Sum256(p.new))
	}
	return a
}

// A changeOut is a change that was made.
type changeOut struct {
	change
	name    string
	created bool
}

func runChange(ctx context.Context, p *changePlan, g approval.Grant, _ toolkit.Progress) (changeOut, error) {
	tx, err := fsroot.Begin(ctx, p.stateDir, p.root)
	if err != nil {
		return changeOut{}, err
	}
	defer tx.End()
	const tries = 3 // where programs write that know no lock
	for try := 1; ; try++ {
		err = p.commit(ctx, tx, g.Exact())
		if k := fsroot.KindOf(err); try == tries || !p.exists || k != fsroot.Stale && k != fsroot.Changed {
			break
		}
	}
	return changeOut{p.change, p.names.name(p.real), !p.exists}, err
}

// commit makes the change on what the file holds now; exactly means only on what it held when the
// change was planned.
func (p *changePlan) commit(ctx context.Context, tx *fsroot.Tx, exactly bool) error {
	old, was, err := tx.Load(p.real)
	switch missing := fsroot.KindOf(err) == fsroot.NotExist; {
	case missing && p.exists:
		return p.stale("was removed")
	case missing && !p.exists:
		err = p.sameDir()
	case err == nil && !p.exists:
		return p.stale("was made by others")
	case err == nil && was.Real() != p.real:
		return p.stale("was replaced by a link")
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(old, p.old) {
		if exactly {
			return p.stale("was changed")
		}
		if err := p.apply(ctx, old); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil || p.exists && bytes.Equal(p.old, p.new) {
		return err
	}
	return unchanged(tx.Commit([]fsroot.Step{{Rel: p.real, Content: p.new, Was: was}}))
}

// unchanged says of an error of the system that all is as it was, unless it says what is not.
func unchanged(err error) error {
	var e *fsroot.Error
	if !errors.As(err, &e) || len(e.Lost) > 0 {
		return err
	}
	return toolkit.Because(err, "%s; nothing was changed", e.Visible())
}

func (p *changePlan) stale(how string) error {
	return toolkit.Errorf("%s %s in the meantime, nothing was changed: look at it and call again", p.shortName(), how)
}

// sameDir makes sure that a new file still goes where Plan said.
func (p *changePlan) sameDir() error {
	real, err := p.realOf(p.real)
	if err == nil && real != p.real {
		return p.stale("has another directory")
	}
	return err
}
