package patchapply

import (
	"fmt"
	"strings"
)

// farOff is how many lines a hunk may be from where its numbers say before that is told.
const farOff = 3

// tryPass searches in one pass, and decides between several places.
func (l *locator) tryPass(s *search, p Pass) (edit, bool, error) {
	if s.hunk.Unified != nil {
		return l.tryNumbers(s, p)
	}
	x := l.index(p)
	at := x.find(s.old, s.from, maxPlaces)
	switch {
	case len(at) == 0:
		return edit{}, false, nil
	case len(at) > 1 && s.missing != "":
		return edit{}, false, l.anchorMissing(s, at...)
	case len(at) > 1 && (s.hunk.EndOfFile || p >= PassTrim && (!s.anchored || s.behind)):
		return edit{}, false, l.ambiguous(s, p, at)
	}
	d := l.place(s, at[0], p)
	if s.missing != "" {
		d.warn("the anchor %s is not in the file; the lines of the hunk are there once", quoteLine(s.missing))
	}
	if len(at) > 1 && (!s.anchored || s.behind) {
		d.warn("the same lines are also at %s", lineNumbers(at[1:]))
	}
	if s.hunk.EndOfFile {
		d.fuzz += eofFuzz
		d.warn("the lines do not end the file, as *** End of File says")
	}
	if s.anchored && !s.behind {
		if err := l.checkAnchor(s, &d); err != nil {
			return edit{}, false, err
		}
	}
	return d, true, nil
}

// tryNumbers searches for a hunk with numbers. They decide only if they are right.
func (l *locator) tryNumbers(s *search, p Pass) (edit, bool, error) {
	x, hint := l.index(p), l.hint(s)
	if hint >= s.from && x.matches(s.old, hint) {
		return l.place(s, hint, p), true, nil
	}
	at := x.find(s.old, s.from, maxPlaces)
	if len(at) == 0 {
		return edit{}, false, nil
	}
	if hint >= s.from && p < PassUnicode && l.resembles(s.old, hint) {
		at, p = append([]int{hint}, at...), PassUnicode
	}
	if len(at) > 1 {
		return edit{}, false, l.ambiguous(s, p, at)
	}
	d := l.place(s, at[0], p)
	if off := distance(at[0], hint); off > farOff {
		d.warn("the lines are at line %d, %d lines from where the numbers say", at[0]+1, off)
	}
	return d, true, nil
}

// resembles reports whether the file has lines at a place in the loosest pass.
func (l *locator) resembles(lines [][]byte, at int) bool {
	x := lineIndex{pass: PassUnicode, file: l.file}
	return x.matches(lines, at)
}

// hint returns where the numbers of a hunk say that it is.
func (l *locator) hint(s *search) int { return s.hunk.Unified.Old - 1 + l.offset }

func distance(a, b int) int { return max(a-b, b-a) }

// checkAnchor looks whether a place belongs to what the anchor begins, or behind the next of
// its kind: then lines that are like those of the hunk may be meant, which stand before that.
func (l *locator) checkAnchor(s *search, d *edit) error {
	next, ok := l.nextLike(s.anchorAt, d.start)
	if !ok {
		return nil
	}
	for p := d.pass + 1; p < passes; p++ {
		if at := l.index(p).find(s.old, s.from, 1); len(at) > 0 && at[0] < next {
			return l.ambiguous(s, p, []int{at[0], d.start})
		}
	}
	d.warn("%s stands between the anchor %s and these lines, at line %d", quoteLine(string(l.file.line(next))), quoteLine(string(l.file.line(s.anchorAt))), next+1)
	return nil
}

// nextLike returns the first line between two that begins like the one at the first: with the
// same indentation and word.
func (l *locator) nextLike(at, end int) (int, bool) {
	begin := beginning(string(l.file.line(at)))
	if begin == "" {
		return 0, false
	}
	for i := at + 1; i < end; i++ {
		if line := string(l.file.line(i)); strings.HasPrefix(line, begin) && beginning(line) == begin {
			return i, true
		}
	}
	return 0, false
}

// beginning returns the indentation and the first word of a line, or "" where that is all.
func beginning(line string) string {
	indent := leading(line)
	word, rest, _ := strings.Cut(line[len(indent):], " ")
	if rest == "" {
		return ""
	}
	return indent + word
}

// place makes an edit of a search that has found its lines.
func (l *locator) place(s *search, start int, p Pass) edit {
	d := edit{hunk: s.hunk, lines: s.lines, start: start, count: len(s.old), pass: p, fuzz: p.fuzz()}
	if s.hunk.Unified != nil {
		l.offset = start - (s.hunk.Unified.Old - 1)
	}
	if p >= PassTrim {
		d.shift = findIndent(l.file, s.lines, start)
	}
	return d
}

// clear returns an edit that was found, or an error where its added lines cannot be indented.
func (l *locator) clear(s *search, d edit, err error) (edit, error) {
	if err != nil || !d.shift.isUnclear(d.lines) {
		return d, err
	}
	t := l.explain(s)
	t.add("its lines are at line %d with another indentation, and it adds a removed line with another indentation again: it is not clear which is meant.", d.start+1)
	l.showRegion(t, d.start)
	t.add("Copy the lines with the indentation that they have in the file.")
	return edit{}, t.err(ContextNotFound)
}

// insert places a hunk that has no old lines.
func (l *locator) insert(s *search) (edit, error) {
	d := edit{hunk: s.hunk, lines: s.lines}
	end := l.file.count()
	switch {
	case s.missing != "":
		return edit{}, l.anchorMissing(s)
	case s.hunk.EndOfFile:
		d.start = end
	case s.behind:
		d.start = max(l.cursor, s.from)
		if d.start != s.anchorAt+1 {
			d.warn("the anchor stands before the hunk above; the lines were added behind that hunk")
		}
	case s.anchored:
		d.start = s.anchorAt + 1
	case s.hunk.Unified != nil:
		d.start = s.hunk.Unified.Old + l.offset
		if s.hunk.Unified.OldCount > 0 {
			d.start--
		}
		if said := d.start; said > end || said < l.changed {
			d.start = min(max(said, l.changed), end)
			d.warn("the file has no place before line %d that is free; the lines were added at line %d", said+1, d.start+1)
		}
	default:
		d.start = end
		if end > 0 {
			d.warn("the hunk has neither context nor anchor; the lines were added at the end of the file")
		}
	}
	return d, nil
}

func (d *edit) warn(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}
