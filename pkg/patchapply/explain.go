package patchapply

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/textfile"
)

const (
	unchanged = "\nNo files were changed."
	maxText   = 2000 // of an error, so that it stays within 2 KiB with its class
	maxQuote  = 120  // bytes of a line that are shown
)

// anchorMissing returns an error for an anchor that is not there, when the lines of the hunk
// are at several places or none.
func (l *locator) anchorMissing(s *search, at ...int) error {
	t := l.explain(s)
	t.add("the anchor %s is not in the file from line %d on.", quoteLine(s.missing), s.from+1)
	if near, ok := l.nearestLine([]byte(s.missing)); ok {
		t.add("The line most like it is %d: %s", near+1, quoteLine(string(l.file.line(near))))
	}
	if len(at) > 0 {
		t.add("Without it the lines of the hunk fit at %s.", lineNumbers(at))
	} else if len(s.old) > 0 {
		l.explainNearest(s, t)
	}
	t.add("Copy the anchor from the file, one whole line, or give more lines of context.")
	return t.err(AnchorNotFound)
}

// ambiguous returns an error for lines that fit at several places.
func (l *locator) ambiguous(s *search, p Pass, at []int) error {
	t := l.explain(s)
	why := "nothing says"
	if s.hunk.Unified != nil {
		why = fmt.Sprintf("the numbers, for line %d, do not say", l.hint(s)+1)
	}
	t.add("its lines fit at %s (compared in the pass %s), and %s which is meant:", lineNumbers(at), p, why)
	for i, place := range at {
		if i == maxPlaces-1 {
			break
		}
		t.add("  line %d: %s", place+1, quoteLine(string(l.file.line(place))))
	}
	t.add("Copy the lines exactly, with more lines of context, or name the function or class before them after @@.")
	return t.err(Ambiguous)
}

// notFound returns an error for lines that are not there.
func (l *locator) notFound(s *search) error {
	if s.missing != "" {
		return l.anchorMissing(s)
	}
	t := l.explain(s)
	if len(s.old) == 1 {
		t.add("the line it expects is not in the file.")
	} else {
		t.add("the %d lines it expects are not in the file.", len(s.old))
	}
	switch {
	case s.anchored && s.anchorAt >= 0 && !s.behind:
		t.add("The search began at line %d, after the anchor %s.", s.from+1, quoteLine(s.hunk.Anchors[len(s.hunk.Anchors)-1]))
	case l.cursor > 0:
		t.add("The search began at line %d, after hunk %d.", s.from+1, s.number)
	default:
		t.add("The search began at line 1.")
	}
	elsewhere := l.explainElsewhere(s, t)
	l.explainApplied(s, t)
	if !elsewhere {
		l.explainNearest(s, t)
	}
	return t.err(ContextNotFound)
}

// An explanation is the text of an error about a hunk, which grows line by line.
type explanation struct {
	section *Section
	line    int
	text    strings.Builder
	begun   bool // something follows the opening
}

// explain begins with what the error is about.
func (l *locator) explain(s *search) *explanation {
	t := &explanation{section: l.section, line: s.hunk.Line}
	fmt.Fprintf(&t.text, "%s: hunk %d of %d (patch line %d): ", quotePath(l.section.Path), s.number+1, len(l.section.Hunks), s.hunk.Line)
	return t
}

// add appends a line.
func (t *explanation) add(format string, args ...any) {
	if t.begun {
		t.text.WriteByte('\n')
	}
	t.begun = true
	fmt.Fprintf(&t.text, format, args...)
}

func (t *explanation) err(class Class) error {
	text := t.text.String()
	text += legend(text)
	return &Error{Class: class, Path: t.section.Path, Line: t.line, Text: capText(text)}
}

// capText cuts a text, so that the sentence at its end always stands.
func capText(text string) string {
	if limit := maxText - len(unchanged); len(text) > limit {
		text = cut(text, limit)
	}
	return text + unchanged
}

// cut returns at most n bytes of a text, and says so where that is not all.
func cut(s string, n int) string {
	const dots = "…"
	if len(s) <= n {
		return s
	}
	for n -= len(dots); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + dots
}

// cutFront leaves out the start of a line where a byte lies far behind it.
func cutFront(line string, at int) string {
	at -= maxQuote / 2
	if at <= 0 {
		return line
	}
	for at < len(line) && !utf8.RuneStart(line[at]) {
		at++
	}
	return "…" + line[at:]
}

// quotePath returns a path for the text of an error.
func quotePath(path string) string {
	if path == "" || strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		path = fmt.Sprintf("%q", cut(path, 200))
	}
	return cut(path, 240)
}

// shownBlanks are the characters that stand for white space.
var shownBlanks = []struct{ shown, meaning string }{
	{"→", "a tab"}, {"·", "a blank"}, {"␍", "a carriage return"}, {"⍽", "a no-break space"},
}

// legend explains those that a text has.
func legend(text string) string {
	var used []string
	for _, b := range shownBlanks {
		if strings.Contains(text, b.shown) {
			used = append(used, b.shown+" is "+b.meaning)
		}
	}
	if len(used) == 0 {
		return ""
	}
	return "\n(" + strings.Join(used, ", ") + ")"
}

// quoteLine returns a line in which white space can be seen: tabs, blanks at either end, and
// what looks like a blank and is none. Long lines are cut.
func quoteLine(line string) string { return quoteFrom(line, 0) }

// quoteFrom is quoteLine for a line of which something lies at a byte: a long one is also cut
// in front of that.
func quoteFrom(line string, at int) string {
	short := textfile.Show([]byte(cut(cutFront(line, at), maxQuote)))
	body := strings.Trim(short, " ")
	if body == "" {
		return "`" + strings.Repeat("·", min(len(short), maxQuote/2)) + "`"
	}
	var b strings.Builder
	b.WriteByte('`')
	b.WriteString(strings.Repeat("·", strings.Index(short, body)))
	for i := 0; i < len(body); {
		r, n := utf8.DecodeRuneInString(body[i:])
		showRune(&b, r, body[i:i+n])
		i += n
	}
	b.WriteString(strings.Repeat("·", len(short)-len(body)-strings.Index(short, body)))
	b.WriteByte('`')
	return b.String()
}

func showRune(b *strings.Builder, r rune, s string) {
	switch {
	case r == '\t':
		b.WriteString("→")
	case r == '\r':
		b.WriteString("␍")
	case r == 0xa0:
		b.WriteString("⍽")
	case r == utf8.RuneError && len(s) == 1:
		fmt.Fprintf(b, "<0x%02X>", s[0])
	case r != ' ' && !unicode.IsPrint(r):
		fmt.Fprintf(b, "<U+%04X>", r)
	default:
		b.WriteString(s)
	}
}

// lineNumbers returns places as a list.
func lineNumbers(at []int) string {
	var b strings.Builder
	b.WriteString(map[bool]string{true: "line ", false: "lines "}[len(at) == 1])
	for i, place := range at {
		switch {
		case i == maxPlaces-1:
			b.WriteString(" and more")
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, place+1)
	}
	return b.String()
}
