package fsroot_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// TestRead holds the cases of reading through links and odd paths; numbers are those of
// the adversarial list in research/files.md.
func TestRead(t *testing.T) {
	tr := plant(t, "a.txt", "sub/b.txt", "sub/deep/c.txt",
		"link -> ../S", "dirlink -> ../out", "hop -> sub/../../R/a.txt",
		"rel -> sub/b.txt", "abs -> $R/a.txt", "absdir -> $R/sub", "up -> sub/../a.txt",
		"c1 -> c2", "c2 -> c3", "c3 -> a.txt", "o1 -> o2", "o2 -> o3", "o3 -> ../S",
		"l1 -> l2", "l2 -> l1", "self -> self", "broken -> nowhere", "gone -> ../nowhere", "to-root -> $R")
	must(t, os.MkdirAll(tr.root+"-evil", 0o755))
	must(t, os.WriteFile(tr.root+"-evil/x", []byte(secret), 0o644))
	s := fsroot.NewSet(tr.root)

	tests := []struct {
		name, path string
		real       string
		kind       fsroot.Kind
	}{
		{"plain", "a.txt", "a.txt", 0},
		{"absolute", tr.root + "/sub/b.txt", "sub/b.txt", 0},
		{"1 sibling with the same prefix", tr.root + "-evil/x", "", fsroot.Outside},
		{"2 dots out", tr.root + "/../S", "", fsroot.Outside},
		{"2 dots out, relative", "../S", "", fsroot.Outside},
		{"2 dots within", tr.root + "/sub/../a.txt", "a.txt", 0},
		{"3 link out", "link", "", fsroot.Outside},
		{"4 directory link out", "dirlink/passwd", "", fsroot.Outside},
		{"4 directory link out, missing", "dirlink/none", "", fsroot.Outside},
		{"5 directory link out with a slash", tr.root + "/dirlink/", "", fsroot.Outside},
		{"5 link out with a slash", tr.root + "/link/", "", fsroot.Outside},
		{"out and back", "hop", "", fsroot.Outside},
		{"relative link", "rel", "sub/b.txt", 0},
		{"link with dots", "up", "a.txt", 0},
		{"6 absolute link", "abs", "a.txt", 0},
		{"6 below an absolute link", "absdir/deep/c.txt", "sub/deep/c.txt", 0},
		{"6 link to the root", "to-root/sub/b.txt", "sub/b.txt", 0},
		{"7 chain", "c1", "a.txt", 0},
		{"7 chain out", "o1", "", fsroot.Outside},
		{"7 loop", "l1", "", fsroot.TooManyLinks},
		{"7 self", "self/x", "", fsroot.TooManyLinks},
		{"8 dangling", "broken", "", fsroot.Dangling},
		{"8 dangling out", "gone", "", fsroot.Outside},
		{"22 NUL", "a\x00b", "", fsroot.InvalidName},
		{"22 long path", strings.Repeat("x/", 2500), "", fsroot.InvalidName},
		{"22 long name", strings.Repeat("x", 300), "", fsroot.InvalidName},
		{"23 empty", "", "", fsroot.IsDir},
		{"23 dot", ".", "", fsroot.IsDir},
		{"15 dots and slashes", ".//sub/./b.txt", "sub/b.txt", 0},
		{"a file is no directory", "a.txt/x", "", fsroot.NotDir},
		{"missing", "none.bin", "", fsroot.NotExist},
		{"missing below a good link", "absdir/none", "", fsroot.NotExist},
	}
	everyWay(t, s, func(t *testing.T, s *fsroot.Set) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				start := time.Now()
				content, real, err := read(s, tt.path)
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("took %v", took)
				}
				if fsroot.KindOf(err) != tt.kind || (err == nil) != (tt.kind == 0) {
					t.Fatalf("err = %v (kind %d), want kind %d", err, fsroot.KindOf(err), tt.kind)
				}
				if real != tt.real || strings.Contains(content, secret) {
					t.Errorf("read %q at %q, want %q", content, real, tt.real)
				}
				if err == nil && content != tt.real {
					t.Errorf("content %q, want %q", content, tt.real)
				}
				if err != nil {
					noHint(t, tr, visible(err))
				}
			})
		}
	})
}

// noHint fails if text names something outside the root that the caller did not name.
func noHint(t *testing.T, tr tree, text string) {
	t.Helper()
	for _, hint := range []string{secret, tr.top + "/out", "../out", "-> ", "nowhere"} {
		if strings.Contains(text, hint) {
			t.Errorf("the error tells about outside: %s", text)
		}
	}
}

