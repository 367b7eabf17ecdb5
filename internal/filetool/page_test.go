package filetool_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/internal/filetool/search"
)

// TestLastLine: what the descriptions promise, that the last line says how to continue,
// holds whatever else there is to say.
func TestLastLine(t *testing.T) {
	latin := strings.Repeat("gr\xfc\n", 3000)
	d := newHarness(t, map[string]string{"latin.txt": latin, "sub/": "", "link": "-> latin.txt", "\xff.txt": "x"})
	for i := range 150 {
		d.put(t, fmt.Sprintf("sub/%03d", i), "hit\n")
	}
	for _, c := range []struct {
		name, tool string
		args       args
		last       string
	}{
		{"an encoding", "Read", args{"file_path": "latin.txt"}, "[lines 1-2,000 of 3,000; continue with offset=2001]"},
		{
			"a limit", "Read",
			args{"file_path": "latin.txt", "limit": 0},
			"[lines 1-2,000 of 3,000; continue with offset=2001]",
		},
		{"a link", "Read", args{"file_path": "link", "limit": 1}, "[lines 1-1 of 3,000; continue with offset=2]"},
		{
			"a directory", "Read",
			args{"file_path": "sub", "limit": 0},
			"[100 of 150 entries; list the directory to see the others]",
		},
		{"files", "Glob", args{"pattern": "**", "head_limit": 2}, "[files 1-2 of 152; offset=2 for more]"},
		{
			"a count", "Grep",
			args{"pattern": "hit", "output_mode": "count", "head_limit": 2},
			"[files 1-2 of 150; offset=2 for more]",
		},
		{"entries", "List", args{"depth": 2, "head_limit": 3}, "[entries 1-3 of 154; offset=3 for more]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, _ := d.call(t, c.tool, c.args)
			if last := text[strings.LastIndexByte(text, '\n')+1:]; last != c.last {
				t.Errorf("%s ends in %s; want %s", c.tool, last, c.last)
			}
		})
	}
}

// TestBudget: rows are left out whole, and the note says how to get them.
func TestBudget(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		name := fmt.Sprintf("dir/file-%03d-%s.txt", i, strings.Repeat("x", 60))
		files[name] = strings.Repeat("hit "+strings.Repeat("y", 40)+"\n", 3)
	}
	d := newHarness(t, files, "--max-output", "4096")
	for tool, a := range map[string]args{
		"Glob": {"pattern": "**", "head_limit": 300}, "List": {"depth": 2},
		"Grep": {"pattern": "hit", "output_mode": "content", "head_limit": 0},
	} {
		all, calls := 0, 0
		for offset := 0.0; calls < 100; calls++ {
			b := maps.Clone(a)
			b["offset"] = offset
			text, res := d.call(t, tool, b)
			if len(text) > 4096 || strings.Contains(text, "[cut") {
				t.Fatalf("%s: %d bytes: %s", tool, len(text), text)
			}
			got := structured(t, res)
			rows := got[map[string]string{"Glob": "filenames", "List": "entries", "Grep": "matches"}[tool]].([]any)
			all += len(rows)
			next, more := got["next_offset"].(float64)
			said := strings.Contains(text, fmt.Sprintf("offset=%d for more", int(next)))
			if more != said || more && next != offset+float64(len(rows)) {
				t.Fatalf("%s: next %v, %d rows: %s", tool, next, len(rows), text)
			}
			if !more {
				break
			}
			offset = next
		}
		if want := map[string]int{"Glob": 300, "List": 301, "Grep": 900}[tool]; all != want {
			t.Errorf("%s: %d rows in all pages, want %d", tool, all, want)
		}
	}
}

// TestAgainIsTheSame: a page is the same each time, though the workers get to differ in
// how far they look beyond it.
func TestAgainIsTheSame(t *testing.T) {
	tree := map[string]string{}
	for i := range 400 {
		tree[fmt.Sprintf("d%d/f%d.txt", i%20, i)] = strings.Repeat("hit\n", 1+i%3)
		tree[fmt.Sprintf("d%d/.gitignore", i%20)], tree[fmt.Sprintf("d%d/g.log", i%20)] = "*.log\n", "hit\n"
		tree[fmt.Sprintf("d%d/bin", i%20)] = "\x00"
	}
	d := newHarness(t, tree)
	for _, a := range []args{
		{"pattern": "hit", "output_mode": "count", "head_limit": 3},
		{"pattern": "hit", "output_mode": "content", "head_limit": 3, "offset": 100},
		{"pattern": "hit", "head_limit": 3, "offset": 7},
	} {
		first, res := d.call(t, "Grep", a)
		for range 30 {
			text, again := d.call(t, "Grep", a)
			if text != first || !cmp.Equal(res.StructuredContent, again.StructuredContent) {
				t.Fatalf("%v: first %q, then %q", a, first, text)
			}
		}
	}
}

