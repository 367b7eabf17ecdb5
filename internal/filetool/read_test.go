package filetool_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/internal/testneed"
)

// numbered returns n lines "line 1" and so on.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func wide(text string, order binary.AppendByteOrder) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// cutNote stands behind lines that are cut.
const cutNote = "\n[for more of a cut line search this file with output_mode=content, -o=true " +
	"and a pattern such as .{0,200}WORD.{0,200}]"

// TestRead holds what Read shows, to the letter.
func TestRead(t *testing.T) {
	d := newHarness(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "unended": "one\ntwo", "empty": "", "blank": "\n\n", "ten": numbered(10),
		"crlf": "one\r\ntwo\r\n", "fake": "a\r9\tb\r\r\nc\n", "cr": "one\rtwo\r", "odd": "a\u2028b\fc\vd\ne\n",
		"le": wide("h\u00e9\r\nb\n", binary.LittleEndian), "be": wide("h\u00e9\n", binary.BigEndian),
		"bom":   "\xef\xbb\xbfone\ntwo\n",
		"latin": "gr\xfc\xdfe\n", "gbk": "\xc4\xe3\n", "cut": "gr\xc3",
		"long": strings.Repeat("\u00e9", 3000) + "\nnext\n",
		"link": "-> sub/b.txt", "sub/b.txt": "b\n", "cafe\u0301": "x\n",
		"pdf": "%PDF-1.7\nx", "bin": "a\x00b",
	})
	tests := []struct {
		name string
		args args
		want string
	}{
		{"whole", args{"file_path": "a.txt"}, "1\tone\n2\ttwo\n3\tthree"},
		{"absolute", args{"file_path": d.root + "/a.txt"}, "1\tone\n2\ttwo\n3\tthree"},
		{"last line without an end", args{"file_path": "unended"}, "1\tone\n2\ttwo"},
		{"empty", args{"file_path": "empty"}, "[empty file]"},
		{"empty, from behind", args{"file_path": "empty", "offset": -5}, "[empty file]"},
		{"blank lines", args{"file_path": "blank"}, "1\t\n2\t"},
		{
			"limit",
			args{"file_path": "ten", "limit": 2},
			"1\tline 1\n2\tline 2\n[lines 1-2 of 10; continue with offset=3]",
		},
		{
			"middle",
			args{"file_path": "ten", "offset": 9, "limit": 1},
			"9\tline 9\n[lines 9-9 of 10; continue with offset=10]",
		},
		{"to the end", args{"file_path": "ten", "offset": 10}, "10\tline 10\n[lines 10-10 of 10]"},
		{"from the end", args{"file_path": "ten", "offset": -2}, "9\tline 9\n10\tline 10\n[lines 9-10 of 10]"},
		{
			"from the end, limited",
			args{"file_path": "ten", "offset": -3, "limit": 1},
			"8\tline 8\n[lines 8-8 of 10; continue with offset=9]",
		},
		{"more than there are, from the end", args{"file_path": "a.txt", "offset": -99}, "1\tone\n2\ttwo\n3\tthree"},
		{"as far back as numbers go", args{"file_path": "unended", "offset": math.MinInt64}, "1\tone\n2\ttwo"},
		{
			"claude-code#30197: strings",
			args{"file_path": "ten", "offset": "2", "limit": "1"},
			"2\tline 2\n[lines 2-2 of 10; continue with offset=3]",
		},
		{"ai-agent-book#37: null", args{"file_path": "unended", "offset": nil, "limit": nil}, "1\tone\n2\ttwo"},
		{
			"opencode#45200: limit 0",
			args{"file_path": "unended", "limit": 0},
			"1\tone\n2\ttwo\n[limit 0 is taken as the default, 2000]",
		},
		{"opencode#46807: offset 0", args{"file_path": "unended", "offset": 0}, "1\tone\n2\ttwo"},
		{"alias", args{"path": "unended"}, "1\tone\n2\ttwo"},
		{"opencode's alias", args{"filePath": "unended"}, "1\tone\n2\ttwo"},
		{
			"server-filesystem's head",
			args{"path": "ten", "head": 1},
			"1\tline 1\n[lines 1-1 of 10; continue with offset=2]",
		},
		{"server-filesystem's tail", args{"path": "ten", "tail": "1"}, "10\tline 10\n[lines 10-10 of 10]"},
		{"crlf", args{"file_path": "crlf"}, "1\tone\n2\ttwo"},
		{"cr", args{"file_path": "cr"}, "1\tone\\rtwo\\r\n[lines end in CR alone, so the file counts as one line]"},
		{"a CR that fakes a line", args{"file_path": "fake"}, "1\ta\\r9\tb\\r\n2\tc"},
		{"deepagents#5787: only newlines end lines", args{"file_path": "odd"}, "1\ta\u2028b\fc\vd\n2\te"},
		{"kimi-code#2647: utf-16le", args{"file_path": "le"}, "1\th\u00e9\n2\tb\n[decoded from UTF-16LE]"},
		{"utf-16be", args{"file_path": "be"}, "1\th\u00e9\n[decoded from UTF-16BE]"},
		{
			"utf-16, from the end",
			args{"file_path": "le", "offset": -1},
			"2\tb\n[decoded from UTF-16LE]\n[lines 2-2 of 2]",
		},
		{"bom", args{"file_path": "bom"}, "1\tone\n2\ttwo"},
		{"bom, from the end", args{"file_path": "bom", "offset": -2}, "1\tone\n2\ttwo"},
		{
			"latin-1",
			args{"file_path": "latin"},
			"1\tgr\u00fc\u00dfe\n[not UTF-8: other bytes are shown as in windows-1252]",
		},
		{"gbk", args{"file_path": "gbk"}, "1\t\u00c4\u00e3\n[not UTF-8: other bytes are shown as in windows-1252]"},
		{
			"utf-8 cut in a letter",
			args{"file_path": "cut"},
			"1\tgr\u00c3\n[not UTF-8: other bytes are shown as in windows-1252]",
		},
		{
			"long line",
			args{"file_path": "long"},
			"1\t" + strings.Repeat("\u00e9", 2000) + " ...[+1,000 chars]\n2\tnext" + cutNote,
		},
		{"through a link", args{"file_path": "link"}, "1\tb\n[through a link: this is sub/b.txt]"},
		{"30 another unicode form", args{"file_path": "caf\u00e9"}, "1\tx\n[this is cafe\u0301]"},
		{"pdf", args{"file_path": "pdf"}, "[binary, application/pdf, 10 bytes, pdf]"},
		{"binary", args{"file_path": "bin"}, "[binary, application/octet-stream, 3 bytes, bin]"},
		{
			"directory",
			args{"file_path": "sub"},
			"[sub is a directory: read one of its files, or list it for more]\nb.txt",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, res := d.call(t, "Read", tt.args)
			if diff := cmp.Diff(tt.want, text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if res.IsError || res.StructuredContent != nil {
				t.Errorf("error %v, structured %v", res.IsError, res.StructuredContent)
			}
		})
	}
}

