package filetool_test

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// newWriter is newHarness with the tools that write.
func newWriter(t *testing.T, files map[string]string, flags ...string) *harness {
	t.Helper()
	return newHarness(t, files, append(flags, "--write", "--state-dir", t.TempDir())...)
}

func (h *harness) content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.root, name))
	must(t, err)
	return string(b)
}

// sha is the hash as results tell it.
func sha(content string) string { return whole(content)[:16] }

func whole(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

// A changeCase is one call and what it says and leaves.
type changeCase struct {
	name    string
	args    args
	fails   bool
	says    string // the whole text; of an error a part
	file    string
	content string // of the file afterwards
}

func (h *harness) changes(t *testing.T, tool string, cases []changeCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, res := h.call(t, tool, c.args)
			ok := text == c.says
			if c.fails {
				ok = strings.Contains(text, c.says)
			}
			if res.IsError != c.fails || !ok {
				t.Errorf("an error: %v, want %v:\n%s\nwant\n%s", res.IsError, c.fails, text, c.says)
			}
			if res.StructuredContent != nil {
				t.Error("there is a structured result")
			}
			if c.file == "" {
				return
			}
			if diff := cmp.Diff(c.content, h.content(t, c.file)); diff != "" {
				t.Errorf("the file (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	d := newWriter(t, map[string]string{
		"a.txt": "one\n", "crlf": "a\r\nb\r\n", "bom": "\ufeffx\n", "latin": "\xe9\n", "wide": "\xff\xfea\x00",
		"bin": "\x00\x01", "sub/": "", "link": "-> a2", "a2": "x\n", "cr": "a\r\n", "same": "x\r\n", "stale": "x",
	})
	d.changes(t, "Write", []changeCase{
		{"new", args{"file_path": "new.txt", "content": "a\nb"}, false, "Created new.txt: 3 bytes, 2 lines, sha256 " + sha("a\nb"), "new.txt", "a\nb"},
		{"empty", args{"file_path": "empty", "content": ""}, false, "Created empty: 0 bytes, 0 lines, sha256 " + sha(""), "empty", ""},
		{"the word null", args{"file_path": "null", "content": "null"}, false, "Created null: 4 bytes, 1 line, sha256 " + sha("null"), "null", "null"},
		{"new directories", args{"path": "p/q/r.txt", "text": "x\n"}, false, "Created p/q/r.txt: 2 bytes, 1 line, sha256 " + sha("x\n"), "p/q/r.txt", "x\n"},
		{"no new directories", args{"path": "no/r.txt", "text": "x\n", "create_dirs": "false"}, true, "the directory no does not exist: set create_dirs", "", ""},
		{"over one", args{"file_path": "a.txt", "content": "1\n2\n"}, false, "Updated a.txt: 4 -> 4 bytes, 2 lines, sha256 " + sha("1\n2\n"), "a.txt", "1\n2\n"},
		{"the same", args{"file_path": "a.txt", "content": "1\n2\n"}, false, "No changes: a.txt already holds these 4 bytes, sha256 " + sha("1\n2\n"), "a.txt", "1\n2\n"},
		{
			"CRLF",
			args{"file_path": "crlf", "content": "1\n2\n3\n"},
			false, "Updated crlf: 6 -> 9 bytes, 3 lines, sha256 " + sha("1\r\n2\r\n3\r\n") + "\n[its lines end in CRLF, as before]", "crlf", "1\r\n2\r\n3\r\n",
		},
		{"a mark", args{"file_path": "bom", "content": "y\n"}, false, "Updated bom: 5 -> 5 bytes, 1 line, sha256 " + sha("\ufeffy\n"), "bom", "\ufeffy\n"},
		{
			"another encoding",
			args{"file_path": "latin", "content": "é\n"},
			false, "Updated latin: 2 -> 3 bytes, 1 line, sha256 " + sha("é\n") + "\n[it was not UTF-8 before; now it is]", "latin", "é\n",
		},
		{"UTF-16", args{"file_path": "wide", "content": "a"}, true, "wide: it is UTF-16, which is shown but not changed", "wide", "\xff\xfea\x00"},
		{"over binary", args{"file_path": "bin", "content": "a"}, false, "Updated bin: 2 -> 1 byte, 1 line, sha256 " + sha("a"), "bin", "a"},
		{"a directory", args{"file_path": "sub", "content": "a"}, true, `"sub" is a directory`, "", ""},
		{"the name of a directory", args{"file_path": "nosub/", "content": "a"}, true, "nosub/ names a directory", "", ""},
		{"the root", args{"file_path": ".", "content": "a"}, true, "is a directory", "", ""},
		{"below a file", args{"file_path": "a.txt/x", "content": "a"}, true, "is not a directory", "a.txt", "1\n2\n"},
		{"through a link", args{"file_path": "link", "content": "y\n"}, false, "Updated a2: 2 -> 2 bytes, 1 line, sha256 " + sha("y\n"), "a2", "y\n"},
		{"the hash", args{"file_path": "a2", "content": "z\n", "expected_sha": sha("y\n")}, false, "Updated a2: 2 -> 2 bytes, 1 line, sha256 " + sha("z\n"), "a2", "z\n"},
		{
			"the whole hash",
			args{"file_path": "a2", "content": "!\n", "expected_sha": fmt.Sprintf("sha256:%X", sha256.Sum256([]byte("z\n")))},
			false, "Updated a2: 2 -> 2 bytes, 1 line, sha256 " + sha("!\n"), "a2", "!\n",
		},
		{"another hash", args{"file_path": "stale", "content": "y", "expected_sha": sha("y")}, true, "stale has changed: it is not what expected_sha says, nothing was changed; read it again", "stale", "x"},
		{"the hash of nothing", args{"file_path": "nil", "content": "y", "expected_sha": sha("")}, true, "nil does not exist, so it is not", "", ""},
		{"no hash", args{"file_path": "stale", "content": "y", "expected_sha": "12"}, true, "expected_sha: got 12, want the SHA-256", "stale", "x"},
		{"no content", args{"file_path": "stale"}, true, "content is missing", "stale", "x"},
	})
	if target, err := os.Readlink(filepath.Join(d.root, "link")); err != nil || target != "a2" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if _, err := os.Stat(filepath.Join(d.root, "no")); err == nil {
		t.Error("a directory was made that was not to be")
	}
}

func TestEdit(t *testing.T) {
	d := newWriter(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "b.txt": "x = 1\ny = 1\n", "c.txt": "a\nb\n", "d.txt": "a b", "e.txt": "", "f.txt": "null\n",
		"wide": "\xff\xfea\x00", "bin": "a\x00", "pic.txt": "\x89PNG\r\n\x1a\n", "twice": "a\na\n", "sub/": "", "g.txt": "1\n", "h.txt": "a",
		"link": "-> sub2/t", "sub2/t": "x\n",
	})
	d.changes(t, "Edit", []changeCase{
		{
			"a line",
			args{"file_path": "a.txt", "old_string": "two", "new_string": "2"},
			false, "Updated a.txt: 14 -> 12 bytes, 1 replacement, sha256 " + sha("one\n2\nthree\n") + "\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three", "a.txt", "one\n2\nthree\n",
		},
		{
			"all",
			args{"filePath": "b.txt", "oldString": " = 1", "newString": "", "replaceAll": "true"},
			false, "Updated b.txt: 12 -> 4 bytes, 2 replacements, sha256 " + sha("x\ny\n") + "\n@@ -1,2 +1,2 @@\n-x = 1\n-y = 1\n+x\n+y", "b.txt", "x\ny\n",
		},
		{
			"several",
			args{"path": "c.txt", "edits": []args{{"oldText": "a", "newText": "b1"}, {"old_str": "b\n", "new_str": "c\n"}}},
			false, "Updated c.txt: 4 -> 5 bytes, 2 replacements, sha256 " + sha("b1\nc\n") + "\n@@ -1,2 +1,2 @@\n-a\n-b\n+b1\n+c", "c.txt", "b1\nc\n",
		},
		{
			"several, as a string",
			args{"path": "d.txt", "edits": `[{"old_string":"a","new_string":1},{"old_string":"b","new_string":"2","replace_all":"yes"}]`, "old_string": ""},
			false, "Updated d.txt: 3 -> 3 bytes, 2 replacements, sha256 " + sha("1 2") + "\n@@ -1 +1 @@\n-a b\n\\ No newline at end of file\n+1 2\n\\ No newline at end of file", "d.txt", "1 2",
		},
		{"several, back again", args{"path": "h.txt", "edits": []args{{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "a"}}}, false, "No changes: h.txt already holds these 1 byte, sha256 " + sha("a"), "h.txt", "a"},
		{"an empty file", args{"path": "e.txt", "old_string": "", "new_string": "x\n"}, false, "Updated e.txt: 0 -> 2 bytes, 1 replacement, sha256 " + sha("x\n") + "\n@@ -0,0 +1 @@\n+x", "e.txt", "x\n"},
		{"a new file", args{"path": "n/e.txt", "old_string": "", "new_string": "x\n"}, false, "Created n/e.txt: 2 bytes, 1 line, sha256 " + sha("x\n"), "n/e.txt", "x\n"},
		{"the word null", args{"path": "f.txt", "old_string": "null", "new_string": "undefined"}, false, "Updated f.txt: 5 -> 10 bytes, 1 replacement, sha256 " + sha("undefined\n") + "\n@@ -1 +1 @@\n-null\n+undefined", "f.txt", "undefined\n"},
		{"through a link", args{"path": "link", "old_string": "x", "new_string": "y"}, false, "Updated sub2/t: 2 -> 2 bytes, 1 replacement, sha256 " + sha("y\n") + "\n@@ -1 +1 @@\n-x\n+y", "sub2/t", "y\n"},

		{"missing", args{"path": "a.tx", "old_string": "a", "new_string": "b"}, true, `"a.tx" does not exist; similar names: "a.txt"`, "", ""},
		{"a directory", args{"path": "sub", "old_string": "a", "new_string": "b"}, true, `"sub" is a directory`, "", ""},
		{"not there", args{"path": "a.txt", "old_string": "\ttwo", "new_string": "b"}, true, "a.txt: old_string was not found, nothing was changed", "a.txt", "one\n2\nthree\n"},
		{"twice", args{"path": "twice", "old_string": "a", "new_string": "b"}, true, "it is there 2 times:\nline 1: a\nline 2: a", "twice", "a\na\n"},
		{"the second does not fit", args{"path": "g.txt", "edits": []args{{"old_string": "1", "new_string": "2"}, {"old_string": "1", "new_string": "3"}}}, true, "g.txt: edit 2 of 2: old_string was not found", "g.txt", "1\n"},
		{"UTF-16", args{"path": "wide", "old_string": "a", "new_string": "b"}, true, "wide: it is UTF-16", "wide", "\xff\xfea\x00"},
		{"binary", args{"path": "bin", "old_string": "a", "new_string": "b"}, true, "bin: it is binary", "bin", "a\x00"},
		{"an image", args{"path": "pic.txt", "old_string": "PNG", "new_string": "b"}, true, "pic.txt: it is binary", "", ""},
		{"another hash", args{"path": "twice", "old_string": "a", "new_string": "b", "replace_all": true, "expected_sha": sha("")}, true, "twice has changed", "twice", "a\na\n"},
		{"nothing to do", args{"path": "twice"}, true, "old_string and new_string are missing", "", ""},
		{"no old text", args{"path": "twice", "new_string": "x"}, true, "old_string is missing", "", ""},
		{"no new text", args{"path": "twice", "old_string": "x", "new_string": nil}, true, "new_string is missing", "twice", "a\na\n"},
		{"both ways", args{"path": "twice", "old_string": "a", "edits": []args{{"old_string": "a", "new_string": "b"}}}, true, "give only one of them", "twice", "a\na\n"},
		{"another key", args{"path": "twice", "edits": []args{{"old": "a", "new_string": "b"}}}, true, "edits: number 1 has the key old, want old_string", "twice", "a\na\n"},
		{"two keys", args{"path": "twice", "edits": []args{{"old_string": "a", "oldText": "b", "new_string": "b"}}}, true, "has old_string and oldText, which differ", "twice", "a\na\n"},
		{"half an edit", args{"path": "twice", "edits": []args{{"old_string": "a"}}}, true, "number 1 lacks new_string", "twice", "a\na\n"},
		{"no string", args{"path": "twice", "edits": []args{{"old_string": []int{1}, "new_string": "x"}}}, true, "has another old_string than a string", "twice", "a\na\n"},
		{"no switch", args{"path": "twice", "edits": []args{{"old_string": "a", "new_string": "x", "replace_all": "perhaps"}}}, true, "not true or false", "twice", "a\na\n"},
	})
}

