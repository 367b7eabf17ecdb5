package search_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/filetool/search"
)

func TestPatternErrors(t *testing.T) {
	cases := []struct {
		name  string
		query search.GrepQuery
		want  []string
	}{
		{"empty", search.GrepQuery{}, []string{"empty"}},
		{"open parenthesis", search.GrepQuery{Pattern: "func foo("}, []string{"missing closing )", "literal=true"}},
		{"open bracket", search.GrepQuery{Pattern: "a[b"}, []string{"missing closing ]", "at character 2", "literal=true"}},
		{"star first", search.GrepQuery{Pattern: "a|*b"}, []string{"repetition", "at character 3"}},
		{"lookahead", search.GrepQuery{Pattern: "foo(?=bar)"}, []string{"lookaround", "at character 4", "RE2"}},
		{"lookbehind", search.GrepQuery{Pattern: "(?<!a)b"}, []string{"lookaround", "RE2"}},
		{"backreference", search.GrepQuery{Pattern: `(a)\1`}, []string{"backreferences", "at character 4", "RE2"}},
		{"escape", search.GrepQuery{Pattern: `a\q`}, []string{"invalid escape", "at character 2"}},
		{"newline", search.GrepQuery{Pattern: "a\nb"}, []string{"newline", "multiline=true"}},
		{"escaped newline", search.GrepQuery{Pattern: `a\nb`}, []string{"newline", "multiline=true"}},
		{"too large", search.GrepQuery{Pattern: `a{2000}`}, []string{"1000"}},
		{"long", search.GrepQuery{Pattern: strings.Repeat("a", 16<<10+1)}, []string{"at most 16384"}},
		{"long literal", search.GrepQuery{Pattern: strings.Repeat("a", 16<<10+1), Literal: true}, []string{"at most 16384"}},
		{"many repetitions", search.GrepQuery{Pattern: strings.Repeat(".{0,1000}", 1000) + "z"}, []string{"50000 instructions"}},
		{"many classes", search.GrepQuery{Pattern: strings.Repeat(`\pL`, 5000)}, []string{"50000 instructions"}},
		{"a far offset", search.GrepQuery{Pattern: "a", Options: search.Options{Offset: 1_000_001}}, []string{"offset", "narrow"}},
		{"a far offset that overflows", search.GrepQuery{Pattern: "a", Options: search.Options{Offset: math.MaxInt, Limit: 1}}, []string{"offset", "narrow"}},
		{"a long type", search.GrepQuery{Pattern: "a", Types: []string{strings.Repeat("a", 300_000)}}, []string{"file type", "glob"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := search.NewGrep(c.query)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
}

func wide16(s string, little bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		hi, lo := byte(u>>8), byte(u)
		if little {
			hi, lo = lo, hi
		}
		b.WriteByte(hi)
		b.WriteByte(lo)
	}
	return b.String()
}

func TestTexts(t *testing.T) {
	long := strings.Repeat("é", 1000)
	cases := []struct {
		name, text string
		query      search.GrepQuery
		want       string
	}{
		{"no newline at the end", "a\nb hit", search.GrepQuery{Pattern: "hit"}, "2:b hit"},
		{"CRLF", "one hit\r\ntwo\r\n", search.GrepQuery{Pattern: "hit$"}, "1:one hit"},
		{"CRLF and any", "a\r\n\r\nb\r\n", search.GrepQuery{Pattern: "^.+$"}, "1:a|3:b"},
		{"a CR that is asked for", "a\r\nb\n", search.GrepQuery{Pattern: `\r`}, "1:a"},
		{"CR alone ends nothing", "a\rhit\rb\n", search.GrepQuery{Pattern: "hit"}, "1:a\rhit\rb"},
		{"other separators end nothing", "a\u2028hit\x0cb\nhit\n", search.GrepQuery{Pattern: "hit"}, "1:a\u2028hit\x0cb|2:hit"},
		{"BOM", "\xef\xbb\xbfhit\n", search.GrepQuery{Pattern: "^hit"}, "1:hit"},
		{"UTF-16LE", wide16("x\r\nhit é\r\n", true), search.GrepQuery{Pattern: "hit é$"}, "2:hit é"},
		{"UTF-16BE", wide16("hit\n", false), search.GrepQuery{Pattern: "hit"}, "1:hit"},
		{"Latin-1", "caf\xe9 hit\n", search.GrepQuery{Pattern: "hit"}, "1:café hit"},
		{"Latin-1 by its letter", "caf\xe9 hit\nd\xe9j\xe0 vu, long enough\n", search.GrepQuery{Pattern: "déjà"}, "2:déjà vu, long enough"},
		{"Latin-1 at the end", "caf\xe9\n", search.GrepQuery{Pattern: "café"}, "1:café"},
		{"Latin-1 without a newline", "caf\xe9", search.GrepQuery{Pattern: "café"}, "1:café"},
		{"Latin-1 by its number", "caf\xe9\n", search.GrepQuery{Pattern: `caf\x{e9}`}, "1:café"},
		{"Latin-1 by its class", "caf\xe9\ncaf!\n", search.GrepQuery{Pattern: `caf\pL`}, "1:café"},
		{"Latin-1 by its case", "caf\xe9\n", search.GrepQuery{Pattern: `CAFÉ`, IgnoreCase: true}, "1:café"},
		{"Latin-1 by what it is not", "caf\xe9\ncaf\xe8\n", search.GrepQuery{Pattern: `caf[^é]`}, "2:cafè"},
		{"Latin-1 by anything", "caf\xe9\n", search.GrepQuery{Pattern: `^caf[^a]$`}, "1:café"},
		{"Latin-1 as a literal", "caf\xe9\n", search.GrepQuery{Pattern: "é", Literal: true}, "1:café"},
		{"Latin-1 among UTF-8", "café 1\ncaf\xe9 2\n", search.GrepQuery{Pattern: "café"}, "1:café 1|2:café 2"},
		{"Latin-1 across lines", "caf\xe9\nb\n", search.GrepQuery{Pattern: `é\nb`, Multiline: true}, "1:café|2:b"},
		{"Latin-1 far behind", strings.Repeat("text\n", 1<<20) + "caf\xe9\n", search.GrepQuery{Pattern: "café"}, "1048577:café"},
		{"windows-1252", "\x80 5\n", search.GrepQuery{Pattern: "€"}, "1:€ 5"},
		{"text ends as text", "a\nhit\n", search.GrepQuery{Pattern: `t\z`}, "2:hit"},
		{"text begins as line", "a\nhit\n", search.GrepQuery{Pattern: `\Ah`}, "2:hit"},
		{"space is not newline", "a \nb\n", search.GrepQuery{Pattern: `a\s+b`}, ""},
		{"not a letter is not newline", "a\nb\n", search.GrepQuery{Pattern: `a[^x]b`}, ""},
		{"empty lines", "a\n\nb\n\n", search.GrepQuery{Pattern: `^$`}, "2:|4:"},
		{"everything", "a\n\nb", search.GrepQuery{Pattern: `x*`}, "1:a|2:|3:b"},
		{"any case", "HiT\nK\u212a\n", search.GrepQuery{Pattern: "hit", IgnoreCase: true}, "1:HiT"},
		{"Kelvin", "a \u212ait\n", search.GrepQuery{Pattern: "kit", IgnoreCase: true}, "1:a \u212ait"},
		{"literal", "a.b*\naxb\n", search.GrepQuery{Pattern: "a.b*", Literal: true}, "1:a.b*"},
		{"literal any case", "A[0]\n", search.GrepQuery{Pattern: "a[0]", Literal: true, IgnoreCase: true}, "1:A[0]"},
		{"only matching", "ab12cd345\nx\n6\n", search.GrepQuery{Pattern: `\d+`, OnlyMatching: true}, "1:12|1:345|3:6"},
		{"only matching CRLF", "ab\r\n", search.GrepQuery{Pattern: `b.*`, OnlyMatching: true}, "1:b"},
		{"multiline", "a\nfoo(\n  x,\n)\nb\n", search.GrepQuery{Pattern: `foo\(.*?\)`, Multiline: true}, "2:foo(|3:  x,|4:)"},
		{"multiline with a newline", "a\nb\na\nb\n", search.GrepQuery{Pattern: `a\nb`, Multiline: true}, "1:a|2:b|3:a|4:b"},
		{"multiline anchors", "ab\r\ncd\r\n", search.GrepQuery{Pattern: `b$\s+^c`, Multiline: true}, "1:ab|2:cd"},
		{"multiline from the start", "a\na\nb\n", search.GrepQuery{Pattern: `\Aa|b`, Multiline: true}, "1:a|3:b"},
		{"only matching sees what is before", "ab a\nba\n", search.GrepQuery{Pattern: `\ba|\Bb|^b`, OnlyMatching: true}, "1:a|1:b|1:a|2:b"},
		{"only matching, some empty", "xaxxaé\n", search.GrepQuery{Pattern: `a*`, OnlyMatching: true}, "1:a|1:a"},
		{"only matching at the start", "aaa\n", search.GrepQuery{Pattern: `\Aa`, OnlyMatching: true}, "1:a"},
		{"multiline, only matching", "xa\nby\n", search.GrepQuery{Pattern: `a\nb`, Multiline: true, OnlyMatching: true}, "1:a|2:b"},
		{"long line", long + "hit" + long, search.GrepQuery{Pattern: "hit"}, "1:[+1800 bytes] " + strings.Repeat("é", 100) + "hit" + strings.Repeat("é", 297) + " [+1406 bytes]"},
		{"long line, hit at the front", "hit" + long, search.GrepQuery{Pattern: "hit"}, "1:hit" + strings.Repeat("é", 397) + " [+1206 bytes]"},
		{"500 are not long", strings.Repeat("é", 497) + "hit", search.GrepQuery{Pattern: "hit"}, "1:" + strings.Repeat("é", 497) + "hit"},
		{"binary", "hit\x00\n", search.GrepQuery{Pattern: "hit"}, ""},
		{"binary further on", "hit 1\n" + strings.Repeat("text\n", 40000) + "hit\x00\nhit 3\n", search.GrepQuery{Pattern: "hit"}, "1:hit 1"},
		{"empty file", "", search.GrepQuery{Pattern: `x*`}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.query.Mode = search.Content
			r := grep(t, open(t, build(t, files{"f": c.text})), c.query)
			var got []string
			for _, h := range r.Hits {
				for _, l := range h.Lines {
					if !utf8.ValidString(l.Text) {
						t.Errorf("line %d is no UTF-8", l.Number)
					}
					got = append(got, fmt.Sprintf("%d:%s", l.Number, l.Text))
				}
			}
			equal(t, "lines", c.want, strings.Join(got, "|"))
		})
	}
}

func TestSkippedFiles(t *testing.T) {
	dir := build(t, files{"a.bin": "hit\x00", "b.pdf": "%PDF-1.4\nhit\n", "c.txt": "hit\n", "d.txt": strings.Repeat("line\n", 2<<20)})
	r := grep(t, open(t, dir), search.GrepQuery{Pattern: `hit.`, Multiline: true})
	equal(t, "paths", "c.txt", paths(r))
	equal(t, "skipped", search.Skipped{Binary: 2, TooLarge: 1}, r.Skipped)
	equal(t, "files", 4, r.Files)
}

// TestBinaryFurtherOn holds that a NUL behind the head ends a file before its line, and
// that the result says so.
func TestBinaryFurtherOn(t *testing.T) {
	long := strings.Repeat("needle one\n", 10_000)
	cases := []struct {
		name, text string
		count      int
		binary     int
		complete   bool
	}{
		{"text", long, 10_000, 0, true},
		{"a NUL in a match", long + "a\x00b needle two\n", 10_000, 1, false},
		{"a NUL in no match", long + "a\x00b\nneedle two\n", 10_000, 1, false},
		{"a NUL far behind", strings.Repeat(long, 50) + "a\x00b\n" + strings.Repeat(long, 50), 500_000, 1, false},
		{"no match before a NUL", strings.Repeat("text\n", 20_000) + "a\x00b\nneedle two\n", 0, 1, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := grep(t, open(t, build(t, files{"f": c.text})), search.GrepQuery{Pattern: "needle", Mode: search.Count})
			equal(t, "count", c.count, r.TotalMatches)
			equal(t, "binary", c.binary, r.Skipped.Binary)
			equal(t, "complete", c.complete, r.Complete)
		})
	}
	r := grep(t, open(t, build(t, files{"f": cases[1].text})), search.GrepQuery{Pattern: "needle"})
	equal(t, "a file that matches", 0, r.Skipped.Binary)
	equal(t, "a file that matches", true, r.Complete)
}

