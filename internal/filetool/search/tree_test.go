package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/internal/testleak"
)

// TestMain holds that no test leaves a goroutine or a descriptor behind.
func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(children[role]())
	}
	testleak.Main(m)
}

const childRole = "SEARCH_TEST_ROLE"

// children are what the test binary does when it runs as another user.
var children = map[string]func() int{"unreadable": unreadableChild, "unentered": unenteredChild}

// unreadableChild searches the working directory and prints what was found and skipped.
func unreadableChild() int {
	f, err := os.Open(".")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	g, err := search.NewGrep(search.GrepQuery{Pattern: "hit"})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	r, err := g.Run(background, search.Start{Dir: f})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(paths(r), "|", r.Skipped.Unreadable, r.Skipped.Names, r.Complete)
	return 0
}

// unenteredChild looks for names, and for what takes more than a name, in the working
// directory and in b below it.
func unenteredChild() int {
	top, err := os.Open(".")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	b, err := os.Open("b")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	newest := search.Options{Newest: true}
	globs, _ := search.NewGlob(search.GlobQuery{Pattern: "*.txt", Options: newest})
	plain, _ := search.NewGlob(search.GlobQuery{Pattern: "*.txt"})
	list := search.NewList(search.ListQuery{Depth: 2, Details: true})
	for _, s := range []struct {
		name   string
		search interface {
			Run(context.Context, search.Start) (*search.Result, error)
		}
		start *os.File
	}{{"glob", globs, top}, {"glob by name", plain, top}, {"list", list, top}, {"start", list, b}} {
		r, err := s.search.Run(background, search.Start{Dir: s.start})
		var v interface{ Visible() string }
		switch {
		case errors.As(err, &v):
			fmt.Println(s.name+":", v.Visible())
		case err != nil:
			fmt.Println(s.name+": hidden:", err)
		default:
			fmt.Println(s.name+":", paths(r), "|", r.Skipped.Unreadable, r.Skipped.Names)
		}
	}
	return 0
}

// A files is a tree: paths to contents. A path that ends in a slash is a directory; a
// content that begins with "-> " is a link.
type files map[string]string

func build(tb testing.TB, fs files) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	add(tb, dir, fs)
	return dir
}

func add(tb testing.TB, dir string, fs files) {
	tb.Helper()
	for name, text := range fs {
		p := filepath.Join(dir, name)
		parent := filepath.Dir(p)
		if strings.HasSuffix(name, "/") {
			parent = p
		}
		err := os.MkdirAll(parent, 0o755)
		target, isLink := strings.CutPrefix(text, "-> ")
		switch {
		case err != nil || parent == p:
		case isLink:
			err = os.Symlink(target, p)
		default:
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func glob(tb testing.TB, s search.Start, q search.GlobQuery) *search.Result {
	tb.Helper()
	g, err := search.NewGlob(q)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := g.Run(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func list(tb testing.TB, s search.Start, q search.ListQuery) *search.Result {
	tb.Helper()
	r, err := search.NewList(q).Run(context.Background(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func paths(r *search.Result) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.Path)
	}
	return strings.Join(out, " ")
}

func equal(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		tb.Errorf("%s: -want +got:\n%s", what, shorten(d))
	}
}
