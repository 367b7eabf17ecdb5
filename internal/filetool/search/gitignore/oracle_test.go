package gitignore_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/filetool/search/gitignore"
	"github.com/toolhost/toolhost/internal/testneed"
)

// An entry is a path of the test tree.
type entry struct {
	path string
	dir  bool
}

// A ruleSet is the content of the ignore files of one repository, by path; the keys
// exclude and global stand for info/exclude and core.excludesFile.
type ruleSet map[string]string

const (
	exclude = ".git/info/exclude"
	global  = ".git/global"
)

// An oracle is a git repository that answers what git ignores.
type oracle struct {
	dir     string
	entries []entry
	stdin   []byte
}

func newOracle(tb testing.TB, entries []entry) *oracle {
	tb.Helper()
	testneed.Tool(tb, "git")
	o := &oracle{dir: tb.TempDir(), entries: entries}
	o.git(tb, nil, "init", "-q", ".")
	o.git(tb, nil, "config", "core.ignorecase", "false")
	o.git(tb, nil, "config", "core.excludesFile", filepath.Join(o.dir, global))
	for _, e := range entries {
		o.create(tb, e)
		o.stdin = append(append(o.stdin, e.path...), 0)
	}
	return o
}

func (o *oracle) create(tb testing.TB, e entry) {
	tb.Helper()
	p := filepath.Join(o.dir, e.path)
	if e.dir {
		if err := os.MkdirAll(p, 0o755); err != nil {
			tb.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(p, nil, 0o644); err != nil {
		tb.Fatal(err)
	}
}

func (o *oracle) git(tb testing.TB, stdin []byte, args ...string) []byte {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = o.dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: nothing is ignored
		tb.Fatalf("git %s: %v: %s", args[0], err, stderr.String())
	}
	return out
}

// answers returns for each entry whether git ignores it under rules.
func (o *oracle) answers(tb testing.TB, rules ruleSet) []bool {
	tb.Helper()
	for name, text := range rules {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
		defer os.Remove(filepath.Join(o.dir, name))
	}
	out := o.git(tb, o.stdin, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(o.entries)+1 {
		tb.Fatalf("git answered %d fields for %d paths", len(fields), len(o.entries))
	}
	ignored := make([]bool, len(o.entries))
	for i, e := range o.entries {
		source, pattern, p := fields[4*i], fields[4*i+2], fields[4*i+3]
		if p != e.path {
			tb.Fatalf("git answered for %q, want %q", p, e.path)
		}
		ignored[i] = source != "" && !strings.HasPrefix(pattern, "!")
	}
	return ignored
}

// compare returns a description of each entry where the package and git differ.
func (o *oracle) compare(tb testing.TB, rules ruleSet) (diffs []string) {
	tb.Helper()
	want := o.answers(tb, rules)
	d := newDecider(rules)
	for i, e := range o.entries {
		if got := d.ignored(e); got != want[i] {
			diffs = append(diffs, fmt.Sprintf("%q (dir %v): got %v, git says %v", e.path, e.dir, got, want[i]))
		}
	}
	return diffs
}

// A decider answers as a walker would: directory by directory, each with its own stack.
type decider struct {
	rules  ruleSet
	stacks map[string]*gitignore.Stack // nil: below an ignored directory
}

func newDecider(rules ruleSet) *decider {
	var s gitignore.Stack
	s = s.Global(gitignore.Parse([]byte(rules[global])))
	for _, name := range []string{exclude, ".gitignore"} {
		s = s.Git("", gitignore.Parse([]byte(rules[name])))
	}
	return &decider{rules, map[string]*gitignore.Stack{".": &s}}
}

func (d *decider) ignored(e entry) bool {
	s := d.stack(path.Dir(e.path))
	return s == nil || s.Ignored(e.path, e.dir)
}

func (d *decider) stack(dir string) *gitignore.Stack {
	if s, ok := d.stacks[dir]; ok {
		return s
	}
	var s *gitignore.Stack
	if up := d.stack(path.Dir(dir)); up != nil && !up.Ignored(dir, true) {
		mine := up.Git(dir+"/", gitignore.Parse([]byte(d.rules[dir+"/.gitignore"])))
		s = &mine
	}
	d.stacks[dir] = s
	return s
}
