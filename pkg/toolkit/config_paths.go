package toolkit

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// programPath returns the absolute path by which a client is to start this program.
//
// The path that it was started by is kept if it leads to this very file, with the links on
// the way: package managers put a link where PATH finds it, and the file that it leads to
// goes away with the next version. On Linux os.Executable names that file.
func programPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the program's path: %w", err)
	}
	typed, err := exec.LookPath(os.Args[0])
	if err != nil {
		return self, nil
	}
	if typed, err = filepath.Abs(typed); err != nil || !sameFile(typed, self) {
		return self, nil
	}
	return typed, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// path returns the absolute path for the value of a flag. A value that begins with
// something the target replaces, such as ${workspaceFolder}, is not ours to resolve.
func (g *gathering) path(value string) (string, error) {
	if ref := g.target.find(value); ref != "" && strings.HasPrefix(value, ref) && !exists(value) {
		return value, nil
	}
	if strings.HasPrefix(value, "$") && !exists(value) {
		return "", fmt.Errorf("%s does not replace such a variable; give the path itself", g.target.title)
	}
	expanded, err := home(value)
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(expanded)
	if err != nil {
		return "", err
	}
	// A reference that nobody meant: it is in the name of something that is there.
	if ref := g.target.find(abs); ref != "" && (exists(abs) || g.target.find(value) == "") {
		return "", fmt.Errorf("%s would replace %s in %s; give a link with another name", g.target.title, ref, abs)
	}
	return abs, nil
}

// home puts the home directory in for a leading ~, which shells leave in --root=~/x.
func home(path string) (string, error) {
	if path == "" || path[0] != '~' {
		return path, nil
	}
	rest := path[1:]
	if rest != "" && !os.IsPathSeparator(rest[0]) {
		return "", errors.New("only ~ and ~/ are understood; write the path out, or ./~ for a file that is called so")
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w", err)
	}
	return filepath.Join(dir, rest), nil
}

// endpoint returns the URL of the server that listens on addr, as it was given. The server
// answers only to loopback names and to allowed hosts, so on any other address it takes one
// of these.
func endpoint(given string, addr *net.TCPAddr, o streamable.Options) (string, error) {
	if addr.Port == 0 {
		return "", fmt.Errorf("--http %q: a registration needs a fixed port", given)
	}
	host, _, err := net.SplitHostPort(given)
	port := strconv.Itoa(addr.Port)
	if err == nil && !o.Loopback {
		host, port, err = allowedHost(host, port, o.Hosts)
	}
	if err != nil {
		return "", fmt.Errorf("--http %q: %w", given, err)
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/mcp"}
	return u.String(), nil
}

// allowedHost returns the host to reach a server by: the one that it listens on, if that is
// allowed, else the first that is. An entry may name a port of its own, as that of a proxy.
func allowedHost(host, port string, allowed []string) (string, string, error) {
	ip, err := netip.ParseAddr(host)
	everywhere := host == "" || err == nil && ip.IsUnspecified() // not a place to go to
	var first string
	for _, entry := range allowed {
		if !everywhere && (entry == "*" || strings.EqualFold(strings.Trim(entry, "[]"), host)) {
			return host, port, nil
		}
		if first == "" && entry != "*" {
			first = entry
		}
	}
	if first == "" {
		if everywhere {
			host = "NAME"
		}
		return "", "", fmt.Errorf("add --allowed-hosts %s, the name by which clients reach it", host)
	}
	name := first
	if h, p, err := net.SplitHostPort(first); err == nil {
		name, port = h, p
	}
	name = strings.Trim(name, "[]")
	return name, port, nil
}
