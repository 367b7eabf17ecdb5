package gitignore

import "strings"

// class matches the bracket expression at the beginning of p with c and returns its
// length, or 0 if c is not in it or it is malformed.
func class(p string, c byte) int {
	in, negated := false, false
	i := 1
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		negated = true
		i++
	}
	var prev byte // lower end of a possible range, 0 for none
	for first := true; first || i < len(p) && p[i] != ']'; first = false {
		n, hit, last := member(p[min(i, len(p)):], prev, c)
		if n == 0 {
			return 0
		}
		i += n
		in = in || hit
		prev = last
	}
	if i >= len(p) || in == negated || c == '/' {
		return 0
	}
	return i + 1
}

// member reads one member of a bracket expression: a byte, an escaped byte, a range whose
// lower end is prev, or a named class. It returns the bytes read, 0 if the expression is
// malformed, whether c is in it, and the byte that may begin a range.
func member(p string, prev, c byte) (n int, hit bool, last byte) {
	switch {
	case p == "":
		return 0, false, 0
	case p[0] == '\\':
		if len(p) < 2 {
			return 0, false, 0
		}
		return 2, c == p[1], p[1]
	case p[0] == '-' && prev != 0 && len(p) > 1 && p[1] != ']':
		n, high := 2, p[1]
		if high == '\\' {
			if len(p) < 3 {
				return 0, false, 0
			}
			n, high = 3, p[2]
		}
		return n, prev <= c && c <= high, 0
	case strings.HasPrefix(p, "[:"):
		return named(p, c)
	}
	return 1, c == p[0], p[0]
}

// named reads a class such as [:alpha:]. As in git it ends at the next bracket, and is an
// ordinary bracket where no colon stands before that.
func named(p string, c byte) (n int, hit bool, last byte) {
	end := strings.IndexByte(p[2:], ']')
	if end < 0 {
		return 0, false, 0
	}
	if end < 1 || p[2+end-1] != ':' {
		return 1, c == '[', '['
	}
	is, ok := classes[p[2:2+end-1]]
	if !ok {
		return 0, false, 0
	}
	return 2 + end + 1, is(c), 0
}

// classes are the named classes, over ASCII as git's own character table has them.
var classes = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return alpha(c) || digit(c) },
	"alpha":  alpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  digit,
	"graph":  func(c byte) bool { return ' ' < c && c < 0x7f },
	"lower":  lower,
	"print":  func(c byte) bool { return ' ' <= c && c < 0x7f },
	"punct":  func(c byte) bool { return ' ' < c && c < 0x7f && !alpha(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' },
	"upper":  upper,
	"xdigit": func(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func alpha(c byte) bool { return lower(c) || upper(c) }
func digit(c byte) bool { return '0' <= c && c <= '9' }
