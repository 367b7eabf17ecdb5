package gitignore

import "strings"

// special are the bytes that mean more than themselves in a pattern.
const special = `*?[\`

// A mark is a place to go back to: the pattern behind a star, and how far the star reaches.
type mark struct {
	set    bool
	pi, si int
}

// wild reports whether pattern p matches s: git's wildmatch with WM_PATHNAME, on bytes.
//
// A star never crosses a slash and can always give way to a later one, so two marks are
// all the memory that is needed, one for the last star and one for the last double star.
// That keeps the time polynomial, whatever the pattern.
func wild(p, s string) bool {
	var star, double mark
	var whole bool // the last double star goes forward by whole directories
	pi, si := 0, 0
	for pi < len(p) || si < len(s) {
		if pi < len(p) && p[pi] == '*' {
			next, kind := stars(p, pi)
			switch kind {
			case everything:
				return true
			case single:
				star = mark{true, next, si}
			default:
				double, star, whole = mark{true, next, si}, mark{}, kind == directories
			}
			pi = next
			continue
		}
		if pi < len(p) && si < len(s) {
			if n := one(p[pi:], s[si]); n > 0 {
				pi, si = pi+n, si+1
				continue
			}
		}
		if !star.step(s) {
			star = mark{}
			if !double.leap(s, whole) {
				return false
			}
			pi, si = double.pi, double.si
			continue
		}
		pi, si = star.pi, star.si
	}
	return true
}

// step lets a star take one more byte.
func (m *mark) step(s string) bool {
	if !m.set || m.si >= len(s) || s[m.si] == '/' {
		return false
	}
	m.si++
	return true
}

// leap lets a double star take one more byte, or one more directory.
func (m *mark) leap(s string, whole bool) bool {
	if !m.set || m.si >= len(s) {
		return false
	}
	n := 1
	if whole {
		n = strings.IndexByte(s[m.si:], '/') + 1
	}
	m.si += n
	return n > 0
}

type starKind uint8

const (
	single      starKind = iota // anything without a slash
	directories                 // **/ : any number of directories, none included
	anything                    // **\/ : anything, before a slash
	everything                  // ** at the end
)

// stars reads the stars at p[i] and returns where the pattern goes on. Two or more are a
// double star only as a whole path component.
func stars(p string, i int) (next int, k starKind) {
	first := i == 0 || p[i-1] == '/'
	n := i
	for n < len(p) && p[n] == '*' {
		n++
	}
	switch rest := p[n:]; {
	case n-i < 2 || !first:
		return n, single
	case rest == "":
		return n, everything
	case rest[0] == '/':
		return n + 1, directories
	case strings.HasPrefix(rest, `\/`):
		return n, anything
	}
	return n, single
}

// one matches the element at the beginning of p, not a star, with c and returns its
// length, or 0.
func one(p string, c byte) int {
	switch p[0] {
	case '?':
		if c == '/' {
			return 0
		}
		return 1
	case '[':
		return class(p, c)
	case '\\':
		if len(p) > 1 && p[1] == c {
			return 2
		}
		return 0
	}
	if p[0] == c {
		return 1
	}
	return 0
}
