package fsroot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

// TestSpellings is rule 4c.1 and cases 24 and 25: what models and clients write for a path.
func TestSpellings(t *testing.T) {
	tr := plant(t, "a.txt", "a b.txt", "sub/x", "@types/index.d.ts", "home/me/notes", "100%.txt", "q?a#1",
		"line\nbreak", "left\u202eright", "caf\xe9", `back\slash`, `twin\n`, "twin\n")
	t.Setenv("HOME", tr.root+"/home/me")
	tests := []struct {
		path, rel string
		kind      fsroot.Kind
	}{
		{"file://" + tr.root + "/a%20b.txt", "a b.txt", 0},
		{"file://localhost" + tr.root + "/a.txt", "a.txt", 0},
		{"file:" + tr.root + "/a.txt", "a.txt", 0},
		{"FILE://" + tr.root + "/a.txt", "a.txt", 0},
		{"file://" + tr.root + "/q?a#1", "q?a#1", 0},
		{"file://" + tr.root + "/100%25.txt", "100%.txt", 0},
		{"file://" + tr.root + "/100%.txt", "", fsroot.InvalidName},
		{"file:///c%3A/x", "", fsroot.Outside},
		{"file://evil/x", "", fsroot.InvalidName},
		{"file://" + tr.root + "/%2e%2e/S", "", fsroot.Outside},
		{"file://" + tr.root + "/a%00b", "", fsroot.InvalidName},
		{"http://example.org/a.txt", "", fsroot.InvalidName},
		{"@a.txt", "a.txt", 0},
		{`line\nbreak`, "line\nbreak", 0}, // as toolkit.Inline prints it
		{`left\u202eright`, "left\u202eright", 0},
		{`caf\xe9`, "caf\xe9", 0},
		{`back\slash`, `back\slash`, 0},
		{`twin\n`, `twin\n`, 0}, // the literal name goes first
		{`\x2e\x2e/a.txt`, "", fsroot.Outside},
		{"@types/index.d.ts", "@types/index.d.ts", 0},
		{"@" + tr.root + "/sub/x", "sub/x", 0},
		{" a.txt\n", "a.txt", 0},
		{"\"a b.txt\"", "a b.txt", 0},
		{"'sub/x'", "sub/x", 0},
		{"`sub/x`", "sub/x", 0},
		{"\"../S\"", "", fsroot.Outside},
		{"~", "home/me", 0},
		{"~/notes", "home/me/notes", 0},
		{"~/../../../S", "", fsroot.Outside},
		{"~root/x", "", fsroot.NotExist},
		{"$HOME/notes", "", fsroot.NotExist},
		{"%USERPROFILE%", "", fsroot.NotExist},
	}
	s := fsroot.NewSet(tr.root)
	for _, tt := range tests {
		p, err := s.Resolve(tt.path)
		if fsroot.KindOf(err) != tt.kind || (err == nil && p.Rel != tt.rel) {
			t.Errorf("%q: %q, %v; want %q, kind %d", tt.path, p.Rel, err, tt.rel, tt.kind)
		}
	}
	t.Setenv("HOME", tr.top+"/out")
	if _, err := s.Resolve("~/passwd"); fsroot.KindOf(err) != fsroot.Outside {
		t.Errorf("home outside the root: %v", err)
	}
}