// TestKeepsCRLF is bug 1 of a peer: an edit made LF of all line ends.
func TestKeepsCRLF(t *testing.T) {
	d := newWriter(t, map[string]string{"f": "one\r\ntwo\r\nthree\r\n"})
	d.call(t, "Edit", args{"path": "f", "edits": []args{{"oldText": "two", "newText": "TWO\nand"}}})
	if got := d.content(t, "f"); got != "one\r\nTWO\r\nand\r\nthree\r\n" {
		t.Errorf("%q", got)
	}
}

// TestKeepsLatin1 is bug 2 of a peer: bytes that are no UTF-8 became U+FFFD.
func TestKeepsLatin1(t *testing.T) {
	d := newWriter(t, map[string]string{"f": "caf\xe9\nx\n"})
	d.call(t, "Edit", args{"path": "f", "edits": []args{{"oldText": "x", "newText": "y"}}})
	text, _ := d.call(t, "Read", args{"path": "f", "limit": 1})
	shown, _, _ := strings.Cut(strings.TrimPrefix(text, "1\t"), "\n")
	d.call(t, "Edit", args{"path": "f", "old_string": shown, "new_string": shown + "s"})
	if got := d.content(t, "f"); got != "caf\xe9s\ny\n" {
		t.Errorf("%q", got)
	}
}

