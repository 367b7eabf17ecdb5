package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/textfile"
)

// numbersIn returns the lines of a file that the engine finds.
func numbersIn(tb testing.TB, name string, q search.GrepQuery) (numbers []int, ok bool) {
	tb.Helper()
	q.Mode, q.Timeout = search.Content, time.Minute
	g, err := search.NewGrep(q)
	if err != nil {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r, err := g.RunFile(background, f, "f")
	if err != nil || r.TimedOut {
		tb.Fatal("timed out, or ", err)
	}
	for _, h := range r.Hits {
		for _, l := range h.Lines {
			numbers = append(numbers, l.Number)
		}
	}
	return numbers, r.Skipped.Binary == 0
}

// matching returns the lines that package regexp matches one by one, as they are shown.
func matching(tb testing.TB, pattern, text string, fold bool) (numbers []int) {
	tb.Helper()
	flags := "(?m)"
	if fold {
		flags = "(?im)"
	}
	re, err := regexp.Compile(flags + "(?:" + pattern + ")")
	if err != nil {
		tb.Fatal(err)
	}
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if text != "" && re.MatchString(textfile.Show([]byte(strings.TrimSuffix(l, "\r")))) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// TestNeedles holds that looking for literals first finds the lines that the regular
// expression alone would.
func TestNeedles(t *testing.T) {
	text := strings.Join([]string{
		"TODO", "FIXMEs", "a XXX b", "todo", "xxy", "xay", "y", "x", "kiss", "\u212ai\u017fs", "KISS", "TASK", "ta\u017fk", "caf\u00e9", "CAF\u00c9",
		"\u212bngstr\u00f6m", "\xff", "a\xffb", "\xe2\x84", "ab\r", "ab", "abab", "", "\ufffd", "qa", "qu", "qz", "colour", "color", "foobar", "foo-bar", "FOObar", "fooBAR",
	}, "\n") + "\n"
	cases := []struct {
		name, pattern string
		fold          bool
	}{
		{"alternation", "TODO|FIXME", false},
		{"alternation before a boundary", `(TODO|FIXME|XXX)\b`, false},
		{"alternation in any case", "(?i)todo|fixme", false},
		{"one of it in any case", "(?i:todo)|FIXME", false},
		{"repetition", "x+y", false},
		{"repetition of a group", "(ab)+$", false},
		{"exactly two", "(?:ab){2}", false},
		{"perhaps none", "(?:ab){0,2}", false},
		{"optional letter", "colou?r", false},
		{"small class", "q[aeiou]", false},
		{"class with letters beyond ASCII", `[\x{e9}\x{c9}]`, false},
		{"Kelvin sign and long s", "kiss|task", true},
		{"nothing but k and s", "k|ss", true},
		{"long s in the pattern", `ki\x{17f}s`, true},
		{"Angstrom sign", `\x{e5}ngstr\x{f6}m`, true},
		{"any case of one half", "foo(?i:bar)", false},
		{"any case of the other half", "(?i:foo)bar", false},
		{"what is no UTF-8", `\x{fffd}`, false},
		{"what is no UTF-8, in a text", `a\x{fffd}b`, false},
		{"what is no UTF-8, in a class", `a[\x{fffc}-\x{fffe}]b`, false},
		{"line end", "ab$|qa$", false},
		{"empty alternative", "TODO|", false},
		{"eight", "TODO|FIXME|XXX|kiss|task|qa|qu|qz", false},
		{"nine", "TODO|FIXME|XXX|kiss|task|qa|qu|qz|foo", false},
		{"one in another", "foobar|foo|oba", false},
		{"no letter", `^..$`, false},
		{"one common letter", `a\b`, false},
	}
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := numbersIn(t, name, search.GrepQuery{Pattern: c.pattern, IgnoreCase: c.fold})
			if !ok {
				t.Fatal("not searched")
			}
			equal(t, c.pattern, matching(t, c.pattern, text, c.fold), got)
		})
	}
}