// TestSeveralRoots is case 16.
func TestSeveralRoots(t *testing.T) {
	tr := plant(t, "A/x", "A/B/x", "A/B/only-b", "A/only-a", "C/x", "C/only-c")
	a, b, c := tr.root+"/A", tr.root+"/A/B", tr.root+"/C"
	tests := []struct {
		name, path, want string
		kind             fsroot.Kind
	}{
		{"only in one", "only-c", c + "/only-c", 0},
		{"in the nested one", "only-b", b + "/only-b", 0},
		{"absolute, innermost", b + "/x", b + "/x", 0},
		{"absolute, outer", a + "/x", a + "/x", 0},
		{"in all", "x", "", fsroot.Ambiguous},
		{"in none", "new", a + "/new", fsroot.NotExist},
		{"the root itself", ".", a, 0},
	}
	s := fsroot.NewSet(a, b, c)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := s.Resolve(tt.path)
			if fsroot.KindOf(err) != tt.kind {
				t.Fatalf("err = %v, want kind %d", err, tt.kind)
			}
			if tt.want != "" && p.Root.Abs(p.Rel) != tt.want {
				t.Errorf("place %s, want %s", p.Root.Abs(p.Rel), tt.want)
			}
			if tt.kind == fsroot.Ambiguous && (!strings.Contains(visible(err), a+"/x") || !strings.Contains(visible(err), c+"/x")) {
				t.Errorf("the error does not name the places: %s", visible(err))
			}
		})
	}
}

func TestNoRoots(t *testing.T) {
	_, err := fsroot.NewSet("").Resolve("/etc/passwd")
	if fsroot.KindOf(err) != fsroot.NoRoots || !strings.Contains(visible(err), "--root") {
		t.Errorf("err = %v", err)
	}
}

// TestNarrow: client roots narrow the operator's and never widen them.
func TestNarrow(t *testing.T) {
	tr := plant(t, "in/a.txt", "in/deep/b.txt", "other/c.txt", "out -> ../out", "alias -> other")
	must(t, os.Symlink(tr.root, tr.top+"/l"))
	operator := []string{tr.root}
	tests := []struct {
		name  string
		roots []string
		uris  []string
		want  []string
	}{
		{"none offered", operator, nil, operator},
		{"below", operator, []string{"file://" + tr.root + "/in"}, []string{tr.root + "/in"}},
		{"above", operator, []string{"file://" + tr.top}, operator},
		{"the same, by a link", operator, []string{tr.top + "/l"}, operator},
		{"below, by a link", operator, []string{tr.top + "/l/in"}, []string{tr.root + "/in"}},
		{"unusable skipped", operator, []string{"http://x/", "file://evil" + tr.root, "relative", "file://" + tr.root + "/in/"}, []string{tr.root + "/in"}},
		{"resolved", operator, []string{tr.root + "/alias"}, []string{tr.root + "/other"}},
		{"disjoint", operator, []string{"file://" + tr.top + "/out"}, nil},
		{"a sibling with the same prefix", operator, []string{"file://" + tr.root + "-evil"}, nil},
		{"no operator roots", nil, []string{"file://" + tr.root + "/in"}, []string{tr.root + "/in"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := fsroot.NewSet(tt.roots...).Narrow(tt.uris)
			var got []string
			if err == nil {
				for _, r := range s.Roots() {
					got = append(got, r.Dir())
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("roots (-want +got):\n%s(%v)", diff, err)
			}
		})
	}
}

// TestNarrowConfines: what a client named as its root is opened through the operator's.
func TestNarrowConfines(t *testing.T) {
	tr := plant(t, "in/a.txt", "in/up -> ../other/c.txt", "other/c.txt", "out -> ../out")
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		in, err := s.Narrow([]string{tr.root + "/in"})
		must(t, err)
		if content, real, err := read(in, "a.txt"); err != nil || content != "in/a.txt" || real != "a.txt" {
			t.Errorf("a.txt: %q at %q, %v", content, real, err)
		}
		r := in.Roots()[0]
		if origin, rel := r.Origin("a.txt"); origin.Dir() != tr.root || rel != "in/a.txt" {
			t.Errorf("origin %s, %s", origin.Dir(), rel)
		}
		if dir, rel := r.Named("a.txt"); dir != tr.root || rel != "in/a.txt" {
			t.Errorf("named %s, %s", dir, rel)
		}
		for _, path := range []string{"up", "../other/c.txt", tr.root + "/other/c.txt"} {
			if _, _, err := read(in, path); fsroot.KindOf(err) != fsroot.Outside {
				t.Errorf("%s: %v, want outside", path, err)
			}
		}
		out, err := s.Narrow([]string{tr.root + "/out"})
		if err == nil {
			_, _, err = read(out, "passwd")
		}
		if err == nil {
			t.Error("a client's root led outside the operator's")
		}
		must(t, os.Rename(tr.root+"/in", tr.root+"/was"))
		must(t, os.Symlink("other", tr.root+"/in"))
		if _, _, err := read(in, "c.txt"); fsroot.KindOf(err) != fsroot.RootMissing {
			t.Errorf("a narrowed root became a link: %v", err)
		}
		must(t, os.Remove(tr.root+"/in"))
		must(t, os.Rename(tr.root+"/was", tr.root+"/in"))
	})
}