// TestRefusesAmbiguousEdits is bug 3 of a peer: the first place was edited.
func TestRefusesAmbiguousEdits(t *testing.T) {
	d := newWriter(t, map[string]string{"f": "a = 1\nb = 1\n"})
	text, res := d.call(t, "Edit", args{"path": "f", "edits": []args{{"oldText": " = 1", "newText": " = 2"}}})
	if got := d.content(t, "f"); !res.IsError || !strings.Contains(text, "line 2: b = 1") || got != "a = 1\nb = 1\n" {
		t.Errorf("%q: %s", got, text)
	}
}

// TestParallelEditsLand is bug 4 of a peer: of ten edits at once, each reported as made, one
// was. Also the file that others have a hard link to, which is written in place, loses none.
func TestParallelEditsLand(t *testing.T) {
	const n = 50
	var old, want strings.Builder
	for i := range n {
		fmt.Fprintf(&old, "line %02d\n", i)
		fmt.Fprintf(&want, "LINE %02d\n", i)
	}
	d := newWriter(t, map[string]string{"f": old.String(), "linked": old.String()})
	must(t, os.Link(filepath.Join(d.root, "linked"), filepath.Join(d.root, "twin")))
	var wg sync.WaitGroup
	for i := range n {
		for _, file := range []string{"f", "linked"} {
			wg.Go(func() {
				text, res := d.call(t, "Edit", args{"path": file, "old_string": fmt.Sprintf("line %02d", i), "new_string": fmt.Sprintf("LINE %02d", i)})
				if res.IsError {
					t.Errorf("edit %d of %s: %s", i, file, text)
				}
			})
		}
	}
	wg.Wait()
	for _, file := range []string{"f", "linked", "twin"} {
		if diff := cmp.Diff(want.String(), d.content(t, file)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

// between is the default policy, and does something to the files after a call was planned.
type between struct {
	do      func()
	asks    bool // of a person who says yes
	actions []approval.Action
	deny    approval.Access
}

func (*between) Hides(approval.Caller, string) bool { return false }

func (b *between) Evaluate(ctx context.Context, who approval.Caller, a approval.Action) approval.Verdict {
	b.actions = append(b.actions, a)
	for _, p := range a.Paths {
		if p.Access == b.deny {
			return approval.Verdict{Reason: "a test denies it"}
		}
	}
	if b.do != nil {
		b.do()
	}
	if b.asks {
		return approval.Verdict{Decision: approval.Ask, Asking: approval.Asking{Unattended: approval.Allow}}
	}
	return approval.Default().Evaluate(ctx, who, a)
}

// judged returns another server of the harness's root that writes, with rules.
func (h *harness) judged(t *testing.T, rules approval.Evaluator) *harness {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	must(t, (&cli.StringSliceFlag{Name: "root"}).Apply(set))
	for _, f := range filetool.App().Flags {
		must(t, f.Apply(set))
	}
	must(t, set.Parse([]string{"--root", h.root, "--write", "--state-dir", t.TempDir()}))
	s, err := toolkit.NewServer(toolkit.Options{Name: "test", Evaluator: rules})
	must(t, err)
	must(t, filetool.App().Setup(cli.NewContext(cli.NewApp(), set, nil), s))
	client, end, err := s.Connect(t.Context(), nil)
	must(t, err)
	t.Cleanup(end)
	return &harness{top: h.top, root: h.root, client: client}
}

// TestJudgedChanges: without a policy Write and Edit are allowed, and what is judged is the
// real path, what is done to it, and the change itself.
func TestJudgedChanges(t *testing.T) {
	h := newHarness(t, map[string]string{"a.txt": "one\n", "sub/": "", "dir": "-> sub", "link": "-> a.txt"})
	rules := &between{}
	d := h.judged(t, rules)
	for _, c := range []struct {
		tool string
		args args
		want approval.Action
	}{
		{"Write", args{"path": "dir/deep/new.txt", "content": "x\n"}, approval.Action{
			Tool: "Write", Effect: approval.WriteFiles, Paths: []approval.Path{{Access: approval.Create, Root: h.root, Rel: "sub/deep/new.txt"}},
			Summary: "write sub/deep/new.txt\n@@ -0,0 +1 @@\n+x",
		}},
		{"Write", args{"path": "link", "content": "two\n"}, approval.Action{
			Tool: "Write", Effect: approval.WriteFiles, Paths: []approval.Path{{Access: approval.Update, Root: h.root, Rel: "a.txt", SHA256: whole("one\n")}},
			Summary: "write a.txt\n@@ -1 +1 @@\n-one\n+two",
		}},
		{"Edit", args{"path": "link", "old_string": "two", "new_string": "three"}, approval.Action{
			Tool: "Edit", Effect: approval.WriteFiles, Paths: []approval.Path{{Access: approval.Read, Root: h.root, Rel: "a.txt"}, {Access: approval.Update, Root: h.root, Rel: "a.txt", SHA256: whole("two\n")}},
			Summary: "edit a.txt\n@@ -1 +1 @@\n-two\n+three",
		}},
	} {
		rules.actions = nil
		if text, res := d.call(t, c.tool, c.args); res.IsError {
			t.Errorf("%s: %s", c.tool, text)
		}
		rules.actions[0].Args = nil // as given
		if diff := cmp.Diff([]approval.Action{c.want}, rules.actions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.tool, diff)
		}
	}
}

// TestDeniedReading: an edit is no way to read what may not be read.
func TestDeniedReading(t *testing.T) {
	h := newHarness(t, map[string]string{".env": "KEY=hit\n"})
	d := h.judged(t, &between{deny: approval.Read})
	text, res := d.call(t, "Edit", args{"path": ".env", "old_string": "KEY = hit", "new_string": "x"})
	if !res.IsError || !strings.Contains(text, "is denied") || strings.Contains(text, "KEY=") {
		t.Errorf("%s", text)
	}
}

// TestMeanwhile: what happens to a file between plan and run is noticed, and an edit that
// still fits is made on what is there then.
func TestMeanwhile(t *testing.T) {
	write := func(name, content string) func(*testing.T, *harness) {
		return func(t *testing.T, h *harness) { h.put(t, name, content) }
	}
	replace := func(name, with string) func(*testing.T, *harness) {
		return func(t *testing.T, h *harness) {
			must(t, os.RemoveAll(filepath.Join(h.root, name)))
			if with != "" {
				h.put(t, name, with)
			}
		}
	}
	edit := args{"path": "d/a.txt", "old_string": "two", "new_string": "2"}
	for _, c := range []struct {
		name, tool string
		args       args
		do         func(*testing.T, *harness)
		says       string
		file, want string
	}{
		{"another edit", "Edit", edit, write("d/a.txt", "zero\none\ntwo\n"), "@@ -1,3 +1,3 @@\n zero\n one\n-two\n+2", "d/a.txt", "zero\none\n2\n"},
		{"the same edit", "Edit", edit, write("d/a.txt", "one\n2\n"), "old_string was not found", "d/a.txt", "one\n2\n"},
		{"a change under a hash", "Edit", args{"path": "d/a.txt", "old_string": "two", "new_string": "2", "expected_sha": sha("one\ntwo\n")}, write("d/a.txt", "two\n"), "d/a.txt has changed", "d/a.txt", "two\n"},
		{"removed", "Edit", edit, replace("d/a.txt", ""), "d/a.txt was removed in the meantime", "", ""},
		{"removed under a write", "Write", args{"path": "d/a.txt", "content": "x"}, replace("d/a.txt", ""), "was removed in the meantime", "", ""},
		{"made a link", "Edit", edit, replace("d/a.txt", "-> ../other"), "d/a.txt was replaced by a link", "other", "two\n"},
		{"its directory made a link", "Edit", edit, replace("d", "-> e"), "d/a.txt was replaced by a link", "e/a.txt", "two\n"},
		{"made", "Write", args{"path": "d/new", "content": "x"}, write("d/new", "theirs"), "d/new was made by others", "d/new", "theirs"},
		{"another directory", "Write", args{"path": "d/new", "content": "x"}, replace("d", "-> e"), "has another directory", "e/a.txt", "two\n"},
		{"a directory outside", "Write", args{"path": "d/new", "content": "x"}, replace("d", "-> ../out"), "leads outside", "other", "two\n"},
		{"CRLF", "Write", args{"path": "d/a.txt", "content": "x\n"}, write("d/a.txt", "theirs\r\n"), "Updated d/a.txt", "d/a.txt", "x\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t, map[string]string{"d/a.txt": "one\ntwo\n", "e/a.txt": "two\n", "other": "two\n"})
			d := h.judged(t, &between{do: func() { c.do(t, h) }})
			text, _ := d.call(t, c.tool, c.args)
			if !strings.Contains(text, c.says) {
				t.Errorf("it says %s, want %s", text, c.says)
			}
			if c.file != "" && h.content(t, c.file) != c.want {
				t.Errorf("%s holds %q, want %q", c.file, h.content(t, c.file), c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(h.top, "*", "new")); len(left) > 0 && c.file != "d/new" {
				t.Errorf("%v was made", left)
			}
		})
	}
}

// TestWaitingForOthers: a call that waits for the lock ends with its caller, and changes
// nothing.
func TestWaitingForOthers(t *testing.T) {
	state := t.TempDir()
	d := newHarness(t, map[string]string{"a.txt": "x\n"}, "--write", "--state-dir", state, "--max-concurrent", "1")
	tx, err := fsroot.Begin(t.Context(), state, fsroot.NewSet(d.root).Roots()[0])
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	d.client.CallTool(ctx, &mcp.CallToolParams{Name: "Write", Arguments: args{"path": "a.txt", "content": "y\n"}})
	began := time.Now()
	d.call(t, "Read", args{"path": "a.txt"}) // has to wait until the call has ended
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the cancelled call held on for %v", took)
	}
	must(t, tx.End())
	if got := d.content(t, "a.txt"); got != "x\n" {
		t.Errorf("the file holds %q", got)
	}
}

// TestNoStateDir: the call explains what to do.
func TestNoStateDir(t *testing.T) {
	d := newHarness(t, map[string]string{"a.txt": "x\n", "file": ""}, "--write", "--state-dir", "/dev/null/state")
	text, res := d.call(t, "Write", args{"path": "a.txt", "content": "y\n"})
	if !res.IsError || !strings.Contains(text, "--state-dir") || strings.Contains(text, "/dev/null") {
		t.Errorf("%s", text)
	}
}

// TestDiffBudget: a diff is cut to the budget, and says so.
func TestDiffBudget(t *testing.T) {
	d := newWriter(t, map[string]string{"a.txt": strings.Repeat("some text\n", 2000)}, "--max-output", "4096")
	text, res := d.call(t, "Edit", args{"path": "a.txt", "old_string": "some", "new_string": "other", "replace_all": true})
	if res.IsError || len(text) > 4096 || !strings.HasSuffix(text, " of 4000 changed lines are shown; read the file for the others]") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// TestErrorsAreShort: whatever is asked for, and of whatever file, an error has at most 2 KiB.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("a\u202e\t€", 20_000)
	name := strings.Repeat(strings.Repeat("n\u202e", 60)+"/", 12) + "f"
	d := newWriter(t, map[string]string{name: long + "\n" + long + "\n" + strings.Repeat(long[:400]+"\n", 50)})
	for what, a := range map[string]args{
		"ambiguous": {"old_string": long[:200], "new_string": "x"}, "not there": {"old_string": long + " ", "new_string": long},
		"not there, and numbered": {"old_string": "1\t" + long, "new_string": "x"}, "other text": {"old_string": "b" + long + "b\nb", "new_string": "x"},
	} {
		a["path"] = name
		text, res := d.call(t, "Edit", a)
		if !res.IsError || len(text) > 2048 {
			t.Errorf("%s: %d bytes: %s", what, len(text), text)
		}
	}
}

// TestClientRootsWhenWriting: a client's roots narrow what is written as well.
func TestClientRootsWhenWriting(t *testing.T) {
	d := newHarness(t, map[string]string{"sub/a.txt": "x\n", "b.txt": "x\n"})
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	//lint:ignore SA1019 clients before 2026-07-28 have roots
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(filepath.Join(d.root, "sub"))})
	d.client = serve(t, client, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}, "--root", d.root, "--write", "--state-dir", t.TempDir())
	d.changes(t, "Write", []changeCase{
		{"within", args{"path": "a.txt", "content": "y\n"}, false, "Updated a.txt: 2 -> 2 bytes, 1 line, sha256 " + sha("y\n"), "sub/a.txt", "y\n"},
		{"new", args{"path": "n/a.txt", "content": "y\n"}, false, "Created n/a.txt: 2 bytes, 1 line, sha256 " + sha("y\n"), "sub/n/a.txt", "y\n"},
		{"outside", args{"path": filepath.Join(d.root, "b.txt"), "content": "y\n"}, true, "outside the allowed roots", "b.txt", "x\n"},
		{"up", args{"path": "../b.txt", "content": "y\n"}, true, "outside the allowed roots", "b.txt", "x\n"},
	})
}

