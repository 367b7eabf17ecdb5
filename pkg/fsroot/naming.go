package fsroot

import (
	"path"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A naming is how a system writes and compares paths. Its methods only map strings, so
// that the rules of every system can be tested on any.
type naming struct {
	windows bool // drives, backslashes, reserved names
	fold    bool // names that differ only in case or in Unicode form are one
}

// native is how this system names files. Whether a volume folds case is not known from
// the system alone, so paths that the lexical comparison misses are compared by identity.
var native = naming{windows: runtime.GOOS == "windows", fold: foldsNames}

// foldsNames is whether this system's usual volumes fold names.
const foldsNames = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// Limits that hold on every system that we know.
const (
	maxPath = 4095
	maxName = 255
)

// invalid returns why no system could open s, or "".
func invalid(s string) string {
	switch {
	case strings.ContainsRune(s, 0):
		return "it holds a NUL byte"
	case len(s) > maxPath:
		return "it is longer than 4095 bytes"
	}
	for name := range strings.SplitSeq(s, "/") {
		if len(name) > maxName {
			return "it holds a name of more than 255 bytes"
		}
	}
	return ""
}

// invalid returns why no component of the clean relative path rel may be used, or "".
func (n naming) invalid(rel string) string {
	if !n.windows {
		return ""
	}
	for name := range strings.SplitSeq(rel, "/") {
		if reason := windowsInvalid(name); reason != "" {
			return reason
		}
	}
	return ""
}

// windowsInvalid returns why Windows would take name for something other than a file of
// that name.
func windowsInvalid(name string) string {
	if name == "." {
		return ""
	}
	switch {
	case strings.ContainsRune(name, ':'):
		return "':' names a stream or a drive"
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "a name that ends in a dot or space means another name"
	case strings.ContainsAny(name, `<>"|?*`) || strings.IndexFunc(name, isControl) >= 0:
		return `names may not hold control characters or any of <>"|?*`
	case windowsDevice(name):
		return "it names a device"
	}
	return ""
}

func isControl(r rune) bool { return r < 0x20 }

// windowsDevice reports whether name, up to its first dot, is one of the reserved ones.
func windowsDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, digit := strings.CutPrefix(base, "COM")
	if !digit {
		port, digit = strings.CutPrefix(base, "LPT")
	}
	return digit && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}

// isAbs reports whether p starts at a drive, a share or the top.
func (n naming) isAbs(p string) bool {
	if !n.windows {
		return strings.HasPrefix(p, "/")
	}
	p = n.slashed(p)
	return strings.HasPrefix(p, "/") || (hasDrive(p) && len(p) > 2 && p[2] == '/')
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z')
}

// slashed returns p with forward slashes, as far as others are separators here.
func (n naming) slashed(p string) string {
	if n.windows {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// refuse returns why a path as a client wrote it is not mapped at all, or "".
func (n naming) refuse(p string) string {
	if !n.windows {
		return ""
	}
	p = n.slashed(p)
	switch {
	case strings.HasPrefix(p, "//?/") || strings.HasPrefix(p, "//./") || strings.HasPrefix(p, "/??/"):
		return `paths that start with \\?\ or \\.\ are not accepted; write the plain path`
	case hasDrive(p) && !n.isAbs(p):
		return `a path such as C:name depends on a drive's current directory; write C:\name`
	}
	return ""
}

// components cuts an absolute path into clean components; the first is the drive or
// share, "" where there is none.
func (n naming) components(abs string) []string {
	p := n.slashed(abs)
	volume := ""
	if n.windows {
		volume, p = cutVolume(p)
	}
	parts := []string{volume}
	if p = strings.Trim(path.Clean("/"+p), "/"); p != "" {
		parts = append(parts, strings.Split(p, "/")...)
	}
	return parts
}

// cutVolume cuts "C:" or "//server/share" off p.
func cutVolume(p string) (volume, rest string) {
	if hasDrive(p) {
		return p[:2], p[2:]
	}
	if !strings.HasPrefix(p, "//") {
		return "", p
	}
	server, rest, _ := strings.Cut(p[2:], "/")
	share, rest, _ := strings.Cut(rest, "/")
	return "//" + server + "/" + share, rest
}

// below returns the slash-separated path that abs has below root, both absolute, by
// comparing whole components.
func (n naming) below(root, abs string) (rel string, ok bool) {
	r, a := n.components(root), n.components(abs)
	if len(a) < len(r) {
		return "", false
	}
	for i := range r {
		if !n.same(r[i], a[i]) {
			return "", false
		}
	}
	return path.Join(append([]string{"."}, a[len(r):]...)...), true
}

func (n naming) same(a, b string) bool {
	return a == b || (n.fold && folded(a) == folded(b))
}

// folded maps names that differ only in case or Unicode form to one key. Lower case of
// upper case brings together letters that have two small forms.
func folded(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFD.String(name))))
}
