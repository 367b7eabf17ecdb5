package patchapply_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/patchapply"
)

// Random sections make of a tree what they make of a map, one after the other.
func TestRandomSections(t *testing.T) {
	fitting := 0
	for seed := range uint64(3000) {
		c := newRandomSections(seed)
		if c.fits {
			fitting++
		}
		m := patchapply.NewMemory(nil)
		for name, f := range c.before {
			m.Write(name, []byte(f.content), f.perm)
		}
		c.check(t, m, func() map[string]string { return memoryTree(m) })
	}
	if fitting < 1000 {
		t.Errorf("only %d patches of 3000 fit", fitting)
	}
	for seed := range uint64(100) {
		c := newRandomSections(seed)
		d := newDirs(t, "root")
		for name, f := range c.before {
			write(t, filepath.Join(d.roots[0], name), f.content, f.perm)
		}
		c.check(t, d.storage, func() map[string]string { return tree(t, d.roots[0]) })
	}
}

type modelFile struct {
	content string
	perm    fs.FileMode // 0: what was at the name, or 0644
}

// randomSections are sections, and the tree before and after them; fits says whether they
// apply.
type randomSections struct {
	seed          uint64
	before, after map[string]modelFile
	sections      []string
	fits          bool
}

func newRandomSections(seed uint64) *randomSections {
	r := rand.New(rand.NewPCG(seed, 1))
	c := &randomSections{seed: seed, before: map[string]modelFile{}, fits: true}
	names := []string{"a", "b", "c", "d/e", "d/f", "g"}
	for _, name := range names[:4] {
		c.before[name] = modelFile{fmt.Sprintf("%s\nx\n", name), []fs.FileMode{0o644, 0o755, 0o600}[r.IntN(3)]}
	}
	c.after = maps.Clone(c.before)
	for i := range 1 + r.IntN(7) {
		from, to := names[r.IntN(len(names))], names[r.IntN(len(names))]
		if _, ok := c.after[from]; !ok && r.IntN(10) > 0 {
			c.add(from, fmt.Sprint(i))
			continue
		}
		switch r.IntN(4) {
		case 0:
			c.remove(from)
		case 1:
			c.update(from, from, i)
		default:
			c.update(from, to, i)
		}
	}
	return c
}

func (c *randomSections) add(name, content string) {
	c.sections = append(c.sections, "*** Add File: "+name+"\n+"+content+"\n+x")
	_, there := c.after[name]
	c.fits = c.fits && !there
	c.after[name] = modelFile{content: content + "\nx\n"}
}

func (c *randomSections) remove(name string) {
	c.sections = append(c.sections, "*** Delete File: "+name)
	_, there := c.after[name]
	c.fits = c.fits && there
	delete(c.after, name)
}

// update changes the first line, which says what the file was, and moves it.
func (c *randomSections) update(from, to string, i int) {
	f, there := c.after[from]
	_, taken := c.after[to]
	c.fits = c.fits && there && (!taken || from == to)
	text := "*** Update File: " + from
	if from != to {
		text += "\n*** Move to: " + to
	}
	if from == to || i%2 == 0 {
		first := fmt.Sprintf("%s%d", to[:1], i)
		text += "\n@@\n-" + firstLine(f.content) + "\n+" + first + "\n x"
		f.content = first + "\nx\n"
	}
	c.sections = append(c.sections, text)
	delete(c.after, from)
	c.after[to] = f
}

func firstLine(s string) string {
	for i := range s {
		if s[i] == '\n' {
			return s[:i]
		}
	}
	return s
}

func (c *randomSections) check(t *testing.T, s patchapply.Storage, tree func() map[string]string) {
	t.Helper()
	before := tree()
	plan, err := commit(t, s, patch(t, c.sections...))
	if (err == nil) != c.fits {
		t.Fatalf("seed %d: %q: %v, want fits = %v", c.seed, c.sections, err, c.fits)
	}
	want := before
	if c.fits {
		want = map[string]string{}
		for name, f := range c.after {
			perm := f.perm
			if perm == 0 {
				perm = 0o644
				if was, ok := c.before[name]; ok {
					perm = was.perm
				}
			}
			want[name] = fmt.Sprintf("%04o %s", perm, f.content)
		}
	}
	if diff := cmp.Diff(want, tree()); diff != "" {
		t.Fatalf("seed %d: %q: (-want +got)\n%s", c.seed, c.sections, diff)
	}
	if c.fits {
		c.checkOutcomes(t, plan, before, want)
	}
}

// checkOutcomes wants every name that changed to be accounted for, once.
func (c *randomSections) checkOutcomes(t *testing.T, plan *patchapply.Plan, before, after map[string]string) {
	t.Helper()
	said := map[string]bool{}
	for _, o := range plan.Outcomes {
		if said[o.Path] {
			t.Errorf("seed %d: %q: %s is told twice: %q", c.seed, c.sections, o.Path, sum(plan))
		}
		said[o.Path] = true
		if o.Effect == patchapply.Moved && after[o.From] == "" {
			said[o.From] = true
		}
	}
	for name := range before {
		if before[name] != after[name] && !said[name] {
			t.Errorf("seed %d: %q: nothing is told of %s: %q", c.seed, c.sections, name, sum(plan))
		}
	}
	for name := range after {
		if before[name] != after[name] && !said[name] {
			t.Errorf("seed %d: %q: nothing is told of %s: %q", c.seed, c.sections, name, sum(plan))
		}
	}
}
