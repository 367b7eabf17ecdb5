// Package gitignore decides what git would ignore.
//
// [Parse] reads the rules of one file into a [List]; a [Stack] holds the lists in force in
// one directory and answers for its entries. The answers are those of `git check-ignore
// --no-index` with core.ignorecase false, odd corners included; the tests hold every
// decision against git itself.
//
// The package reads no files and knows no directories: a caller that walks a tree makes
// the stack of each directory from that of its parent, and does not descend into what
// is ignored, since git lets no rule bring back a file below an ignored directory.
package gitignore

import "strings"

// A Verdict is what a list says about a path.
type Verdict uint8

// The verdicts.
const (
	Undecided Verdict = iota // no rule matches
	Ignored
	Included // a negated rule matches
)

// A kind says how a rule is compared.
type kind uint8

const (
	baseExact  kind = iota // the last component is text
	baseSuffix             // the last component ends in text
	baseGlob               // the last component matches glob
	pathExact              // the path is text
	pathGlob               // the path begins with text and its rest matches glob
)

type rule struct {
	kind    kind
	negate  bool
	dirOnly bool
	text    string
	glob    string
}

// A List is the rules of one file. It may be used from several goroutines at once.
type List struct {
	rules []rule
}

// Parse returns the rules in data, the content of an ignore file, or nil if it has none.
// Every file can be parsed: what is no valid rule never matches, as in git.
func Parse(data []byte) *List {
	text := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
	var l List
	for line := range strings.SplitSeq(text, "\n") {
		if r, ok := parseLine(line); ok {
			l.rules = append(l.rules, r)
		}
	}
	if len(l.rules) == 0 {
		return nil
	}
	return &l
}

func parseLine(line string) (rule, bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	line = strings.TrimSuffix(line, "\r")
	line, _, _ = strings.Cut(line, "\x00") // git reads lines as C strings
	line = trimSpaces(line)
	var r rule
	line, r.negate = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return rule{}, false
	}
	if strings.Contains(line, "/") {
		r.anchored(strings.TrimPrefix(line, "/"))
	} else {
		r.basename(line)
	}
	return r, true
}

// anchored fills in a rule that is compared with the whole path. The text before the first
// wildcard is cut off and compared by itself, which in git, and so here, makes the rest a
// pattern of its own: the ** of foo**/bar stands at its beginning.
func (r *rule) anchored(pattern string) {
	r.kind, r.text = pathExact, pattern
	if i := strings.IndexAny(pattern, special); i >= 0 {
		r.kind, r.text, r.glob = pathGlob, pattern[:i], pattern[i:]
	}
}

func (r *rule) basename(pattern string) {
	switch i := strings.IndexAny(pattern, special); {
	case i < 0:
		r.kind, r.text = baseExact, pattern
	case pattern[0] == '*' && !strings.ContainsAny(pattern[1:], special):
		r.kind, r.text = baseSuffix, pattern[1:]
	default:
		r.kind, r.glob = baseGlob, pattern
	}
}

// trimSpaces cuts trailing spaces, up to one that is escaped.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			i++
			if i == len(s) {
				return s
			}
		}
		end = i + 1
	}
	return s[:end]
}

// match says what the list decides about a path relative to the directory of its file;
// name is the last component. The last rule that matches decides.
func (l *List) match(path, name string, isDir bool) Verdict {
	for i := len(l.rules) - 1; i >= 0; i-- {
		r := &l.rules[i]
		if r.dirOnly && !isDir || !r.match(path, name) {
			continue
		}
		if r.negate {
			return Included
		}
		return Ignored
	}
	return Undecided
}

func (r *rule) match(path, name string) bool {
	switch r.kind {
	case baseExact:
		return name == r.text
	case baseSuffix:
		return strings.HasSuffix(name, r.text)
	case baseGlob:
		return wild(r.glob, name)
	case pathExact:
		return path == r.text
	default:
		rest, ok := strings.CutPrefix(path, r.text)
		return ok && wild(r.glob, rest)
	}
}
