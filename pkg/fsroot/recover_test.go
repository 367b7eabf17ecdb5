package fsroot_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

const temp = fsroot.TempPrefix + "x-0"

// sealed is a journal with these lines and a right end.
func sealed(lines ...string) string {
	text := strings.Join(lines, "\n") + "\n"
	return text + fmt.Sprintf("end %d\n", crc32.ChecksumIEEE([]byte(text)))
}

// TestJournals: one that is damaged, forged or out of date changes nothing outside the
// root, and stops no more than one call.
func TestJournals(t *testing.T) {
	const head, base, none = "toolhost-journal 1 true", `dir "." -1 %d %d`, " 0 0 0 0"
	file := func(op, dir int, name string) string {
		return fmt.Sprintf(`item %d %d "%s" "%s" "" 420 9 9 0 0 9 8 0 0`, op, dir, name, temp)
	}
	tests := map[string]struct{ text, lost string }{
		"empty":              {text: ""},
		"torn":               {text: sealed(head, base)[:20]},
		"another version":    {text: sealed("toolhost-journal 2 true")},
		"wrong sum":          {text: strings.Replace(sealed(head, `root "/x"`), "/x", "/y", 1)},
		"unknown line":       {text: sealed(head, "what")},
		"unknown op":         {text: sealed(head, base, file(4, 0, "x"))},
		"no such directory":  {text: sealed(head, base, file(1, 1, "x"))},
		"directory outside":  {text: sealed(head, `dir "../out" -1 %[1]d %[2]d`, file(1, 0, "x"))},
		"absolute directory": {text: sealed(head, `dir "/etc" -1 1 2`)},
		"name with a slash":  {text: sealed(head, base, file(1, 0, "../S"))},
		"name of dots":       {text: sealed(head, base, file(1, 0, ".."))},
		"foreign temp name":  {text: sealed(head, base, strings.ReplaceAll(file(1, 0, "x"), temp, "a.txt"))},
		"copy elsewhere":     {text: sealed(head, base, strings.Replace(file(0, 0, "x"), `""`, `"old-/../../S"`, 1))},
		"too few fields":     {text: sealed(head, base, `item 1 0 "x"`+none)},
		"too many fields":    {text: sealed(head, base, file(1, 0, "x")+" 1")},
		"root is another":    {text: sealed(head, `dir "." -1 9 9`, file(1, 0, "x")), lost: `"x" (was replaced`},
		"directory is a link": {
			text: sealed(head, `dir "outdir" -1 9 9`, file(1, 0, "passwd")), lost: `"outdir/passwd" (was replaced`,
		},
		"directory through a link": {
			text: sealed(head, `dir "outdir/d" -1 9 9`, file(1, 0, "passwd")), lost: `"outdir/d/passwd" (leads outside`,
		},
		"made directory is a link": {
			text: sealed(head, base, `dir "outdir" 0 0 0`, file(1, 1, "passwd")), lost: `"outdir/passwd" (was replaced`,
		},
		"directory is gone": {
			text: sealed(head, `dir "none" -1 9 9`, file(1, 0, "x")), lost: `"none/x" (no such file`,
		},
		"copy is gone": {
			text: sealed(head, base, strings.Replace(file(0, 0, "a.txt"), `""`, `"old-0"`, 1)), lost: `"a.txt" (no such file`,
		},
	}
	for name, tt := range tests {
		for _, as := range []string{"journal", "done"} {
			t.Run(name+" "+as, func(t *testing.T) {
				if as == "done" && tt.lost != "" {
					return
				}
				tr := plant(t, "a.txt", "outdir -> ../out")
				must(t, os.WriteFile(tr.top+"/out/"+temp, nil, 0o644))
				must(t, os.Mkdir(tr.top+"/out/d", 0o755))
				tr.forge(t, as, tt.text)
				before := picture(t, tr.top)
				root := fsroot.NewSet(tr.root).Roots()[0]
				_, err := fsroot.Begin(context.Background(), tr.state(), root)
				if fsroot.KindOf(err) != fsroot.HalfDone || !strings.Contains(visible(err), tt.lost) || !strings.Contains(err.Error(), "/bad-") {
					t.Fatalf("%v", err)
				}
				after := picture(t, tr.top)
				for name := range after {
					if strings.HasPrefix(name, "/state/") {
						delete(before, name)
						delete(after, name)
					}
				}
				for name := range before {
					if strings.HasPrefix(name, "/state/") {
						delete(before, name)
					}
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Error(diff)
				}
				must(t, tr.begin(t, fsroot.NewSet(tr.root)).End())
			})
		}
	}
}

