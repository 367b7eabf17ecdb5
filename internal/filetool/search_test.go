package filetool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var sampleTree = map[string]string{
	".git/config": "hit\n", ".gitignore": "*.log\n/node_modules/\n", "node_modules/m/i.js": "hit\n", "a.log": "hit\n",
	"a.go": "package a\n\nfunc hit() {}\n// hit\n", "b.txt": "one\ntwo\nhit\nfour\nfive\nsix\nhit\n",
	"sub/c.go":      "hit(1)\n",
	"sub/deep/d.ts": "const x = HIT\n", ".env": "KEY=hit\n", "bin": "hit\x00", "link": "-> a.go", "out": "-> ../S",
	"crlf.txt": "hit\r\n",
}

// A want is a call and its whole text.
type want struct {
	name string
	args args
	text string
}

func (h *harness) holds(t *testing.T, tool string, cases []want) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, _ := h.call(t, tool, c.args)
			if diff := cmp.Diff(c.text, text); diff != "" {
				t.Errorf("%s %v (-want +got):\n%s", tool, c.args, diff)
			}
		})
	}
}

func TestGlobTool(t *testing.T) {
	d := newHarness(t, sampleTree)
	const skipped = "\n[skipped: 2 ignored; include_ignored=true shows what is ignored]" +
		"\n[2 links were not followed: give one as path]"
	d.holds(t, "Glob", []want{
		{
			"any depth",
			args{"pattern": "*.go"},
			"a.go\nsub/c.go\n[skipped: 1 ignored; include_ignored=true shows what is ignored]",
		},
		{"in a directory, handed back from the root", args{"pattern": "*.go", "path": "sub"}, "sub/c.go"},
		{"absolute path, absolute names", args{"pattern": "*.go", "path": d.root + "/sub"}, d.root + "/sub/c.go"},
		{"absolute pattern", args{"pattern": d.root + "/*.go"}, d.root + "/a.go"},
		{"absolute pattern of one file", args{"pattern": d.root + "/sub/c.go"}, d.root + "/sub/c.go"},
		{
			"page",
			args{"pattern": "**", "head_limit": 2, "offset": 1},
			".gitignore\na.go\n[files 2-3 of 8; offset=3 for more]",
		},
		{"last page", args{"pattern": "**", "offset": 6}, "sub/c.go\nsub/deep/d.ts" + skipped + "\n[files 7-8 of 8]"},
		{
			"strings and aliases",
			args{"glob_pattern": "*.go", "limit": "1", "skip": "1"},
			"sub/c.go\n[skipped: 1 ignored; include_ignored=true shows what is ignored]\n[files 2-2 of 2]",
		},
		{
			"past the end",
			args{"pattern": "*.ts", "offset": 5},
			"[skipped: 1 ignored; include_ignored=true shows what is ignored]\n" +
				"[nothing at offset 5: there is 1 file]",
		},
		{"ignored too", args{"pattern": "*.log", "include_ignored": true}, "a.log"},
		{"an ignored place that is named", args{"pattern": "**", "path": "node_modules"}, "node_modules/m/i.js"},
		{
			"directories",
			args{"pattern": "**/deep/"},
			"sub/deep/\n[skipped: 1 ignored; include_ignored=true shows what is ignored]",
		},
		{
			"a directory where files are asked for",
			args{"pattern": "sub/deep"},
			"[nothing matches sub/deep; 8 files seen]\n[sub/deep is a directory; sub/deep/** finds its files]",
		},
		{
			"a limit of nothing",
			args{"pattern": "sub/*.go", "limit": 0},
			"sub/c.go\n[head_limit 0 is taken as the default, 100]",
		},
		{
			"a name that begins like a URI",
			args{"pattern": "file:odd"},
			"[nothing matches file:odd; 9 files seen]\n" +
				"[skipped: 1 ignored; include_ignored=true shows what is ignored]",
		},
		{"a URI", args{"pattern": "file://" + d.root + "/sub/*.go"}, d.root + "/sub/c.go"},
		{"nothing", args{"pattern": "sub/*.rs"}, "[nothing matches sub/*.rs; 8 files seen]"},
	})
}

