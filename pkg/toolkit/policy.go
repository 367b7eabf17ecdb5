package toolkit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

// parsing says what rules can be about: the tools, and of this server's also what they do.
func (s *Server) parsing(strict bool) approval.ParseOptions {
	out := slices.Clone(suite)
	for _, name := range s.known {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return approval.ParseOptions{Tools: out, Known: s.facts, Strict: strict}
}

// facts returns what is known of the tool's actions.
func (d *Definition) facts() approval.Facts {
	f := approval.Facts{Arguments: slices.Clone(d.Judged), Effect: d.Effect}
	for _, p := range d.Params {
		f.Arguments = append(f.Arguments, p.Name)
	}
	return f
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
	roots := c.StringSlice("root")
	if err := lieApart(roots); err != nil {
		return err
	}
	guard := outOfReach{path: path, dirs: r.reachable(c), chosen: len(roots) == 0}
	f, warnings, err := approval.OpenFile(path, approval.FileOptions{
		ParseOptions: s.parsing(false),
		Check:        guard.check,
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
	s.opts.Evaluator, s.reach = approval.WithMode(f, mode), &guard
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
