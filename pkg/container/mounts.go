package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/docker/docker/api/types/mount"
)

// reserved are directories of a sandbox that no mount may hide.
var reserved = []string{"/proc", "/sys", "/dev", agentDir}

// bindMounts returns the mounts of c as an engine wants them. They are asked for in the form
// in which a directory that does not exist is an error; in the other it would be made, as
// root's. One that holds an engine's socket is refused, since who speaks with an engine is
// root of this machine.
func (e *Engine) bindMounts(c Config) (mounts []mount.Mount, err error) {
	if len(c.Mounts) > 0 && e.at.remote() {
		return nil, configError(nil, "the engine %s is another machine: it cannot show directories of this one", withoutPassword(e.at.host))
	}
	resolved, err := ResolveMounts(c.Mounts)
	if err != nil {
		return nil, err
	}
	if err := placesExist(resolved); err != nil {
		return nil, err
	}
	targets := map[string]bool{}
	for _, m := range resolved {
		target, err := checkTarget(m.Target)
		if err != nil {
			return nil, err
		}
		if targets[target] {
			return nil, configError(nil, "two mounts have the target %s", target)
		}
		targets[target] = true
		for _, socket := range e.sockets() {
			if within(filepath.ToSlash(socket), filepath.ToSlash(m.Source)) {
				return nil, configError(nil, "the mount at %s is refused: its directory holds %s, and the engine's socket is never mounted", target, socket)
			}
		}
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: target, ReadOnly: m.ReadOnly})
	}
	return mounts, nil
}

// ResolveMounts returns mounts with the links in their sources resolved, so that what is
// checked is what is mounted. Each must be a directory, so no socket is mounted. One whose path
// leads through a directory that another mount lets commands change is refused: they could
// put a link in its place, and the next sandbox would show what that leads to.
func ResolveMounts(mounts []Mount) ([]Mount, error) {
	out := slices.Clone(mounts)
	for i := range out {
		real, err := realDirectory(out[i])
		if err != nil {
			return nil, err
		}
		out[i].Source = real
	}
	for i, m := range mounts {
		for j, other := range out {
			if i == j || other.ReadOnly {
				continue
			}
			through, err := leadsThrough(m.Source, other.Source)
			if err != nil {
				return nil, configError(err, "the mount at %s: its directory cannot be looked at: %v", m.Target, reasonOf(err))
			}
			if through {
				return nil, configError(nil, "the mount at %s is refused: its directory lies in the one mounted at %s, where commands can put another in its place", m.Target, other.Target)
			}
		}
	}
	return out, nil
}

// placesExist refuses a mount within another whose place is not there: the engine would make
// it, as root's, on this machine, or could not.
func placesExist(mounts []Mount) error {
	for _, m := range mounts {
		for _, outer := range mounts {
			below, ok := strings.CutPrefix(path.Clean(m.Target), path.Clean(outer.Target)+"/")
			if !ok {
				continue
			}
			if info, err := os.Lstat(filepath.Join(outer.Source, filepath.FromSlash(below))); err != nil || !info.IsDir() {
				return configError(err, "the mount at %s lies in the one at %s, where there is no directory %s: make it first", m.Target, outer.Target, below)
			}
		}
	}
	return nil
}

// realDirectory returns the source of m with its links resolved.
func realDirectory(m Mount) (string, error) {
	if !filepath.IsAbs(m.Source) {
		return "", configError(nil, "the mount at %s: its directory is not an absolute path", m.Target)
	}
	real, err := filepath.EvalSymlinks(m.Source)
	if err != nil {
		return "", configError(err, "the mount at %s: its directory cannot be opened: %v", m.Target, reasonOf(err))
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", configError(err, "the mount at %s: its directory cannot be opened: %v", m.Target, reasonOf(err))
	case !info.IsDir():
		return "", configError(nil, "the mount at %s: it is not a directory", m.Target)
	}
	for _, dir := range []string{"/proc", "/sys"} {
		if within(filepath.ToSlash(real), dir) {
			return "", configError(nil, "the mount at %s is refused: %s is this machine's own view of itself", m.Target, dir)
		}
	}
	return real, nil
}

// maxLinks bounds the links on the way of a path, as Linux does.
const maxLinks = 40

// leadsThrough reports whether something that lies in dir decides where name leads: a
// directory on its way, or a link. Dir has no links itself.
func leadsThrough(name, dir string) (bool, error) {
	volume := filepath.VolumeName(name) + string(filepath.Separator)
	at, rest, links := volume, steps(name), 0
	for len(rest) > 0 {
		if within(filepath.ToSlash(at), filepath.ToSlash(dir)) {
			return true, nil
		}
		next := filepath.Join(at, rest[0]) // resolves ..
		rest = rest[1:]
		link, err := os.Readlink(next)
		if err != nil { // it is none
			at = next
			continue
		}
		if links++; links > maxLinks {
			return false, syscall.ELOOP
		}
		if filepath.IsAbs(link) {
			at = volume
		}
		rest = append(steps(link), rest...)
	}
	return false, nil
}

// steps returns the names on a path, from its beginning.
func steps(name string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(name[len(filepath.VolumeName(name)):]), "/"), func(s string) bool { return s == "" || s == "." })
}

// checkTarget returns target in its shortest form.
func checkTarget(target string) (string, error) {
	if !path.IsAbs(target) || strings.ContainsRune(target, 0) {
		return "", configError(nil, "the target %q of a mount is not an absolute path", target)
	}
	target = path.Clean(target)
	if target == "/" || target == "/tmp" {
		return "", configError(nil, "%s cannot be the target of a mount", target)
	}
	for _, dir := range reserved {
		if within(target, dir) {
			return "", configError(nil, "%s cannot be the target of a mount: %s belongs to the sandbox", target, dir)
		}
	}
	return target, nil
}

// within reports whether p is dir, or lies in it. Both are clean, with slashes.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// reasonOf returns the system's words without operation and path, which the sentence has.
func reasonOf(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it does not exist")
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// A ConfigError says that a sandbox cannot be as a [Config] wants it.
type ConfigError struct {
	Text string // for the model and the operator
	Err  error  // for the log; may be nil
}

// Error returns the text.
func (e *ConfigError) Error() string { return e.Text }

// Visible returns what the model may read.
func (e *ConfigError) Visible() string { return e.Text }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

func configError(cause error, format string, args ...any) error {
	return &ConfigError{Text: fmt.Sprintf(format, args...), Err: cause}
}