// TestGlobOddBeginnings: only ~ with a slash or alone, and file: with one, make a pattern
// absolute.
func TestGlobOddBeginnings(t *testing.T) {
	d := newHarness(t, map[string]string{"~$doc.docx": "", "~x": "", "file:odd": ""})
	d.holds(t, "Glob", []want{
		{"like a home directory", args{"pattern": "~*"}, "~$doc.docx\n~x"},
		{"the lock of a document", args{"pattern": "~$doc.docx"}, "~$doc.docx"},
		{"like a URI", args{"pattern": "file:*"}, "file:odd"},
	})
}

func TestGlobToolRefuses(t *testing.T) {
	d := newHarness(t, sampleTree)
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"up", args{"pattern": "../**"}, "leaves the directory"},
		{"absolute, outside", args{"pattern": "/etc/*"}, "outside"},
		{"a file", args{"pattern": "*", "path": "a.go"}, "a.go is a file"},
		{"missing", args{"pattern": "*", "path": "subb"}, "sub"},
		{"a link out", args{"pattern": "*", "path": "out"}, "outside"},
		{"unbalanced", args{"pattern": "src/[a"}, "unbalanced"},
		{"no pattern", args{}, "pattern is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, res := d.call(t, "Glob", c.args)
			if !res.IsError || !strings.Contains(text, c.want) {
				t.Errorf("error %v: %s; want %q", res.IsError, text, c.want)
			}
		})
	}
}

func TestGlobNewest(t *testing.T) {
	d := newHarness(t, map[string]string{"a": "", "b": "", "c": ""})
	for i, name := range []string{"b", "c", "a"} {
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		must(t, os.Chtimes(filepath.Join(d.root, name), at, at))
	}
	d.holds(t, "Glob", []want{
		{"by path", args{"pattern": "*"}, "a\nb\nc"},
		{"by time", args{"pattern": "*", "sort": "mtime"}, "b\nc\na"},
		{
			"by time, a page",
			args{"pattern": "*", "sort": "mtime", "offset": 1, "head_limit": 1},
			"c\n[files 2-2 of 3; offset=2 for more]",
		},
	})
}

