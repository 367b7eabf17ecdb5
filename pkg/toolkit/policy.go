package toolkit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/urfave/cli/v2"
)

// The flag --policy: which file decides, and that no call can change it.

// suite are the canonical names of the tools of all four servers: one policy file may be about
// all of them, and a name that none has is a mistake.
var suite = []string{
	"Read", "Glob", "Grep", "List", "Stat", "Write", "Edit",
	"apply_patch", "shell", "shell_job", "image_generation",
}

// policyTools returns the names that rules can be about.
func (s *Server) policyTools() []string {
	out := slices.Clone(suite)
	for _, name := range s.known {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// usePolicy has the file of --policy decide, where it is given.
func (r *run) usePolicy(c *cli.Context, s *Server) error {
	path := c.String("policy")
	if path == "" {
		if c.IsSet("policy") {
			return errors.New("--policy is empty: name the file, or leave the flag out")
		}
		return nil
	}
	mode, err := approval.ParseMode(c.String("require-approval"))
	if err != nil {
		return fmt.Errorf("--require-approval: %w", err)
	}
	dirs := c.StringSlice("root")
	if r.app.Writable != nil {
		dirs = append(dirs, r.app.Writable(c)...)
	}
	if dir, err := within(path, dirs); err != nil {
		return fmt.Errorf("--policy %s: %w", path, err)
	} else if dir != "" {
		return fmt.Errorf("--policy %s lies in %s, where calls can write: keep it where they cannot, or they decide what they may do", path, dir)
	}
	f, warnings, err := approval.OpenFile(path, approval.FileOptions{
		ParseOptions: approval.ParseOptions{Tools: s.policyTools()},
		Report: func(revision string, err error) {
			if err != nil {
				s.opts.Log.Error().Str("policy", path).Str("version", revision).Err(err).Msg("the policy has changed and cannot be used; the last good version still holds")
				return
			}
			s.opts.Log.Info().Str("policy", path).Str("revision", revision).Msg("the policy has changed")
		},
	})
	if err != nil {
		return fmt.Errorf("--policy %s:\n%s", path, inFile(path, err))
	}
	for _, w := range warnings {
		s.opts.Log.Warn().Str("policy", path).Int("line", w.Line).Msg(w.Text)
	}
	s.opts.Evaluator = approval.WithMode(f, mode)
	return nil
}

// inFile writes problems as FILE:LINE: TEXT, one a line, and other errors as they are.
func inFile(path string, err error) string {
	problems, ok := errors.AsType[approval.Problems](err)
	if !ok {
		return err.Error()
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = placed(path, p)
	}
	return strings.Join(lines, "\n")
}

func placed(path string, p approval.Problem) string {
	if p.Line == 0 {
		return path + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", path, p.Line, p.Text)
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
	w := walk{known: known, at: root(path), left: parts(path)}
	if !filepath.IsAbs(path) {
		from, err := os.Getwd()
		if err != nil {
			return "", err
		}
		if w.at, err = filepath.EvalSymlinks(from); err != nil {
			return "", err
		}
	}
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
