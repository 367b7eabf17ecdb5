package patchapply

import (
	"strings"
	"unicode"
)

// An indent is how much deeper or less deep the file is indented than the patch.
type indent struct {
	add    string // in front of each line
	remove string // or taken off there
	tab    int    // or how many blanks of the patch are a tab of the file
	levels *levels
}

// levels are what the file has for each indentation of the patch, where that is no shift.
type levels map[string]string

// apply appends a shifted line. Blank ones are left alone.
func (n indent) apply(to []byte, text string) []byte {
	switch {
	case n == (indent{}) || isBlank(text):
		return append(to, text...)
	case n.levels != nil:
		blanks := leading(text)
		return append(append(to, (*n.levels)[blanks]...), text[len(blanks):]...)
	case n.tab > 0:
		blanks := len(leading(text))
		to = append(to, strings.Repeat("\t", blanks/n.tab)...)
		return append(to, text[blanks:]...)
	}
	return append(append(to, n.add...), strings.TrimPrefix(text, n.remove)...)
}

// findIndent returns the shift that all lines share in which patch and file differ, or none
// where there is no such shift. Removed lines that do not differ count: then context has
// lost its first character, or a blank that it needs there.
func findIndent(f *fileText, lines []Line, start int) indent {
	shift, ok := findShift(f, lines, start)
	if !ok {
		return findLevels(f, lines, start)
	}
	return shift
}

// findLevels returns the indentation that the file has for each of the patch's, if that is
// known of all added lines.
func findLevels(f *fileText, lines []Line, start int) indent {
	known := levels{}
	for _, l := range lines {
		if l.Op == '+' {
			continue
		}
		file := string(f.line(start))
		start++
		if isBlank(file) {
			continue
		}
		patch := leading(l.Text)
		if l.Op == '-' && patch == leading(file) && patch != "" {
			return indent{}
		}
		if other, ok := known[patch]; ok && other != leading(file) {
			return indent{}
		}
		known[patch] = leading(file)
	}
	for _, l := range lines {
		if _, ok := known[leading(l.Text)]; l.Op == '+' && !isBlank(l.Text) && !ok {
			return indent{}
		}
	}
	return indent{levels: &known}
}

// findShift is findIndent for a shift that all lines share. It is false where they do not.
func findShift(f *fileText, lines []Line, start int) (indent, bool) {
	var shift indent
	removed, same := false, false
	for _, l := range lines {
		if l.Op == '+' {
			continue
		}
		text := string(f.line(start))
		start++
		if isBlank(text) {
			continue
		}
		patch, file := leading(l.Text), leading(text)
		removed, same = removed || l.Op == '-', same || l.Op == '-' && patch == file
		one, ok := indentBetween(patch, file)
		if !ok || one != (indent{}) && shift != (indent{}) && one != shift {
			return indent{}, false
		}
		if one != (indent{}) {
			shift = one
		}
	}
	if shift == (indent{}) || same || !removed && shift.add == " " || !shift.fits(lines) {
		return indent{}, true
	}
	return shift, true
}

// indentBetween returns what makes the file's indentation of the patch's.
func indentBetween(patch, file string) (indent, bool) {
	if file != "" && patch != "" && strings.Trim(file, "\t") == "" && strings.Trim(patch, " ") == "" {
		tab := len(patch) / len(file)
		return indent{tab: tab}, tab > 1 && tab*len(file) == len(patch)
	}
	if add, ok := strings.CutSuffix(file, patch); ok {
		return indent{add: add}, true
	}
	if remove, ok := strings.CutSuffix(patch, file); ok {
		return indent{remove: remove}, true
	}
	return indent{}, false
}

// fits reports whether all added lines can be shifted.
func (n indent) fits(lines []Line) bool {
	for _, l := range lines {
		if l.Op != '+' || isBlank(l.Text) {
			continue
		}
		blanks := leading(l.Text)
		if n.tab > 0 && (strings.Trim(blanks, " ") != "" || len(blanks)%n.tab != 0) || !strings.HasPrefix(l.Text, n.remove) {
			return false
		}
	}
	return true
}

// isUnclear reports whether a shift may be wrong because an added line is a removed one with
// another indentation: then the hunk may mean its white space, or not.
func (n indent) isUnclear(lines []Line) bool {
	if n == (indent{}) || n.tab > 0 || n.levels != nil {
		return false
	}
	old, whole := map[string]bool{}, map[string]bool{}
	for _, l := range lines {
		if l.Op == '-' {
			text := strings.TrimSpace(l.Text)
			old[text], whole[leading(l.Text)+text] = true, true
		}
	}
	for _, l := range lines {
		if text := strings.TrimSpace(l.Text); l.Op == '+' && text != "" && old[text] && !whole[leading(l.Text)+text] {
			return true
		}
	}
	return false
}

// leading returns the white space that a line begins with.
func leading(s string) string { return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsSpace))] }
