package gitignore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search/gitignore"
)

// TestAgainstGit holds at least 300,000 seeded decisions against git check-ignore.
func TestAgainstGit(t *testing.T) {
	const workers, sets = 4, 100
	entries := tree()
	if total := workers * sets * len(entries); total < 300_000 {
		t.Fatalf("only %d decisions", total)
	}
	for w := range workers {
		t.Run(fmt.Sprintf("seed %d", w), func(t *testing.T) {
			t.Parallel()
			o := newOracle(t, entries)
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for range sets {
				s := rules(r)
				if diffs := o.compare(t, s); len(diffs) > 0 {
					t.Fatalf("rules %q: %d differences, first %s", s, len(diffs), diffs[0])
				}
			}
		})
	}
}

func TestCases(t *testing.T) {
	entries := tree()
	o := newOracle(t, entries)
	cases := []struct {
		name  string
		rules ruleSet
	}{
		{"a prefix before a double star", ruleSet{".gitignore": "foo**/bar\n"}},
		{"nothing comes back below an ignored directory", ruleSet{".gitignore": "foo/\n!foo/bar\n!foo/bar/**\n"}},
		{"the contents of a directory, but one", ruleSet{".gitignore": "foo/*\n!foo/bar\n"}},
		{"a nested file decides first", ruleSet{".gitignore": "*.go\n", "a/.gitignore": "!b.go\n"}},
		{"info/exclude comes after all .gitignore files", ruleSet{exclude: "*.go\n", ".gitignore": "!b.go\n"}},
		{"global excludes come last", ruleSet{global: "*.go\n", exclude: "!b.go\n"}},
		{"only slashes", ruleSet{".gitignore": "/\n//\n///\n"}},
		{"only a star", ruleSet{".gitignore": "*\n!*/\n!*.go\n"}},
		{"a lone backslash at the end", ruleSet{".gitignore": "a\\\nfoo/\\\n"}},
		{"a lone carriage return", ruleSet{".gitignore": "\r\n\r\nf\r"}},
		{"a NUL byte", ruleSet{".gitignore": "f\x00oo\nb.go\n"}},
		{"a mark in the middle", ruleSet{".gitignore": "f\n\xef\xbb\xbfb.go\n"}},
		{"an escaped space", ruleSet{".gitignore": "z\\ \nz\\  \nz \\ \n"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, d := range o.compare(t, c.rules) {
				t.Error(d)
			}
		})
	}
}

func TestStack(t *testing.T) {
	list := func(s string) *gitignore.List { return gitignore.Parse([]byte(s)) }
	var s gitignore.Stack
	s = s.Git("", list("*.log\n/top\n")).Dot("", list("!keep.log\n*.tmp\n"))
	inner := s.Repository().Git("sub/", list("*.o\n"))
	cases := []struct {
		name    string
		stack   gitignore.Stack
		path    string
		ignored bool
	}{
		{"git's rule", s, "a/x.log", true},
		{".ignore brings back", s, "a/keep.log", false},
		{".ignore ignores", s, "a/x.tmp", true},
		{"anchored", s, "top", true},
		{"anchored elsewhere", s, "a/top", false},
		{"a nested repository has its own rules", inner, "sub/x.o", true},
		{"and none of the outer", inner, "sub/x.log", false},
		{"but .ignore", inner, "sub/x.tmp", true},
		{"no rules", gitignore.Stack{}, "x.log", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.stack.Ignored(c.path, false); got != c.ignored {
				t.Errorf("Ignored(%q) = %v", c.path, got)
			}
		})
	}
}

// TestHostilePatterns holds that no pattern takes exponential time.
func TestHostilePatterns(t *testing.T) {
	name := strings.Repeat("a", 4000)
	deep := strings.Repeat("a/", 2000) + "a"
	cases := []struct{ name, pattern, path string }{
		{"many stars", strings.Repeat("a*", 30) + "b", name},
		{"stars only", strings.Repeat("*?", 30) + "b", name},
		{"many double stars", strings.Repeat("**/a/", 30) + "b", deep},
		{"stars between double stars", strings.Repeat("**/a*a*/", 20) + "b", deep},
		{"escaped slashes", strings.Repeat(`**\/a/`, 20) + "b", deep},
		{"classes", strings.Repeat("*[a-c]", 30) + "[!a]", name},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gitignore.Stack{}.Git("", gitignore.Parse([]byte(c.pattern)))
			start := time.Now()
			if s.Ignored(c.path, false) {
				t.Error("must not match")
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// FuzzGitignore compares the package with git on arbitrary rules.
func FuzzGitignore(f *testing.F) {
	for _, s := range []string{"*.go\n!b.go", "foo**/bar", "/a/**/b/", "[[:alpha:]]*", "a\\ \r\n#x", "**\\/f"} {
		f.Add(s, "!f\n")
	}
	r := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		f.Add(file(r, 4), file(r, 2))
	}
	o := newOracle(f, tree())
	f.Fuzz(func(t *testing.T, top, sub string) {
		s := ruleSet{".gitignore": top, "foo/.gitignore": sub}
		for _, d := range o.compare(t, s) {
			t.Errorf("rules %q: %s", s, d)
		}
	})
}

func BenchmarkIgnored(b *testing.B) {
	s := gitignore.Stack{}.Git("", gitignore.Parse([]byte("*.o\n*.log\n/build/\nnode_modules/\ndoc/**/*.html\n[Tt]mp\n")))
	for b.Loop() {
		s.Ignored("src/internal/pkg/thing/file_test.go", false)
	}
}
