package search

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// A pattern is a glob over paths relative to the start.
//
// A pattern without a slash is looked for at any depth, unless ./ stands before it. One that ends in a slash is for
// directories. Brackets also stand for themselves, so that app/[id]/page.tsx finds the
// file of that name, and a pattern that is the path of something finds it whatever its
// characters mean.
type pattern struct {
	literal string // path that the pattern names if no character means more than itself
	forms   []form
	dirs    bool  // matches directories only
	broken  error // the pattern is no glob; only the literal path can match
}

// newPattern checks a pattern. One with unbalanced brackets is no error yet: it may be a
// name.
func newPattern(text string) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, queryError("select by a shorter pattern, or by another path", "pattern has %d bytes; at most %d can be used", len(text), maxPattern)
	}
	clean := cleanPattern(text)
	p := &pattern{}
	clean, p.dirs = strings.CutSuffix(clean, "/")
	switch {
	case clean == "":
		return nil, queryError(`"**" matches every file, "**/" every directory`, "pattern %q matches nothing", text)
	case strings.HasPrefix(clean, "/"):
		return nil, queryError("give the directory as path and a pattern relative to it", "pattern %q is absolute", text)
	case slices.Contains(strings.Split(clean, "/"), ".."):
		return nil, queryError("give another directory as path", `pattern %q leaves the directory by ".."`, text)
	}
	p.literal = clean
	glob := clean
	if !strings.Contains(clean, "/") && !strings.HasPrefix(text, "./") && clean != "**" {
		glob = "**/" + clean
	}
	if !p.addGlob(glob) || strings.Contains(glob, "[") && !p.addGlob(bracketsLiteral(glob)) {
		return nil, queryError(`use fewer braces, or * in place of some`, "the braces of the pattern stand for more than %d forms, or for very long ones", maxForms)
	}
	if !doublestar.ValidatePattern(glob) {
		p.broken = queryError(`put \ before a bracket that stands for itself`, "pattern %q has unbalanced brackets or braces", text)
	}
	return p, nil
}

// cleanPattern removes what says nothing: ./ and repeated slashes.
func cleanPattern(text string) string {
	for strings.Contains(text, "//") {
		text = strings.ReplaceAll(text, "//", "/")
	}
	for strings.Contains(text, "/./") {
		text = strings.ReplaceAll(text, "/./", "/")
	}
	for strings.HasPrefix(text, "./") {
		text = text[2:]
	}
	return text
}

func bracketsLiteral(glob string) string {
	return strings.NewReplacer(`\[`, `\[`, `\]`, `\]`, `[`, `\[`, `]`, `\]`).Replace(glob)
}

// match reports whether the pattern matches the entry at rel.
func (p *pattern) match(rel string, k Kind) bool {
	if p.dirs != (k == Dir) {
		return false
	}
	return p.matchPath(rel)
}

func (p *pattern) matchPath(rel string) bool {
	if rel == p.literal {
		return true
	}
	composed := compose(rel)
	for i := range p.forms {
		if p.forms[i].match(composed) {
			return true
		}
	}
	return false
}

// descend reports whether the pattern can match anything below the directory.
func (p *pattern) descend(rel string) bool {
	if strings.HasPrefix(p.literal, rel) && len(p.literal) > len(rel) && p.literal[len(rel)] == '/' {
		return true
	}
	composed := compose(rel)
	for i := range p.forms {
		if p.forms[i].descend(composed) {
			return true
		}
	}
	return false
}

// through reports whether the pattern names rel, as it is, as a directory on its way.
func (p *pattern) through(rel string) bool {
	composed := compose(rel) + "/"
	return strings.HasPrefix(p.literal, rel+"/") ||
		slices.ContainsFunc(p.forms, func(f form) bool { return strings.HasPrefix(f.glob, composed) })
}

// compose returns s in the Unicode form that patterns are compared in: some systems store
// names with accents as letters of their own.
func compose(s string) string {
	if isASCII(s) {
		return s
	}
	return norm.NFC.String(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// A form is one valid glob without braces.
type form struct {
	glob  string
	parts []string // of glob by slashes; nil where a class holds one
	any   bool     // glob is **/ and one component: only the name counts
}

// addGlob adds the forms of a glob, none if it is not valid. It is false if there are too
// many.
func (p *pattern) addGlob(glob string) bool {
	glob = compose(glob)
	if !doublestar.ValidatePattern(glob) {
		return true
	}
	forms, ok := expand(glob)
	if !ok {
		return false
	}
	slices.Sort(forms)
	for _, f := range slices.Compact(forms) {
		p.addForm(f)
	}
	return true
}

func (p *pattern) addForm(glob string) {
	f := form{glob: glob, parts: strings.Split(glob, "/")}
	if !allValid(f.parts) {
		f.parts = nil
	}
	f.any = len(f.parts) == 2 && f.parts[0] == "**" && f.parts[1] != "**"
	p.forms = append(p.forms, f)
}

func allValid(parts []string) bool {
	for _, s := range parts {
		if !doublestar.ValidatePattern(s) {
			return false
		}
	}
	return true
}

func (f *form) match(rel string) bool {
	if !f.any {
		return doublestar.MatchUnvalidated(f.glob, rel)
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	if suffix, ok := strings.CutPrefix(f.parts[1], "*"); ok && !strings.ContainsAny(suffix, `*?[{\`) {
		return strings.HasSuffix(name, suffix)
	}
	return doublestar.MatchUnvalidated(f.parts[1], name)
}

func (f *form) descend(rel string) bool {
	if f.parts == nil {
		return true
	}
	i := 0
	for name := range strings.SplitSeq(rel, "/") {
		if f.parts[i] == "**" {
			return true
		}
		if i+1 == len(f.parts) || !doublestar.MatchUnvalidated(f.parts[i], name) {
			return false
		}
		i++
	}
	return true
}
