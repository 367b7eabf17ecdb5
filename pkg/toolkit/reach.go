package toolkit

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// What calls can write must not hold what decides about calls.

// outOfReach keeps a file where calls cannot write.
type outOfReach struct {
	path   string
	dirs   []string // that calls can write
	chosen bool     // clients choose the roots
}

// check refuses the file where it is in reach.
func (g *outOfReach) check(info fs.FileInfo) error {
	dir, err := within(g.path, g.dirs)
	switch {
	case err != nil:
		return err
	case dir != "":
		return fmt.Errorf("it lies in %s, where calls can write: keep it where they cannot, or they decide what they may do", dir)
	case linkCount(info) > 1:
		return errors.New("it has more than one name (hard links), and by another one calls could write it: keep a copy of its own")
	}
	return nil
}

// reachable returns the directories that calls can write, or whose files they can read.
func (r *run) reachable(c *cli.Context) []string {
	dirs := c.StringSlice("root")
	if r.app.Writable != nil {
		dirs = append(dirs, r.app.Writable(c)...)
	}
	return dirs
}

// checkRoots refuses roots of a client that hold the file, where the client's are all there are.
func (g *outOfReach) checkRoots(uris []string) error {
	if g == nil || !g.chosen {
		return nil
	}
	var dirs []string
	for _, uri := range uris {
		if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
			dirs = append(dirs, filepath.FromSlash(u.Path))
		} else {
			dirs = append(dirs, uri)
		}
	}
	dir, err := within(g.path, dirs)
	if err == nil && dir != "" {
		err = Errorf("the client offers the root %s, in which the policy of this server lies: the operator moves the file, or names other roots with --root; nothing was done", Inline(dir))
	}
	return err
}

// rootsGiven refuses a root that is no directory's name: leaving it out would give the choice to clients.
func rootsGiven(program string, roots []string) error {
	env := envName(program, "root")
	if v, set := os.LookupEnv(env); set && v == "" {
		return fmt.Errorf("%s is set and empty: name the directories, or unset it", env)
	}
	for _, root := range roots {
		if root == "" {
			return fmt.Errorf("--root is empty: name the directory, or leave the flag out (the same for %s)", env)
		}
		if _, err := filepath.Abs(root); err != nil {
			return fmt.Errorf("--root %s: %w", root, err)
		}
	}
	return nil
}

// lieApart refuses roots of which one lies in another: a rule about a path below the one would
// not hold for the same file below the other.
func lieApart(roots []string) error {
	for i, inner := range roots {
		real, err := filepath.EvalSymlinks(inner)
		if err != nil {
			continue // it holds nothing now
		}
		for j, outer := range roots {
			if i != j && liesIn(real, outer) {
				return fmt.Errorf("--root %s lies in --root %s: with --policy, roots must lie apart, since rules are about paths below them", inner, outer)
			}
		}
	}
	return nil
}

// liesIn reports whether dir, which has no links on its way, lies below another directory.
func liesIn(dir, other string) bool {
	info, err := os.Stat(other)
	if err != nil {
		return false
	}
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		if at, err := os.Stat(up); err == nil && os.SameFile(at, info) {
			return true
		}
	}
	return false
}

// maxLinks bounds the links on the way to a file.
const maxLinks = 40

// within returns the first of dirs that the way to path leads through, or "". The way is walked
// as the system does it: a link in one of them is as good as the file, for who can replace it
// decides what is read. Directories that are not there hold nothing.
func within(path string, dirs []string) (string, error) {
	var known []place
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil {
			known = append(known, place{dir, info})
		}
	}
	left := parts(path)
	if !filepath.IsAbs(path) {
		from, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path, left = from, append(parts(from), left...)
	}
	w := walk{known: known, at: root(path), left: left}
	return w.run()
}

// A place is a directory that calls can write.
type place struct {
	dir  string
	info fs.FileInfo
}

// A walk is one along a path, link by link.
type walk struct {
	known []place
	at    string   // a directory without links on its way
	left  []string // names still to go
	links int
}

func root(full string) string { return filepath.VolumeName(full) + string(filepath.Separator) }

func parts(path string) []string {
	return strings.FieldsFunc(path[len(filepath.VolumeName(path)):], func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) })
}

func (w *walk) run() (string, error) {
	for len(w.left) > 0 {
		name := w.left[0]
		w.left = w.left[1:]
		switch name {
		case ".":
			continue
		case "..": // leads out of a directory, whatever is in it
			w.at = filepath.Dir(w.at)
			continue
		}
		if dir, err := w.here(); dir != "" || err != nil {
			return dir, err
		}
		if err := w.step(filepath.Join(w.at, name)); err != nil {
			return "", err
		}
	}
	return "", nil
}

// here returns the known directory that the walk is in.
func (w *walk) here() (string, error) {
	info, err := os.Stat(w.at)
	if err != nil {
		return "", err
	}
	for _, k := range w.known {
		if os.SameFile(info, k.info) {
			return k.dir, nil
		}
	}
	return "", nil
}

func (w *walk) step(next string) error {
	info, err := os.Lstat(next)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		w.at = next
		return nil
	}
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("more than %d links", maxLinks)
	}
	to, err := os.Readlink(next)
	if err != nil {
		return err
	}
	if filepath.IsAbs(to) {
		w.at = root(to)
	}
	w.left = append(parts(to), w.left...)
	return nil
}