func TestSimilar(t *testing.T) {
	tr := plant(t, "README.md", "src/main.go", "src/main_test.go", "src/mainframe.go", "src/server.go", "docs/x")
	tests := []struct {
		path string
		want []string
	}{
		{"readme.md", []string{"README.md"}},
		{"README.txt", []string{"README.md"}},
		{"src/mian.go", []string{"src/main.go"}},
		{"src/main.rs", []string{"src/main.go", "src/main_test.go", "src/mainframe.go"}},
		{"scr/main.go", []string{"src"}},
		{"zzzzzz", nil},
	}
	for _, tt := range tests {
		p, err := fsroot.NewSet(tr.root).Resolve(tt.path)
		e, ok := err.(*fsroot.Error)
		if !ok || e.Kind != fsroot.NotExist {
			t.Fatalf("%s: %v", tt.path, err)
		}
		if diff := cmp.Diff(tt.want, e.Names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
		if p.Rel != tt.path {
			t.Errorf("%s: the place of a miss is %q", tt.path, p.Rel)
		}
	}
}

// TestMissMeansPlain: a caller that creates what was not found gets the plain name.
func TestMissMeansPlain(t *testing.T) {
	tr := plant(t, "src/")
	for path, want := range map[string]string{
		"@src/new": "src/new", "src/new": "src/new", "\"" + tr.root + "/src/new\"": "src/new", "new": "new",
	} {
		p, err := fsroot.NewSet(tr.root).Resolve(path)
		if fsroot.KindOf(err) != fsroot.NotExist || p.Rel != want {
			t.Errorf("%q: %q, %v; want %q", path, p.Rel, err, want)
		}
	}
}

// TestUnicodeForms is case 30 (aside-codemode#30, copyparty#1555).
func TestUnicodeForms(t *testing.T) {
	const nfc, nfd = "caf\u00e9", "cafe\u0301"
	tr := plant(t, nfd+"/re\u0301sume\u0301.txt", nfc+".md")
	for path, want := range map[string]string{
		nfc + "/r\u00e9sum\u00e9.txt": nfd + "/re\u0301sume\u0301.txt",
		nfd + ".md":                   nfc + ".md",
		tr.root + "/" + nfd + ".md":   nfc + ".md",
	} {
		p, err := fsroot.NewSet(tr.root).Resolve(path)
		if err != nil || p.Rel != want {
			t.Errorf("%q: %q, %v; want %q", path, p.Rel, err, want)
		}
	}
	if _, err := fsroot.NewSet(tr.root).Resolve("CAFE\u0301.md"); fsroot.KindOf(err) != fsroot.NotExist ||
		!strings.Contains(visible(err), nfc+".md") {
		t.Errorf("case 29, another case: %v", err)
	}
}

func TestStat(t *testing.T) {
	tr := plant(t, "d/a.txt", "abs -> $R/d/a.txt", "rel -> d", "out -> ../S", "none -> nowhere", "loop -> loop")
	type link = fsroot.Link
	tests := []struct {
		name string
		want *link
	}{
		{"d", nil},
		{"abs", &link{Target: "d/a.txt", Mode: 0o644}},
		{"rel", &link{Target: "d", Mode: os.ModeDir | 0o755}},
		{"rel/a.txt", nil},
		{"out", &link{Kind: fsroot.Outside}},
		{"none", &link{Kind: fsroot.Dangling}},
		{"loop", &link{Kind: fsroot.TooManyLinks}},
	}
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		for _, tt := range tests {
			info, err := s.Roots()[0].Lstat(tt.name)
			if err != nil || info.Name() != filepath.Base(tt.name) {
				t.Fatalf("%s: %v, name %q", tt.name, err, info.Name())
			}
			if diff := cmp.Diff(tt.want, info.Link); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		if info, err := s.Roots()[0].Stat("rel/a.txt"); err != nil || info.Real != "d/a.txt" || info.Size() != 7 {
			t.Errorf("stat through a link: %v, %v", info, err)
		}
	})
}

