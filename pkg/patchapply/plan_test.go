package patchapply_test

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/patchapply"
)

// patch parses the sections of an envelope.
func patch(t testing.TB, sections ...string) *patchapply.Patch {
	t.Helper()
	p, err := patchapply.Parse([]byte("*** Begin Patch\n" + strings.Join(sections, "\n") + "\n*** End Patch\n"))
	must(t, err)
	return p
}

// sum writes outcomes in short.
func sum(plan *patchapply.Plan) (out []string) {
	for _, o := range plan.Outcomes {
		text := fmt.Sprintf("%s %s", map[patchapply.Effect]string{
			patchapply.Unchanged: "=", patchapply.Created: "+", patchapply.Updated: "~", patchapply.Deleted: "-", patchapply.Moved: ">",
		}[o.Effect], o.Path)
		if o.From != "" {
			text += " from " + o.From
		}
		if o.Real != o.Path {
			text += " real " + o.Real
		}
		out = append(out, text)
	}
	return out
}

const oneToTwo = "@@\n-one\n+two"

func TestSectionsApplyInOrder(t *testing.T) {
	for _, c := range []struct {
		name     string
		sections []string
		outcomes []string
		tree     map[string]string
	}{
		{
			"add, then update",
			[]string{"*** Add File: n\n+one", "*** Update File: n\n" + oneToTwo},
			[]string{"+ n"},
			map[string]string{"a": "0644 one\n", "b": "0755 one\n", "n": "0644 two\n"},
		},
		{
			"update twice",
			[]string{"*** Update File: a\n" + oneToTwo, "*** Update File: a\n@@\n-two\n+three"},
			[]string{"~ a"},
			map[string]string{"a": "0644 three\n", "b": "0755 one\n"},
		},
		{
			"there and back",
			[]string{"*** Update File: a\n" + oneToTwo, "*** Update File: a\n@@\n-two\n+one"},
			[]string{"= a"},
			map[string]string{"a": "0644 one\n", "b": "0755 one\n"},
		},
		{
			"delete, then add: the mode stays",
			[]string{"*** Delete File: b", "*** Add File: b\n+new"},
			[]string{"~ b"},
			map[string]string{"a": "0644 one\n", "b": "0755 new\n"},
		},
		{
			"delete, then add the same",
			[]string{"*** Delete File: b", "*** Add File: b\n+one"},
			[]string{"= b"},
			map[string]string{"a": "0644 one\n", "b": "0755 one\n"},
		},
		{
			"swap",
			[]string{"*** Update File: a\n*** Move to: t", "*** Update File: b\n*** Move to: a", "*** Update File: t\n*** Move to: b"},
			[]string{"> a from b", "> b from a"},
			map[string]string{"a": "0755 one\n", "b": "0644 one\n"},
		},
		{
			"move and change, then change again",
			[]string{"*** Update File: b\n*** Move to: d/c\n" + oneToTwo, "*** Update File: d/c\n@@\n-two\n+three"},
			[]string{"> d/c from b"},
			map[string]string{"a": "0644 one\n", "d/c": "0755 three\n"},
		},
		{
			"move there and back",
			[]string{"*** Update File: a\n*** Move to: t", "*** Update File: t\n*** Move to: a"},
			[]string{"= a"},
			map[string]string{"a": "0644 one\n", "b": "0755 one\n"},
		},
		{
			"move onto itself",
			[]string{"*** Update File: a\n*** Move to: ./x/../a\n" + oneToTwo},
			[]string{"~ a"},
			map[string]string{"a": "0644 two\n", "b": "0755 one\n"},
		},
		{
			"move onto what is deleted",
			[]string{"*** Delete File: b", "*** Update File: a\n*** Move to: b\n" + oneToTwo},
			[]string{"> b from a"},
			map[string]string{"b": "0644 two\n"},
		},
		{
			"add and delete",
			[]string{"*** Add File: n\n+x", "*** Delete File: n", "*** Update File: a\n" + oneToTwo},
			[]string{"~ a"},
			map[string]string{"a": "0644 two\n", "b": "0755 one\n"},
		},
		{
			"add, move, delete the directory's only file, and put a file in its place",
			[]string{"*** Add File: d/n\n+x", "*** Update File: d/n\n*** Move to: e", "*** Add File: d\n+y"},
			[]string{"+ e", "+ d"},
			map[string]string{"a": "0644 one\n", "b": "0755 one\n", "d": "0644 y\n", "e": "0644 x\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, map[string]fs.FileMode{"a": 0o644, "b": 0o755}, func(t *testing.T, s patchapply.Storage, tree func() map[string]string) {
				plan, err := commit(t, s, patch(t, c.sections...))
				must(t, err)
				if diff := cmp.Diff(c.outcomes, sum(plan)); diff != "" {
					t.Errorf("outcomes (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(c.tree, tree()); diff != "" {
					t.Errorf("tree (-want +got)\n%s", diff)
				}
			})
		})
	}
}

