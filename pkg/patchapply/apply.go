package patchapply

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

// maxLines bounds the memory that finding lines takes: some 50 bytes for each.
const maxLines = 8 << 20

// A HunkReport says where a hunk was applied, and how loosely its lines had to be compared.
type HunkReport struct {
	Hunk     int // from 1
	Line     int // of the new file, 1-based, where the hunk begins
	OldLine  int // the same in the file as it was
	Pass     Pass
	Fuzz     int // 0 for an exact match; more the looser it was
	Warnings []string
}

// Apply returns a file with the hunks of an update applied, and what was done for each. All
// bytes that no hunk changes stay as they are, and before is not written to. Errors are
// [NotText], [TooLarge], [ContextNotFound], [AnchorNotFound] and [Ambiguous].
func (s *Section) Apply(before []byte) (after []byte, report []HunkReport, err error) {
	return s.apply(before, &scratch{})
}

// A scratch is memory that an Apply leaves to the next one.
type scratch struct {
	starts []int
	hashes []uint64
}

func (s *Section) apply(before []byte, mem *scratch) (after []byte, report []HunkReport, err error) {
	if len(s.Hunks) == 0 {
		return before, nil, nil
	}
	f, err := s.open(before, mem)
	if err != nil {
		return nil, nil, err
	}
	l := &locator{section: s, file: f, mem: mem, old: make([][][]byte, len(s.Hunks))}
	e := newEmitter(f, s.added())
	for i := range s.Hunks {
		edit, err := l.locate(i)
		if err != nil {
			return nil, nil, err
		}
		edit.warnOfRepeat(f)
		edit.warnOfIndent(f)
		report = append(report, HunkReport{
			Hunk: i + 1, Line: edit.start + e.delta + 1, OldLine: edit.start + 1,
			Pass: edit.pass, Fuzz: edit.fuzz, Warnings: edit.warnings,
		})
		e.edit(edit)
		l.pass(edit)
	}
	return e.finish(), report, nil
}

// open finds a file's lines, as the hunks need them.
func (s *Section) open(before []byte, mem *scratch) (*fileText, error) {
	notText := func(why string) error {
		return &Error{Class: NotText, Path: s.Path, Line: s.Line, Text: fmt.Sprintf("%s: %s.%s", quotePath(s.Path), why, unchanged)}
	}
	if bytes.HasPrefix(before, []byte("\xff\xfe")) || bytes.HasPrefix(before, []byte("\xfe\xff")) {
		return nil, notText("the file is UTF-16, and only files that extend ASCII can be patched")
	}
	if bytes.IndexByte(before, 0) >= 0 {
		return nil, notText("the file is binary: it has a NUL byte")
	}
	if n := max(bytes.Count(before, []byte{'\n'}), bytes.Count(before, []byte{'\r'})); n > maxLines {
		return nil, &Error{Class: TooLarge, Path: s.Path, Line: s.Line, Text: fmt.Sprintf("%s has %d lines, at most %d can be searched.%s", quotePath(s.Path), n, maxLines, unchanged)}
	}
	var hasBOM, hasCR bool
	oneLine := bytes.IndexByte(before, '\n') < 0 // for programs that end lines at \n only
	f := &fileText{data: before, eightBit: isEightBit(before)}
	for _, h := range s.Hunks {
		for _, l := range h.Lines {
			hasBOM = hasBOM || l.Op != '+' && strings.HasPrefix(l.Text, bom)
			hasCR = hasCR || h.Unified != nil && (strings.HasSuffix(l.Text, "\r") || oneLine && strings.Contains(l.Text, "\r"))
			if l.Op == '+' && f.eightBit && !canHold(l.Text) {
				return nil, notText("the file is not UTF-8 and taken as windows-1252, which cannot hold a line to add: " + quoteLine(l.Text))
			}
		}
	}
	if rest, ok := bytes.CutPrefix(before, []byte(bom)); ok && !hasBOM {
		f.data, f.bom = rest, before[:len(bom)]
	}
	f.split(hasCR, mem)
	return f, nil
}

// added returns how many bytes the hunks may add, but for indentation.
func (s *Section) added() (n int) {
	for _, h := range s.Hunks {
		for _, l := range h.Lines {
			if l.Op == '+' {
				n += len(l.Text) + len("\r\n")
			}
		}
	}
	return n
}

// isEightBit reports whether the letters beyond ASCII that a file has are mostly single bytes.
func isEightBit(content []byte) bool {
	if utf8.Valid(content) {
		return false
	}
	single, several := 0, 0
	for len(content) > 0 {
		r, n := utf8.DecodeRune(content)
		switch {
		case r == utf8.RuneError && n == 1:
			single++
		case n > 1:
			several++
		}
		content = content[n:]
	}
	return single > several
}

// canHold reports whether a line can be written in a file of single bytes, and is shown as
// it is meant.
func canHold(line string) bool {
	if isASCII(line) || !utf8.ValidString(line) {
		return true
	}
	b, ok := textfile.EightBitBytes(line)
	return ok && textfile.Show(b) == line
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// pass goes on behind an edit.
func (l *locator) pass(d edit) {
	l.cursor = d.start + d.count
	l.changed = l.cursor
	for i := len(d.lines) - 1; i >= 0 && d.lines[i].Op == ' '; i-- {
		l.changed--
	}
}

// An edit is a hunk at its place.
type edit struct {
	hunk     *Hunk
	lines    []Line // of the hunk, without blank ones at the end that the file lacks
	start    int    // the first line of the file that it takes, from 0
	count    int    // how many it takes
	pass     Pass
	fuzz     int
	shift    indent // of lines to add
	warnings []string
}

// warnOfRepeat tells if a hunk that only adds lines adds some that are there already: it may
// have been applied before.
func (d *edit) warnOfRepeat(f *fileText) {
	at, word, first := d.start, false, -1
	for i := 0; i < len(d.lines); i++ {
		if d.lines[i].Op == ' ' {
			at++
			continue
		}
		end := i
		for ; end < len(d.lines) && d.lines[end].Op == '+'; end++ {
			word = word || hasWord(d.lines[end].Text)
		}
		if end == i || !f.holds(d.lines[i:end], at) {
			return
		}
		if first < 0 {
			first = at
		}
		i = end - 1
	}
	if word {
		d.warn("the lines that were added were there already, at line %d: if this patch was sent twice, remove them", first+1)
	}
}

// holds reports whether a file has lines at a place.
func (f *fileText) holds(lines []Line, at int) bool {
	for i, l := range lines {
		if at+i >= f.count() || string(f.line(at+i)) != l.Text {
			return false
		}
	}
	return true
}

// warnOfIndent tells if lines were added as the patch indents them, in a place where the file
// indents in another way.
func (d *edit) warnOfIndent(f *fileText) {
	if d.pass < PassTrim || d.shift != (indent{}) {
		return
	}
	at, adds, differs := d.start, false, false
	for _, l := range d.lines {
		if l.Op == '+' {
			adds = adds || leading(l.Text) != ""
			continue
		}
		file := string(f.line(at))
		at++
		same := isBlank(file) || leading(l.Text) == leading(file)
		if l.Op == '-' && same && !isBlank(file) {
			return
		}
		differs = differs || !same
	}
	if adds && differs {
		d.warn("the file indents these lines in another way than the patch; the lines to add were written as they are in the patch")
	}
}