func TestGrepTool(t *testing.T) {
	d := newHarness(t, sampleTree)
	const skipped = "\n[skipped: 2 ignored, 1 binary; include_ignored=true shows what is ignored]" +
		"\n[2 links were not followed: give one as path]"
	d.holds(t, "Grep", []want{
		{"files", args{"pattern": "hit"}, ".env\na.go\nb.txt\ncrlf.txt\nsub/c.go" + skipped},
		{"files of a page", args{"pattern": "hit", "head_limit": 2}, ".env\na.go\n[files 1-2; offset=2 for more]"},
		{
			"count",
			args{"pattern": "hit", "output_mode": "count", "glob": "*.txt"},
			"b.txt:2\ncrlf.txt:1\n[total: 3 matching lines in 2 files]\n" +
				"[skipped: 1 ignored; include_ignored=true shows what is ignored]",
		},
		{"content", args{"pattern": "hit", "output_mode": "content", "type": "go", "path": "sub"}, "sub/c.go:1:hit(1)"},
		{
			"content of one file",
			args{"pattern": "hit", "output_mode": "content", "path": "b.txt"},
			"b.txt:3:hit\nb.txt:7:hit",
		},
		{"an ignored file that is named", args{"pattern": "hit", "path": "a.log"}, "a.log"},
		{"a file by a link", args{"pattern": "// hit", "path": "link"}, "a.go"},
		{
			"without numbers",
			args{"pattern": "hit", "output_mode": "content", "path": "sub/c.go", "-n": false},
			"sub/c.go:hit(1)",
		},
		{
			"context",
			args{"pattern": "hit", "output_mode": "content", "path": "b.txt", "-C": 1},
			"b.txt-2-two\nb.txt:3:hit\nb.txt-4-four\n--\nb.txt-6-six\nb.txt:7:hit",
		},
		{
			"context of several files",
			args{"pattern": "hit", "output_mode": "content", "glob": "*.{txt,go}", "-A": "1", "-B": 0, "path": "."},
			"a.go:3:func hit() {}\na.go:4:// hit\n--\nb.txt:3:hit\nb.txt-4-four\n--\nb.txt:7:hit\n--\n" +
				"crlf.txt:1:hit\n--\nsub/c.go:1:hit(1)\n" +
				"[skipped: 1 ignored; include_ignored=true shows what is ignored]",
		},
		{
			"a page in the middle of a file",
			args{"pattern": "hit", "output_mode": "content", "path": "b.txt", "-C": 1, "offset": 2, "head_limit": 2},
			"b.txt-4-four\n--\nb.txt-6-six\n[lines 3-4 of 5; offset=4 for more]",
		},
		{
			"only the matches",
			args{"pattern": "h.t", "output_mode": "content", "-o": true, "path": "sub"},
			"sub/c.go:1:hit",
		},
		{"any case", args{"pattern": "hit", "ignoreCase": true, "path": "sub"}, "sub/c.go\nsub/deep/d.ts"},
		{"plain text", args{"query": "hit(1", "fixed_strings": "true"}, "sub/c.go" + skipped},
		{
			"spanning lines",
			args{"pattern": "one.*?hit", "multiline": true, "output_mode": "content", "include": "b.*"},
			"b.txt:1:one\nb.txt:2:two\nb.txt:3:hit\n[skipped: 1 ignored; include_ignored=true shows what is ignored]",
		},
		{
			"none",
			args{"pattern": "nothing like it"},
			"No matches found in 8 files searched (2 ignored, 1 binary, 0 unreadable skipped)\n" +
				"[include_ignored=true shows what is ignored]\n[2 links were not followed: give one as path]",
		},
		{"without a limit", args{"pattern": "hit", "head_limit": 0, "path": "sub"}, "sub/c.go"},
		{
			"numbers too small",
			args{"pattern": "hit", "head_limit": -1, "offset": -5, "-C": -2, "path": "sub"},
			"sub/c.go\n[warning: -C: -2 is below 0; 0 was used]\n[warning: head_limit: -1 is below 0; 0 was used]\n" +
				"[warning: offset: -5 is below 0; 0 was used]",
		},
		{
			"numbers too large",
			args{"pattern": "hit", "head_limit": 10_001, "-A": 500, "path": "sub"},
			"sub/c.go\n[warning: -A: 500 is above 100; 100 was used]\n" +
				"[warning: head_limit: 10001 is above 10000; 10000 was used]",
		},
	})
	for _, c := range []struct {
		args args
		want []string
	}{
		{args{"pattern": "hit("}, []string{"missing closing )", "literal=true"}},
		{args{"pattern": `(?<=a)b`}, []string{"lookaround", "RE2"}},
		{args{"pattern": "x", "type": "gol"}, []string{"unknown file type", "go"}},
		{args{"pattern": "x", "glob": "../*"}, []string{"leaves the directory"}},
		{args{"pattern": "x", "output_mode": "lines"}, []string{"content", "count"}},
		{args{"pattern": "x", "path": "../S"}, []string{"outside"}},
	} {
		text, res := d.call(t, "Grep", c.args)
		for _, w := range c.want {
			if !res.IsError || !strings.Contains(text, w) {
				t.Errorf("%v: error %v: %s; want %q", c.args, res.IsError, text, w)
			}
		}
	}
}

