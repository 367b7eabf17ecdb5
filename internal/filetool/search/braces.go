package search

import "strings"

// What a pattern may be at most. Each entry of a tree is compared with every form that the
// braces of a pattern stand for.
const (
	maxPattern = 4 << 10
	maxForms   = 1 << 10
	maxSpelled = 1 << 20 // bytes of all forms
)

// expand returns the forms that the braces of a valid glob stand for, false if those are
// too many. Package doublestar would try them by recursion, again for each place of a *.
func expand(glob string) (forms []string, ok bool) {
	b := braces{rest: glob}
	forms = b.sequence(0)
	return forms, !b.excess
}

// braces reads a glob from the left.
type braces struct {
	rest   string
	excess bool
}

// sequence reads up to the end of an alternative, or of the glob at depth 0.
func (b *braces) sequence(depth int) []string {
	forms := []string{""}
	for b.rest != "" && !b.excess {
		n := plainLength(b.rest, depth)
		next := []string{b.rest[:n]}
		if n == 0 {
			if b.rest[0] != '{' {
				break
			}
			next = b.group(depth + 1)
		} else {
			b.rest = b.rest[n:]
		}
		forms = b.joined(forms, next)
	}
	return forms
}

// group reads the alternatives of one pair of braces.
func (b *braces) group(depth int) []string {
	var forms []string
	for more := true; more && !b.excess; {
		b.rest = b.rest[1:] // { or ,
		forms = append(forms, b.sequence(depth)...)
		more = strings.HasPrefix(b.rest, ",")
		b.excess = b.excess || b.rest == "" || len(forms) > maxForms
	}
	if !b.excess {
		b.rest = b.rest[1:]
	}
	return forms
}

// joined returns each of heads with each of tails behind it.
func (b *braces) joined(heads, tails []string) []string {
	if len(heads)*len(tails) > maxForms {
		b.excess = true
		return nil
	}
	size := 0
	forms := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			forms = append(forms, h+t)
			size += len(h) + len(t)
		}
	}
	b.excess = b.excess || size > maxSpelled
	return forms
}

// plainLength returns how many bytes of a glob come before the next brace, or comma within
// braces, that is neither escaped nor in a character class.
func plainLength(glob string, depth int) int {
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\':
			i++
		case c == '[':
			i += classLength(glob[i:]) - 1
		case c == '{' || depth > 0 && (c == ',' || c == '}'):
			return i
		}
	}
	return len(glob)
}

// classLength returns the length of the character class that glob begins with.
func classLength(glob string) int {
	for i := 1; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return len(glob)
}