// onBoth runs a test on a memory and on a directory, with files that hold one line, "one".
func onBoth(t *testing.T, files map[string]fs.FileMode, test func(*testing.T, patchapply.Storage, func() map[string]string)) {
	t.Run("memory", func(t *testing.T) {
		m := patchapply.NewMemory(nil)
		for name, perm := range files {
			m.Write(name, []byte("one\n"), perm)
		}
		test(t, m, func() map[string]string { return memoryTree(m) })
	})
	t.Run("directory", func(t *testing.T) {
		d := newDirs(t, "root")
		for name, perm := range files {
			write(t, d.roots[0]+"/"+name, "one\n", perm)
		}
		test(t, d.storage, func() map[string]string { return tree(t, d.roots[0]) })
	})
}

func TestSectionsThatDoNotApply(t *testing.T) {
	for _, c := range []struct {
		name     string
		sections []string
		class    patchapply.Class
		want     []string // parts of the text
	}{
		{"update of nothing", []string{"*** Update File: srcc/main\n" + oneToTwo}, patchapply.FileNotFound, []string{"srcc/main does not exist; similar: src", "(patch line 2)"}},
		{"update of a misspelt name", []string{"*** Update File: src/mian\n" + oneToTwo}, patchapply.FileNotFound, []string{"src/mian does not exist; similar: src/main"}},
		{"deleted earlier", []string{"*** Delete File: a", "*** Update File: a\n" + oneToTwo}, patchapply.FileNotFound, []string{"a is deleted or moved earlier in this patch", "(patch line 3)"}},
		{"moved earlier", []string{"*** Update File: a\n*** Move to: c", "*** Delete File: a"}, patchapply.FileNotFound, []string{"earlier in this patch"}},
		{"add over a file", []string{"*** Add File: a\n+x"}, patchapply.AlreadyExists, []string{"a exists already", "*** Update File", "*** Delete File"}},
		{"add twice", []string{"*** Add File: n\n+x", "*** Add File: n\n+x"}, patchapply.AlreadyExists, nil},
		{"add over a directory", []string{"*** Add File: src\n+x"}, patchapply.IsDirectory, nil},
		{"add below a file", []string{"*** Add File: a/b\n+x"}, patchapply.InvalidPath, nil},
		{"add below an added file", []string{"*** Add File: n\n+x", "*** Add File: n/b\n+x"}, patchapply.InvalidPath, []string{"n is a file"}},
		{"add below a deleted file", []string{"*** Delete File: a", "*** Add File: a/b\n+x"}, patchapply.InvalidPath, []string{"use two patches"}},
		{"add over an added directory", []string{"*** Add File: n/b\n+x", "*** Add File: n\n+x"}, patchapply.IsDirectory, []string{"n is a directory that this patch makes"}},
		{"move over a file", []string{"*** Update File: a\n*** Move to: src/main\n" + oneToTwo}, patchapply.AlreadyExists, []string{"a cannot move to src/main", "delete that first"}},
		{"move out", []string{"*** Update File: a\n*** Move to: ../a\n" + oneToTwo}, patchapply.PathEscape, nil},
		{"a later section", []string{"*** Update File: a\n" + oneToTwo, "*** Add File: n\n+x", "*** Update File: src/main\n@@\n-nope\n+x"}, patchapply.ContextNotFound, []string{"src/main"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, map[string]fs.FileMode{"a": 0o644, "src/main": 0o755}, func(t *testing.T, s patchapply.Storage, tree func() map[string]string) {
				before := tree()
				_, err := commit(t, s, patch(t, c.sections...))
				wantError(t, err, c.class, append(c.want, "No files were changed.")...)
				if diff := cmp.Diff(before, tree()); diff != "" {
					t.Errorf("refused, and changed:\n%s", diff)
				}
			})
		})
	}
}

func TestAPatchOfNothing(t *testing.T) {
	var p patchapply.Patch
	_, err := p.Plan(t.Context(), patchapply.NewMemory(nil).View(t.Context()))
	wantError(t, err, patchapply.EmptyPatch)
	p.Sections = []patchapply.Section{{Kind: patchapply.Update, Path: "a"}}
	_, err = p.Plan(t.Context(), patchapply.NewMemory(map[string]string{"a": "x"}).View(t.Context()))
	wantError(t, err, patchapply.ParseError, "a changes nothing")
}