func TestOpenDir(t *testing.T) {
	tr := plant(t, "d/a.txt", "rel -> d", "out -> ../out")
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		root := s.Roots()[0]
		for _, rel := range []string{".", "d", "rel"} {
			d, err := root.OpenDir(rel)
			must(t, err)
			osRoot, err := d.OSRoot()
			must(t, err)
			names, err := d.Readdirnames(-1)
			if err != nil || len(names) == 0 || (rel == "rel" && d.Real != "d") {
				t.Errorf("%s: real %s, names %q, %v", rel, d.Real, names, err)
			}
			if _, err := osRoot.Lstat(names[0]); err != nil {
				t.Error(err)
			}
			osRoot.Close()
			d.Close()
		}
		if _, err := root.OpenDir("out"); fsroot.KindOf(err) != fsroot.Outside {
			t.Errorf("out: %v", err)
		}
		if _, err := root.OpenDir("d/a.txt"); fsroot.KindOf(err) != fsroot.NotDir {
			t.Errorf("a file: %v", err)
		}
	})
}

// TestErrorsStayOneLine: a name cannot forge lines of a result.
func TestErrorsStayOneLine(t *testing.T) {
	tr := plant(t, "x\ny/z", "x\nl -> ../S")
	s := fsroot.NewSet(tr.root)
	for _, path := range []string{"x\nY", "x\nl", "../\nS", strings.Repeat("long\n", 500)} {
		_, _, err := read(s, path)
		if text := visible(err); err == nil || strings.Contains(text, "\n") || len(text) > 2000 {
			t.Errorf("%q: %s", path, text)
		}
	}
}

func TestNearest(t *testing.T) {
	long := strings.Repeat("x", 240)
	tests := []struct {
		name, want string
		names      []string
		near       []string
	}{
		{"another case", "readme.md", []string{"README.md", "LICENSE"}, []string{"README.md"}},
		{"letters swapped", "mian.go", []string{"main.go", "zzz"}, []string{"main.go"}},
		{"another ending", "main.ts", []string{"main.go"}, []string{"main.go"}},
		{"nothing near", "qqqqqq", []string{"main.go"}, nil},
		{"three at most", "a1", []string{"a2", "a3", "a4", "a5"}, []string{"a2", "a3", "a4"}},
		{"long, a middle wrong", long + "abc" + long[:9], []string{long + "abd" + long[:9]}, []string{long + "abd" + long[:9]}},
		{"long, all wrong", long, []string{strings.Repeat("y", 240)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.near, fsroot.Nearest(tt.names, tt.want)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNamedByClients: where the client chose the root, policies hear the whole path, by whatever
// link it was chosen.
func TestNamedByClients(t *testing.T) {
	tr := plant(t, "in/a.txt", "link -> in")
	for _, root := range []string{tr.root + "/in", tr.root + "/link"} {
		s, err := fsroot.NewSet().Narrow([]string{root})
		must(t, err)
		real, err := filepath.EvalSymlinks(tr.root + "/in")
		must(t, err)
		dir, rel := s.Roots()[0].Named("a.txt")
		if filepath.Join(dir, filepath.FromSlash(rel)) != filepath.Join(real, "a.txt") || filepath.Dir(dir) != dir {
			t.Errorf("%s: named %s, %s", root, dir, rel)
		}
	}
}