func TestListTool(t *testing.T) {
	d := newHarness(t, sampleTree)
	d.put(t, "abs", "-> /etc/passwd")
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	must(t, os.Chtimes(filepath.Join(d.root, "sub/c.go"), when, when))
	must(t, os.Chtimes(filepath.Join(d.root, "sub/deep"), when, when))
	const ignored = "\n[skipped: 2 ignored; include_ignored=true shows what is ignored]"
	d.holds(t, "List", []want{
		{
			"the root", nil,
			"./\n  .env\n  .gitignore\n  a.go\n  abs -> (outside)\n  b.txt\n  bin\n  crlf.txt\n  link -> a.go\n" +
				"  out -> (outside)\n  sub/" + ignored,
		},
		{"depth", args{"path": "sub", "depth": 2}, "sub/\n  c.go\n  deep/\n    d.ts"},
		{
			"details",
			args{"path": "sub", "show": "details"},
			"sub/\n  c.go  7 bytes  2026-01-02T03:04:05Z\n  deep/  2026-01-02T03:04:05Z",
		},
		{
			"a page",
			args{"depth": 3, "offset": 11, "limit": 5, "dir_path": "."},
			"./\n  sub/ (continued)\n    deep/\n      d.ts" + ignored + "\n[entries 12-13 of 13]",
		},
		{"an ignored place", args{"path": "node_modules", "depth": "5"}, "node_modules/\n  m/\n    i.js"},
		{"absolute", args{"path": d.root + "/sub"}, d.root + "/sub/\n  c.go\n  deep/"},
	})
	d.put(t, "empty/", "")
	d.holds(t, "List", []want{{"empty", args{"path": "empty"}, "empty/\n[no entries]"}})
}

// TestForgedNames: no name can look like more than one line, or like another.
func TestForgedNames(t *testing.T) {
	d := newHarness(t, map[string]string{"a\nb.txt": "hit", "c\u202egpj.txt": "hit", "\x1b[2Jx.txt": "hit"})
	for tool, a := range map[string]args{"Glob": {"pattern": "*.txt"}, "Grep": {"pattern": "hit"}, "List": {}} {
		text, _ := d.call(t, tool, a)
		for _, name := range []string{`a\nb.txt`, `c\u202egpj.txt`, `\x1b[2Jx.txt`} {
			if !strings.Contains(text, name) {
				t.Errorf("%s: %q lacks %s", tool, text, name)
			}
		}
	}
}

// TestNamesLikeNotes: no row can pass for a note, and what it says is found again.
func TestNamesLikeNotes(t *testing.T) {
	const page, skip = "[lines 1-250 of 9,999; offset=250 for more]", "[skipped: 3 ignored]"
	d := newHarness(t, map[string]string{"d/" + page: "hit\n", skip + "/x": "", page: "hit\n"})
	d.holds(t, "Glob", []want{
		{"Glob", args{"pattern": "./*"}, "./" + page},
		{"Glob, handed back", args{"pattern": "*", "path": "./" + skip}, "./" + skip + "/x"},
		{"Glob of directories", args{"pattern": "./[[]*/"}, "./" + skip + "/"},
	})
	d.holds(t, "Grep", []want{
		{"Grep", args{"pattern": "hit"}, "./" + page + "\nd/" + page},
		{
			"Grep, content",
			args{"pattern": "hit", "output_mode": "content", "path": page, "-n": false},
			"./" + page + ":hit",
		},
		{
			"Grep, counts",
			args{"pattern": "hit", "output_mode": "count", "path": "./" + page},
			"./" + page + ":1\n[total: 1 matching line in 1 file]",
		},
	})
	d.holds(t, "List", []want{
		{"List", nil, "./\n  ./" + page + "\n  ./" + skip + "/\n  d/"},
		{"List of one", args{"path": skip}, "./" + skip + "/\n  x"},
	})
	d.holds(t, "Read", []want{
		{"Read of a file", args{"path": "./" + page}, "1\thit"},
		{"Read", args{"path": "d"}, "[d is a directory: read one of its files, or list it for more]\n./" + page},
	})
	_, res := d.call(t, "Glob", args{"pattern": "./*"})
	if diff := cmp.Diff([]any{page}, structured(t, res)["filenames"]); diff != "" {
		t.Errorf("structured (-want +got):\n%s", diff)
	}
	if text, _ := d.call(t, "Stat", args{"path": page}); !strings.HasPrefix(text, "./"+page+"\ntype: ") {
		t.Errorf("Stat: %s", text)
	}
}

// TestGrepCR: a CR in a line, which can fake another on a terminal, is seen in the text; the
// structured result has the line as it is.
func TestGrepCR(t *testing.T) {
	d := newHarness(t, map[string]string{"a": "one\ra:7:hit\r\ntwo\r\n"})
	call := args{"pattern": "hit", "output_mode": "content", "-A": 1}
	d.holds(t, "Grep", []want{{"text", call, "a:1:one\\ra:7:hit\na-2-two"}})
	_, res := d.call(t, "Grep", call)
	first := structured(t, res)["matches"].([]any)[0].(map[string]any)
	if first["text"] != "one\ra:7:hit" {
		t.Errorf("structured: %q", first["text"])
	}
}

