package container

import (
	"os"

	"github.com/docker/docker/api/types/mount"
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// A seenMount is which directory was looked at before it was mounted.
type seenMount struct {
	target string
	file   protocol.File
}

// seenMounts are compared with what a sandbox has, each time it starts. The engine resolves
// the path of a mount by itself, and later: what was checked could have been replaced.
type seenMounts []seenMount

// see looks at what is to be mounted.
func see(mounts []mount.Mount) (out seenMounts, err error) {
	for _, m := range mounts {
		info, err := os.Stat(m.Source)
		if err != nil {
			return nil, configError(err, "the mount at %s: its directory cannot be opened: %v", m.Target, reasonOf(err))
		}
		if file, ok := fileOf(info); ok {
			out = append(out, seenMount{m.Target, file})
		}
	}
	return out, nil
}

func (s seenMounts) targets() (paths []string) {
	for _, m := range s {
		paths = append(paths, m.target)
	}
	return paths
}

// compare refuses a sandbox that shows other directories than were looked at. That of another
// kernel, such as a virtual machine's, numbers files in its own way.
func (s seenMounts) compare(g protocol.Greeting) error {
	if g.Boot == "" || g.Boot != bootID() {
		return nil
	}
	for i, m := range s {
		if i >= len(g.Found) || g.Found[i] != m.file {
			return configError(nil, "the directory for the mount at %s was replaced by another while the sandbox was made; nothing was run: call again", m.target)
		}
	}
	return nil
}
