package search_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/filetool/search"
)

func TestGlob(t *testing.T) {
	dir := build(t, files{
		"a.go": "", "src/b.go": "", "src/deep/c.go": "", "src/c.ts": "", "src/c.tsx": "",
		"app/[id]/page.tsx": "", "app/i/page.tsx": "", "app/(group)/page.tsx": "", "app/[id]/[slug].ts": "",
		"{x}": "", "*": "", "q?": "", "-n": "", "#": "", "!x": "", "b\\s": "", "un[closed": "",
		".env": "", ".github/ci.yml": "", "cafe\u0301.txt": "", "caf\u00e9s.md": "", "empty/": "",
	})
	cases := []struct{ name, pattern, want string }{
		{"no slash means any depth", "*.go", "a.go src/b.go src/deep/c.go"},
		{"a dot keeps it here", "./*.go", "a.go"},
		{"double star", "**/*.go", "a.go src/b.go src/deep/c.go"},
		{"one level", "src/*.go", "src/b.go"},
		{"dot and slash in front", "./src/*.go", "src/b.go"},
		{"dots and slashes inside", "src//./deep/*.go", "src/deep/c.go"},
		{"double star in the middle", "src/**/c.*", "src/c.ts src/c.tsx src/deep/c.go"},
		{"braces", "src/*.{ts,tsx}", "src/c.ts src/c.tsx"},
		{"braces with slashes", "{src/deep,app/i}/*", "app/i/page.tsx src/deep/c.go"},
		{"brackets are also themselves", "app/[id]/page.tsx", "app/[id]/page.tsx app/i/page.tsx"},
		{"brackets with a wildcard", "app/[id]/*.tsx", "app/[id]/page.tsx app/i/page.tsx"},
		{"a name with brackets", "[slug].ts", "app/[id]/[slug].ts"},
		{"parentheses", "app/(group)/*", "app/(group)/page.tsx"},
		{"unbalanced, but there", "un[closed", "un[closed"},
		{"a name of braces", "{x}", "{x}"},
		{"a name that is a question", "q?", "q?"},
		{"an escaped star", `\*`, "*"},
		{"a dash", "-n", "-n"},
		{"a bang", "!x", "!x"},
		{"hidden files", ".e*", ".env"},
		{"hidden directories", "**/*.yml", ".github/ci.yml"},
		{"composed finds decomposed", "caf\u00e9.txt", "cafe\u0301.txt"},
		{"decomposed finds composed", "cafe\u0301*.md", "caf\u00e9s.md"},
		{"directories", "**/deep/", "src/deep"},
		{"all directories of a level", "*/", ".github app app/(group) app/[id] app/i empty src src/deep"},
		{"nested braces", "src/{b.{go,rs},{deep/c.go,c.{ts,x}}}", "src/b.go src/c.ts src/deep/c.go"},
		{"an empty alternative", "src/c.ts{,x}", "src/c.ts src/c.tsx"},
		{"a class in braces", "src/{[}b,],c}.{go,ts}", "src/b.go src/c.ts"},
		{"braces of one form often", "a{.}go" + strings.Repeat("{}", 100), "a.go"},
		{"as many forms as there may be", strings.Repeat("{a,b}", 8) + "{,c}{,d}", ""},
		{"out by braces", "{..,src}/*.go", "src/b.go"},
		{"nothing", "*.none", ""},
	}
	s := open(t, dir)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			equal(t, c.pattern, c.want, paths(glob(t, s, search.GlobQuery{Pattern: c.pattern})))
		})
	}
}

// TestGlobThroughLink holds that a link that a pattern goes through is counted, since it is
// why nothing is found.
func TestGlobThroughLink(t *testing.T) {
	s := open(t, build(t, files{"dir/a.go": "", "link": "-> dir", "dir/in": "-> .", "l[i]nk": "-> dir"}))
	cases := []struct {
		name, pattern, want string
		links               int
	}{
		{"at the top", "link/*.go", "", 1},
		{"further on", "dir/in/*.go", "", 1},
		{"a file in it", "link/a.go", "", 1},
		{"a directory in it", "link/d/", "", 1},
		{"in braces", "{dir,link}/*.go", "dir/a.go", 1},
		{"with brackets", "l[i]nk/*", "", 1},
		{"past it", "dir/*.go", "dir/a.go", 0},
		{"at any depth", "**/*.go", "dir/a.go", 0},
		{"a name that begins with it", "link2/*.go", "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := glob(t, s, search.GlobQuery{Pattern: c.pattern})
			equal(t, "paths", c.want, paths(r))
			equal(t, "links", c.links, r.Skipped.Links)
		})
	}
}

