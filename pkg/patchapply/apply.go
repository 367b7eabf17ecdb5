package patchapply

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

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
// [NotText], [ContextNotFound], [AnchorNotFound] and [Ambiguous].
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
	var hasBOM, hasCR, foreign bool
	for _, h := range s.Hunks {
		for _, l := range h.Lines {
			hasBOM = hasBOM || l.Op != '+' && strings.HasPrefix(l.Text, bom)
			hasCR = hasCR || h.Unified != nil && strings.HasSuffix(l.Text, "\r")
			foreign = foreign || l.Op == '+' && !isASCII(l.Text) && utf8.ValidString(l.Text)
		}
	}
	if foreign && !utf8.Valid(before) {
		return nil, notText("the file is not UTF-8, and lines to add have letters that are not ASCII: they would mix two encodings")
	}
	f := &fileText{data: before}
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