// A speaker makes patterns and texts of the bytes it is fed.
type speaker struct{ feed []byte }

func (s *speaker) choose(n int) int {
	if len(s.feed) == 0 {
		return 0
	}
	c := s.feed[0]
	s.feed = s.feed[1:]
	return int(c) % n
}

var atoms = []string{
	"a", "b", "k", "s", "q", "TODO", "ab", "task", "Kiss", ".", `\w`, `\b`, `\B`, "^", "$", "[as]", "[^a]", "[k-m]", "(?i:k)", "(?i:ab)", "(?-i:S)",
	`\x{e9}`, `\x{17f}`, `\x{212a}`, `\x{fffd}`, `[\x{e9}k]`, `\x{c9}`, `\s`, `\z`, `[\x{fffd}a]`, "",
}

func (s *speaker) pattern(depth int) string {
	kind := s.choose(8)
	if depth == 0 || kind < 3 {
		return atoms[s.choose(len(atoms))]
	}
	a := s.pattern(depth - 1)
	switch kind {
	case 3, 4:
		return a + s.pattern(depth-1)
	case 5:
		return "(?:" + a + "|" + s.pattern(depth-1) + ")"
	case 6:
		return "(" + a + ")" + []string{"?", "*", "+", "{2}", "{0,2}", "{1,}"}[s.choose(6)]
	}
	return "(?i:" + a + ")"
}

var words = []string{
	"a", "b", "k", "K", "s", "S", "q", "TODO", "todo", "ab", "AB", "task", "Kiss", " ", "\n", "\n", "\r\n", "\r",
	"\u00e9", "\u00c9", "\u017f", "\u212a", "\ufffd", "\xff", "\xc3", "\xa9", "\xe2\x84", "l", "m",
}

// text has no two \r in a row, of which the pattern and the end of the line share out one
// each.
func (s *speaker) text() string {
	var b strings.Builder
	for last := ""; len(s.feed) > 0; {
		word := words[s.choose(len(words))]
		if strings.HasSuffix(last, "\r") && word[0] == '\r' {
			continue
		}
		b.WriteString(word)
		last = word
	}
	return b.String()
}

// FuzzNeedles is TestNeedles for any pattern and text.
func FuzzNeedles(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		spec, text := make([]byte, 24), make([]byte, 60)
		for i := range spec {
			spec[i] = byte(r.IntN(256))
		}
		for i := range text {
			text[i] = byte(r.IntN(256))
		}
		f.Add(spec, text, r.IntN(3) == 0)
	}
	name := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, spec, feed []byte, fold bool) {
		pattern, text := (&speaker{spec}).pattern(4), (&speaker{feed}).text()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, ok := numbersIn(t, name, search.GrepQuery{Pattern: pattern, IgnoreCase: fold}); ok {
			equal(t, fmt.Sprintf("%q in %q", pattern, text), matching(t, pattern, text, fold), got)
		}
	})
}

// TestLongPattern holds that a pattern of many parts is not weighed whole for each.
func TestLongPattern(t *testing.T) {
	began := time.Now()
	if _, err := search.NewGrep(search.GrepQuery{Pattern: strings.Repeat("long", 2000) + strings.Repeat("[ab].", 1600)}); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 15*time.Second {
		t.Errorf("took %v", d)
	}
}

// BenchmarkNeedles compares patterns whose words are looked for first with one that has
// none, for which a regular expression runs over every byte.
func BenchmarkNeedles(b *testing.B) {
	text := strings.Repeat("a line of some source text, in which nothing is to be found\n", 20_000)
	name := filepath.Join(b.TempDir(), "f")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	for _, p := range []string{`[A-Z]\w\d`, "TODO|FIXME", `(TODO|FIXME|XXX)\b`, "(?i)todo|fixme", `[xyz]q`, "(kiss)+|(?i:bananas)"} {
		b.Run(p, func(b *testing.B) {
			for b.Loop() {
				numbersIn(b, name, search.GrepQuery{Pattern: p})
			}
		})
	}
}
