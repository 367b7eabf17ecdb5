package patchapply_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/patchapply"
)

// words are lines of random files: few, so that they repeat, and some that look like parts
// of a patch.
var words = []string{
	"", "", "}", "}", "\treturn nil", "x := 1", "  indented", "trailing ", "func f() {", "-- x", "++ y", "- item",
	"+ item", "@@ -1,2 +1,2 @@", "@@ f", "diff --git a/x b/x", "*** End Patch", "*** Update File: x", " lead",
	"\\ No newline at end of file", "naïve – “quoted”", "a\u00a0b", "tab\tinside", "--- a/x", "+++ b/x", "-- ", "```",
}

// A randomFile makes files, and changes them.
type randomFile struct {
	*rand.Rand
	eol    string
	unique int // of 10 lines, how many occur once
}

func newRandomFile(seed uint64) *randomFile {
	r := rand.New(rand.NewPCG(seed, 0))
	return &randomFile{Rand: r, eol: []string{"\n", "\n", "\n", "\r\n"}[r.IntN(4)], unique: r.IntN(11)}
}

func (r *randomFile) line() string {
	if r.IntN(10) < r.unique {
		return fmt.Sprintf("%sline %d", strings.Repeat("\t", r.IntN(3)), r.IntN(1_000_000))
	}
	return words[r.IntN(len(words))]
}

func (r *randomFile) lines(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = r.line()
	}
	return lines
}

// edit returns lines with some of them replaced, removed, and others put between.
func (r *randomFile) edit(lines []string) []string {
	lines = slices.Clone(lines)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(lines) + 1)
		gone := min(r.IntN(4), len(lines)-at)
		lines = slices.Replace(lines, at, at+gone, r.lines(r.IntN(4))...)
	}
	return lines
}

// text joins lines, at times without the last line end.
func (r *randomFile) text(lines []string) string {
	text := strings.Join(lines, r.eol)
	if len(lines) == 0 || text == "" || r.IntN(5) > 0 && len(lines) > 0 {
		return text + strings.Repeat(r.eol, min(1, len(lines)))
	}
	return text
}

// A style is a way to print a diff.
type style struct {
	name         string
	print, apply []string // options of git diff, and of git apply for it
}

// styles are those that are compared.
var styles = []style{
	{"plain", nil, nil},
	{"no prefix", []string{"--no-prefix"}, []string{"-p0"}},
	{"other prefixes", []string{"--src-prefix=old/", "--dst-prefix=new/"}, nil},
	{"one line of context", []string{"-U1"}, nil},
	{"no context", []string{"-U0"}, []string{"--unidiff-zero"}},
	{"much context", []string{"-U10", "--patience"}, nil},
	{"renames", []string{"-M40%"}, nil},
	{"no renames", []string{"--no-renames", "--full-index"}, nil},
	{"functions", []string{"--inter-hunk-context=5", "--function-context"}, nil},
	{"with a summary", []string{"--patch-with-stat", "-M"}, nil},
}

// filesPerTree is how many files one process of git compares.
const filesPerTree = 300

// TestUnifiedAgainstGit applies what git diff prints as git apply does: several files a
// diff, renamed, added and removed, and names that need quotes.
func TestUnifiedAgainstGit(t *testing.T) {
	for seed := range uint64(12) {
		style := styles[seed%uint64(len(styles))]
		t.Run(fmt.Sprintf("%s %d", style.name, seed), func(t *testing.T) {
			t.Parallel()
			before, after := randomTrees(seed, filesPerTree)
			gitIn(t).compareStyle(style, before, after)
		})
	}
}

// TestUnifiedAgainstDiff does so with what diff -ruN prints.
func TestUnifiedAgainstDiff(t *testing.T) {
	program := testneed.Tool(t, "diff")
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			before, after := randomTrees(1000+seed, filesPerTree)
			g := gitIn(t)
			writeTree(t, filepath.Join(g.dir, "a"), before)
			writeTree(t, filepath.Join(g.dir, "b"), after)
			cmd := exec.Command(program, []string{"-ruN", "-rupN", "-ruNa"}[seed%3], "a", "b")
			cmd.Dir = g.dir
			diff, err := cmd.Output()
			if len(diff) == 0 {
				t.Fatal(err)
			}
			g.compare(before, string(diff))
		})
	}
}