func TestGlobErrors(t *testing.T) {
	s := open(t, build(t, files{"a": ""}))
	cases := []struct{ name, pattern, want string }{
		{"empty", "", "matches nothing"},
		{"only dot", "./", "matches nothing"},
		{"absolute", "/etc/*", "is absolute"},
		{"up", "../**", `leaves the directory by ".."`},
		{"up inside", "**/../../x", `leaves the directory by ".."`},
		{"open bracket", "src/[a", "unbalanced brackets"},
		{"open brace", "*.{ts,tsx", "unbalanced brackets"},
		{"long", strings.Repeat("a", 4097), "at most 4096"},
		{"many braces", strings.Repeat("{a,a}", 40), "more than 1024 forms"},
		{"empty braces", "a" + strings.Repeat("{,}", 1000), "more than 1024 forms"},
		{"nested braces", strings.Repeat("{a,{b,{c,d}}}", 6), "more than 1024 forms"},
		{"long forms", strings.Repeat("{a,b}", 10) + strings.Repeat("c", 3000), "very long"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, err := search.NewGlob(search.GlobQuery{Pattern: c.pattern})
			if err == nil {
				_, err = g.Run(background, s)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "hint: ") {
				t.Errorf("error %v, want %q and a hint", err, c.want)
			}
		})
	}
}

func TestFilter(t *testing.T) {
	text := "hit\n"
	dir := build(t, files{
		"a.go": text, "a_test.go": text, "vendor/v.go": text, "sub/vendor/w.go": text, "sub/b.ts": text,
		"Makefile": text, "sub/x.mk": text, "Dockerfile": text, "main.rs": text, "x.py": text,
	})
	cases := []struct {
		name  string
		query search.GrepQuery
		want  string
	}{
		{"glob", search.GrepQuery{Globs: []string{"*.go"}}, "a.go a_test.go sub/vendor/w.go vendor/v.go"},
		{"not", search.GrepQuery{Globs: []string{"*.go", "!*_test.go"}}, "a.go sub/vendor/w.go vendor/v.go"},
		{"not a directory", search.GrepQuery{Globs: []string{"*.go", "!vendor"}}, "a.go a_test.go"},
		{"not a directory at the top", search.GrepQuery{Globs: []string{"*.go", "!vendor/**"}}, "a.go a_test.go sub/vendor/w.go"},
		{"a directory", search.GrepQuery{Globs: []string{"sub/"}}, "sub/b.ts sub/vendor/w.go sub/x.mk"},
		{"two", search.GrepQuery{Globs: []string{"*.ts", "Make*"}}, "Makefile sub/b.ts"},
		{"type", search.GrepQuery{Types: []string{"go"}}, "a.go a_test.go sub/vendor/w.go vendor/v.go"},
		{"types and aliases", search.GrepQuery{Types: []string{"py", "rs", "make"}}, "Makefile main.rs sub/x.mk x.py"},
		{"type and glob", search.GrepQuery{Types: []string{"Go"}, Globs: []string{"sub/**"}}, "sub/vendor/w.go"},
		{"docker", search.GrepQuery{Types: []string{"dockerfile"}}, "Dockerfile"},
	}
	s := open(t, dir)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.query.Pattern = "hit"
			equal(t, "paths", c.want, paths(grep(t, s, c.query)))
		})
	}
	for name, want := range map[string]string{"typscript": "typescript", "golan": "; similar: golang\nhint: ", "sh; echo $(id)": `unknown file type "sh; echo $(id)"` + "\nhint: "} {
		_, err := search.NewGrep(search.GrepQuery{Pattern: "x", Types: []string{name}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("type %q: error %v, want %q", name, err, want)
		}
	}
}
