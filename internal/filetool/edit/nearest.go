package edit

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much of a text an explanation looks at: it must not take longer than the edit.
const (
	searched      = 8 << 20
	searchedLines = 1 << 18
)

// searchable returns the part of a text that is looked at.
func searchable(text []byte) []byte {
	text = text[:min(len(text), searched)]
	end := 0
	for range searchedLines {
		n := bytes.IndexByte(text[end:], '\n')
		if n < 0 {
			return text
		}
		end += n + 1
	}
	return text[:end]
}

// explain says why an edit's old text is not in text: what stands nearest to it, and what
// differs.
func explain(text []byte, e Edit) *Error {
	text = searchable(text)
	old := plain(e.Old)
	var says []string
	if line, ok := lineOf(text, plain(e.New)); ok && len(strings.TrimSpace(e.New)) >= 4 {
		says = append(says, fmt.Sprintf("new_string is there already, at line %d: this edit may have been made before", line))
	}
	if why := slip(text, old); why != "" {
		says = append(says, why)
	} else {
		says = append(says, nearest(text, old))
	}
	return &Error{Kind: NotFound, detail: strings.Join(says, "\n")}
}

func lineOf(text []byte, part string) (line int, ok bool) {
	n := bytes.Index(text, []byte(part))
	if n < 0 || part == "" {
		return 0, false
	}
	return 1 + bytes.Count(text[:n], []byte("\n")), true
}

// Line numbers as reading shows them, and as some other tools do.
var numbers = regexp.MustCompile(`(?m)^[ \t]*L?\d+(?:\t|→|: ?|\|)`)

var escapes = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\'`, `'`, `\\`, `\`)

// slip recognizes old texts that are right but for one thing that was done to all of them.
func slip(text []byte, old string) string {
	try := func(other, why string) string {
		if other == old {
			return ""
		}
		if line, ok := lineOf(text, other); ok {
			return fmt.Sprintf("at line %d it is there: %s", line, why)
		}
		return ""
	}
	if why := try(numbers.ReplaceAllString(old, ""), "without the line numbers, which are not part of the file"); why != "" {
		return why
	}
	if why := try(plain(escapes.Replace(old)), `with the characters that \n, \t, \r or \" stand for: send those themselves`); why != "" {
		return why
	}
	if cut, ok := strings.CutSuffix(old, "\n"); ok && cut != "" && bytes.HasSuffix(text, []byte(cut)) {
		return try(cut, "without the line end, which the last line of the file lacks")
	}
	return ""
}

// A comparison holds the lines of a text against those of an old text, from a place on.
type comparison struct {
	file, old []string
	start     int // line of file at which the first of old would lie
}

// nearest shows the lines that are most like old, and the first difference.
func nearest(text []byte, old string) string {
	c := &comparison{file: strings.Split(string(text), "\n"), old: strings.Split(strings.TrimSuffix(old, "\n"), "\n")}
	if !c.vote() && !c.resemble() {
		return "nothing in the file is like it"
	}
	i, j := c.misfit()
	if j < len(c.old) && i < len(c.file) && c.difference(i, j) == differentText {
		if line, ok := reflowed(text, old); ok {
			return fmt.Sprintf("line %d on has it with other line breaks and white space", line)
		}
		c, i, j = c.shifted(i, j)
	}
	switch {
	case j == len(c.old):
		return fmt.Sprintf("nearest: line %d on", max(c.start, 0)+1)
	case i >= len(c.file):
		return fmt.Sprintf("nearest: line %d on; the file ends where old_string goes on with: %s", c.start+1, quoted(c.old[j], 0))
	}
	return c.show(i, j)
}

// reflowed finds the line where old starts if white space, ends of lines included, is left
// out.
func reflowed(text []byte, old string) (line int, ok bool) {
	want := bare(old)
	at := strings.Index(bare(string(text)), want)
	if at < 0 || want == "" {
		return 0, false
	}
	line = 1
	for _, r := range string(text) {
		switch {
		case r == '\n':
			line++
		case unicode.IsSpace(r):
		case at <= 0:
			return line, true
		default:
			at -= utf8.RuneLen(r)
		}
	}
	return line, true
}

// misfit returns the first lines that differ; j is len(c.old) if none does.
func (c *comparison) misfit() (i, j int) {
	for j = range c.old {
		i = c.start + j
		if i >= len(c.file) || i >= 0 && !c.fits(i, j, itself) {
			return i, j
		}
	}
	return i, len(c.old)
}

// shifted looks whether old fits better some lines further up or down, up to a line that one
// of the two lacks. Otherwise c and its misfit come back.
func (c *comparison) shifted(i, j int) (*comparison, int, int) {
	const furthest = 5
	for by := -furthest; by <= furthest; by++ {
		other := *c
		other.start += by
		a, b := other.misfit()
		if other.start < 0 || b == 0 || b == len(c.old) || a >= len(c.file) {
			continue
		}
		if k := other.difference(a, b); k == fileHasMore || k == oldHasMore {
			return &other, a, b
		}
	}
	return c, i, j
}