// TestStopped: a search that ran out of time says so before all else, since a model that
// first reads of nothing concludes that there is nothing. Its totals are not exact.
func TestStopped(t *testing.T) {
	some := []search.Hit{{Path: "a.go", Count: 2}}
	skips := search.Skipped{Ignored: 2, Binary: 1, Links: 1}
	const links = "\n[1 link was not followed: give it as path]"
	const note = "\n[skipped: 2 ignored, 1 binary; include_ignored=true shows what is ignored]" + links
	for _, c := range []struct {
		name, tool string
		mode       search.Mode
		hits       []search.Hit
		want       string
	}{
		{
			"no match", "Grep", search.Files, nil,
			"Stopped after 20 s: no match so far in 1,275 files searched " +
				"(2 ignored, 1 binary, 0 unreadable skipped); narrow path, glob or type" +
				"\n[include_ignored=true shows what is ignored]" + links,
		},
		{
			"some matches", "Grep", search.Files, some,
			"Stopped after 20 s: results are missing; narrow path, glob or type\na.go" + note,
		},
		{
			"a count", "Grep", search.Count, some,
			"Stopped after 20 s: results are missing; narrow path, glob or type\na.go:2\n" +
				"[total so far: 2 matching lines in 1 file]" + note,
		},
		{
			"no file", "Glob", 0, nil,
			"Stopped after 20 s: nothing matches *.go so far; 1,275 files seen; narrow path or pattern" + note,
		},
		{
			"some files", "Glob", 0, some,
			"Stopped after 20 s: results are missing; narrow path or pattern\na.go" + note,
		},
		{"no entry", "List", 0, nil, "Stopped after 20 s: no entries so far; narrow path or depth" + note},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := filetool.Render(c.tool, search.Result{
				Hits: c.hits, Files: 1275, Results: len(c.hits), TotalHits: len(c.hits), TotalMatches: 2 * len(c.hits),
				TimedOut: true, Skipped: skips,
			}, c.mode)
			if diff := cmp.Diff(c.want, res.Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			got := plain(t, res.Structured)
			first, _, _ := strings.Cut(c.want, "\n")
			if notes, _ := got["notes"].([]any); len(notes) == 0 || notes[0] != first || got["timed_out"] != true {
				t.Errorf("structured: %v", got)
			}
			for _, key := range []string{"total_files", "total_matches", "total_entries", "files_searched"} {
				if n, ok := got[key]; ok {
					t.Errorf("%s is %v", key, n)
				}
			}
		})
	}
}

// TestStoppedBeyond: what lies before the offset is no absence.
func TestStoppedBeyond(t *testing.T) {
	res := filetool.Render("Grep", search.Result{Results: 3, TotalHits: 3, Files: 9, TimedOut: true}, search.Files)
	if want := "Stopped after 20 s: results are missing; narrow path, glob or type"; res.Text != want {
		t.Errorf("got %q, want %q", res.Text, want)
	}
}

// TestEndedEarly: what a search skipped behind its page differs from run to run, and is not
// told.
func TestEndedEarly(t *testing.T) {
	res := filetool.Render("Grep", search.Result{
		Hits: []search.Hit{{Path: "a", Count: 1}}, Results: 7, TotalHits: 7, Files: 9, Truncated: true,
		Skipped: search.Skipped{Denied: 3, Unreadable: 1, Names: []string{"x"}},
	}, search.Files)
	if want := "a\n[files 1-1; offset=1 for more]"; res.Text != want {
		t.Errorf("got %q, want %q", res.Text, want)
	}
}