func TestContentIsBounded(t *testing.T) {
	big := strings.Repeat("x", 100<<20)
	m := patchapply.NewMemory(map[string]string{"a": big, "b": big, "c": big})
	_, err := commit(t, m, patch(t, "*** Delete File: a", "*** Delete File: b", "*** Delete File: c"))
	wantError(t, err, patchapply.TooLarge, "c")
	p := &patchapply.Patch{Sections: []patchapply.Section{
		{Path: "n", Content: []byte(big)}, {Path: "o", Content: []byte(big)}, {Path: "p", Content: []byte(big)},
	}}
	_, err = commit(t, m, p)
	wantError(t, err, patchapply.TooLarge, "send it in parts")
}

// TestContentIsCountedOnce updates a file so often that all its versions together would be
// too much.
func TestContentIsCountedOnce(t *testing.T) {
	m := patchapply.NewMemory(map[string]string{"a": strings.Repeat("x", 20<<20) + "\n0\n"})
	var sections []string
	for i := range 14 {
		sections = append(sections, fmt.Sprintf("*** Update File: a\n@@\n-%d\n+%d", i, i+1))
	}
	_, err := commit(t, m, patch(t, sections...))
	must(t, err)
}

// A patch that was planned on old files is planned again, and touches the same files only.
func TestStalePlansArePlannedAgain(t *testing.T) {
	m := patchapply.NewMemory(map[string]string{"a": "one\nx\n", "b": "one\n"})
	p := patch(t, "*** Update File: a\n"+oneToTwo)
	plan, err := p.Plan(t.Context(), m.View(t.Context()))
	must(t, err)
	m.Write("a", []byte("above\none\nx\n"), 0o644)
	done, err := plan.Commit(t.Context(), m)
	must(t, err)
	if got, _, _ := m.Read("a"); string(got) != "above\ntwo\nx\n" || done.Outcomes[0].Hunks[0].Line != 2 {
		t.Errorf("got %q, %+v", got, done.Outcomes)
	}

	plan, err = p.Plan(t.Context(), patchapply.NewMemory(map[string]string{"a": "one\n"}).View(t.Context()))
	must(t, err)
	_, err = plan.Commit(t.Context(), m)
	wantError(t, err, patchapply.ContextNotFound, "already")

	m.Write("a", []byte("one\n"), 0o644)
	plan, err = p.Plan(t.Context(), m.View(t.Context()))
	must(t, err)
	m.Remove("a")
	m.Link("a", "b")
	_, err = plan.Commit(t.Context(), m)
	wantError(t, err, patchapply.StaleFile, "send it again")
	if got, _, _ := m.Read("b"); string(got) != "one\n" {
		t.Errorf("another file was changed: %q", got)
	}
}

// Patches of different places in one file all land, whoever is first.
func TestPatchesAtOnce(t *testing.T) {
	const n = 20
	onBoth(t, nil, func(t *testing.T, s patchapply.Storage, tree func() map[string]string) {
		var old, want strings.Builder
		for i := range n {
			fmt.Fprintf(&old, "+old %02d\n", i)
			fmt.Fprintf(&want, "new %02d\n", i)
		}
		_, err := commit(t, s, patch(t, "*** Add File: a\n"+strings.TrimSuffix(old.String(), "\n")))
		must(t, err)
		var all sync.WaitGroup
		for i := range n {
			p := patch(t, fmt.Sprintf("*** Update File: a\n@@\n-old %02d\n+new %02d", i, i))
			all.Go(func() {
				if _, err := commit(t, s, p); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if diff := cmp.Diff(map[string]string{"a": "0644 " + want.String()}, tree()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSectionsThatUndoEachOther are told of: otherwise an answer would say nothing.
func TestSectionsThatUndoEachOther(t *testing.T) {
	m := patchapply.NewMemory(nil)
	plan, err := commit(t, m, patch(t, "*** Add File: a\n+x", "*** Delete File: a"))
	must(t, err)
	if len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "nothing is left to change") {
		t.Errorf("warnings %q", plan.Warnings)
	}
}

// TestLinksInTheWay have advice that works: a file cannot replace one within a patch.
func TestLinksInTheWay(t *testing.T) {
	m := patchapply.NewMemory(map[string]string{"a": "one\n"})
	m.Link("l", "a")
	for _, section := range []string{"*** Add File: l\n+x", "*** Update File: a\n*** Move to: l"} {
		_, err := commit(t, m, patch(t, section))
		wantError(t, err, patchapply.AlreadyExists, "delete the link in a patch of its own first")
	}
}
