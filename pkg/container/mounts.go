package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/docker/docker/api/types/mount"
)

// reserved are directories of a sandbox that no mount may hide.
var reserved = []string{"/proc", "/sys", "/dev", agentDir}

// bindMounts returns the mounts of c as an engine wants them. They are asked for in the form
// in which a directory that does not exist is an error; in the other it would be made, as
// root's.
func (e *Engine) bindMounts(c Config) (mounts []mount.Mount, err error) {
	if len(c.Mounts) > 0 && e.at.remote() {
		return nil, configError(nil, "the engine %s is another machine: it cannot show directories of this one", e.at.host)
	}
	targets := map[string]bool{}
	for _, m := range c.Mounts {
		target, err := checkTarget(m.Target)
		if err != nil {
			return nil, err
		}
		if targets[target] {
			return nil, configError(nil, "two mounts have the target %s", target)
		}
		targets[target] = true
		source, err := e.checkSource(m.Source)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: source, Target: target, ReadOnly: m.ReadOnly})
	}
	return mounts, nil
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

// checkSource returns source with its links resolved, so that what was checked is what is
// mounted. Only directories are, so no socket is; one that holds an engine's is refused, since
// who speaks with an engine is root of this machine.
func (e *Engine) checkSource(source string) (string, error) {
	if !filepath.IsAbs(source) {
		return "", configError(nil, "the directory %q to mount is not an absolute path", source)
	}
	real, err := filepath.EvalSymlinks(source)
	if err != nil {
		return "", configError(err, "the directory %s cannot be mounted: %v", source, reasonOf(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", configError(err, "the directory %s cannot be mounted: %v", source, reasonOf(err))
	}
	if !info.IsDir() {
		return "", configError(nil, "%s cannot be mounted: it is not a directory", source)
	}
	for _, dir := range []string{"/proc", "/sys"} {
		if within(filepath.ToSlash(real), dir) {
			return "", configError(nil, "%s cannot be mounted: %s is this machine's own view of itself", source, dir)
		}
	}
	for _, socket := range e.sockets() {
		if within(filepath.ToSlash(socket), filepath.ToSlash(real)) {
			return "", configError(nil, "%s cannot be mounted: it holds %s, and the engine's socket is never mounted", source, socket)
		}
	}
	return real, nil
}

// sockets returns where engines listen on this machine: this one and others.
func (e *Engine) sockets() (paths []string) {
	hosts := []string{e.at.host, "unix:///run/containerd/containerd.sock"}
	for _, p := range socketPlaces() {
		hosts = append(hosts, p.host)
	}
	for _, host := range hosts {
		name, ok := strings.CutPrefix(host, "unix://")
		if !ok {
			continue
		}
		if real, err := filepath.EvalSymlinks(name); err == nil {
			paths = append(paths, real)
		}
		if _, err := os.Lstat(name); err == nil { // a link to it is a way to it as well
			paths = append(paths, name)
		}
	}
	return paths
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