// forge puts a journal into the state directory of the tree's root.
func (tr tree) forge(t *testing.T, as, text string) {
	t.Helper()
	key, err := fsroot.NewSet(tr.root).Roots()[0].Key()
	must(t, err)
	var dev, ino uint64
	if _, err := fmt.Sscanf(key, "%d-%d", &dev, &ino); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "%") {
		body := text[:strings.LastIndex(text, "end ")]
		text = sealed(strings.Split(strings.TrimSuffix(fmt.Sprintf(body, dev, ino), "\n"), "\n")...)
	}
	must(t, os.MkdirAll(filepath.Join(tr.state(), key), 0o700))
	must(t, os.WriteFile(filepath.Join(tr.state(), key, as), []byte(text), 0o600))
}

// TestSomebodyElses: what was changed between the death and the next call is not undone.
func TestSomebodyElses(t *testing.T) {
	tr := plant(t, "new", temp)
	item := fmt.Sprintf(`item 1 0 "new" "%s" "" 0 0 0 0 0 9 9 9 9`, temp)
	tr.forge(t, "journal", sealed("toolhost-journal 1 true", `dir "." -1 %d %d`, item))
	must(t, tr.begin(t, fsroot.NewSet(tr.root)).End())
	if got := picture(t, tr.root); len(got) != 2 || got["/new"] == "" {
		t.Errorf("left: %v", got)
	}
}

// TestSwapWhileWriting: a directory that becomes a link to outside and back while files in
// it are made, changed and removed.
func TestSwapWhileWriting(t *testing.T) {
	tr := plant(t, "d/passwd", "evil -> ../out", "a.txt")
	outside := tr.outside(t)
	everyWay(t, fsroot.NewSet(tr.root), func(t *testing.T, s *fsroot.Set) {
		d := tr.root + "/d"
		pause := func() { time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Millisecond)))) }
		swap := func() {
			os.Rename(d, tr.root+"/kept")
			os.Rename(tr.root+"/evil", d)
			pause()
			os.Rename(d, tr.root+"/evil")
			os.Rename(tr.root+"/kept", d)
			pause()
		}
		made := map[string]int{}
		n := 0
		swapping(t, swap, func() {
			tx, err := fsroot.Begin(context.Background(), tr.state(), s.Roots()[0])
			must(t, err)
			defer tx.End()
			content, was, err := tx.Load("d/passwd")
			if strings.Contains(string(content), secret) {
				t.Fatal("read the outside file")
			}
			n++
			kind := "change"
			step := fsroot.Step{Rel: "d/passwd", Was: was, Content: []byte("d/passwd")}
			switch {
			case fsroot.KindOf(err) == fsroot.NotExist:
				kind = "create"
			case err != nil:
				return
			case n%2 == 0:
				kind, step.Remove = "remove", true
			}
			if tx.Commit([]fsroot.Step{step, {Rel: fmt.Sprintf("d/sub%d/new", n)}}) == nil {
				made[kind]++
			}
		})
		if diff := cmp.Diff(outside, tr.outside(t)); diff != "" {
			t.Errorf("something changed outside:\n%s", diff)
		}
		for name := range picture(t, tr.root) {
			if strings.Contains(name, fsroot.TempPrefix) {
				t.Errorf("%s is left", name)
			}
		}
		t.Logf("made %v", made)
		if len(made) < 3 {
			t.Error("too few commits found the directory")
		}
		os.RemoveAll(d)
		tr.add(t, "d/passwd")
	})
}

// FuzzJournal: whatever a journal holds, reading it ends.
func FuzzJournal(f *testing.F) {
	f.Add("toolhost-journal 1 true\nroot \"/x\"\ndir \".\" -1 1 2\ndir \"a\" 0 0 0\nitem 1 1 \"x\" \"" + temp + "\" \"\" 0 0 0 0 0 0 0 0 0")
	f.Add("toolhost-journal 1 false\nitem 0 0 \"\\xff\" \"")
	root := fsroot.NewSet("/").Roots()[0]
	f.Fuzz(func(t *testing.T, body string) {
		fsroot.ParseJournal(root, body)
		fsroot.ParseJournal(root, sealed(body))
	})
}
