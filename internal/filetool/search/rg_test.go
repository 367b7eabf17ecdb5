package search_test

import (
	"bytes"
	gocmp "cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/internal/testneed"
)

// open returns a start at dir.
func open(tb testing.TB, dir string) search.Start {
	tb.Helper()
	f, err := os.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return search.Start{Dir: f}
}

func grep(tb testing.TB, s search.Start, q search.GrepQuery) *search.Result {
	tb.Helper()
	q.Timeout = gocmp.Or(q.Timeout, time.Minute)
	g, err := search.NewGrep(q)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := g.Run(context.Background(), s)
	if err != nil || r.TimedOut {
		tb.Fatal("timed out, or ", err)
	}
	return r
}

// lines renders a result as rg prints it without headings.
func lines(r *search.Result, m search.Mode) []string {
	var out []string
	for _, h := range r.Hits {
		switch m {
		case search.Files:
			out = append(out, h.Path)
		case search.Count:
			out = append(out, fmt.Sprintf("%s:%d", h.Path, h.Count))
		default:
			for _, l := range h.Lines {
				mark := "-"
				if l.Match {
					mark = ":"
				}
				out = append(out, fmt.Sprintf("%s%s%d%s%s", h.Path, mark, l.Number, mark, l.Text))
			}
		}
	}
	return out
}

// cut replaces long lines, of which ours shows a window; that has tests of its own.
func cut(all []string) []string {
	for i, l := range all {
		path, rest, _ := strings.Cut(l, ":")
		number, text, ok := strings.Cut(rest, ":")
		if ok && (utf8.RuneCountInString(text) > 500 || strings.Contains(text, " bytes]")) {
			all[i] = path + ":" + number + ": long"
		}
	}
	return all
}

// rg runs ripgrep in dir and returns its lines.
func rg(tb testing.TB, dir string, args ...string) []string {
	tb.Helper()
	cmd := exec.Command(testneed.Tool(tb, "rg"), append([]string{"--no-config", "--hidden", "-g", "!.git", "--no-require-git", "--no-heading", "--no-messages"}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		tb.Fatalf("rg %q: %v %s", args, err, stderr.String())
	}
	if len(out) == 0 {
		return nil
	}
	all := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, l := range all {
		all[i] = strings.TrimPrefix(strings.TrimSuffix(l, "\r"), "./")
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
	return all
}

// pathOf returns the path that a line of rg's output begins with. rg itself sorts by
// components, not by bytes.
func pathOf(line string) string {
	path, _, _ := strings.Cut(line, ":")
	return path
}

// goSource returns the Go source tree, or a part of it where searching is slow.
func goSource(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command(testneed.Tool(tb, "go"), "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	if raced {
		return filepath.Join(src, "net")
	}
	return src
}

// TestAgainstRipgrep holds that the same lines are found in the Go source tree. Unicode is
// off in rg, since classes are ASCII in RE2 syntax.
func TestAgainstRipgrep(t *testing.T) {
	dir := goSource(t)
	cases := []struct {
		name  string
		query search.GrepQuery
		args  []string
	}{
		{"rare literal", search.GrepQuery{Pattern: "unexpected newline in"}, nil},
		{"function calls", search.GrepQuery{Pattern: `\w+\.ReadFile\(\w+\)`}, nil},
		{"alternation", search.GrepQuery{Pattern: `(TODO|FIXME|XXX)\b`}, nil},
		{"two words", search.GrepQuery{Pattern: "TODO|FIXME"}, nil},
		{"two words in any case", search.GrepQuery{Pattern: "(?i)todo|fixme"}, nil},
		{"a letter and more", search.GrepQuery{Pattern: "x+y"}, nil},
		{"no literal", search.GrepQuery{Pattern: `\b[A-Z][a-z]+[0-9]{2,}\b`, Types: []string{"go"}, Globs: []string{"net/**"}}, []string{"-t", "go", "-g", "/net/**"}},
		{"class and literal", search.GrepQuery{Pattern: `[A-Z]\w+Error\b`}, nil},
		{"any case", search.GrepQuery{Pattern: "unexpected eof", IgnoreCase: true}, []string{"-i"}},
		{"any case with k and s", search.GrepQuery{Pattern: "kind|task|sinks", IgnoreCase: true, Globs: []string{"net/**"}}, []string{"-i", "-g", "/net/**"}},
		{"line begins", search.GrepQuery{Pattern: `^func \(`, Globs: []string{"net/**/*.go"}}, []string{"-g", "/net/**/*.go"}},
		{"line ends", search.GrepQuery{Pattern: `ing$`}, nil},
		{"empty lines", search.GrepQuery{Pattern: `^$`, Globs: []string{"io/*.go"}}, []string{"-g", "/io/*.go"}},
		{"only blanks", search.GrepQuery{Pattern: `^\s+$`, Types: []string{"txt", "html"}}, []string{"-t", "txt", "-t", "html"}},
		{"space between", search.GrepQuery{Pattern: `return\s+nil,\s+err`}, nil},
		{"literal text", search.GrepQuery{Pattern: `[i](`, Literal: true}, []string{"-F"}},
		{"a literal that is common", search.GrepQuery{Pattern: "})", Literal: true, Globs: []string{"*_test.go"}}, []string{"-F", "-g", "*_test.go"}},
		{"negated class", search.GrepQuery{Pattern: `"[^"\s]+\.html"`}, nil},
		{"two globs", search.GrepQuery{Pattern: "package main", Globs: []string{"*.go", "!*_test.go"}}, []string{"-g", "*.go", "-g", "!*_test.go"}},
		{"braces in a glob", search.GrepQuery{Pattern: "define", Globs: []string{"*.{s,h}"}}, []string{"-g", "*.{s,h}"}},
		{"repetition", search.GrepQuery{Pattern: `(ab|cd){2,3}`, Globs: []string{"crypto/**"}}, []string{"-g", "/crypto/**"}},
		{"letters", search.GrepQuery{Pattern: `日本`}, nil},
		{"lazy and groups", search.GrepQuery{Pattern: `<(\w+?)>.*?</\w+>`}, nil},
		{"nothing", search.GrepQuery{Pattern: "no such " + "text anywhere"}, nil},
	}
	modes := []struct {
		name string
		mode search.Mode
		args []string
	}{
		{"files", search.Files, []string{"-l"}},
		{"count", search.Count, []string{"-c"}},
		{"content", search.Content, []string{"-n"}},
	}
	start := open(t, dir)
	for _, c := range cases {
		for _, m := range modes {
			t.Run(c.name+"/"+m.name, func(t *testing.T) {
				c.query.Mode = m.mode
				got := cut(lines(grep(t, start, c.query), m.mode))
				args := append([]string{"--crlf", "--no-unicode"}, m.args...)
				if c.name == "letters" {
					args = append([]string{"--crlf"}, m.args...)
				}
				want := cut(rg(t, dir, append(append(args, c.args...), "-e", c.query.Pattern, ".")...))
				if len(want) == 0 && c.name != "nothing" && !raced {
					t.Fatal("rg finds nothing; the case says nothing")
				}
				if !slices.Equal(want, got) {
					t.Errorf("-rg +ours:\n%s", shorten(cmp.Diff(want, got)))
				}
			})
		}
	}
}

func shorten(s string) string { return s[:min(len(s), 3000)] }
