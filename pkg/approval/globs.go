package approval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// Names and texts are matched by * (any characters) and ? (one); paths by doublestar's globs, in which
// * stays between two slashes. A * that stopped at slashes would let names such as
// https://issuer/subject pass a deny for everybody.

// names are globs of tools, principals or scopes; nil is every one.
type names []string

func (g names) match(s string) bool {
	if g == nil {
		return true
	}
	for _, one := range g {
		if matchText(one, s) {
			return true
		}
	}
	return false
}

// matchAny reports whether one of those in list matches.
func (g names) matchAny(list []string) bool {
	if g == nil {
		return true
	}
	for _, s := range list {
		if g.match(s) {
			return true
		}
	}
	return false
}

// matchText matches s as a whole, in time len(glob) times len(s).
func matchText(glob, s string) bool {
	star, from := -1, 0 // where the last * is, and where what it stands for ends
	g, i := 0, 0
	for i < len(s) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, from = g, i
			g++
		case g < len(glob) && glob[g] == '?':
			g++
			i += runeLength(s[i:])
		case g < len(glob) && glob[g] == s[i]:
			g++
			i++
		case star >= 0:
			from += runeLength(s[from:])
			g, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}

func runeLength(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// A pathGlob is a compiled glob of paths below a root. The forms that policies are full of
// are matched without doublestar: a search asks for each file.
type pathGlob struct {
	glob string
	form form
	a, b string // what the form needs
}

type form uint8

const (
	general   form = iota
	all            // **
	exact          // a
	below          // a/**
	component      // **/a/**
	named          // **/a*b
)

// checkPathGlob returns what cannot match a path below a root.
func checkPathGlob(glob string) error {
	switch {
	case !doublestar.ValidatePattern(glob):
		return fmt.Errorf("glob %q is malformed: close its brackets and braces, or write \\ before one that is meant as it stands", glob)
	case strings.HasPrefix(glob, "/"):
		return fmt.Errorf("glob %q begins with a slash: paths are those below the root, write %q", glob, strings.TrimLeft(glob, "/"))
	case strings.HasPrefix(glob, "!"):
		return fmt.Errorf("glob %q: nothing is excepted by !: write a rule of its own, or \\! for the character", glob)
	case strings.HasSuffix(glob, "/"):
		return fmt.Errorf("glob %q ends with a slash: for all that is below write %q", glob, glob+"**")
	}
	for _, part := range strings.Split(glob, "/") {
		if part == "" || part == ".." || part == "." && glob != "." {
			return fmt.Errorf("glob %q matches nothing: no part of a path is empty, . or .. here", glob)
		}
	}
	return nil
}

func compilePathGlob(glob string) (pathGlob, error) {
	if err := checkPathGlob(glob); err != nil {
		return pathGlob{}, err
	}
	glob = composed(glob)
	g := pathGlob{glob: glob}
	if glob == "**" {
		g.form = all
		return g, nil
	}
	inner, anywhere := strings.CutPrefix(glob, "**/")
	dir, tree := strings.CutSuffix(inner, "/**")
	switch {
	case anywhere && tree && literal(dir) && !strings.Contains(dir, "/"):
		g.form, g.a = component, dir
	case tree && !anywhere && literal(dir):
		g.form, g.a = below, dir
	case anywhere && !strings.Contains(inner, "/"):
		if a, b, star := strings.Cut(inner, "*"); star && literal(a) && literal(b) {
			g.form, g.a, g.b = named, a, b
		}
	case literal(glob) && glob != ".":
		g.form = exact
	}
	return g, nil
}

func literal(s string) bool { return !strings.ContainsAny(s, `*?[]{}\`) }

// match matches a path below a root. The root itself is the path without parts, and "." by name.
func (g *pathGlob) match(rel string) bool {
	if rel == "." {
		return g.matchRoot()
	}
	switch g.form {
	case all:
		return true
	case exact:
		return rel == g.glob
	case below:
		return strings.HasPrefix(rel, g.a) && (len(rel) == len(g.a) || rel[len(g.a)] == '/')
	case component:
		return hasComponent(rel, g.a)
	case named:
		base := rel[strings.LastIndexByte(rel, '/')+1:]
		return len(base) >= len(g.a)+len(g.b) && strings.HasPrefix(base, g.a) && strings.HasSuffix(base, g.b)
	}
	return doublestar.MatchUnvalidated(g.glob, rel)
}

func (g *pathGlob) matchRoot() bool {
	return g.form == all || g.glob == "." || g.glob == "**/*" || g.glob == "*/**" || g.glob == "**/**"
}

func hasComponent(rel, name string) bool {
	for {
		head, tail, more := strings.Cut(rel, "/")
		if head == name {
			return true
		}
		if !more {
			return false
		}
		rel = tail
	}
}

// The accesses as bits.
var accessBits = map[Access]uint8{Read: 1, List: 2, Create: 4, Update: 8, Delete: 16, Move: 32}

const seeing = 1 | 2 // Read, List

func bitOf(a Access) uint8 {
	switch a {
	case Read:
		return 1
	case List:
		return 2
	}
	return accessBits[a]
}

// A pathCondition is the paths part of a rule.
type pathCondition struct {
	ops   uint8 // accesses that count; 0 is every one
	globs []pathGlob
	every bool // every path must fit, not just one
	wary  bool // of a deny or an ask: an access that has no name here counts
}

func (c *pathCondition) counts(access Access) bool {
	if c.ops == 0 {
		return true
	}
	bit := bitOf(access)
	return bit&c.ops != 0 || bit == 0 && c.wary
}

// composed returns a path as rules are compared with it: in Unicode's composed form (UAX 15, NFC).
// File systems keep either form, and a rule is about the name that is read.
func composed(rel string) string { return norm.NFC.String(rel) }

// allComposed returns paths with that done to each, and leaves those given as they are.
func allComposed(paths []Path) []Path {
	paths = slices.Clone(paths)
	for i := range paths {
		paths[i].Rel = composed(paths[i].Rel)
	}
	return paths
}

// matches reports whether a glob matches a composed path.
func (c *pathCondition) matches(rel string) bool {
	for i := range c.globs {
		if c.globs[i].match(rel) {
			return true
		}
	}
	return false
}

// holds reports whether the condition holds for an action that touches paths; it never does for one that
// touches none.
func (c *pathCondition) holds(paths []Path) bool {
	return len(paths) > 0 && c.fits(paths, c.every)
}

// fits reports whether every path fits, or one of them.
func (c *pathCondition) fits(paths []Path, every bool) bool {
	for i := range paths {
		if fit := c.counts(paths[i].Access) && c.matches(paths[i].Rel); fit != every {
			return fit
		}
	}
	return every
}

// coversAll reports whether the condition holds whatever the path is, for each of ops.
func (c *pathCondition) coversAll(ops uint8) bool {
	if c.ops != 0 && c.ops&ops != ops {
		return false
	}
	for i := range c.globs {
		if c.globs[i].form == all {
			return true
		}
	}
	return false
}