func TestContextAgainstRipgrep(t *testing.T) {
	dir := filepath.Join(strings.TrimSuffix(goSource(t), "/net"), "net/http")
	cases := []struct {
		name          string
		before, after int
		args          []string
	}{
		{"after", 0, 2, []string{"-A", "2"}},
		{"before", 3, 0, []string{"-B", "3"}},
		{"both", 2, 2, []string{"-C", "2"}},
		{"uneven", 1, 4, []string{"-B", "1", "-A", "4"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := search.GrepQuery{Pattern: `return nil, err|ServeHTTP`, Mode: search.Content, Before: c.before, After: c.after, Globs: []string{"s*.go"}}
			var want []string
			for _, name := range strings.Fields(paths(glob(t, open(t, dir), search.GlobQuery{Pattern: "s*.go"}))) {
				want = append(want, rg(t, dir, append(c.args, "-n", "-H", "--no-context-separator", q.Pattern, name)...)...)
			}
			equal(t, "lines", byNumber(want), byNumber(lines(grep(t, open(t, dir), q), search.Content)))
		})
	}
}

var numbered = regexp.MustCompile(`^(.+?\.go)[:-](\d+)[:-]`)

// byNumber sorts lines by path and number, which rg's own order is before its lines are
// sorted by path alone.
func byNumber(all []string) []string {
	key := func(l string) string {
		m := numbered.FindStringSubmatch(l)
		return fmt.Sprintf("%s %9s", m[1], m[2])
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	return all
}

// TestLargeFile searches a file that is read in pieces; it must not be held whole.
func TestLargeFile(t *testing.T) {
	const rows, every = 2_500_000, 50_000
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "large.txt"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range rows {
		if i%every == every-1 {
			fmt.Fprintf(w, "hit %d\n", i)
			continue
		}
		w.WriteString("a line of text that is here only to be passed over\n")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := grep(t, open(t, dir), search.GrepQuery{Pattern: `^hit \d+$`, Mode: search.Content, Before: 1})
	runtime.ReadMemStats(&after)
	equal(t, "matches", rows/every, r.TotalMatches)
	for i, l := range r.Hits[0].Lines {
		if want := (i/2+1)*every - 1 + i%2; l.Number != want || l.Match != (i%2 == 1) {
			t.Fatalf("line %d is %+v, want number %d", i, l, want)
		}
	}
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 20 {
		t.Errorf("allocated %d MB", mb)
	}
}

// TestLongLine holds that a line that needs more than the usual buffer is one line.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("abcdefghij", 5<<20)
	dir := build(t, files{"l.txt": "x\nhit" + long + "hit" + strings.Repeat("z", 1000) + "\nhit\n"})
	abc := long[:100]
	cases := []struct{ name, pattern, want string }{
		{"twice in a line", "hit", "2:hit" + long[:397] + " [+52429406 bytes]|3:hit"},
		{"behind the seam", "hitz", "2:[+52428703 bytes] " + abc + "hit" + strings.Repeat("z", 297) + " [+703 bytes]|"},
		{"anchor at the end", "hitz{1000}$", "2:[+52428703 bytes] " + abc + "hit" + strings.Repeat("z", 297) + " [+703 bytes]|"},
		{"anchor at the beginning", "^[a-g]", ""},
	}
	if raced {
		cases = cases[:len(cases)-1] // takes package regexp a minute
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := grep(t, open(t, dir), search.GrepQuery{Pattern: c.pattern, Mode: search.Content})
			var got []string
			for _, h := range r.Hits {
				for _, l := range h.Lines {
					got = append(got, fmt.Sprintf("%d:%s", l.Number, l.Text))
				}
			}
			equal(t, "lines", strings.TrimSuffix(c.want, "|"), strings.Join(got, "|"))
		})
	}
}

