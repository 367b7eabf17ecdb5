package filetool

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// allRoots opens all roots, but those that the search of another covers. One that cannot
// be opened is noted, as long as there is another.
func allRoots(ctx context.Context, set *fsroot.Set, o search.Options) (*target, error) {
	t := &target{}
	var missing error
	for _, root := range set.Roots() {
		dir, err := root.OpenDir(".")
		if err != nil {
			missing = err
			t.missing = append(t.missing, missingNote(root))
			continue
		}
		t.starts = append(t.starts, start{dir, namerFor(set, fsroot.Place{Root: root}, "")})
	}
	if len(t.starts) == 0 {
		return nil, missing
	}
	if err := t.dropCovered(ctx, o.IncludeIgnored); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func missingNote(root *fsroot.Root) string {
	return "not searched: the root " + toolkit.Inline(root.Dir()) + ", which does not exist or cannot be opened"
}

// dropCovered closes the starts that the walk of another enters. An outer root is decided
// on before those in it, so that what covers a root is searched itself.
func (t *target) dropCovered(ctx context.Context, ignored bool) error {
	byDepth := slices.Clone(t.starts)
	slices.SortStableFunc(byDepth, func(a, b start) int { return len(a.dir.Root.Dir()) - len(b.dir.Root.Dir()) })
	var kept []start
	covered := map[*fsroot.Dir]bool{}
	for _, s := range byDepth {
		is, err := s.coveredBy(ctx, kept, ignored)
		if err != nil {
			return err
		}
		if covered[s.dir] = is; !is {
			kept = append(kept, s)
		}
	}
	t.starts = slices.DeleteFunc(t.starts, func(s start) bool {
		if covered[s.dir] {
			s.dir.Close()
		}
		return covered[s.dir]
	})
	return nil
}

func (s start) coveredBy(ctx context.Context, others []start, ignored bool) (bool, error) {
	for _, o := range others {
		rel, err := filepath.Rel(o.dir.Root.Dir(), s.dir.Root.Dir())
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		enters, err := o.enters(ctx, filepath.ToSlash(rel), ignored)
		if enters || err != nil {
			return enters, err
		}
	}
	return false, nil
}

// enters reports whether the walk from s comes to the directory rel: it does not where
// ignore files hide it, in .git, or behind a link.
func (s start) enters(ctx context.Context, rel string, ignored bool) (bool, error) {
	if rel == "." {
		return true, nil
	}
	engine, err := search.NewGlob(search.GlobQuery{
		Pattern: "./" + escapeAll(rel) + "/", Options: search.Options{Limit: 1, IncludeIgnored: ignored},
	})
	if err != nil {
		return false, err
	}
	r, err := engine.Run(ctx, s.engine())
	if err != nil {
		return false, explain(err, "the root cannot be searched: the system reports an error; give a path below it")
	}
	return len(r.Hits) > 0, nil
}

// escapeAll escapes every character, since a pattern that is a path as it stands finds
// also what is ignored.
func escapeAll(rel string) string {
	var b strings.Builder
	for _, char := range strings.Split(rel, "") {
		if char != "/" {
			b.WriteByte('\\')
		}
		b.WriteString(char)
	}
	return b.String()
}