// vote finds the start for which most letters lie in lines that are the same but for what
// fold leaves out.
func (c *comparison) vote() bool {
	const most = 8 // places of equal lines in old that count
	at := map[string][]int{}
	for j, l := range c.old {
		if key := unaccented(fold(l)); key != "" && len(at[key]) < most {
			at[key] = append(at[key], j)
		}
	}
	votes := make([]int, len(c.file)+len(c.old))
	best := -1
	for i, l := range c.file {
		key := unaccented(fold(l))
		for _, j := range at[key] {
			v := i - j + len(c.old)
			votes[v] += min(len(key), 80)
			if best < 0 || votes[v] > votes[best] {
				best = v
			}
		}
	}
	c.start = best - len(c.old)
	return best >= 0
}

// resemble finds the line that has most letters in common, three by three, with the
// longest line of old.
func (c *comparison) resemble() bool {
	longest, key := 0, ""
	for j, l := range c.old {
		if k := fold(l); len(k) > len(key) {
			longest, key = j, k
		}
	}
	if key == "" {
		return false
	}
	key = key[:min(len(key), 400)]
	threes := map[string]int{} // the last line, from 1, that has it
	for k := 0; k+3 <= len(key); k++ {
		threes[key[k:k+3]] = 0
	}
	best, most := -1, len(threes)/3
	for i, l := range c.file {
		f, n := fold(l), 0
		for k := 0; k+3 <= len(f); k++ {
			if last, ok := threes[f[k:k+3]]; ok && last != i+1 {
				threes[f[k:k+3]] = i + 1
				n++
			}
		}
		if strings.Contains(f, key) {
			n = len(threes) + 1 // nothing is nearer
		}
		if n > most {
			best, most = i, n
		}
	}
	c.start = best - longest
	return best >= 0
}

// fits reports whether line i of the file is line j of old, both as change makes them. The
// first line of old may start within a line, and the last end within one.
func (c *comparison) fits(i, j int, change func(string) string) bool {
	file, old := change(c.file[i]), change(c.old[j])
	switch first, last := j == 0, j == len(c.old)-1; {
	case first && last:
		return strings.Contains(file, old)
	case first:
		return strings.HasSuffix(file, old)
	case last:
		return strings.HasPrefix(file, old)
	}
	return file == old
}

// show tells what differs between line i of the file and line j of old.
func (c *comparison) show(i, j int) string {
	what, from, to := c.difference(i, j), max(c.start, 0)+1, min(c.start+len(c.old), len(c.file))
	where := fmt.Sprintf("nearest: line %d", from)
	if to > from {
		where = fmt.Sprintf("nearest: lines %d to %d, from line %d on", from, to, i+1)
	}
	file, old := diverge(c.file[i], c.old[j])
	return fmt.Sprintf("%s; it differs in %s\nthe file has:   %s\nold_string has: %s\n(· is a blank, → a tab, ␍ a carriage return)%s",
		where, what, quoted(c.file[i], file), quoted(c.old[j], old), lookalike(c.file[i][file:], c.old[j][old:]))
}

// difference names the kind of difference: the first that, left out, leaves none.
func (c *comparison) difference(i, j int) string {
	indented := func(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " "), "\t") }
	for _, k := range []struct {
		name   string
		change func(string) string
	}{
		{"blanks at the end of the line", func(s string) string { return strings.TrimRight(s, " \t") }},
		{"a carriage return", func(s string) string { return strings.ReplaceAll(s, "\r", "") }},
		{"indentation", strings.TrimSpace},
		{"white space", bare},
		{"case", strings.ToLower},
		{"quotes or dashes", plainMarks.Replace},
		{"white space, case or quotes", fold},
		{"accents, or letters that are composed or not", unaccented},
	} {
		if !c.fits(i, j, k.change) {
			continue
		}
		if k.name == "indentation" && indented(c.file[i]) != indented(c.old[j]) {
			return "indentation: tabs against blanks"
		}
		return k.name
	}
	switch {
	case i+1 < len(c.file) && bare(c.old[j]) != "" && c.fits(i+1, j, itself):
		return fileHasMore
	case j+1 < len(c.old) && bare(c.old[j+1]) != "" && c.fits(i, j+1, itself):
		return oldHasMore
	}
	return differentText
}

// What lines differ in where no single thing accounts for it.
const (
	fileHasMore   = "a line that old_string lacks"
	oldHasMore    = "a line that the file lacks"
	differentText = "text"
)

func itself(s string) string { return s }

// diverge returns where in the file's line and in the old one the first difference lies: the
// end of the longest start of old that is in the line.
func diverge(file, old string) (inFile, inOld int) {
	low, high := 0, len(old)
	for low < high {
		mid := (low + high + 1) / 2
		if strings.Contains(file, old[:mid]) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return strings.Index(file, old[:low]) + low, low
}

// quoted shows a line with its white space, as much as fits round the byte at.
func quoted(line string, at int) string {
	from := max(0, min(at, len(line))-aroundBytes/3)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString("...")
	}
	for _, r := range line[from:] {
		s := shownLetter(r, true)
		if b.Len()+len(s) > aroundBytes {
			b.WriteString("...")
			break
		}
		b.WriteString(s)
	}
	if b.Len() == 0 {
		return "(an empty line)"
	}
	return b.String()
}
