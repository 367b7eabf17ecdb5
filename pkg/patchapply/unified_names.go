package patchapply

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxName is how long a path may be, in bytes, where its end must be guessed.
const maxName = 4096

// path returns the name of the file before the change, or after it where there was none.
func (f *diffFile) path() string {
	switch {
	case f.from != "":
		return f.from
	case f.git != "":
		return f.git
	case !f.paired:
		return ""
	case f.old == devNull:
		return strings.TrimPrefix(f.new, "b/")
	case f.new == devNull:
		return strings.TrimPrefix(f.old, "a/")
	}
	return cmp.Or(commonName(f.old, f.new), f.new)
}

// commonName returns the name that both lines of a pair mean, without the component in front
// that diff and git put there, or "" if they mean two files. A version of a file that is set
// aside has a name with something behind.
func commonName(old, new string) string {
	a, b := strip(old), strip(new)
	switch {
	case old == new, a == new:
		return new
	case a == b, old == b:
		return b
	case path.IsAbs(old) && path.IsAbs(new):
		return oneDiffers(old, new)
	}
	if strings.HasPrefix(old, "a/") && strings.HasPrefix(new, "b/") {
		old, new = a, b
	}
	for _, pair := range [][2]string{{old, new}, {new, old}, {a, b}, {b, a}} {
		if tail, ok := strings.CutPrefix(pair[1], pair[0]); ok && isAside(tail) {
			return pair[0]
		}
	}
	return ""
}

// strip returns a name without its first component, or as it is if it has but one.
func strip(name string) string {
	if _, rest, ok := strings.Cut(name, "/"); ok && rest != "" {
		return rest
	}
	return name
}

// oneDiffers returns what stands behind the one component in which two names differ.
func oneDiffers(a, b string) string {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	if len(x) != len(y) {
		return ""
	}
	for i := range x {
		if x[i] != y[i] {
			if slices.Equal(x[i+1:], y[i+1:]) {
				return strings.Join(x[i+1:], "/")
			}
			return ""
		}
	}
	return a
}

// isAside reports whether a name's tail marks another version of a file.
func isAside(tail string) bool {
	return slices.Contains([]string{"~", ".orig", ".old", ".bak", ".backup", ".new", ".mod", ".modified", ".patched"}, tail)
}

// conflict reports whether the names are of two files, and nothing says that it is renamed.
func (f *diffFile) conflict() bool {
	switch {
	case !f.paired || f.old == devNull || f.new == devNull:
		return false
	case f.from != "":
		return !isNamed(f.old, f.from) || !isNamed(f.new, f.to)
	case f.git != "":
		return !isNamed(f.old, f.git) || !isNamed(f.new, f.git)
	}
	return commonName(f.old, f.new) == ""
}

// isNamed reports whether a name in a diff means a path: with a component in front, or of a
// path that is longer.
func isNamed(name, of string) bool {
	if name == "" || name == devNull {
		return false
	}
	name, of = path.Clean(name), path.Clean(of)
	rest := strip(name)
	return name == of || rest == of || strings.HasSuffix(name, "/"+of) || strings.HasSuffix(of, "/"+name) || strings.HasSuffix(of, "/"+rest)
}

// checkNames returns an error where names contradict each other, or the operation's path: a
// hunk that begins with lines like names must not lose them.
func (p *parser) checkNames(f *diffFile) error {
	switch {
	case (p.path == "" || f.from != "") && f.conflict():
		return p.fail(f.line-1, fmt.Sprintf("the names %s and %s are of two files", quotePath(f.old), quotePath(f.new)),
			`"--- a/path" and "+++ b/path" with one path, or "rename from path" and "rename to path" before them`)
	case p.path != "" && f.bare && !isNamed(f.old, p.path) && !isNamed(f.new, p.path):
		return p.fail(f.line-1, fmt.Sprintf("this line and the next may name another file than %s, or be lines of a hunk", quotePath(p.path)),
			`names of that file, or "@@" before the lines of a hunk`)
	}
	return nil
}

// gitName returns the name that stands twice after diff --git, each with its prefix or both
// with none, or "" where the two differ.
func gitName(s string) string {
	if strings.HasPrefix(s, `"`) || strings.HasSuffix(s, `"`) {
		first, rest := cutQuoted(s)
		return sameName(first, unquote(strings.TrimPrefix(rest, " ")))
	}
	for i := range min(len(s), 2*maxName) {
		if s[i] == ' ' {
			if name := sameName(s[:i], s[i+1:]); name != "" {
				return name
			}
		}
	}
	return ""
}

// sameName returns the name that two have in common but for one component in front.
func sameName(a, b string) string {
	if a == b {
		return a
	}
	i, j := strings.IndexByte(a, '/'), strings.IndexByte(b, '/')
	if i >= 0 && j >= 0 && len(a)-i == len(b)-j && a[i:] == b[j:] {
		return a[i+1:]
	}
	return ""
}

// cutQuoted returns the first of two names, of which one at least is quoted, and the rest.
func cutQuoted(s string) (first, rest string) {
	if !strings.HasPrefix(s, `"`) {
		first, rest, _ = strings.Cut(s, ` "`)
		return first, `"` + rest
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return unquote(s[:i+1]), s[i+1:]
		}
	}
	return s, ""
}

// unquote reads a name that git may have quoted as in C. What cannot be read stays.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' {
		return s
	}
	end := strings.LastIndexByte(s, '"')
	if end == 0 {
		return s
	}
	// Go's escapes are those of C, and git uses no others.
	if name, err := strconv.Unquote(s[:end+1]); err == nil {
		return name
	}
	return s
}

// samePath reports whether two ways to write a path mean one.
func samePath(a, b string) bool { return path.Clean(a) == path.Clean(b) }
