package patchapply

import (
	"fmt"
	"strings"
)

// ParseOperations reads the operations of the Responses API, each as one section. A diff is
// hunks, with or without numbers, or a whole patch for the same path.
// Errors are [ParseError], [InvalidOperation], [EmptyPatch] and [TooLarge].
func ParseOperations(ops []Operation) (*Patch, error) {
	if len(ops) == 0 {
		return nil, &Error{Class: EmptyPatch, Text: "there are no operations." + unchanged}
	}
	patch, total := &Patch{}, 0
	for i, op := range ops {
		if total += len(op.Diff); total > maxPatch {
			return nil, &Error{Class: TooLarge, Path: op.Path, Text: fmt.Sprintf("the diffs have more than %d bytes. Send them in several calls.%s", maxPatch, unchanged)}
		}
		s, warnings, err := parseOperation(op)
		if err != nil {
			return nil, inOperation(atPath(err, op.Path), i, len(ops))
		}
		patch.Sections = append(patch.Sections, s)
		patch.Warnings = append(patch.Warnings, warnings...)
	}
	return patch, nil
}

// inOperation says which of several operations an error is about.
func inOperation(err error, i, n int) error {
	e, ok := err.(*Error)
	if ok && n > 1 {
		e.Text = capText(fmt.Sprintf("operation %d of %d (%s): %s", i+1, n, quotePath(e.Path), strings.TrimSuffix(e.Text, unchanged)))
	}
	return err
}

func parseOperation(op Operation) (Section, []string, error) {
	s := Section{Path: op.Path}
	if op.Path == "" {
		return s, nil, &Error{Class: InvalidOperation, Text: "the operation has no path." + unchanged}
	}
	if op.MoveTo != "" && op.Type != "update_file" {
		return s, nil, &Error{Class: InvalidOperation, Path: op.Path, Text: "move_to belongs to update_file only." + unchanged}
	}
	switch op.Type {
	case "delete_file":
		s.Kind = Delete
		return s, nil, nil
	case "create_file":
		s.Kind = Add
	case "update_file":
		s.Kind, s.MoveTo = Update, op.MoveTo
	default:
		text := fmt.Sprintf("unknown type %s; the types are create_file, update_file and delete_file.%s", quoteLine(op.Type), unchanged)
		return s, nil, &Error{Class: InvalidOperation, Path: op.Path, Text: text}
	}
	p, err := newParser([]byte(op.Diff))
	if err != nil {
		return s, nil, err
	}
	p.path = op.Path
	if err := p.diff(&s); err != nil {
		return s, nil, err
	}
	return s, p.allWarnings(), nil
}

// diff reads an operation's diff into its section.
func (p *parser) diff(s *Section) error {
	var err error
	end := p.body()
	switch form := p.form(); {
	case form == formEnvelope:
		if err = p.envelopes(); err == nil {
			err = p.adopt(s)
		}
	case form == formUnified:
		if err = p.unified(end); err == nil {
			err = p.adopt(s)
		}
	case s.Kind == Add:
		s.Content, err = p.createBody(end)
	default:
		s.Hunks, err = p.hunks(end)
		if err == nil && p.pos < end {
			err = p.fail(p.pos, "this is no line of a hunk", hunkLines)
		}
	}
	if err == nil && s.Kind == Update && len(s.Hunks) == 0 && s.MoveTo == "" {
		text := "the diff is empty, so it changes nothing. It needs " + hunkLines + "." + unchanged
		err = &Error{Class: ParseError, Path: p.path, Text: text}
	}
	return err
}

// body passes over a fence around hunks, and returns where they end. A fence is closed only
// where one was opened: otherwise it may be a line that has lost its blank.
func (p *parser) body() int {
	for i := 0; i < p.count() && (p.line(i) == "" || isFence(p.line(i))); i++ {
		if isFence(p.line(i)) {
			p.peel("a fence around the diff")
			p.wrapped, p.pos = true, i+1
			break
		}
	}
	end, closed := p.count(), !p.wrapped
	for ; end > p.pos && endsBody(p.line(end-1), closed); end-- {
		closed = closed || isFence(p.line(end-1))
	}
	return end
}

// endsBody reports whether a line may stand behind hunks without being one of theirs.
func endsBody(line string, closed bool) bool {
	switch {
	case line == "":
		return true
	case isFence(line):
		return !closed && isClosing(line)
	}
	return line[0] == '*' && isMarker(line, endPatch)
}

// adopt takes the one section of a whole patch, which must be for the same path.
func (p *parser) adopt(s *Section) error {
	if len(p.sections) != 1 {
		text := fmt.Sprintf("the diff is about %d files. An operation is about one.%s", len(p.sections), unchanged)
		return &Error{Class: ParseError, Path: p.path, Text: text}
	}
	got := p.sections[0]
	if !samePath(got.Path, s.Path) && !samePath(got.MoveTo, s.Path) {
		if p.form() == formEnvelope {
			return p.fail(got.Line-1, "the operation is about another path, "+quotePath(s.Path), "the path of the operation")
		}
		p.warnings = append(p.warnings, fmt.Sprintf("the diff names %s; the path of the operation was taken", quotePath(got.Path)))
	}
	if got.Kind != s.Kind && (s.Kind != Add || !onlyAdds(got.Hunks)) {
		return p.fail(got.Line-1, "the type of the operation and its diff do not agree", "a diff that does what the type says")
	}
	if s.Content = got.Content; got.Kind == Update && s.Kind == Add {
		s.Content = addedContent(got.Hunks)
		return nil
	}
	s.Hunks, s.Perm = got.Hunks, got.Perm
	if s.MoveTo == "" && !samePath(got.MoveTo, s.Path) {
		s.MoveTo = got.MoveTo
	}
	return nil
}

// onlyAdds reports whether hunks with numbers have no old lines.
func onlyAdds(hunks []Hunk) bool {
	for _, h := range hunks {
		if len(oldLines(h.Lines)) > 0 || h.Unified == nil {
			return false
		}
	}
	return len(hunks) > 0
}

// createBody reads the lines of create_file. A lone + at the end stands for the last line's
// end, which is written in any case.
func (p *parser) createBody(end int) ([]byte, error) {
	if p.pos < end && strings.HasPrefix(p.line(p.pos), "@@ -") {
		f := &diffFile{line: p.pos + 1}
		if err := p.diffHunks(f, end); err != nil {
			return nil, err
		}
		if !onlyAdds(f.hunks) {
			return nil, p.fail(f.line-1, "a new file has no old lines", `lines that begin with "+"`)
		}
		f.settleCR(false)
		return addedContent(f.hunks), nil
	}
	content, err := p.addBody(end)
	if err != nil {
		return nil, err
	}
	if p.pos < end {
		return nil, p.fail(p.pos, "this is no line of a new file", `lines that begin with "+"`)
	}
	if n := len(content); n > 1 && content[n-1] == '\n' && p.lastPlus(end) {
		content = content[:n-1]
	}
	return content, nil
}

// lastPlus reports whether the last line that is not blank is a lone +.
func (p *parser) lastPlus(end int) bool {
	for i := end - 1; i >= 0; i-- {
		if line := p.line(i); !isBlank(line) {
			return line == "+"
		}
	}
	return false
}