// TestReadRefuses holds the errors: what they must say, and that they are errors.
func TestReadRefuses(t *testing.T) {
	d := newHarness(t, map[string]string{
		"a.txt": "one\ntwo\n", "sub/main.go": "x", "link": "-> ../S", "dirlink": "-> ../out", "broken": "-> nowhere",
		"gone": "-> ../nowhere",
		"l1":   "-> l2", "l2": "-> l1", "abs-out": "-> /etc/passwd",
	})
	must(t, os.Mkdir(d.root+"-evil", 0o755))
	must(t, os.WriteFile(d.root+"-evil/x", []byte(secret), 0o644))
	tests := []struct{ name, path, says string }{
		{"1 sibling", d.root + "-evil/x", "outside the allowed roots"},
		{"2 dots", d.root + "/../S", "outside the allowed roots"},
		{"3 link out", "link", "outside"},
		{"3 absolute link out", "abs-out", "outside"},
		{"4 directory link out", "dirlink/passwd", "outside"},
		{"5 with a slash", "dirlink/", "outside"},
		{"7 loop", "l1", "too many links"},
		{"8 dangling", "broken", "dangling"},
		{"8 dangling out", "gone", "outside"},
		{"22 NUL", "a\x00b", "NUL"},
		{"22 long", strings.Repeat("x/", 2500), "longer"},
		{"22 long name", strings.Repeat("x", 300), "255"},
		{"24 other host", "file://evil/x", "another host"},
		{"24 http", "http://example.org/a.txt", "only file://"},
		{"missing", "sub/mian.go", `similar names: "sub/main.go"`},
		{"DesktopCommanderMCP#396: missing directory", "nodir/x", "does not exist"},
		{"29 another case", "A.TXT", `"a.txt"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, res := d.call(t, "Read", args{"file_path": tt.path})
			if !res.IsError || !strings.Contains(text, tt.says) || strings.Contains(text, "\n") || len(text) > 2000 {
				t.Errorf("error %v: %s", res.IsError, text)
			}
		})
	}
	for name, says := range map[string]string{"a.txt": "the file has 2 lines;", "sub/main.go": "the file has 1 line;"} {
		text, res := d.call(t, "Read", args{"file_path": name, "offset": 7})
		if !res.IsError || !strings.Contains(text, says) {
			t.Errorf("past the end: %s", text)
		}
	}
}

// TestReadBudget: RooCode PRs 6667 and 8789, cline PR 5225: the first page and how to go
// on, never a flood and never a refusal.
func TestReadBudget(t *testing.T) {
	d := newHarness(t, map[string]string{
		"big": numbered(50_000), "wide": strings.Repeat("x", 1900) + "\n" + strings.Repeat("\u00e9", 1900) + "\n",
	}, "--max-output", "4096")
	next, seen := 1, 0
	for range 3 {
		text, _ := d.call(t, "Read", args{"file_path": "big", "offset": next, "surprise": 1})
		if len(text) > 4096 {
			t.Fatalf("%d bytes", len(text))
		}
		var first, last int
		i := strings.Index(text, "[lines ")
		if i < 0 {
			t.Fatalf("no mark in %q", text)
		}
		mark := strings.Replace(strings.ReplaceAll(text[i:], ",", ""), "; ", " ", 1)
		_, err := fmt.Sscanf(mark, "[lines %d-%d of 50000 continue with offset=%d]", &first, &last, &next)
		if err != nil {
			t.Fatalf("%v: %s", err, text[i:])
		}
		if first != seen+1 || next != last+1 || !strings.HasPrefix(text, fmt.Sprintf("%d\tline %d\n", first, first)) {
			t.Errorf("lines %d-%d after %d, next %d", first, last, seen, next)
		}
		seen = last
	}
	text, _ := d.call(t, "Read", args{"file_path": "wide", "offset": 2})
	kept := strings.Count(text, "\u00e9")
	mark := fmt.Sprintf(" ...[+%d chars]"+cutNote, 1900-kept)
	if len(text) > 4096 || !utf8.ValidString(text) || kept == 0 || !strings.Contains(text, mark) {
		t.Errorf("a line that is too wide: %q", text)
	}
}

// TestReadBig is cases 36 and 37, and glm-mcp#15: any part of a big file in bounded
// memory.
func TestReadBig(t *testing.T) {
	d := newHarness(t, map[string]string{"lines": numbered(2_000_000), "one": strings.Repeat("x", 30<<20)})
	tests := []struct {
		name string
		args args
		want string
	}{
		{
			"start",
			args{"file_path": "lines", "limit": 1},
			"1\tline 1\n[lines 1-1; the file (24.9 MB) goes on; continue with offset=2]",
		},
		{
			"middle",
			args{"file_path": "lines", "offset": 1_900_000, "limit": 1},
			"1900000\tline 1900000\n" +
				"[lines 1,900,000-1,900,000; the file (24.9 MB) goes on; continue with offset=1900001]",
		},
		{
			"last but one",
			args{"file_path": "lines", "offset": 1_999_999, "limit": 1},
			"1999999\tline 1999999\n" +
				"[lines 1,999,999-1,999,999; the file (24.9 MB) goes on; continue with offset=2000000]",
		},
		{
			"last",
			args{"file_path": "lines", "offset": 2_000_000},
			"2000000\tline 2000000\n[lines 2,000,000-2,000,000 of 2,000,000]",
		},
		{
			"tail",
			args{"file_path": "lines", "offset": -1},
			"2000000\tline 2000000\n[lines 2,000,000-2,000,000 of 2,000,000]",
		},
		{"one line", args{"file_path": "one"}, "1\t" + strings.Repeat("x", 2000) + " ...[+31,455,280 chars]" + cutNote},
	}
	for _, tt := range tests {
		before := allocated()
		text, _ := d.call(t, "Read", tt.args)
		if diff := cmp.Diff(tt.want, text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if used := allocated() - before; used > 8<<20 {
			t.Errorf("%s: %d bytes allocated", tt.name, used)
		}
	}
}

// TestReadEmptyLines: lines without text take room all the same, however many are asked for.
func TestReadEmptyLines(t *testing.T) {
	d := newHarness(t, map[string]string{"empty": strings.Repeat("\n", 60<<20)})
	before := allocated()
	text, _ := d.call(t, "Read", args{"file_path": "empty", "limit": 1e9})
	if !strings.HasPrefix(text, "1\t\n2\t\n") || !strings.Contains(text, "; the file (62.9 MB) goes on; continue with") {
		t.Errorf("got %.20q ... %q", text, text[max(0, len(text)-200):])
	}
	if used := allocated() - before; used > 32<<20 {
		t.Errorf("%d bytes allocated", used)
	}
}

// TestReadEndlessLine: what stands before a line too long to read is shown, and of the
// line its start.
func TestReadEndlessLine(t *testing.T) {
	d := newHarness(t, map[string]string{"hole": numbered(8000), "start": ""})
	for _, name := range []string{"hole", "start"} {
		if err := os.Truncate(d.root+"/"+name, 1<<40); err != nil {
			testneed.Missing(t, "sparse files", "run the tests on a file system that has them: "+err.Error())
		}
	}
	const stopped = "; reading stopped in line 8,001 of the file (1.1 TB): how many lines follow is unknown]"
	for _, c := range []struct {
		name string
		args args
		has  []string
	}{
		{"behind the page", args{"limit": 8000}, []string{"1\tline 1\n", "; the file (1.1 TB) goes on; continue with"}},
		{
			"on the page",
			args{"offset": 7999},
			[]string{"8000\tline 8000\n8001\t\x00", " ...[+more than ", "[lines 7,999-8,001" + stopped},
		},
		{"alone", args{"offset": 8001}, []string{"8001\t\x00", "[lines 8,001-8,001" + stopped}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.args["file_path"] = "hole"
			text, res := d.call(t, "Read", c.args)
			for _, has := range c.has {
				if res.IsError || !strings.Contains(text, has) {
					t.Errorf("error %v: %.200q lacks %q", res.IsError, text, has)
				}
			}
		})
	}
}

// TestReadOutOfTime: where time runs out the lines that came before are shown.
func TestReadOutOfTime(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		from, limit int64
		want        string
	}{
		{
			"while counting", "a\nb\nc", 1, 2,
			"1\ta\n2\tb\n[lines 1-2; the file (9 bytes) goes on; continue with offset=3]\n",
		},
		{
			"in a line", "a\nb", 1, 9,
			"1\ta\n2\tb ...[+more]" + cutNote + "\n" +
				"[lines 1-2; reading stopped in line 2 of the file (9 bytes): how many lines follow is unknown]\n",
		},
		{"between lines", "a\n", 1, 9, "1\ta\n[lines 1-1; the file (9 bytes) goes on; continue with offset=2]\n"},
		{
			"before the first", "a\n", 7, 9,
			"offset 7 was not reached in time: it came to line 1; use a smaller offset",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			late := io.MultiReader(strings.NewReader(c.text), iotest.ErrReader(context.DeadlineExceeded))
			if diff := cmp.Diff(c.want, filetool.Window(late, 9, c.from, c.limit)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestReadMedia: images and sounds are blocks of their own; what does not fit is named.
func TestReadMedia(t *testing.T) {
	var pic bytes.Buffer
	must(t, png.Encode(&pic, image.NewGray(image.Rect(0, 0, 8, 8))))
	wav := "RIFF\x24\x00\x00\x00WAVEfmt " + strings.Repeat("\x00", 28)
	huge := pic.String() + strings.Repeat("\x00", 2<<20)
	d := newHarness(t, map[string]string{"p.png": pic.String(), "s.wav": wav, "huge.png": huge, "x.bin": "\x00\x01"})

	text, res := d.call(t, "Read", args{"file_path": "p.png"})
	img, ok := res.Content[len(res.Content)-1].(*mcp.ImageContent)
	if !ok || !bytes.Equal(img.Data, pic.Bytes()) || img.MIMEType != "image/png" ||
		!strings.Contains(text, "[image/png, ") {
		t.Errorf("image: %s, %T", text, res.Content[len(res.Content)-1])
	}
	text, res = d.call(t, "Read", args{"file_path": "s.wav"})
	snd, ok := res.Content[len(res.Content)-1].(*mcp.AudioContent)
	if !ok || string(snd.Data) != wav || snd.MIMEType != "audio/wav" {
		t.Errorf("sound: %s, %T", text, res.Content[len(res.Content)-1])
	}
	for name, says := range map[string]string{"huge.png": "not shown", "x.bin": "application/octet-stream"} {
		text, res = d.call(t, "Read", args{"file_path": name})
		link, ok := res.Content[len(res.Content)-1].(*mcp.ResourceLink)
		if !ok || link.URI != "file://"+d.root+"/"+name || res.IsError || !strings.Contains(text, says) {
			t.Errorf("%s: %s, %+v", name, text, link)
		}
	}
}

func TestReadNotebook(t *testing.T) {
	d := newHarness(t, map[string]string{
		"n.ipynb": `{"nbformat":4,"cells":[
			{"cell_type":"markdown","source":["# Title\n","text"]},
			{"cell_type":"code","source":"print(1)","outputs":[
				{"output_type":"stream","text":["1\n"]},
				{"output_type":"display_data","data":{"image/png":"iVBOR","text/plain":["<Figure>"]}},
				{"output_type":"error","ename":"ValueError","evalue":"no","traceback":["line 1"]},
				{"output_type":"stream","text":"` + strings.Repeat("y", 2500) + `"}]}]}`,
		"broken.ipynb": "{\"cells\": [\n",
	})
	want := strings.Join([]string{
		"1\t[cell 1, markdown]", "2\t# Title", "3\ttext",
		"4\t[cell 2, code]", "5\tprint(1)",
		"6\t[output of cell 2]", "7\t1",
		"8\t[output of cell 2]", "9\t<Figure>", "10\t[also as image/png, not shown]",
		"11\t[output of cell 2]", "12\tValueError: no", "13\tline 1",
		"14\t[output of cell 2]", "15\t" + strings.Repeat("y", 2000), "16\t[+500 chars]",
		"[notebook of 2 cells, flattened: line numbers are of this view, not of the file]",
	}, "\n")
	text, _ := d.call(t, "Read", args{"file_path": "n.ipynb"})
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text, _ := d.call(t, "Read", args{"file_path": "broken.ipynb"}); text != "1\t{\"cells\": [" {
		t.Errorf("a file that is no notebook: %q", text)
	}
}

// TestReadNotebookEncodings: a notebook is decoded as any file, whole or in part, and what
// it was decoded from is said.
func TestReadNotebookEncodings(t *testing.T) {
	small := `{"nbformat":4,"cells":[{"cell_type":"raw","source":"gr%s"}]}`
	big := strings.Repeat("# gr\u00fc\u00dfe\n", 1_200_000)
	d := newHarness(t, map[string]string{
		"wide.ipynb":    wide(fmt.Sprintf(small, "\u00fc"), binary.LittleEndian),
		"latin.ipynb":   fmt.Sprintf(small, "\xfc"),
		"bigwide.ipynb": wide(big, binary.BigEndian), "biglatin.ipynb": strings.ReplaceAll(big, "\u00fc", "\xfc"),
	})
	const latin, flat = "[not UTF-8: other bytes are shown as in windows-1252]",
		"[notebook of 1 cell, flattened: line numbers are of this view, not of the file]"
	d.holds(t, "Read", []want{
		{"utf-16", args{"path": "wide.ipynb"}, "1\t[cell 1, raw]\n2\tgr\u00fc\n[decoded from UTF-16LE]\n" + flat},
		{"8-bit", args{"path": "latin.ipynb"}, "1\t[cell 1, raw]\n2\tgr\u00fc\n" + latin + "\n" + flat},
		{
			"utf-16, behind what is held",
			args{"path": "bigwide.ipynb", "offset": 1_199_998, "limit": 1},
			"1199998\t# gr\u00fc\u00dfe\n[decoded from UTF-16BE]\n" +
				"[lines 1,199,998-1,199,998; the file (19.2 MB) goes on; continue with offset=1199999]",
		},
		{
			"utf-16, from the end",
			args{"path": "bigwide.ipynb", "offset": -1},
			"1200000\t# gr\u00fc\u00dfe\n[decoded from UTF-16BE]\n[lines 1,200,000-1,200,000 of 1,200,000]",
		},
		{
			"8-bit, large",
			args{"path": "biglatin.ipynb", "offset": 2, "limit": 1},
			"2\t# gr\u00fc\u00dfe\n" + latin + "\n[lines 2-2; the file (10.8 MB) goes on; continue with offset=3]",
		},
	})
}

func TestReadFolder(t *testing.T) {
	files := map[string]string{"many/a\nb": "", "many/dir/": "", "many/zlink": "-> ../../S"}
	for i := range 150 {
		files[fmt.Sprintf("many/f%03d", i)] = ""
	}
	d := newHarness(t, files)
	text, res := d.call(t, "Read", args{"file_path": "many/"})
	const mark = "[100 of 153 entries; list the directory to see the others]"
	if res.IsError || !strings.Contains(text, "\na\\nb\ndir/\nf000\n") || !strings.HasSuffix(text, mark) {
		t.Errorf("%s", text)
	}
	if text, _ := d.call(t, "Read", args{"file_path": "."}); !strings.HasSuffix(text, "many/") {
		t.Errorf("23, the root: %s", text)
	}
}

// TestReadHugeFolder: what is shown of a directory too large to look at in full does not
// pass for its first names.
func TestReadHugeFolder(t *testing.T) {
	d := newHarness(t, map[string]string{"full/": ""})
	for i := range 10_001 {
		must(t, os.WriteFile(fmt.Sprintf("%s/full/%05d", d.root, i), nil, 0o644))
	}
	for _, c := range []struct{ name, mark string }{
		{
			"more than are looked at",
			"[100 of more than 10,000 entries, not the first by name; list the directory to see all in order]",
		},
		{"just as many", "[100 of 10,000 entries; list the directory to see the others]"},
	} {
		text, _ := d.call(t, "Read", args{"file_path": "full"})
		if !strings.HasSuffix(text, "\n"+c.mark) {
			t.Errorf("%s: got %q", c.name, text[strings.LastIndexByte(text, '\n')+1:])
		}
		os.Remove(d.root + "/full/10000")
	}
}