// TestSeveralRoots: names are absolute, pages go over all roots.
func TestSeveralRoots(t *testing.T) {
	one := newHarness(t, map[string]string{"a.txt": "hit\nhit\n", "b.txt": "hit\n", "in/c.txt": ""})
	two := newHarness(t, map[string]string{"a.txt": "hit\n"})
	d := &harness{client: start(t, "--root", one.root, "--root", two.root, "--root", one.root+"/in")}
	a, b, c, e := one.root+"/a.txt", one.root+"/b.txt", one.root+"/in/c.txt", two.root+"/a.txt"
	d.holds(t, "Glob", []want{
		{"all", args{"pattern": "*.txt"}, strings.Join([]string{a, b, c, e}, "\n")},
		{
			"the end of one",
			args{"pattern": "*.txt", "head_limit": 3},
			strings.Join([]string{a, b, c}, "\n") + "\n[files 1-3 of 4; offset=3 for more]",
		},
		{"the next page", args{"pattern": "*.txt", "offset": 3}, e + "\n[files 4-4 of 4]"},
		{"across", args{"pattern": "*.txt", "offset": 2, "head_limit": 2}, c + "\n" + e + "\n[files 3-4 of 4]"},
	})
	d.holds(t, "Grep", []want{
		{
			"lines across",
			args{"pattern": "hit", "output_mode": "content", "offset": 1, "head_limit": 5},
			a + ":2:hit\n" + b + ":1:hit\n" + e + ":1:hit\n[lines 2-4 of 4]",
		},
	})
	d.holds(t, "List", []want{
		{"all", nil, one.root + "/\n  a.txt\n  b.txt\n  in/\n" + two.root + "/\n  a.txt"},
	})
}

// TestMissingRoot: a root that is not there takes nothing from the others.
func TestMissingRoot(t *testing.T) {
	ok := newHarness(t, map[string]string{"a.txt": "hit\n"})
	gone := ok.top + "/gone"
	d := &harness{client: start(t, "--root", gone, "--root", ok.root)}
	note := "\n[not searched: the root " + gone + ", which does not exist or cannot be opened]"
	d.holds(t, "Grep", []want{
		{"hits", args{"pattern": "hit"}, ok.root + "/a.txt" + note},
		{
			"no hits",
			args{"pattern": "miss"},
			"No matches found in 1 file searched (0 ignored, 0 binary, 0 unreadable skipped)" + note,
		},
	})
	d.holds(t, "Glob", []want{{"hits", args{"pattern": "*"}, ok.root + "/a.txt" + note}})
	d.holds(t, "List", []want{{"entries", nil, ok.root + "/\n  a.txt" + note}})
	d = &harness{client: start(t, "--root", gone, "--root", gone+"/in")}
	if text, res := d.call(t, "Grep", args{"pattern": "hit"}); !res.IsError || !strings.Contains(text, gone) {
		t.Errorf("none is left: error %v: %s", res.IsError, text)
	}
}

