package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/filetool/edit"
	"github.com/toolhost/toolhost/pkg/textfile"
)

func TestApply(t *testing.T) {
	one := func(old, new string) []edit.Edit { return []edit.Edit{{Old: old, New: new}} }
	for _, tc := range []struct {
		name, content string
		edits         []edit.Edit
		want          string
	}{
		{"a word", "one two three\n", one("two", "2"), "one 2 three\n"},
		{"taken out", "one two three\n", one("two ", ""), "one three\n"},
		{"the whole", "a\nb\n", one("a\nb\n", "c"), "c"},
		{"all places", "a b a\na\n", []edit.Edit{{Old: "a", New: "aa", All: true}}, "aa b aa\naa\n"},
		{"all, as strings has it", "aaa", []edit.Edit{{Old: "aa", New: "b", All: true}}, "ba"},
		{"one after the other", "a\n", append(one("a", "b"), one("b", "c")...), "c\n"},
		{"an empty file", "", one("", "text\r\n"), "text\r\n"},
		{"a mark alone", "\ufeff", one("", "text\n"), "\ufefftext\n"},
		{"a mark given again", "\ufeff", one("", "\ufefftext\n"), "\ufefftext\n"},
		{"empty, then filled further", "", append(one("", "a\n"), one("a", "b")...), "b\n"},
		{"a mark stays", "\ufeffone\ntwo\n", one("one\n", "1\n"), "\ufeff1\ntwo\n"},
		{"CRLF stays", "one\r\ntwo\r\nthree\r\n", one("two", "TWO"), "one\r\nTWO\r\nthree\r\n"},
		{"over a CRLF", "one\r\ntwo\r\nthree\r\n", one("one\ntwo", "1\n1.5\n2"), "1\r\n1.5\r\n2\r\nthree\r\n"},
		{"lines put into CRLF", "one\r\ntwo\r\n", one("one", "one\nnew"), "one\r\nnew\r\ntwo\r\n"},
		{"behind the last CRLF", "one\r\ntwo", one("two", "two\nnew\n"), "one\r\ntwo\r\nnew\r\n"},
		{"a CRLF taken out", "one\r\ntwo\r\n", one("one\n", "one "), "one two\r\n"},
		{"CRLF in the edit only", "one\ntwo\nthree\n", one("one\r\ntwo", "1\r\n2"), "1\n2\nthree\n"},
		{"a line without end", "one", one("one", "one\r\ntwo"), "one\r\ntwo"},
		{"mixed ends stay", "a\r\nb\nc\r\nd\n", one("a\nb\nc\nd", "A\nb\nc\nD"), "A\r\nb\nc\r\nD\n"},
		{"mixed ends, line by line", "a\r\nb\nc\r\n", one("a\nb\nc\n", "1\n2\n3\n"), "1\r\n2\n3\r\n"},
		{"mixed ends at the place", "a\r\nb\nc\n", one("b", "b\nbb"), "a\r\nb\nbb\nc\n"},
		{"a lone CR is text", "a\rb\n", one("a\rb", "a\rc"), "a\rc\n"},
		{"Latin-1", "caf\xe9 \xfc\nx\n", one("x", "y"), "caf\xe9 \xfc\ny\n"},
		{"Latin-1, found as shown", "caf\xe9 \xfcber\n", one("café über", "cafés über"), "caf\xe9s \xfcber\n"},
		{"Latin-1, written so", "caf\xe9\n", one("café", "thé à"), "th\xe9 \xe0\n"},
		{"windows-1252", "\x80 5\r\n", one("€ 5", "€ 5 “ok”\n"), "\x80 5 \x93ok\x94\r\n\r\n"},
		{"UTF-8 with a stray byte", "ééé \xff à\n", one("à", "ä"), "ééé \xff ä\n"},
		{"both kinds of letter in one place", "ééé \xe9 à\n", one("é é à", "é é ä"), "ééé \xe9 ä\n"},
		{"a mark that the edit has too", "\ufeffone\n", one("\ufeffone", "\ufeff1"), "\ufeff1\n"},
		{"a mark taken out", "\ufeffone\r\n", one("\ufeffone\n", "1\n"), "1\r\n"},
		{"CR alone", "a\rb\rc", one("b", "x\ny"), "a\rx\ry\rc"},
		{"half a letter in common", "é\n", one("é", "è"), "è\n"},
		{"an end of a letter in common", "x\u0169\n", one("\u0169", "\u01a9"), "x\u01a9\n"},
		{"beyond 64 KB", strings.Repeat("x\n", 1<<16) + "\x00 end\n", one("end", "END"), strings.Repeat("x\n", 1<<16) + "\x00 END\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, places, err := edit.Apply(t.Context(), []byte(tc.content), tc.edits)
			if err != nil || places == 0 {
				t.Fatalf("%d places, error %v", places, err)
			}
			if string(got) != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name, content string
		edit          edit.Edit
		kind          edit.Kind
		says          []string
	}{
		{"not there", "one\n", edit.Edit{Old: "nothing like it", New: "x"}, edit.NotFound, []string{"nothing in the file is like it"}},
		{"twice", "a\nb a\n", edit.Edit{Old: "a", New: "c"}, edit.Ambiguous, []string{"2 times", "line 1: a", "line 2: b a"}},
		{"overlapping", "x\naaa\n", edit.Edit{Old: "aa", New: "b"}, edit.Ambiguous, []string{"overlapping", "line 2 (2 times): aaa"}},
		{"often", strings.Repeat("a\n", 25), edit.Edit{Old: "a", New: "c"}, edit.Ambiguous, []string{"25 times", "line 10: a", "and 15 more"}},
		{"the same", "a\n", edit.Edit{Old: "a", New: "a"}, edit.Same, nil},
		{"the same but for ends", "a\n", edit.Edit{Old: "a\n", New: "a\r\n"}, edit.Same, []string{"line ends"}},
		{"nothing for nothing", "", edit.Edit{}, edit.Same, nil},
		{"no old text", "a\n", edit.Edit{New: "x"}, edit.NoOld, nil},
		{"UTF-16", "\xff\xfea\x00", edit.Edit{Old: "a", New: "b"}, edit.Wide, []string{"UTF-16"}},
		{"binary", "a\x00", edit.Edit{Old: "a", New: "b"}, edit.Binary, nil},
		{"a letter beyond windows-1252", "\xe9\n", edit.Edit{Old: "é", New: "ł"}, edit.Letter, []string{"'ł' (U+0142)"}},
		{"letters that would merge", "\xc3x\xa9 \xe9\n", edit.Edit{Old: "x", New: ""}, edit.Merges, nil},
		{"a control that is shown as another letter", "\xe9\n", edit.Edit{Old: "é", New: "\u0080"}, edit.Merges, nil},

		{"blanks at the end", "one\ntwo  \nthree\n", edit.Edit{Old: "two\nthree", New: "x"}, edit.NotFound, []string{
			"lines 2 to 3, from line 2 on; it differs in blanks at the end of the line",
			"the file has:   two··\n", "old_string has: two\n",
		}},
		{"tabs", "func f() {\n\treturn 1\n}\n", edit.Edit{Old: "func f() {\n    return 1\n}", New: "x"}, edit.NotFound, []string{
			"lines 1 to 3, from line 2 on; it differs in indentation: tabs against blanks",
			"the file has:   →return·1\n", "old_string has: ····return·1\n",
		}},
		{"indentation", "if x {\n  a()\n}\n", edit.Edit{Old: "{\n    a()\n}", New: "x"}, edit.NotFound, []string{"differs in indentation\n"}},
		{"white space", "a  +  b\n", edit.Edit{Old: "a + b", New: "x"}, edit.NotFound, []string{"nearest: line 1; it differs in white space", "a··+··b"}},
		{"composed letters", "cafe\u0301\n", edit.Edit{Old: "caf\u00e9", New: "c"}, edit.NotFound, []string{"composed or not\n", "the file has U+0065 U+0301, old_string U+00E9"}},
		{"case", "Hello World\n", edit.Edit{Old: "hello world", New: "x"}, edit.NotFound, []string{"differs in case"}},
		{"quotes", "say “hello” now\n", edit.Edit{Old: `say "hello" now`, New: "x"}, edit.NotFound, []string{"differs in quotes or dashes"}},
		{"a carriage return", "one\rtwo three\n", edit.Edit{Old: "onetwo three", New: "x"}, edit.NotFound, []string{"a carriage return", "one␍two"}},
		{"text", "the quick brown fox\n", edit.Edit{Old: "the quick brown dog", New: "x"}, edit.NotFound, []string{"differs in text", "the·quick·brown·fox"}},
		{"a line more in the file", "one()\ntwo()\nthree()\n", edit.Edit{Old: "one()\nthree()", New: "x"}, edit.NotFound, []string{"a line that old_string lacks"}},
		{"a line more in the edit", "one()\nthree()\n", edit.Edit{Old: "one()\ntwo()\nthree()\n", New: "x"}, edit.NotFound, []string{"a line that the file lacks"}},
		{"the nearest of many", "b 11\nb 111\nB 1111\n", edit.Edit{Old: "b 1111", New: "x"}, edit.NotFound, []string{"line 3; it differs in case"}},
		{"other line breaks", "x\nthe quick\n  brown fox\n", edit.Edit{Old: "the quick brown\nfox", New: "x"}, edit.NotFound, []string{"line 2 on has it with other line breaks"}},
		{"beyond the end", "one()\ntwo()\n", edit.Edit{Old: "one()\ntwo()\n\nthree()", New: "x"}, edit.NotFound, []string{"three()"}},
		{"no last line end", "one\ntwo", edit.Edit{Old: "two\n", New: "x"}, edit.NotFound, []string{"without the line end"}},
		{"line numbers", "one\ntwo\n", edit.Edit{Old: "1\tone\n2\ttwo", New: "x"}, edit.NotFound, []string{"line 1 it is there: without the line numbers"}},
		{"spelled out", "a\n\t\"b\"\n", edit.Edit{Old: `a\n\t\"b\"`, New: "x"}, edit.NotFound, []string{"send those themselves"}},
		{"made before", "x\nvalue = 2\n", edit.Edit{Old: "value = 1", New: "value = 2"}, edit.NotFound, []string{"new_string is there already, at line 2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			content := []byte(tc.content)
			_, _, err := edit.Apply(t.Context(), content, []edit.Edit{tc.edit})
			var e *edit.Error
			if !errors.As(err, &e) || e.Kind != tc.kind {
				t.Fatalf("error %v of kind %v, want kind %d", err, e, tc.kind)
			}
			for _, want := range tc.says {
				if !strings.Contains(e.Visible(), want) {
					t.Errorf("it lacks %q:\n%s", want, e.Visible())
				}
			}
			if string(content) != tc.content {
				t.Errorf("the content is now %q", content)
			}
		})
	}
}

func TestWhichEdit(t *testing.T) {
	content := []byte("one\ntwo\n")
	_, _, err := edit.Apply(t.Context(), content, []edit.Edit{{Old: "one", New: "1"}, {Old: "three", New: "3"}})
	if err == nil || !strings.HasPrefix(err.Error(), "edit 2 of 2: old_string was not found") || string(content) != "one\ntwo\n" {
		t.Errorf("error %v, content %q", err, content)
	}
}

func TestRewrite(t *testing.T) {
	for _, tc := range []struct{ name, old, text, want string }{
		{"new", "", "a\n", "a\n"},
		{"LF", "x\n", "a\nb\n", "a\nb\n"},
		{"CRLF is kept", "x\r\ny\r\n", "a\nb\n", "a\r\nb\r\n"},
		{"CRLF is given", "x\n", "a\r\n", "a\r\n"},
		{"both are given", "x\r\n", "a\r\nb\n", "a\r\nb\n"},
		{"mixed is no rule", "x\r\ny\n", "a\nb\n", "a\nb\n"},
		{"the mark is kept", "\ufeffx", "a", "\ufeffa"},
		{"the mark is given", "\ufeffx", "\ufeffa", "\ufeffa"},
		{"binary", "\x00\r\n", "a\n", "a\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := edit.Rewrite([]byte(tc.old), tc.text)
			if err != nil || string(got) != tc.want {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
		})
	}
	if _, err := edit.Rewrite([]byte("\xfe\xff\x00a"), "a"); err == nil {
		t.Error("UTF-16 was replaced")
	}
}

func TestDiff(t *testing.T) {
	many := strings.Repeat("x\n", 100)
	for _, tc := range []struct{ name, old, new, want string }{
		{"a line", "\ufeffone\r\ntwo\r\n", "\ufeffone\r\nTWO\r\n", "@@ -1,2 +1,2 @@\n one\n-two\n+TWO"},
		{"other letters", "\xe9\n", "\xe9\xe9\n", "@@ -1 +1 @@\n-é\n+éé"},
		{"a CR within", "a\rb\n", "a\rc", "@@ -1 +1 @@\n-a\\rb\n+a\\rc\n\\ No newline at end of file"},
		{"a long line", "", strings.Repeat("é", 1500), "@@ -0,0 +1 @@\n+" + strings.Repeat("é", 1000) + " ...[+500 chars]\n\\ No newline at end of file"},
		{
			"within a long line", strings.Repeat("é", 3000) + "old\n", strings.Repeat("é", 3000) + "new\n",
			"@@ -1 +1 @@\n-[2900 chars+]... " + strings.Repeat("é", 100) + "old\n+[2900 chars+]... " + strings.Repeat("é", 100) + "new",
		},
		{"too much", "", many, "@@ -0,0 +1,100 @@\n" + strings.Repeat("+x\n", 34) + "[34 of 100 changed lines are shown; read the file for the others]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			limit := 4000
			if tc.name == "too much" {
				limit = 80 + len("@@ -0,0 +1,100 @@\n") + 3*34
			}
			if diff := cmp.Diff(tc.want, edit.Compare([]byte(tc.old), []byte(tc.new)).Show(limit)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// letters makes random texts in which pieces come back.
func letters(r *rand.Rand, alphabet string, most int) string {
	from := []rune(alphabet)
	var b strings.Builder
	for range r.IntN(most) {
		b.WriteRune(from[r.IntN(len(from))])
	}
	return b.String()
}

// some returns a part of text, cut between letters.
func some(r *rand.Rand, text string, most int) string {
	runes := []rune(text)
	from := r.IntN(len(runes) + 1)
	return string(runes[from:min(len(runes), from+1+r.IntN(most))])
}

// TestSpliceIsReplace: in whatever way a file is written, an edit makes of its text what
// strings.Replace makes of it, and leaves the way in which it is written.
func TestSpliceIsReplace(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	encode := map[string]func(string) []byte{
		"LF":   func(s string) []byte { return []byte(s) },
		"CRLF": func(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) },
		"BOM":  func(s string) []byte { return []byte("\ufeff" + s) },
		"Latin-1": func(s string) []byte {
			b, _ := textfile.EightBitBytes(s + "é.")
			return b
		},
		"Latin-1, CRLF": func(s string) []byte {
			b, _ := textfile.EightBitBytes(strings.ReplaceAll("é."+s, "\n", "\r\n"))
			return b
		},
	}
	made, refused := 0, 0
	for i := range 6000 {
		text := letters(r, "aab \n\t€üé", 40)
		e := edit.Edit{Old: some(r, text, 5), New: letters(r, "ab\n€ü", 6), All: r.IntN(2) == 0}
		for name, enc := range encode {
			content := enc(text)
			want := enc(strings.Replace(text, e.Old, e.New, map[bool]int{true: -1, false: 1}[e.All]))
			if shown(enc(text)) != shown(enc(text[:0]))+text && shown(enc(text)) != text+shown(enc(text[:0])) {
				continue // it happens to be UTF-8 in places
			}
			got, _, err := edit.Apply(t.Context(), content, []edit.Edit{e})
			fits := strings.Count(shown(content), e.Old)
			var refusal *edit.Error
			switch {
			case errors.As(err, &refusal):
				refused++
				merges := refusal.Kind == edit.Merges && strings.Contains(name, "Latin")
				if e.Old != "" && e.Old != e.New && (fits == 1 && !overlaps(shown(content), e.Old) || e.All && fits > 0) && !merges {
					t.Fatalf("case %d, %s: %+v in %q: %v", i, name, e, content, err)
				}
			case strings.Contains(name, "Latin") && strings.ContainsAny(e.Old, "é."),
				strings.Contains(name, "CRLF") && !strings.Contains(text, "\n"):
				// what the encoding adds is a place too; no line tells how lines end
			case !bytes.Equal(got, want):
				t.Fatalf("case %d, %s: %+v in %q gives %q, want %q", i, name, e, content, got, want)
			default:
				made++
			}
		}
	}
	t.Logf("%d made, %d refused", made, refused)
	if made < 10_000 {
		t.Errorf("only %d edits were made", made)
	}
}

func shown(content []byte) string {
	return strings.ReplaceAll(strings.TrimPrefix(textfile.Show(content), "\ufeff"), "\r\n", "\n")
}

func overlaps(text, part string) bool {
	n := strings.Index(text, part)
	return n >= 0 && strings.Contains(text[n+1:], part)
}

// TestBytesOutside: whatever the bytes round the place are, they stay.
func TestBytesOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const bytesOf = "\r\n\t aé\xc3\xa9\xe9\xff\x80\xf0\x9f\ufeff"
	noise := func() []byte {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = bytesOf[r.IntN(len(bytesOf))]
		}
		return b
	}
	for i := range 20_000 {
		before, after := append(noise(), '('), append([]byte(")"), noise()...)
		content := bytes.Join([][]byte{before, []byte("OLD"), after}, nil)
		got, _, err := edit.Apply(t.Context(), content, []edit.Edit{{Old: "OLD", New: "newer"}})
		if err != nil {
			var e *edit.Error
			if errors.As(err, &e) && e.Kind == edit.Wide {
				continue
			}
			t.Fatalf("case %d: %q: %v", i, content, err)
		}
		if want := bytes.Join([][]byte{before, []byte("newer"), after}, nil); !bytes.Equal(got, want) {
			t.Fatalf("case %d: %q became %q", i, content, got)
		}
	}
}

// TestLargeEdits: no edit, found or not, takes long on a large file.
func TestLargeEdits(t *testing.T) {
	line := strings.Repeat("a b ", 1<<18)
	lines := strings.Repeat("the same line again\r\n", 50_000)
	for name, tc := range map[string]struct {
		content string
		edit    edit.Edit
	}{
		"many places in one line":       {line, edit.Edit{Old: "a", New: "x\ny", All: true}},
		"many places in many lines":     {lines, edit.Edit{Old: "same", New: "x\ny", All: true}},
		"ambiguous":                     {line, edit.Edit{Old: "a b a b a", New: "x"}},
		"not there, one line":           {line, edit.Edit{Old: "a  b a b", New: "x"}},
		"not there, many lines":         {lines, edit.Edit{Old: strings.Repeat("The same line again\n", 50), New: "x"}},
		"nothing like it":               {lines, edit.Edit{Old: "zzzzzzzzz", New: "x"}},
		"not there, and long in itself": {lines, edit.Edit{Old: strings.Repeat("zz same", 20_000), New: "x"}},
	} {
		began := time.Now()
		_, _, err := edit.Apply(t.Context(), []byte(tc.content), []edit.Edit{tc.edit})
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s took %v", name, took)
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

// FuzzApply: an edit that is made can be seen in what is shown, and every error is short.
func FuzzApply(f *testing.F) {
	f.Add([]byte("caf\xe9\r\nx\r\n"), "é\nx", "y", false)
	f.Add([]byte("\ufeffa a\n"), "a", "b\n", true)
	f.Add([]byte("one\n\ttwo\nthree\n"), "one\n two\nthree", "x", false)
	f.Add([]byte("one\ntwo\nfour\n"), "one\n\ntwo\nthree\nfour", "x", false)
	f.Fuzz(func(t *testing.T, content []byte, before, after string, all bool) {
		before, after = strings.ToValidUTF8(before, ""), strings.ToValidUTF8(after, "")
		was := bytes.Clone(content)
		got, places, err := edit.Apply(t.Context(), content, []edit.Edit{{Old: before, New: after, All: all}})
		if !bytes.Equal(content, was) {
			t.Fatal("the content was changed")
		}
		if err != nil {
			if n := len(err.Error()); n > 2000 {
				t.Errorf("an error of %d bytes: %s", n, err)
			}
			return
		}
		if before == "" || strings.Contains(after, "\r") || bytes.Contains(content, []byte("\r")) {
			return
		}
		shown := strings.TrimPrefix(textfile.Show(content), "\ufeff")
		if want := strings.Replace(shown, before, after, places); strings.TrimPrefix(textfile.Show(got), "\ufeff") != want {
			t.Errorf("%q in %q gives %q, want %q", fmt.Sprint(before, after), content, got, want)
		}
	})
}