// TestTotals: totals are in the structured result where they are exact, and only there.
func TestTotals(t *testing.T) {
	d := newHarness(t, map[string]string{"a": "hit\nhit\n", "b": "hit\n", "c": "hit\n", "d/e": ""})
	type facts = map[string]any
	for _, c := range []struct {
		name, tool string
		args       args
		want       facts
	}{
		{
			"files, ended with the page", "Grep",
			args{"pattern": "hit", "head_limit": 1},
			facts{"exact": false, "total_files": nil, "files_searched": nil, "skipped": nil, "next_offset": 1.0},
		},
		{
			"files, all", "Grep",
			args{"pattern": "hit"},
			facts{"exact": true, "total_files": 3.0, "total_matches": nil, "files_searched": 4.0},
		},
		{
			"lines, ended with the page", "Grep",
			args{"pattern": "hit", "output_mode": "content", "head_limit": 1},
			facts{"exact": false, "total_files": nil, "total_matches": nil},
		},
		{
			"a page of counts", "Grep",
			args{"pattern": "hit", "output_mode": "count", "head_limit": 1},
			facts{"exact": true, "total_files": 3.0, "total_matches": 4.0, "next_offset": 1.0},
		},
		{"a page of names", "Glob", args{"pattern": "**", "head_limit": 1}, facts{"exact": true, "total_files": 4.0}},
		{"a page of entries", "List", args{"depth": 2, "head_limit": 1}, facts{"exact": true, "total_entries": 5.0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, res := d.call(t, c.tool, c.args)
			got := structured(t, res)
			for key, want := range c.want {
				if diff := cmp.Diff(want, got[key]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
		})
	}
}

// TestCountsOfSeveralRoots: totals go over all roots, though the page ends in the first.
func TestCountsOfSeveralRoots(t *testing.T) {
	one := newHarness(t, map[string]string{"a": "hit\nhit\n", "b": "hit\n"})
	two := newHarness(t, map[string]string{"a": "hit\n"})
	d := &harness{client: start(t, "--root", one.root, "--root", two.root)}
	const total = "\n[total: 4 matching lines in 3 files]\n"
	d.holds(t, "Grep", []want{
		{
			"one of the first root",
			args{"pattern": "hit", "output_mode": "count", "head_limit": 1},
			one.root + "/a:2" + total + "[files 1-1 of 3; offset=1 for more]",
		},
		{
			"all of the first root",
			args{"pattern": "hit", "output_mode": "count", "head_limit": 2},
			one.root + "/a:2\n" + one.root + "/b:1" + total + "[files 1-2 of 3; offset=2 for more]",
		},
	})
}

// TestCounting: clients show the number with the message, which must not repeat it.
func TestCounting(t *testing.T) {
	filetool.Counting(func(done, total float64, message string) {
		if done != 1275 || total != 0 || message != "files seen" {
			t.Errorf("progress is %v of %v: %s", done, total, message)
		}
	})(1275)
}

func TestPlural(t *testing.T) {
	for _, c := range []struct {
		n         int
		one, want string
	}{
		{0, "file", "0 files"},
		{1, "file", "1 file"},
		{1275, "file", "1,275 files"},
		{1, "entry", "1 entry"},
		{2, "entry", "2 entries"},
	} {
		if got := filetool.Plural(c.n, c.one); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestLinksPassedOver: searches follow no links, and say so where that may be why
// something is not found.
func TestLinksPassedOver(t *testing.T) {
	d := newHarness(t, map[string]string{
		"far/a.txt": "hit\n", "good": "-> far/a.txt", "dir": "-> far", "in/link": "-> nowhere",
	})
	const one = "\n[1 link was not followed: give it as path]"
	d.holds(t, "Glob", []want{
		{"a link to a file", args{"pattern": "good"}, "[nothing matches good; 1 file seen]" + one},
		{
			"several",
			args{"pattern": "[dg]*"},
			"[nothing matches [dg]*; 1 file seen]\n[2 links were not followed: give one as path]",
		},
		{"no hint to make the same call", args{"pattern": "in/**"}, "[nothing matches in/**; 0 files seen]" + one},
	})
	const none = " searched (0 ignored, 0 binary, 0 unreadable skipped)"
	d.holds(t, "Grep", []want{
		{"a link to a file", args{"pattern": "hit", "glob": "good"}, "No matches found in 0 files" + none + one},
		{"given as path", args{"pattern": "hit", "path": "good"}, "far/a.txt"},
		{"nothing passed over", args{"pattern": "miss", "path": "far"}, "No matches found in 1 file" + none},
	})
}
