//go:build unix

package streamable

import "golang.org/x/sys/unix"

// affordable returns the part of limit connections for which there are descriptors, with
// a quarter of them left for the files of tools. The runtime has raised the soft limit already.
func affordable(limit int) int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > uint64(limit)*2 {
		return limit
	}
	return min(limit, int(l.Cur)/4*3)
}
