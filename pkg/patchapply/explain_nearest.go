package patchapply

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

const (
	maxVotes   = 64  // places of one line that vote for where the hunk may be
	maxVoters  = 400 // lines that vote
	maxRegion  = 3   // lines shown around the first that differs
	minSimilar = 2   // a line is like another if this part of it is the same: a half
)

// explainElsewhere says where the lines are, if that is before the search began, and reports
// whether it is.
func (l *locator) explainElsewhere(s *search, t *explanation) bool {
	if s.from == 0 {
		return false
	}
	for p := PassExact; p < passes; p++ {
		at := l.index(p).find(s.old, 0, 1)
		if len(at) == 0 {
			continue
		}
		if at[0] < l.cursor {
			t.add("These lines are at line %d, before the end of the hunk above: hunks must be in the order of the file, and must not overlap.", at[0]+1)
		} else {
			t.add("These lines are at line %d, before the anchor.", at[0]+1)
		}
		return true
	}
	return false
}

// explainApplied says where the new lines are, if they are there already.
func (l *locator) explainApplied(s *search, t *explanation) {
	lines, telling := newLines(s.lines)
	if !telling || len(lines) > l.file.count() {
		return
	}
	for p := PassExact; p < PassUnicode; p++ {
		x := l.index(p)
		hashes := make([]uint64, len(lines))
		for i, line := range lines {
			hashes[i] = x.hash(line)
		}
		if at := x.findLinear(lines, hashes, 0, 1, nil); len(at) > 0 {
			t.add("What the hunk leaves is at line %d already: it may have been already applied.", at[0]+1)
			return
		}
	}
}

// newLines returns what a hunk leaves, and whether finding that tells that it was applied:
// there is a word in what it adds, or with context on both sides of what it removes.
func newLines(lines []Line) (left [][]byte, telling bool) {
	before, removed, after := false, false, false
	for _, l := range lines {
		word := hasWord(l.Text)
		switch l.Op {
		case '-':
			removed = true
			continue
		case '+':
			telling = telling || word
		default:
			before, after = before || word && !removed, after || word && removed
		}
		left = append(left, []byte(l.Text))
	}
	return left, telling || before && after
}