// TestManyMatchesInLine holds that no more matches of a line are made than are shown.
func TestManyMatchesInLine(t *testing.T) {
	s := open(t, build(t, files{"f": strings.Repeat("ab", 15<<20)}))
	var before, after runtime.MemStats
	for _, pattern := range []string{".", `\w|\b`, `a|b`} {
		runtime.ReadMemStats(&before)
		r := grep(t, s, search.GrepQuery{Pattern: pattern, Mode: search.Content, OnlyMatching: true, Options: search.Options{Limit: 100}})
		runtime.ReadMemStats(&after)
		equal(t, "lines", 100, len(r.Hits[0].Lines))
		equal(t, "truncated", true, r.Truncated)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 150 {
			t.Errorf("%s: allocated %d MB", pattern, mb)
		}
	}
}

// TestStartOfText holds that a pattern that asks for the start of a text is not tried from
// there for each match.
func TestStartOfText(t *testing.T) {
	s := open(t, build(t, files{"f": strings.Repeat("a\n", 100_000)}))
	r := grep(t, s, search.GrepQuery{Pattern: `\Aq|a`, Mode: search.Count, Multiline: true})
	equal(t, "matches", 100_000, r.TotalMatches)
	r = grep(t, s, search.GrepQuery{Pattern: `\Aa`, Mode: search.Count, Multiline: true})
	equal(t, "matches", 1, r.TotalMatches)
}

