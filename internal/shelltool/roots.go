package shelltool

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A setting is what a sandbox for a call has to be like.
type setting struct {
	config container.Config
	effect approval.Effect // of running commands there
	image  string          // id; "" where it would be pulled first, or there is none
}

// setting works out the sandbox for a call from the flags and the roots.
func (t *toolset) setting(ctx context.Context, call *toolkit.Call) (s setting, err error) {
	s.config, s.effect = t.config, t.effect()
	s.config.Mounts = slices.Clone(t.config.Mounts)
	roots, err := t.roots(ctx, call)
	if err != nil {
		return s, err
	}
	if t.local {
		if len(roots) > 0 {
			s.config.Dir = roots[0]
		}
		return s, nil
	}
	if err := s.mount(roots); err != nil {
		return s, err
	}
	return s, t.holdAll(s.config.Mounts[len(roots):])
}

// pins remember where the operator's directories were when they were first looked at.
type pins struct{ m sync.Map } // path as given -> resolved

// hold refuses a directory that is elsewhere than before: whoever can change something on the
// way to it could show commands any other. What says which one it is.
func (p *pins) hold(given, real, what string) error {
	if first, _ := p.m.LoadOrStore(given, real); first != real {
		return toolkit.Errorf("%s leads elsewhere than when the server first looked; if that is meant, the operator starts the server again", toolkit.Inline(what))
	}
	return nil
}

// holdAll pins the operator's roots, and his mounts, which are resolved by now.
func (t *toolset) holdAll(resolved []container.Mount) error {
	for _, r := range t.operator.Roots() {
		real, err := realRoot(r.Dir())
		if err != nil {
			return err
		}
		if err := t.pins.hold(r.Dir(), real, "the root "+r.Dir()); err != nil {
			return err
		}
	}
	for i, m := range t.config.Mounts {
		if err := t.pins.hold(m.Source, resolved[i].Source, "the mount at "+m.Target); err != nil {
			return err
		}
	}
	return nil
}

// resolve asks the engine what s needs of it, unless a has a sandbox like s already. It never
// pulls.
func (t *toolset) resolve(ctx context.Context, s *setting, a address) error {
	_, b, err := t.pool.look(a)
	if err != nil || t.local {
		return err
	}
	if b != nil && b.suits(s.config) {
		s.image = b.Info.ImageID
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	id, ok, err := t.link.image(ctx, s.config.Image)
	if err != nil {
		return err
	}
	if err := t.link.check(ctx, s.config); err != nil {
		return err
	}
	if !ok && s.config.Pull == container.PullNever {
		return &container.ImageError{Image: s.config.Image, Pull: s.config.Pull, Why: "the engine does not have it"}
	}
	s.image = id
	return nil
}

// engineTime is how long planning waits for the engine.
const engineTime = 20 * time.Second

// effect is that of commands, as far as the flags tell.
func (o *settings) effect() approval.Effect {
	if o.local || o.config.Profile == container.Dev || o.config.Network != container.NetworkNone {
		return approval.RunCommands
	}
	return approval.RunContained
}

// roots returns the directories that a call may use: the operator's, which the client's own
// only narrow, or the client's where there are none. One that lies in another is seen there, and
// left out. There may be none at all.
func (t *toolset) roots(ctx context.Context, call *toolkit.Call) (dirs []string, err error) {
	set, err := t.operator.NarrowedBy(ctx, call.ClientRoots)
	if err != nil {
		return nil, err
	}
	return outermost(set.Roots())
}

func outermost(roots []*fsroot.Root) (dirs []string, err error) {
	for _, r := range roots {
		if err := checkRoot(r); err != nil {
			return nil, err
		}
		within := func(other *fsroot.Root) bool {
			return other != r && other.Dir() != r.Dir() && inside(r.Dir(), other.Dir())
		}
		if !slices.ContainsFunc(roots, within) {
			dirs = append(dirs, r.Dir())
		}
	}
	return dirs, nil
}

// checkRoot refuses a root that links lead out of the operator's. The engine would follow them
// when it mounts.
func checkRoot(r *fsroot.Root) error {
	origin, _ := r.Origin(".")
	dir, err := realRoot(r.Dir())
	if err != nil {
		return err
	}
	if top, err := realRoot(origin.Dir()); err != nil || !inside(dir, top) {
		return toolkit.Errorf("the root %s leads outside the allowed roots", toolkit.Inline(r.Dir()))
	}
	return nil
}

func realRoot(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", toolkit.Because(err, "the root directory %s does not exist or cannot be opened: the operator names roots with --root DIR (or MCP_SHELL_ROOT), a client declares its own", toolkit.Inline(dir))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", toolkit.Errorf("the root %s is not a directory", toolkit.Inline(dir))
	}
	return real, nil
}

// inside reports whether dir is top, or lies below it.
func inside(dir, top string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// mount adds the roots to s, resolves the links in what is mounted, and looks at what the
// mounts mean for the policy.
func (s *setting) mount(roots []string) (err error) {
	// The roots come first: the first mount's owner is whom commands run as.
	s.config.Mounts, err = container.ResolveMounts(append(rootMounts(roots), s.config.Mounts...))
	if err != nil {
		return err
	}
	within := func(m container.Mount) func(container.Mount) bool {
		return func(root container.Mount) bool { return inside(m.Source, root.Source) }
	}
	for i, m := range s.config.Mounts {
		uid, known := ownerOf(m.Source)
		switch {
		case m.ReadOnly:
		case i >= len(roots) && !slices.ContainsFunc(s.config.Mounts[:len(roots)], within(m)),
			known && uid != 0 && isRoot(s.config.User):
			s.effect = approval.RunCommands
		}
	}
	return nil
}

// rootMounts shows one root as /data, several as directories in it.
func rootMounts(roots []string) (out []container.Mount) {
	if len(roots) == 1 {
		return []container.Mount{{Source: roots[0], Target: container.DefaultDir}}
	}
	taken := map[string]bool{}
	for _, dir := range roots {
		base := filepath.Base(dir)
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[name] = true
		out = append(out, container.Mount{Source: dir, Target: path.Join(container.DefaultDir, name)})
	}
	return out
}

func isRoot(user string) bool {
	uid, _, _ := strings.Cut(user, ":")
	return uid == "root" || uid != "" && strings.Trim(uid, "0") == ""
}

// mountTexts writes mounts as the command line has them.
func mountTexts(mounts []container.Mount) (out []string) {
	for _, m := range mounts {
		text := m.Source + ":" + m.Target
		if m.ReadOnly {
			text += ":ro"
		}
		out = append(out, text)
	}
	return out
}
