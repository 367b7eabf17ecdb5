package patchapply

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

const (
	gitHeader = "diff --git "
	devNull   = "/dev/null"
)

// A diffFile is what a unified diff says of one file.
type diffFile struct {
	line               int    // of its first line, 1-based
	paired             bool   // it has --- and +++
	old, new           string // from there, with their prefixes
	oldEpoch, newEpoch bool   // diff -N dates a file that is missing to 1970
	git                string // the name after diff --git, without prefix; "" where that has two
	from, to, copied   string
	oldMode, newMode   string
	added, deleted     string // modes
	unfit              string // why it cannot be applied
	hunks              []Hunk
	crlf               bool // their heads end in \r\n
	bare               bool // a hunk has no numbers
	over               bool // the diff's end was seen: a fence, or the signature of a mail
}

// header takes a line from before the hunks, and reports whether it is one that is known.
func (f *diffFile) header(line string) bool {
	if rest, ok := strings.CutPrefix(line, gitHeader); ok {
		f.git = gitName(rest)
		return true
	}
	for _, field := range []struct {
		prefix string
		to     *string
	}{
		{"old mode ", &f.oldMode},
		{"new mode ", &f.newMode},
		{"new file mode ", &f.added},
		{"deleted file mode ", &f.deleted},
		{"rename from ", &f.from},
		{"rename to ", &f.to},
		{"copy from ", &f.copied},
	} {
		if rest, ok := strings.CutPrefix(line, field.prefix); ok {
			*field.to = unquote(rest)
			return true
		}
	}
	switch {
	case line == "GIT binary patch", strings.HasPrefix(line, "Binary files "):
		f.unfit = "a binary file cannot be patched here"
	case strings.HasPrefix(line, "index ") && strings.HasSuffix(line, " 160000"):
		f.unfit = "a submodule cannot be patched here"
	case strings.HasPrefix(line, "index ") && strings.HasSuffix(line, " 120000"):
		f.unfit = "a symbolic link cannot be patched here"
	}
	for _, prefix := range []string{"index ", "similarity index ", "dissimilarity index ", "copy to "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return f.unfit != ""
}

// setPair takes the lines of --- and +++.
func (f *diffFile) setPair(before, after string) {
	f.paired = true
	f.old, f.oldEpoch = fileName(before[4:])
	f.new, f.newEpoch = fileName(after[4:])
}

// fileName reads a name, and whether the time behind it is that of a missing file: midnight
// of the first day of 1970, in whatever zone.
func fileName(s string) (name string, epoch bool) {
	name, date, _ := strings.Cut(s, "\t")
	if strings.HasPrefix(s, `"`) {
		name, date = cutQuoted(s)
		date = strings.TrimSpace(date)
	}
	epoch = strings.HasPrefix(date, "1970-01-01 ") || strings.HasPrefix(date, "1969-12-31 ")
	return name, epoch
}

// diffSection makes a section of a file.
func (p *parser) diffSection(f *diffFile) (Section, error) {
	s := Section{Kind: Update, Path: f.path(), Line: f.line}
	for _, check := range []func(*diffFile) error{p.unfit, p.checkNames} {
		if err := check(f); err != nil {
			return s, atPath(err, s.Path)
		}
	}
	switch {
	case f.added != "" || f.old == devNull || f.oldEpoch && startsEmpty(f.hunks):
		f.settleCR(false)
		s.Kind, s.Content = Add, addedContent(f.hunks)
		s.Perm = executable(f.added)
		if err := p.oneSided(f, '+', "a new file has no old lines"); err != nil {
			return s, atPath(err, s.Path)
		}
	case f.deleted != "" || f.new == devNull || f.newEpoch && endsEmpty(f.hunks):
		f.settleCR(true)
		s.Kind, s.Hunks = Delete, f.hunks
		if err := p.oneSided(f, '-', "nothing is left of a file that is deleted"); err != nil {
			return s, atPath(err, s.Path)
		}
	default:
		f.settleCR(true)
		s.Hunks = f.hunks
		if f.to != "" {
			s.Path, s.MoveTo = f.from, f.to
		}
		s.Perm = permissions(f.newMode)
	}
	if s.Path == "" {
		return s, p.fail(f.line-1, "the path is missing", fileHeaders)
	}
	if s.Kind == Update && len(s.Hunks) == 0 && s.MoveTo == "" && s.Perm == nil {
		return s, atPath(p.fail(f.line-1, "nothing is said of this file", fileHeaders), s.Path)
	}
	return s, nil
}

// oneSided returns an error if hunks have other lines than those of one side. Blank ones
// behind them are none.
func (p *parser) oneSided(f *diffFile, op byte, why string) error {
	for i := range f.hunks {
		h := &f.hunks[i]
		if op == '-' {
			h.Lines = withoutBlankTail(h.Lines)
		}
		for j, l := range withoutBlankTail(h.Lines) {
			if l.Op != op {
				return p.fail(h.Line+j, why, fmt.Sprintf("lines that begin with %q", op))
			}
		}
	}
	return nil
}

// unfit returns an error for what no text patch can say.
func (p *parser) unfit(f *diffFile) error {
	for _, mode := range []string{f.added, f.deleted, f.oldMode, f.newMode} {
		switch {
		case strings.HasPrefix(mode, "16"):
			f.unfit = "a submodule cannot be patched here"
		case strings.HasPrefix(mode, "12"):
			f.unfit = "a symbolic link cannot be patched here"
		case mode != "" && permissions(mode) == nil:
			f.unfit = fmt.Sprintf("the mode %s cannot be read", quoteLine(mode))
		}
	}
	if f.copied != "" {
		f.unfit = "a copy cannot be made from a diff"
	}
	if (f.from == "") != (f.to == "") {
		f.unfit = "one of the names of a renamed file is missing"
	}
	if f.unfit == "" {
		return nil
	}
	return p.fail(f.line-1, f.unfit, "changes to text files, and their names and permissions; a new file with all its lines")
}

// permissions reads the mode of a regular file, as git writes it.
func permissions(mode string) *fs.FileMode {
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || n>>12 != 8 {
		return nil
	}
	perm := fs.FileMode(n) & fs.ModePerm
	return &perm
}

// executable returns the permissions of a new file, if they are not the usual ones.
func executable(mode string) *fs.FileMode {
	if perm := permissions(mode); perm != nil && *perm&0o111 != 0 {
		return perm
	}
	return nil
}

// startsEmpty reports whether hunks are of a file that has no lines before.
func startsEmpty(hunks []Hunk) bool {
	return len(hunks) == 1 && hunks[0].Unified != nil && hunks[0].Unified.Old == 0 && hunks[0].Unified.OldCount == 0
}

// endsEmpty reports whether hunks leave no lines.
func endsEmpty(hunks []Hunk) bool {
	return len(hunks) == 1 && hunks[0].Unified != nil && hunks[0].Unified.New == 0 && hunks[0].Unified.NewCount == 0
}

// addedContent returns the lines that hunks add.
func addedContent(hunks []Hunk) []byte {
	content := []byte{}
	for _, h := range hunks {
		for _, l := range h.Lines {
			if l.Op == '+' {
				content = append(append(content, l.Text...), '\n')
			}
		}
		if h.Unified != nil && h.Unified.NoNewlineNew && len(content) > 0 {
			content = content[:len(content)-1]
		}
	}
	return content
}