// TestNestedRoots: a root in another is searched once, also where the search of the other
// does not come to it.
func TestNestedRoots(t *testing.T) {
	d := newHarness(t, map[string]string{
		".gitignore": "/build\n/\u00fc\n/[[]id]\n", "a.txt": "hit\n", "src/[x]/b.txt": "hit\n", "build/c.txt": "hit\n",
		"build/in/d.txt": "hit\n", "\u00fc/e.txt": "hit\n", "[id]/f.txt": "hit\n", ".git/hooks/g.txt": "hit\n",
	})
	for _, c := range []struct {
		name    string
		nested  []string // roots in the outer one
		ignored bool
		want    string // files, below the outer root
	}{
		{"entered", []string{"src/[x]"}, false, "a.txt src/[x]/b.txt"},
		{"ignored", []string{"build"}, false, "a.txt src/[x]/b.txt build/c.txt build/in/d.txt"},
		{"ignored, in brackets", []string{"[id]"}, false, "a.txt src/[x]/b.txt [id]/f.txt"},
		{"ignored, of one letter", []string{"\u00fc"}, false, "a.txt src/[x]/b.txt \u00fc/e.txt"},
		{"in an ignored one", []string{"build/in", "build"}, false, "a.txt src/[x]/b.txt build/c.txt build/in/d.txt"},
		{
			"ignored ones asked for",
			[]string{"build"},
			true,
			"[id]/f.txt a.txt build/c.txt build/in/d.txt src/[x]/b.txt \u00fc/e.txt",
		},
		{"in .git", []string{".git/hooks"}, false, "a.txt src/[x]/b.txt .git/hooks/g.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			flags := []string{"--root", d.root}
			for _, n := range c.nested {
				flags = append(flags, "--root", filepath.Join(d.root, n))
			}
			h := &harness{client: start(t, flags...)}
			for tool, a := range map[string]args{"Grep": {"pattern": "hit"}, "Glob": {"pattern": "*.txt"}} {
				a["include_ignored"] = c.ignored
				_, res := h.call(t, tool, a)
				var got []string
				for _, name := range structured(t, res)["filenames"].([]any) {
					got = append(got, strings.TrimPrefix(name.(string), d.root+"/"))
				}
				if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tool, diff)
				}
			}
		})
	}
}

// TestStructuredIsDeclared: what comes is what the output schema says, and the notes of
// the text are in it.
func TestStructuredIsDeclared(t *testing.T) {
	d := newHarness(t, sampleTree)
	list, err := d.client.ListTools(t.Context(), nil)
	must(t, err)
	declared := map[string]map[string]any{}
	for _, tool := range list.Tools {
		if schema, ok := tool.OutputSchema.(map[string]any); ok {
			declared[tool.Name], _ = schema["properties"].(map[string]any)
		}
	}
	for _, c := range []struct {
		tool string
		args args
		want map[string]any
	}{
		{
			"Glob",
			args{"pattern": "*.go"},
			map[string]any{"filenames": []any{"a.go", "sub/c.go"}, "total_files": 2.0, "exact": true},
		},
		{"Glob", args{"pattern": "*.none"}, map[string]any{"filenames": []any{}, "total_files": 0.0}},
		{
			"Grep",
			args{"pattern": "hit", "head_limit": 1, "nonsense": 1},
			map[string]any{
				"filenames": []any{".env"}, "truncated": true, "next_offset": 1.0, "exact": false,
				"total_matches": nil, "total_files": nil,
			},
		},
		{
			"Grep",
			args{"pattern": "hit", "path": "sub", "output_mode": "content"},
			map[string]any{
				"matches":        []any{map[string]any{"path": "sub/c.go", "line": 1.0, "text": "hit(1)"}},
				"files_searched": 2.0,
			},
		},
		{
			"Grep",
			args{"pattern": "hit", "path": "sub", "output_mode": "count"},
			map[string]any{
				"file_counts": []any{map[string]any{"path": "sub/c.go", "count": 1.0}}, "total_matches": 1.0,
			},
		},
		{
			"List",
			args{"path": "sub"},
			map[string]any{"total_entries": 2.0, "entries": []any{
				map[string]any{"path": "sub/c.go", "type": "regular file"},
				map[string]any{"path": "sub/deep", "type": "directory"},
			}},
		},
	} {
		text, res := d.call(t, c.tool, c.args)
		got := structured(t, res)
		for key := range got {
			if _, ok := declared[c.tool][key]; !ok {
				t.Errorf("%s: %s is not declared", c.tool, key)
			}
		}
		for key, want := range c.want {
			if !cmp.Equal(want, got[key]) {
				t.Errorf("%s %v: %s is %v, want %v", c.tool, c.args, key, got[key], want)
			}
		}
		notes, _ := got["notes"].([]any)
		for _, n := range notes {
			if !strings.Contains(text, n.(string)) {
				t.Errorf("%s: the text lacks %q", c.tool, n)
			}
		}
	}
}
