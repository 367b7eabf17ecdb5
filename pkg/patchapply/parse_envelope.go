package patchapply

import (
	"fmt"
	"strings"
)

const headers = `"*** Add File: path", "*** Delete File: path", "*** Update File: path" or "*** End Patch"`

// envelopes reads all that there are, as one patch.
func (p *parser) envelopes() error {
	for p.pos < p.count() {
		line := p.line(p.pos)
		switch {
		case isMarker(line, beginPatch):
			if err := p.envelope(); err != nil {
				return err
			}
			continue
		case strayHeader(line), strings.HasPrefix(line, "@@"), p.startsFile(p.pos):
			return p.fail(p.pos, `this stands outside "*** Begin Patch" and "*** End Patch"`, `"*** Begin Patch"`)
		case isChange(line):
			return p.fail(p.pos, `this stands outside "*** Begin Patch" and "*** End Patch"`, "text, or another patch; a line of a patch that is a marker needs its first character")
		case !isBlank(line):
			p.peel(`text outside "*** Begin Patch" and "*** End Patch"`)
		}
		p.pos++
	}
	if len(p.sections) == 0 {
		return &Error{Class: EmptyPatch, Path: p.path, Text: "the patch names no files. It needs " + headers + "." + unchanged}
	}
	return nil
}

// isChange reports whether a line outside of hunks looks like one that adds or removes
// something, and not like an item of a list, or a rule.
func isChange(line string) bool {
	if line == "" || line[0] != '-' {
		return line != "" && line[0] == '+'
	}
	rest := line[1:]
	return rest != "" && rest[0] != '-' && (rest[0] != ' ' || strings.HasPrefix(rest, "  "))
}

// envelope reads one, from its first line on.
func (p *parser) envelope() error {
	begin := p.pos
	p.noteStars(p.line(begin))
	end, ok := p.end(begin + 1)
	if !ok {
		return p.fail(begin, `"*** End Patch" is missing, so the patch may have been cut off; it begins here`,
			`"*** End Patch" as the last line`)
	}
	p.noteStars(p.line(end))
	for p.pos++; p.pos < end; {
		if err := p.section(end); err != nil {
			return err
		}
	}
	p.pos = end + 1
	return nil
}

// end finds where an envelope ends: at a marker in the first column, which no content can
// be, or at the last line of all, which may be indented.
func (p *parser) end(from int) (int, bool) {
	for i := from; i < p.count(); i++ {
		if line := p.line(i); strings.HasPrefix(line, "*") && isMarker(line, endPatch) {
			return i, true
		}
	}
	for i := p.count() - 1; i >= from; i-- {
		line := p.line(i)
		if isMarker(line, endPatch) {
			return i, true
		}
		if !isBlank(line) && !isClosing(line) {
			break
		}
	}
	return 0, false
}

// section reads what is said of one file, or a line between such.
func (p *parser) section(end int) error {
	line := p.line(p.pos)
	if isBlank(line) || strings.HasPrefix(strings.TrimSpace(line), environment) {
		p.pos++
		return nil
	}
	kind, path, ok := p.header(line)
	if !ok {
		return p.fail(p.pos, "this is no header of a file", headers)
	}
	if path == "" {
		return p.fail(p.pos, "the path is missing", headers)
	}
	s := Section{Kind: kind, Path: path, Line: p.pos + 1}
	p.pos++
	var err error
	switch kind {
	case Add:
		s.Content, err = p.addBody(end)
	case Update:
		err = p.updateBody(&s, end)
	}
	if err != nil {
		return atPath(err, path)
	}
	p.sections = append(p.sections, s)
	return nil
}

// header reads the line that opens a section.
func (p *parser) header(line string) (kind Kind, path string, ok bool) {
	line = strings.TrimSpace(line)
	for _, h := range []struct {
		marker string
		kind   Kind
	}{{addFile, Add}, {deleteFile, Delete}, {updateFile, Update}} {
		if rest, found := strings.CutPrefix(line, h.marker); found {
			return h.kind, p.trimPath(rest), true
		}
	}
	return 0, "", false
}

// trimPath takes off blanks, and the second row of stars that some models write.
func (p *parser) trimPath(rest string) string {
	p.noteStars(rest)
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), " ***"))
}

func (p *parser) noteStars(line string) {
	if strings.HasSuffix(strings.TrimSpace(line), " ***") {
		p.peel(`" ***" at the end of markers`)
	}
}

// addBody reads the lines of a new file. Blank lines without + count only between others.
func (p *parser) addBody(end int) ([]byte, error) {
	content, blanks := []byte{}, 0
	for ; p.pos < end; p.pos++ {
		line := p.line(p.pos)
		if isBlank(line) {
			blanks++
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "***") {
			break
		}
		text, ok := strings.CutPrefix(line, "+")
		if !ok {
			allowed := `lines that begin with "+"`
			if p.path == "" {
				allowed += ", or " + headers
			}
			return nil, p.fail(p.pos, "a line of a new file must begin with +", allowed)
		}
		for ; blanks > 0 && len(content) > 0; blanks-- {
			content = append(content, '\n')
		}
		blanks = 0
		content = append(append(content, text...), '\n')
	}
	return content, nil
}

// updateBody reads where a file moves and its hunks.
func (p *parser) updateBody(s *Section, end int) error {
	for p.pos < end && p.line(p.pos) == "" {
		p.pos++
	}
	if p.pos < end {
		if rest, ok := strings.CutPrefix(p.line(p.pos), moveTo); ok {
			if s.MoveTo = p.trimPath(rest); s.MoveTo == "" {
				return p.fail(p.pos, "the path is missing", `"*** Move to: path"`)
			}
			p.pos++
		}
	}
	err := p.skipFileLines(s.Path, end)
	if err != nil {
		return err
	}
	if s.Hunks, err = p.hunks(end); err != nil {
		return err
	}
	if len(s.Hunks) == 0 && s.MoveTo == "" {
		return p.fail(s.Line-1, "this update changes nothing: it has no hunks", `"@@" and lines that begin with " ", "-" or "+" behind it, or "*** Move to: path"`)
	}
	return nil
}

// skipFileLines passes over the --- and +++ lines that some models put before the hunks. If
// they do not name the file they may be lines of the first hunk.
func (p *parser) skipFileLines(path string, end int) error {
	if p.pos+2 >= end || !p.isPair(p.pos) {
		return nil
	}
	f := &diffFile{line: p.pos + 1}
	f.setPair(p.line(p.pos), p.line(p.pos+1))
	if !isNamed(f.old, path) && !isNamed(f.new, path) {
		return p.fail(p.pos, fmt.Sprintf("this line and the next may name another file than %s, or be lines of a hunk", quotePath(path)),
			`"@@" before the lines of a hunk`)
	}
	p.pos += 2
	return nil
}

// atPath adds the path to an error that has none.
func atPath(err error, path string) error {
	if e, ok := err.(*Error); ok && e.Path == "" {
		e.Path = path
	}
	return err
}
