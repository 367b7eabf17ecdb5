package container

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// defaultUser runs commands where nothing else says who should.
const defaultUser = "1000:1000"

// A user is who runs commands. Where numbers are given they are known before the image is
// read.
type user string

// userFor returns who runs commands: the one who was asked for; root in the profile dev, and
// where the engine itself has no privilege, since its root is the user who runs it; else the
// owner of what is mounted where commands run, so that files made there belong to whom the
// others do. Who owns what else is mounted says nothing: a directory of the system can be.
func userFor(c Config, rootless bool) (user, error) {
	switch {
	case c.User != "":
		return user(c.User), nil
	case rootless, c.Profile == Dev:
		return "0:0", nil
	}
	home := slices.IndexFunc(c.Mounts, func(m Mount) bool {
		target := path.Clean(m.Target)
		return within(c.Dir, target) || within(target, c.Dir)
	})
	if home < 0 {
		return defaultUser, nil
	}
	info, err := os.Stat(c.Mounts[home].Source)
	if err != nil {
		return "", configError(err, "the mount at %s: its directory cannot be opened: %v", c.Mounts[home].Target, reasonOf(err))
	}
	uid, gid, ok := ownerOf(info)
	if !ok {
		return defaultUser, nil
	}
	return user(fmt.Sprintf("%d:%d", uid, gid)), nil
}

// ids returns the numbers of u, and false where the image has to say them.
func (u user) ids() (uid, gid string, ok bool) {
	uid, gid, both := strings.Cut(string(u), ":")
	if !both {
		gid = "0" // where the image's list of users does not say otherwise
	}
	return uid, gid, isNumber(uid) && isNumber(gid)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
