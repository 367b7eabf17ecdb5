package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search"
)

var background = context.Background()

func TestIgnoreFiles(t *testing.T) {
	dir := build(t, files{
		".git/info/exclude": "*.bak\n",
		".gitignore":        "*.log\n/build/\nlib/*.gen\n",
		"a.log":             "", "a.txt": "", "a.bak": "",
		"build/out.txt": "", "build/.gitignore": "!*\n",
		"sub/.gitignore": "!keep.log\n",
		"sub/keep.log":   "", "sub/other.log": "", "sub/lib/x.gen": "",
		"lib/x.gen": "", "lib/deep/y.gen": "",
		"nested/.git/HEAD": "", "nested/n.log": "", "nested/.gitignore": "*.tmp\n", "nested/n.tmp": "",
		"dot/.ignore": "!d.log\nd.txt\n", "dot/d.log": "", "dot/d.txt": "",
		".hidden/h.txt": "", ".hidden/h.log": "",
		"node_modules/m/i.txt": "", "node_modules/.gitignore": "*\n",
	})
	all := `*.{txt,log,bak,gen,tmp}`
	cases := []struct {
		name, start, pattern string
		opts                 search.Options
		want                 string
		ignored              int
	}{
		{"from the top", "", all, search.Options{}, ".hidden/h.txt a.txt dot/d.log lib/deep/y.gen nested/n.log sub/keep.log sub/lib/x.gen", 9},
		{"rules from above", "sub", all, search.Options{}, "keep.log lib/x.gen", 1},
		{"rules from above with a path", "lib", all, search.Options{}, "deep/y.gen", 1},
		{"an ignored start is searched", "build", all, search.Options{}, "out.txt", 0},
		{"a nested repository", "nested", all, search.Options{}, "n.log", 1},
		{"a pattern that begins in an ignored place", "", "build/*.txt", search.Options{}, "build/out.txt", 0},
		{"a pattern that names an ignored directory", "", "build/", search.Options{}, "build", 1},
		{"a pattern that names an ignored file", "", "a.log", search.Options{}, "a.log", 2},
		{"what is below it is its own affair", "", "node_modules/**/i.txt", search.Options{}, "", 1},
		{"everything", "sub", all, search.Options{IncludeIgnored: true}, "keep.log lib/x.gen other.log", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, filepath.Join(dir, c.start))
			s.Path, s.Top = filepath.Join(dir, c.start), dir
			r := glob(t, s, search.GlobQuery{Pattern: c.pattern, Options: c.opts})
			equal(t, "paths", c.want, paths(r))
			equal(t, "ignored", c.ignored, r.Skipped.Ignored)
		})
	}
}

// TestLargeIgnoreFile holds that a large ignore file counts whole, and one that is too
// large by whole lines.
func TestLargeIgnoreFile(t *testing.T) {
	comment := "#" + strings.Repeat("x", 1<<20-2) + "\n"
	cases := []struct{ name, rules, want string }{
		{"large", strings.Repeat(comment, 5) + "*.log\n", "a.txt"},
		{"too large", "*.txt\n" + strings.Repeat(comment, 15) + strings.Repeat("x", 1<<20-8) + "\n*.log\n", "a.log"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := build(t, files{".gitignore": c.rules, "a.txt": "", "a.log": ""})
			equal(t, "paths", c.want, paths(glob(t, open(t, dir), search.GlobQuery{Pattern: "a.*"})))
		})
	}
}

// TestNoRepository holds that ignore files count without a repository, but none above Top.
func TestNoRepository(t *testing.T) {
	dir := build(t, files{".gitignore": "*.a\n", "top/.gitignore": "*.b\n", "top/in/x.a": "", "top/in/x.b": "", "top/in/x.c": ""})
	s := open(t, filepath.Join(dir, "top/in"))
	s.Path, s.Top = filepath.Join(dir, "top/in"), filepath.Join(dir, "top")
	equal(t, "paths", "x.a x.c", paths(glob(t, s, search.GlobQuery{Pattern: "x.*"})))
	s.Path = ""
	equal(t, "without Path", "x.a x.b x.c", paths(glob(t, s, search.GlobQuery{Pattern: "x.*"})))
}

func TestVisible(t *testing.T) {
	dir := build(t, files{".env": "KEY=hit", "a.txt": "hit", "priv/b.txt": "hit", "priv/c.txt": "hit", ".gitignore": "x"})
	opts := search.Options{Visible: func(rel string, isDir bool) bool {
		if isDir != (rel == "priv") {
			t.Errorf("%s: isDir %v", rel, isDir)
		}
		return rel != ".env" && rel != "priv"
	}}
	r := grep(t, open(t, dir), search.GrepQuery{Pattern: "hit", Options: opts})
	equal(t, "grep", "a.txt", paths(r))
	equal(t, "denied", 2, r.Skipped.Denied)
	r = list(t, open(t, dir), search.ListQuery{Options: opts, Depth: 3})
	equal(t, "list", ".gitignore a.txt", paths(r))
}

