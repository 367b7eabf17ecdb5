package fsroot

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// spellings returns the ways to read a path that a model wrote, the literal one first:
// without blanks and quotes round it, without the @ that chat programs put before file
// names, and with the escapes resolved by which results print names that could forge a
// line.
func spellings(path string) []string {
	forms := []string{path}
	add := func(form string) {
		if form != forms[len(forms)-1] && form != "" {
			forms = append(forms, form)
		}
	}
	bare := strings.TrimSpace(path)
	add(bare)
	bare = unquote(bare)
	add(bare)
	bare = strings.TrimPrefix(bare, "@")
	add(bare)
	add(unescape(bare))
	return forms
}

// unescape resolves the escapes of a Go string, such as \n, \x1b and \u202e; "" if s has
// none, or others.
func unescape(s string) string {
	if !strings.ContainsRune(s, '\\') {
		return ""
	}
	plain, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		return ""
	}
	return plain
}

func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] || !strings.ContainsRune("\"'`", rune(s[0])) {
		return s
	}
	return s[1 : len(s)-1]
}

// plain turns a file URI or a path that starts with ~ into a path, and refuses forms that
// are never mapped.
func plain(n naming, form string) (string, error) {
	if reason := invalid(form); reason != "" {
		return "", &Error{Op: "resolve", Path: form, Kind: InvalidName, Reason: reason}
	}
	if hasScheme(form) {
		return fromURI(n, form)
	}
	if reason := n.refuse(form); reason != "" {
		return "", &Error{Op: "resolve", Path: form, Kind: InvalidName, Reason: reason}
	}
	if form == "~" || strings.HasPrefix(form, "~/") {
		if home, err := os.UserHomeDir(); err == nil && home != "" {
			return filepath.Join(home, form[1:]), nil
		}
	}
	return form, nil
}

func hasScheme(form string) bool {
	scheme, _, ok := strings.Cut(form, "://")
	return (ok && len(scheme) > 1 && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-.") == "") ||
		strings.HasPrefix(strings.ToLower(form), "file:/")
}

// fromURI returns the path of a file URI; anything without a scheme is returned as it is.
func fromURI(n naming, uri string) (string, error) {
	if !hasScheme(uri) {
		return uri, nil
	}
	refuse := func(reason string) (string, error) {
		return "", &Error{Op: "resolve", Path: uri, Kind: InvalidName, Reason: reason}
	}
	// A ? or # in a name is often left as it is.
	u, err := url.Parse(strings.NewReplacer("?", "%3F", "#", "%23").Replace(uri))
	switch {
	case err != nil:
		return refuse("the URI is malformed")
	case !strings.EqualFold(u.Scheme, "file"):
		return refuse("only file:// URIs name files")
	case u.Host != "" && !strings.EqualFold(u.Host, "localhost"):
		return refuse("a file URI must not name another host")
	case invalid(u.Path) != "":
		return refuse(invalid(u.Path))
	}
	p := u.Path
	if n.windows && len(p) > 2 && p[0] == '/' && hasDrive(p[1:]) {
		p = p[1:]
	}
	return p, nil
}