// FuzzAgainstGit does so with small trees.
func FuzzAgainstGit(f *testing.F) {
	f.Add(uint64(1))
	f.Add(uint64(724)) // git apply --unidiff-zero takes an earlier line for the last
	f.Fuzz(func(t *testing.T, seed uint64) {
		before, after := randomTrees(seed, 20)
		gitIn(t).compareStyle(styles[seed%uint64(len(styles))], before, after)
	})
}

// A gitDir is a directory for git.
type gitDir struct {
	t       *testing.T
	program string
	dir     string
	after   map[string]string // what is right where git apply is not
}

func gitIn(t *testing.T) gitDir {
	t.Helper()
	g := gitDir{t: t, program: testneed.Tool(t, "git"), dir: tempDir(t)}
	g.run("", "init", "-q", ".")
	return g
}

// tempDir returns a directory in memory, where there is such a thing: many small files.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "patchapply")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (g gitDir) run(stdin string, args ...string) string {
	g.t.Helper()
	cmd := exec.Command(g.program, args...)
	cmd.Dir, cmd.Stdin = g.dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, stderr.String())
	}
	return stdout.String()
}

// tree stores files, and returns the name of their tree.
func (g gitDir) tree(files map[string]string) string {
	g.t.Helper()
	work := tempDir(g.t)
	writeTree(g.t, work, files)
	g.run("", "--work-tree="+work, "add", "-A", ".")
	return strings.TrimSpace(g.run("", "write-tree"))
}

// compareStyle compares what becomes of a diff between two trees.
func (g gitDir) compareStyle(s style, before, after map[string]string) {
	g.t.Helper()
	trees := [2]string{g.tree(before), g.tree(after)}
	if s.name == "no context" {
		g.after = after // without context git may take a line without an end for an earlier one
	}
	args := append([]string{"-c", "diff.renameLimit=1000", "diff", "--no-color"}, s.print...)
	g.compare(before, g.run("", append(args, trees[0], trees[1])...), s.apply...)
}

// compare applies a diff with git and here.
func (g gitDir) compare(before map[string]string, diff string, args ...string) {
	g.t.Helper()
	p, err := patchapply.Parse([]byte(diff))
	if err != nil {
		g.t.Fatalf("%v\n%s", err, cutText(diff))
	}
	got, err := applyTo(before, p)
	if err != nil {
		g.t.Fatalf("%v", err)
	}
	writeTree(g.t, filepath.Join(g.dir, "work"), before)
	inWork := gitDir{t: g.t, program: g.program, dir: filepath.Join(g.dir, "work")}
	inWork.run(diff, append([]string{"--git-dir=" + filepath.Join(g.dir, "none"), "apply", "--whitespace=nowarn"}, args...)...)
	want := readTree(g.t, inWork.dir)
	for name, text := range g.after {
		if _, ok := want[name]; ok {
			want[name] = text
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		g.t.Fatalf("(-git +here)\n%s", cutText(diff))
	}
}

func cutText(s string) string { return s[:min(len(s), 4000)] }

// randomTrees returns n files before and after a change.
func randomTrees(seed uint64, n int) (before, after map[string]string) {
	before, after = map[string]string{}, map[string]string{}
	for i := range n {
		r := newRandomFile(seed*1_000_000 + uint64(i))
		name := fmt.Sprintf([]string{"f%d", "dir/f%d.go", "my docs/f %d.txt", "nä%d", "q\"%d", "t\t%d", "a/b%d", "b\\%d"}[i%8], i)
		lines := r.lines(r.IntN(40))
		old := r.text(lines)
		switch changed := r.text(r.edit(lines)); {
		case i%17 == 3:
			after[name] = changed
		case i%17 == 5:
			before[name] = old
		case i%17 == 7:
			before[name], after[name+".moved"] = old, changed
		default:
			before[name], after[name] = old, changed
		}
	}
	return before, after
}

func writeTree(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func readTree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root+"/")] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