// TestUnshownChanges: where a person could not be shown all of a change, counts and a hash stand
// for it.
func TestUnshownChanges(t *testing.T) {
	h := newHarness(t, map[string]string{"a.txt": "one\n"})
	rules := &between{}
	d := h.judged(t, rules)
	for name, c := range map[string]struct{ content, counts string }{
		"short":         {"two\n", ""},
		"many lines":    {strings.Repeat("a line of text\n", 2000), "2000 lines added, 1 removed"},
		"one long line": {strings.Repeat("x", 10_000) + "\n", "1 lines added, 1 removed"},
	} {
		must(t, os.WriteFile(filepath.Join(h.root, "a.txt"), []byte("one\n"), 0o644))
		rules.actions = nil
		d.call(t, "Write", args{"path": "a.txt", "content": c.content})
		want := ""
		if c.counts != "" {
			want = fmt.Sprintf("%s; the file would have %d bytes with SHA-256 %s", c.counts, len(c.content), whole(c.content))
		}
		if got := rules.actions[0].Unshown; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestApprovedChanges: what a person approved is made on what was shown, or not at all.
func TestApprovedChanges(t *testing.T) {
	for _, asks := range []bool{false, true} {
		h := newHarness(t, map[string]string{"a.txt": "one\n"})
		rules := &between{asks: asks}
		rules.do = func() { must(t, os.WriteFile(filepath.Join(h.root, "a.txt"), []byte("one\none more\n"), 0o644)) }
		text, res := h.judged(t, rules).call(t, "Edit", args{"path": "a.txt", "old_string": "one", "new_string": "two", "replace_all": true})
		want := map[bool]string{false: "two\ntwo more\n", true: "one\none more\n"}[asks]
		if got := h.content(t, "a.txt"); got != want || res.IsError != asks || asks && !strings.Contains(text, "was changed in the meantime, nothing was changed") {
			t.Errorf("asks %v: %q; %s", asks, got, text)
		}
	}
}