func TestOrder(t *testing.T) {
	dir := build(t, files{"a/z": "", "a.b": "", "a-b": "", "a/a/x": "", "a0": "", "B": "", "ä": ""})
	for workers := range 8 {
		r := glob(t, open(t, dir), search.GlobQuery{Pattern: "**", Options: search.Options{Workers: workers + 1}})
		equal(t, "order", "B a-b a.b a/a/x a/z a0 ä", paths(r))
	}
}

// wide returns a tree of a few hundred files with lines to find.
func wide(tb testing.TB) string {
	fs := files{}
	for d := range 12 {
		for f := range 45 {
			name := fmt.Sprintf("d%d/s%d/f%d.txt", d%4, d, f)
			fs[name] = strings.Repeat("hit\nmiss\n", f%5) + "end\n"
		}
	}
	return build(tb, fs)
}

// TestPages holds that the pages of a result join to the unlimited one, in every mode and
// order, and that each says whether another follows.
func TestPages(t *testing.T) {
	dir := wide(t)
	for i, p := range []string{"d1/s1/f3.txt", "d0/s0/f9.txt"} {
		at := time.Now().Add(time.Duration(i+1) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, p), at, at); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	cases := []struct {
		name string
		run  func(o search.Options) *search.Result
		mode search.Mode
	}{
		{"files", func(o search.Options) *search.Result { return grep(t, s, search.GrepQuery{Pattern: "hit", Options: o}) }, search.Files},
		{"count", func(o search.Options) *search.Result {
			return grep(t, s, search.GrepQuery{Pattern: "hit", Mode: search.Count, Options: o})
		}, search.Count},
		{"content", func(o search.Options) *search.Result {
			return grep(t, s, search.GrepQuery{Pattern: "hit", Mode: search.Content, Before: 1, After: 1, Options: o})
		}, search.Content},
		{"glob", func(o search.Options) *search.Result {
			return glob(t, s, search.GlobQuery{Pattern: "*3.txt", Options: o})
		}, search.Files},
		{"list", func(o search.Options) *search.Result { return list(t, s, search.ListQuery{Depth: 2, Options: o}) }, search.Files},
	}
	for _, c := range cases {
		for _, newest := range []bool{false, true} {
			for _, size := range []int{1, 7, 50, 100000} {
				t.Run(fmt.Sprintf("%s newest=%v by %d", c.name, newest, size), func(t *testing.T) {
					all := lines(c.run(search.Options{Newest: newest}), c.mode)
					var joined []string
					for more, page := true, 0; more && page < 60; page++ {
						o := search.Options{Newest: newest, Offset: page * size, Limit: size, Workers: 1 + page%4}
						r := c.run(o)
						joined = append(joined, lines(r, c.mode)...)
						more = r.Truncated
						if want := (page+1)*size < len(all); more != want {
							t.Errorf("page %d: truncated %v, want %v", page, more, want)
						}
					}
					equal(t, "joined", all[:min(len(all), 60*size)], joined)
				})
			}
		}
	}
}

// TestFarPage holds that no offset or limit is too large to count to.
func TestFarPage(t *testing.T) {
	s := open(t, build(t, files{"a": "", "b": "", "c/d": ""}))
	cases := []struct {
		name          string
		offset, limit int
		want          string
	}{
		{"offset", math.MaxInt, 1, ""},
		{"limit", 1, math.MaxInt, "b c"},
		{"both", math.MaxInt, math.MaxInt, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := list(t, s, search.ListQuery{Options: search.Options{Offset: c.offset, Limit: c.limit}})
			equal(t, "paths", c.want, paths(r))
			equal(t, "hits", 3, r.TotalHits)
		})
	}
}

func TestEarlyStop(t *testing.T) {
	s := open(t, goSource(t))
	q := search.GrepQuery{Pattern: "return", Options: search.Options{Limit: 1}}
	full := grep(t, s, search.GrepQuery{Pattern: "return"})
	r := grep(t, s, q)
	equal(t, "first", full.Hits[0].Path, paths(r))
	if r.Files > full.Files/10 || r.Complete || !r.Truncated {
		t.Errorf("searched %d of %d files, complete %v, truncated %v", r.Files, full.Files, r.Complete, r.Truncated)
	}
	for _, mode := range []search.Mode{search.Files, search.Content} {
		q := search.GrepQuery{Pattern: "panic", Mode: mode, Options: search.Options{Offset: 300, Limit: 40}}
		want := lines(grep(t, s, q), mode)
		for range 5 {
			equal(t, "again", want, lines(grep(t, s, q), mode))
		}
	}
}

// TestCountTotals holds that a page of counts does not cost the totals their exactness.
func TestCountTotals(t *testing.T) {
	s := open(t, wide(t))
	for _, newest := range []bool{false, true} {
		full := grep(t, s, search.GrepQuery{Pattern: "hit", Mode: search.Count})
		r := grep(t, s, search.GrepQuery{Pattern: "hit", Mode: search.Count, Options: search.Options{Limit: 3, Offset: 2, Newest: newest}})
		equal(t, "files", full.TotalHits, r.TotalHits)
		equal(t, "matches", full.TotalMatches, r.TotalMatches)
		equal(t, "page", 3, len(r.Hits))
		if !r.Complete || !r.Truncated {
			t.Errorf("newest %v: complete %v, truncated %v", newest, r.Complete, r.Truncated)
		}
	}
}