// TestOutsideLooksTheSame: an outside path that exists and one that does not differ in
// nothing but the name that was asked for (4c rule 7).
func TestOutsideLooksTheSame(t *testing.T) {
	tr := plant(t, "here -> ../S", "miss -> ../T")
	s := fsroot.NewSet(tr.root)
	for _, pair := range [][2]string{
		{tr.top + "/S", tr.top + "/T"}, {"../S", "../T"}, {tr.top + "/out/passwd", tr.top + "/out/nobody"}, {"here", "miss"},
	} {
		_, _, a := read(s, pair[0])
		_, _, b := read(s, pair[1])
		left := strings.ReplaceAll(visible(a), pair[0], "X")
		right := strings.ReplaceAll(visible(b), pair[1], "X")
		if left != right || a == nil {
			t.Errorf("%q and %q differ:\n%s\n%s", pair[0], pair[1], left, right)
		}
	}
}

// TestSpecialFiles is cases 18 and 19: nothing but regular files opens, and nothing blocks
// (the FIFO hangs of glm-mcp#15, MemPalace#2221).
func TestSpecialFiles(t *testing.T) {
	tr := plant(t, "a.txt", "tolink -> fifo")
	must(t, mkfifo(filepath.Join(tr.root, "fifo")))
	l, err := net.Listen("unix", filepath.Join(tr.root, "sock"))
	must(t, err)
	defer l.Close()
	tests := []struct {
		name, says string
		make       func(path string) error
	}{
		{"fifo", "named pipe", nil},
		{"tolink", "named pipe", nil},
		{"sock", "socket", nil},
		{"null", "character device", func(p string) error { return mknod(p, true, 1, 3) }},
		{"loop0", "block device", func(p string) error { return mknod(p, false, 7, 0) }},
		{"zero", "character device", func(p string) error { return bindMount(t, "/dev/zero", p) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.make != nil {
				need(t, tt.make(filepath.Join(tr.root, tt.name)))
			}
			everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
				start := time.Now()
				_, _, err := read(s, tt.name)
				if fsroot.KindOf(err) != fsroot.NotRegular || !strings.Contains(visible(err), tt.says) {
					t.Errorf("err = %v, want one that says %s", err, tt.says)
				}
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestHardLink is case 21: it cannot be told from a file, and is read.
func TestHardLink(t *testing.T) {
	tr := plant(t)
	must(t, os.Link(tr.top+"/S", tr.root+"/hard"))
	if content, _, err := read(fsroot.NewSet(tr.root), "hard"); err != nil || content != secret {
		t.Errorf("hard link: %q, %v", content, err)
	}
}

// TestRootForms is cases 13, 14 and 15, and servers#3253: every spelling of a root works.
func TestRootForms(t *testing.T) {
	tr := plant(t, "a.txt", "R x [é]/a.txt")
	must(t, os.Symlink(tr.root, tr.top+"/l"))
	odd := tr.root + "/R x [é]"
	tests := []struct{ name, root, path string }{
		{"13 link root, by the link", tr.top + "/l", tr.top + "/l/a.txt"},
		{"13 link root, by the real path", tr.top + "/l", tr.root + "/a.txt"},
		{"13 real root, by a link", tr.root, tr.top + "/l/a.txt"},
		{"14 the top", "/", tr.root + "/a.txt"},
		{"15 trailing slash", tr.root + "/", tr.root + "/a.txt"},
		{"15 double slash", tr.root, "/" + tr.root + "//a.txt"},
		{"15 dots", tr.root + "/./R x [é]/..", "a.txt"},
		{"15 odd name", odd, odd + "/a.txt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everyWay(t, fsroot.NewSet(tt.root), func(t *testing.T, s *fsroot.Set) {
				if _, _, err := read(s, tt.path); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestRootGone is case 17: a root that is missing makes calls fail clearly, and works
// again when it is back.
func TestRootGone(t *testing.T) {
	tr := plant(t, "a.txt")
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		for range 2 {
			if _, _, err := read(s, "a.txt"); err != nil {
				t.Fatal(err)
			}
			must(t, os.Rename(tr.root, tr.root+".away"))
			for _, path := range []string{"a.txt", tr.root + "/a.txt", ""} {
				if _, _, err := read(s, path); fsroot.KindOf(err) != fsroot.RootMissing {
					t.Errorf("%q: %v, want a missing root", path, err)
				}
			}
			must(t, os.Rename(tr.root+".away", tr.root))
		}
	})
}

// TestOddNames is case 26 and copilot-workspace-user-manual#79: every name means itself.
func TestOddNames(t *testing.T) {
	names := []string{
		"a b", "[id]", "(g)", "{x}", "*", "?", "#", "!x", "-n", "$(id)", "`id`", "'", "\"", "\\", ";",
		"a\\b", " lead", "trail ", "\"quoted\"", "@types", "~root", "$HOME", "%USERPROFILE%", "x%20y", "new\nline", "\xff\xfe", "...",
	}
	tr := plant(t, names...)
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		for _, name := range names {
			for _, path := range []string{name, tr.root + "/" + name} {
				if content, _, err := read(s, path); err != nil || content != name {
					t.Errorf("%q: %q, %v", path, content, err)
				}
			}
		}
	})
}