// TestTooLongLine holds that nothing is shown of a file with a line that is not searched.
func TestTooLongLine(t *testing.T) {
	dir := build(t, files{"a.txt": "hit\n", "l.txt": "hit\n" + strings.Repeat("abcdefgh", 32<<20) + "z\nhit\n"})
	r := grep(t, open(t, dir), search.GrepQuery{Pattern: "hit", Mode: search.Content})
	equal(t, "hits", []string{"a.txt:1:hit"}, lines(r, search.Content))
	equal(t, "skipped", search.Skipped{TooLarge: 1}, r.Skipped)
}

// TestLongLineMemory holds that a worker gives up the buffer that one line needed.
func TestLongLineMemory(t *testing.T) {
	dir := build(t, files{"a.txt": strings.Repeat("abcdefgh", 12<<20), "b/c.txt": "hit\n"})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, after := heap(), uint64(0)
	visible := func(rel string, _ bool) bool {
		if rel == "b/c.txt" { // a.txt comes before it
			after = heap()
		}
		return true
	}
	grep(t, open(t, dir), search.GrepQuery{Pattern: "hit", Options: search.Options{Workers: 1, Visible: visible}})
	if after == 0 || after > before+32<<20 {
		t.Errorf("heap %d MB before, %d MB afterwards", before>>20, after>>20)
	}
}

