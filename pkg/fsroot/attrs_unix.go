//go:build linux || darwin

package fsroot

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// An attr is an extended attribute of a file. On Linux these include ACLs.
type attr struct {
	name  string
	value []byte
}

// accessACL is a file's own ACL, which on Linux is an attribute.
const accessACL = "system.posix_acl_access"

// readAttrs returns the attributes of f that a copy should have.
func readAttrs(f openFile) ([]attr, error) {
	names, err := attrNames(f)
	var attrs []attr
	for _, name := range names {
		switch name {
		case "security.capability", "security.ima", "security.evm":
			continue // they vouch for the content, and end with it
		}
		value, errValue := attrValue(f, name)
		if errValue != nil && needed(name) {
			return nil, errValue
		}
		if errValue == nil {
			attrs = append(attrs, attr{name, value})
		}
	}
	return attrs, err
}

// needed reports whether name is the user's rather than the system's, which gives a new
// file its own.
func needed(name string) bool { return name == accessACL || strings.HasPrefix(name, "user.") }

func attrNames(f openFile) ([]string, error) {
	buf := make([]byte, 256)
	n, err := unix.Flistxattr(int(f.Fd()), buf)
	for errors.Is(err, unix.ERANGE) {
		buf = make([]byte, 4*len(buf))
		n, err = unix.Flistxattr(int(f.Fd()), buf)
	}
	if errors.Is(err, errors.ErrUnsupported) || n <= 0 {
		if errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00"), err
}

func attrValue(f openFile, name string) ([]byte, error) {
	buf := make([]byte, 256)
	n, err := unix.Fgetxattr(int(f.Fd()), name, buf)
	for errors.Is(err, unix.ERANGE) {
		buf = make([]byte, 4*len(buf))
		n, err = unix.Fgetxattr(int(f.Fd()), name, buf)
	}
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// writeAttrs gives the new file f the attributes attrs, and takes away an ACL that its
// directory handed on. The mode must be set before: it is part of an ACL.
func writeAttrs(f openFile, attrs []attr) error {
	hasACL := false
	for _, a := range attrs {
		hasACL = hasACL || a.name == accessACL
		if err := unix.Fsetxattr(int(f.Fd()), a.name, a.value, 0); err != nil && needed(a.name) {
			return err
		}
	}
	if hasACL {
		return nil
	}
	names, err := attrNames(f)
	for _, name := range names {
		if name == accessACL {
			return unix.Fremovexattr(int(f.Fd()), accessACL)
		}
	}
	return err
}