// hasWord reports whether a line has more than brackets and the like.
func hasWord(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// explainNearest shows the region most like the lines, and the first of them that differs.
func (l *locator) explainNearest(s *search, t *explanation) {
	if l.file.count() == 0 {
		t.add("The file is empty.")
		return
	}
	r, ok := l.nearest(s)
	if !ok {
		t.add("Nothing in the file is like these lines. Read the file again; it has %d lines.", l.file.count())
		return
	}
	if r.differs == len(s.old) {
		t.add("The lines of the hunk themselves are at line %d.", r.start+1)
		return
	}
	if first, last := max(r.start, 0)+1, min(r.start+len(s.old), l.file.count()); first >= last {
		t.add("The nearest place is line %d. It differs:", first)
	} else {
		t.add("The nearest place is lines %d to %d, where %d of %d agree. The first that differs:", first, last, r.same, len(s.old))
	}
	at := r.start + r.differs
	l.explainLine(t, string(s.old[r.differs]), at)
	l.showRegion(t, at)
}

// explainLine shows a line of a hunk and the one that the file has in its place, where they
// differ.
func (l *locator) explainLine(t *explanation, expected string, at int) {
	if at < 0 || at >= l.file.count() {
		t.add("  expected: %s", quoteLine(expected))
		t.add("  found:    the %s of the file", map[bool]string{true: "start", false: "end"}[at < 0])
		return
	}
	found := textfile.Show(l.file.line(at))
	i, j := differAt(expected, found)
	t.add("  expected: %s", quoteFrom(expected, i))
	t.add("  found:    %s on line %d", quoteFrom(found, j), at+1)
	if max(len(expected), len(found)) > maxQuote {
		t.add("  They have %d and %d bytes and differ from byte %d of the second on.", len(expected), len(found), j+1)
	}
	if a, b := firstTwo(expected[i:]), firstTwo(found[j:]); !isASCII(a + b) {
		t.add("  They differ in %s and %s: letters that look alike can be composed or not, or be others. Copy the line from the file.", codePoints(a), codePoints(b))
	}
}

// differAt returns where two lines begin to differ, white space in front left aside, at a
// whole character.
func differAt(a, b string) (inA, inB int) {
	i, j := len(leading(a)), len(leading(b))
	x, y, n := a[i:], b[j:], 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	for n > 0 && (n < len(x) && !utf8.RuneStart(x[n]) || n < len(y) && !utf8.RuneStart(y[n])) {
		n--
	}
	return i + n, j + n
}

// firstTwo returns the first two characters of a text.
func firstTwo(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	_, m := utf8.DecodeRuneInString(text[n:])
	return text[:n+m]
}

// codePoints names characters by their numbers.
func codePoints(text string) string {
	if text == "" {
		return "nothing"
	}
	var names []string
	for _, r := range text {
		names = append(names, fmt.Sprintf("U+%04X", r))
	}
	return strings.Join(names, " ")
}

// showRegion shows the lines of the file around one.
func (l *locator) showRegion(t *explanation, at int) {
	t.add("The file there:")
	for i := max(at-maxRegion, 0); i < min(at+maxRegion+1, l.file.count()); i++ {
		t.add("%6d  %s", i+1, quoteLine(string(l.file.line(i))))
	}
}

// A region is where lines of a hunk may have been meant.
type region struct {
	start   int // of the file, from 0; before it if negative
	same    int // how many lines agree but for white space and the like
	differs int // the first that does not
}

// nearest returns where most of the lines agree with the file, in bounded time: rare lines
// vote for where the hunk begins. Where none is there at all the line most like one of the
// first decides.
func (l *locator) nearest(s *search) (region, bool) {
	x := l.index(PassUnicode)
	hashes := make([]uint64, len(s.old))
	votes := map[int]int{}
	for i, line := range s.old {
		hashes[i] = x.hash(line)
		if i >= maxVoters || isBlank(string(line)) {
			continue
		}
		places := x.places(hashes[i])
		for _, place := range places[:min(len(places), maxVotes)] {
			votes[int(place)-i]++
		}
	}
	if start, ok := elect(x, hashes, votes, s.from); ok {
		return x.region(hashes, start), true
	}
	for i, line := range s.old[:min(len(s.old), maxRegion)] {
		if at, ok := l.nearestLine(line); ok {
			return x.region(hashes, at-i), true
		}
	}
	return region{}, false
}

// elect returns the start with most votes. That the first lines agree counts too, and of
// equals the one nearest to where the search began.
func elect(x *lineIndex, hashes []uint64, votes map[int]int, from int) (start int, ok bool) {
	best := 0
	for at, n := range votes {
		if at >= 0 {
			n += x.agree(hashes[:min(len(hashes), maxVotes, len(x.hashes)-at)], at)
		}
		near, nearest := distance(at, from), distance(start, from)
		if n > best || n == best && (near < nearest || near == nearest && at < start) {
			best, start = n, at
		}
	}
	return start, best > 0
}

// region compares lines with those of the file from a place on.
func (x *lineIndex) region(hashes []uint64, start int) region {
	r := region{start: start, differs: len(hashes)}
	for i := len(hashes) - 1; i >= 0; i-- {
		if at := start + i; at >= 0 && at < len(x.hashes) && x.hashes[at] == hashes[i] {
			r.same++
		} else {
			r.differs = i
		}
	}
	return r
}

// nearestLine returns the line that has most in common with one at its start and its end, if
// that is at least half of it.
func (l *locator) nearestLine(line []byte) (int, bool) {
	line = bytes.TrimSpace(line[:min(len(line), 4096)])
	best, most := 0, 0
	for i := range l.file.count() {
		other := bytes.TrimSpace(l.file.line(i))
		if l.file.eightBit {
			other = []byte(textfile.Show(other))
		}
		if n := inCommon(line, other); n > most && n*minSimilar >= max(len(line), len(other)) {
			best, most = i, n
		}
	}
	return best, most > 0
}

// inCommon returns the length of what two lines begin and end with alike.
func inCommon(a, b []byte) int {
	short := min(len(a), len(b))
	n := 0
	for n < short && a[n] == b[n] {
		n++
	}
	for tail := 0; n < short && a[len(a)-1-tail] == b[len(b)-1-tail]; tail++ {
		n++
	}
	return n
}