// FuzzLines holds that matching a whole file finds the lines that package regexp matches
// one by one.
func FuzzLines(f *testing.F) {
	for _, p := range []string{"hit", "^a|b$", `\s+x`, `[^a]b`, `(?i)kiss`, `a*`, `(?s).b`, `\bfoo\b`, "é.", `x{2,3}y?`, `^$`} {
		f.Add(p, "a hit\r\nb\n\nKi\u017fs foo\nxxy\n", false)
	}
	dir := f.TempDir()
	s := open(f, dir)
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		if strings.Contains(text, "\x00") || !utf8.ValidString(text) || !utf8.ValidString(pattern) || strings.HasPrefix(text, "\ufeff") ||
			strings.ContainsAny(pattern, "\r\n") || strings.Contains(pattern, `\r`) || strings.Contains(pattern, `\n`) {
			return
		}
		g, err := search.NewGrep(search.GrepQuery{Pattern: pattern, IgnoreCase: fold, Mode: search.Content})
		if err != nil {
			return
		}
		flags := "(?m)"
		if fold {
			flags = "(?im)"
		}
		re, err := regexp.Compile(flags + "(?:" + pattern + ")")
		if err != nil {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, "f.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := g.Run(background, s)
		if err != nil {
			t.Fatal(err)
		}
		if r.Skipped.Binary > 0 {
			return
		}
		var want, got []int
		for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if text != "" && re.MatchString(strings.TrimSuffix(l, "\r")) {
				want = append(want, i+1)
			}
		}
		for _, h := range r.Hits {
			for _, l := range h.Lines {
				got = append(got, l.Number)
			}
		}
		equal(t, fmt.Sprintf("%q in %q", pattern, text), want, got)
	})
}