func TestTime(t *testing.T) {
	s := open(t, goSource(t))
	g, err := search.NewGrep(search.GrepQuery{Pattern: `(\w+)+\d{9}`, Options: search.Options{Timeout: 50 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r, err := g.Run(background, s)
	if err != nil || !r.TimedOut || r.Complete {
		t.Errorf("error %v, result %+v", err, r)
	}
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	if _, err := g.Run(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("took %v", d)
	}
}

// TestTimeInFile holds that a search in one file stops as one in a tree does.
func TestTimeInFile(t *testing.T) {
	timeout := 150 * time.Millisecond
	if raced {
		timeout *= 10
	}
	row := "a line of some source text, in which nothing is to be found"
	cases := []struct {
		name, text string
		query      search.GrepQuery
		found      int // at most; -1 for what there is time for
	}{
		{"lines", "A12\n" + strings.Repeat(row+"\n", 1<<20), search.GrepQuery{Pattern: `[A-Z](\w|\d)+\d`}, 1},
		{"lines with a literal", "A12\n" + strings.Repeat(row+strings.Repeat("a", 200)+"\n", 1<<18), search.GrepQuery{Pattern: `(\w|\d)+12|(\w|a)+b`}, 1},
		{"one line", strings.Repeat(row, 1<<20), search.GrepQuery{Pattern: `[A-Z](\w|\d)+\d`}, 0},
		{"a large program", strings.Repeat(row+"\n", 1<<17), search.GrepQuery{Pattern: `(\w|a|[a-z ]){0,1000}(\w| ){0,1000}[A-Z]`}, 0},
		{"each match looks at all", strings.Repeat("a\n", 3<<20), search.GrepQuery{Pattern: `a[^z]*z|a`, Multiline: true}, -1},
		{"each match of a line looks at all", strings.Repeat("a", 6<<20), search.GrepQuery{Pattern: `a[^z]*z|a`, Mode: search.Content, OnlyMatching: true}, -1},
		{"each match of a shorter line", strings.Repeat("a", 1<<19), search.GrepQuery{Pattern: `a[^z]*z|a`, Mode: search.Content, OnlyMatching: true}, 1},
		{"many lines in one match", strings.Repeat(row, 1<<17), search.GrepQuery{Pattern: `[A-Z](\w|\d)+\d`, Multiline: true}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, err := os.Open(filepath.Join(build(t, files{"f": c.text}), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			c.query.Timeout = timeout
			if c.query.Mode == search.Files {
				c.query.Mode = search.Count
			}
			g, err := search.NewGrep(c.query)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r, err := g.RunFile(background, f, "f")
			if err != nil || !r.TimedOut || r.Complete || c.found >= 0 && r.TotalMatches > c.found {
				t.Errorf("error %v, result %+v", err, r)
			}
			if d := time.Since(began); d > timeout+5*time.Second { // on a busy machine
				t.Errorf("took %v", d)
			}
			f.Seek(0, 0)
			ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
			defer cancel()
			if _, err := g.RunFile(ctx, f, "f"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("cancelled: %v", err)
			}
		})
	}
}

func TestProgressInFile(t *testing.T) {
	f, err := os.Open(filepath.Join(build(t, files{"f": strings.Repeat("a line of some text, all of it in lower case\n", 3<<20)}), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var seen []int
	opts := search.Options{Timeout: 1500 * time.Millisecond, Progress: func(files int) { seen = append(seen, files) }}
	g, err := search.NewGrep(search.GrepQuery{Pattern: `[A-Z](\w|\d)+\d`, Options: opts})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.RunFile(background, f, "f"); err != nil {
		t.Fatal(err)
	}
	equal(t, "progress", []int{1}, seen)
}

func BenchmarkWalk(b *testing.B) {
	s := open(b, goSource(b))
	for b.Loop() {
		glob(b, s, search.GlobQuery{Pattern: "**/*.go", Options: search.Options{Limit: 100}})
	}
}

func BenchmarkGrep(b *testing.B) {
	s := open(b, goSource(b))
	cases := map[string]search.GrepQuery{
		"rare":      {Pattern: "unexpected newline in"},
		"common":    {Pattern: "return"},
		"fold":      {Pattern: "unexpected eof", IgnoreCase: true},
		"calls":     {Pattern: `\w+\.ReadFile\(\w+\)`},
		"first":     {Pattern: "return", Options: search.Options{Limit: 1}},
		"content":   {Pattern: "return", Mode: search.Content},
		"noliteral": {Pattern: `\b[A-Z][a-z]+[0-9]{2,}\b`},
	}
	for name, q := range cases {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				grep(b, s, q)
			}
		})
	}
}
