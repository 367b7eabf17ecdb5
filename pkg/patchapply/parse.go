package patchapply

import (
	"bytes"
	"fmt"
	"strings"
)

// maxPatch is how long a patch may be, as in the Responses API.
const maxPatch = 10 << 20

// The markers of an envelope. Each stands alone on its line, but for blanks around it.
const (
	beginPatch  = "*** Begin Patch"
	endPatch    = "*** End Patch"
	endOfFile   = "*** End of File"
	addFile     = "*** Add File:"
	deleteFile  = "*** Delete File:"
	updateFile  = "*** Update File:"
	moveTo      = "*** Move to:"
	environment = "*** Environment ID:"
)

// Parse reads a patch: one or several envelopes, or a unified diff over any number of files.
// What stands around it, such as a heredoc, a fence or prose, is left out with one warning.
// Errors are [ParseError], [EmptyPatch] and [TooLarge].
func Parse(text []byte) (*Patch, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	switch p.form() {
	case formEnvelope:
		err = p.envelopes()
	case formUnified:
		err = p.unified(len(p.starts) - 1)
	default:
		err = p.noPatch()
	}
	if err != nil {
		return nil, err
	}
	return &Patch{Sections: p.sections, Warnings: p.allWarnings()}, nil
}

// A parser reads the lines of one patch, or of one operation's diff.
type parser struct {
	text     string
	starts   []uint32 // of each line, and the end of the text
	pos      int      // the line to be read next, from 0
	path     string   // of the operation; "" for a whole patch
	wrapped  bool     // a fence was opened
	heredoc  string   // the word that ends what was opened; "" if nothing was
	sections []Section
	warnings []string
	peeled   []string // what was left out, in the order it was found
}

// newParser unwraps a patch and finds its lines.
func newParser(text []byte) (*parser, error) {
	if len(text) > maxPatch {
		return nil, &Error{Class: TooLarge, Text: fmt.Sprintf("the patch has %d bytes, at most %d are allowed. Split it into several patches.%s", len(text), maxPatch, unchanged)}
	}
	p := &parser{}
	text = bytes.TrimPrefix(text, []byte(bom))
	if inner, ok := unwrapJSON(text); ok {
		p.peel("JSON around the patch")
		text = []byte(inner)
	}
	p.setText(string(text))
	if i := strings.IndexByte(p.text, 0); i >= 0 {
		line := strings.Count(p.text[:i], "\n") + 1
		return nil, &Error{Class: ParseError, Line: line, Text: fmt.Sprintf("patch line %d has a NUL byte. A patch is text.%s", line, unchanged)}
	}
	return p, nil
}

// setText finds where lines start. A line ends at \n and nowhere else.
func (p *parser) setText(text string) {
	p.text = text
	p.starts = make([]uint32, 0, strings.Count(text, "\n")+2)
	for at := 0; at < len(text); {
		p.starts = append(p.starts, uint32(at))
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	p.starts = append(p.starts, uint32(len(text)))
}

// count returns how many lines there are.
func (p *parser) count() int { return len(p.starts) - 1 }

// raw returns line i without its \n.
func (p *parser) raw(i int) string {
	return strings.TrimSuffix(p.text[p.starts[i]:p.starts[i+1]], "\n")
}

// line returns line i without its line end.
func (p *parser) line(i int) string { return strings.TrimSuffix(p.raw(i), "\r") }

// A form is how a patch is written.
type form uint8

const (
	formNone form = iota
	formEnvelope
	formUnified
)

// form says which comes first, an envelope or a file's header in a unified diff.
func (p *parser) form() form {
	for i := range p.count() {
		line := p.line(i)
		switch {
		case p.path != "" && line != "" && canBeHunk(line) && !p.startsFile(i):
			return formNone // an operation's hunk may begin without @@
		case isMarker(line, beginPatch):
			return formEnvelope
		case p.startsFile(i):
			return formUnified
		case strings.HasPrefix(line, "@@"), strayHeader(line):
			return formNone // whatever follows, this is not its beginning
		}
	}
	return formNone
}

// noPatch says why there is nothing that could be applied.
func (p *parser) noPatch() error {
	for i := range p.count() {
		line := p.line(i)
		switch {
		case isBlank(line):
		case strings.HasPrefix(line, "@@"):
			return p.fail(i, "hunks without a file",
				`put "*** Begin Patch" and "*** Update File: path" before them and "*** End Patch" behind, or "--- a/path" and "+++ b/path" before a unified diff`)
		case strayHeader(line):
			return p.fail(i, `"*** Begin Patch" is missing before this line`, `"*** Begin Patch" as the first line, "*** End Patch" as the last`)
		case strings.HasPrefix(line, "***"):
			return p.fail(i, "a patch does not begin with this line", `"*** Begin Patch" as the first line, "*** End Patch" as the last`)
		}
	}
	for i := range p.count() {
		if !isBlank(p.line(i)) {
			return p.fail(i, "this is no patch", `"*** Begin Patch" or a unified diff ("--- a/path", "+++ b/path", "@@ -1,3 +1,3 @@")`)
		}
	}
	return &Error{Class: EmptyPatch, Path: p.path, Text: "the patch is empty." + unchanged}
}

// peel notes that something was left out.
func (p *parser) peel(what string) {
	for _, known := range p.peeled {
		if known == what {
			return
		}
	}
	p.peeled = append(p.peeled, what)
}

// allWarnings returns the warnings, what was left out in one line before the others.
func (p *parser) allWarnings() []string {
	if len(p.peeled) == 0 {
		return p.warnings
	}
	return append([]string{"ignored: " + strings.Join(p.peeled, "; ")}, p.warnings...)
}

// fail returns a ParseError about line i, with what may stand there.
func (p *parser) fail(i int, what, allowed string) error {
	text := fmt.Sprintf("patch line %d: %s:\n  %s\nallowed here: %s.%s", i+1, what, quoteLine(p.line(i)), allowed, unchanged)
	return &Error{Class: ParseError, Path: p.path, Line: i + 1, Text: text}
}

// isBlank reports whether a line has nothing but blanks.
func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// isMarker reports whether a line is the marker, with blanks or a second row of stars around it.
func isMarker(line, marker string) bool {
	line = strings.TrimSpace(line)
	return line == marker || line == marker+" ***"
}

// strayHeader reports whether a line is one that only an envelope can hold.
func strayHeader(line string) bool {
	for _, header := range []string{addFile, deleteFile, updateFile, moveTo, endPatch} {
		if strings.HasPrefix(line, header) {
			return true
		}
	}
	return false
}
