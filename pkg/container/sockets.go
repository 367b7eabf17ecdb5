package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// socketNames are how the sockets of what makes containers are called, wherever they lie.
var socketNames = []string{
	"docker.sock", "containerd.sock", "containerd.sock.ttrpc", "podman.sock", "crio.sock", "cri-dockerd.sock", "buildkitd.sock",
}

// sockets returns where engines listen on this machine: this one, those where one commonly
// listens, and those that are known by their name.
func (e *Engine) sockets() (paths []string) {
	names := listeners()
	hosts := []string{e.at.host}
	for _, p := range socketPlaces() {
		hosts = append(hosts, p.host)
	}
	for _, host := range hosts {
		if name, ok := strings.CutPrefix(host, "unix://"); ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			paths = append(paths, real)
		}
		if _, err := os.Lstat(name); err == nil { // a link to it is a way to it as well
			paths = append(paths, name)
		}
	}
	return paths
}

// listeners returns the sockets of [socketNames] that processes of this machine have bound, as
// proc_net(5) lists them; none but on Linux.
func listeners() (names []string) {
	table, _ := os.ReadFile("/proc/net/unix")
	for line := range strings.Lines(string(table)) {
		at := strings.IndexByte(line, '/') // the path is the last field, and may hold spaces
		if at < 0 {
			continue
		}
		name := strings.TrimSuffix(line[at:], "\n")
		if slices.Contains(socketNames, filepath.Base(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
