//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"syscall"
)

// A process is what /proc says of one.
type process struct {
	pid, parent int
	alive       bool // not a zombie
}

// processes returns all processes that /proc shows, in its order, which is by pid. The list is
// no snapshot: who needs all of something asks again until there is none. It is asked for
// when the machine is at its limits, so it allocates little and opens one file at a time.
func processes() []process {
	dir, err := syscall.Open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(dir)
	var (
		all     = make([]process, 0, 256)
		names   = make([]byte, 16<<10)
		scratch = make([]byte, 512)
	)
	for {
		n, err := syscall.ReadDirent(dir, names)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return all
		}
		eachName(names[:n], func(name []byte) {
			if name[0] < '1' || name[0] > '9' {
				return
			}
			if p, ok := parseStat(readStat(name, scratch)); ok {
				all = append(all, p)
			}
		})
	}
}

// eachName calls do for the names in a buffer of getdents64, which holds after the inode and
// the offset (8 bytes each) the entry's length (2), a type (1) and the name, ended by NUL.
func eachName(entries []byte, do func(name []byte)) {
	for len(entries) > 19 {
		length := int(binary.NativeEndian.Uint16(entries[16:]))
		name := entries[19:length]
		if end := bytes.IndexByte(name, 0); end > 0 {
			do(name[:end])
		}
		entries = entries[length:]
	}
}

func readStat(pid, scratch []byte) []byte {
	fd, err := syscall.Open("/proc/"+string(pid)+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	n, err := syscall.Read(fd, scratch)
	if err != nil {
		return nil
	}
	return scratch[:n]
}

// Fields of stat, counted from the one after the name.
const (
	statState   = 0
	statParent  = 1
	statThreads = 17
)

// parseStat reads the text of /proc/<pid>/stat. The name in it may hold anything, closing
// parentheses too. A process whose first thread has ended looks like a zombie and is none.
func parseStat(stat []byte) (p process, ok bool) {
	open, shut := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 1 || shut < open {
		return p, false
	}
	field, state, threads := 0, byte(0), 0
	for f := range bytes.FieldsSeq(stat[shut+1:]) {
		switch field {
		case statState:
			state = f[0]
		case statParent:
			p.parent = number(f)
		case statThreads:
			threads = number(f)
		}
		field++
	}
	p.pid = number(bytes.TrimSpace(stat[:open]))
	p.alive = state != 'Z' && state != 'X' || threads > 1
	return p, p.pid > 0 && field > statThreads
}

// number returns 0 for what is none.
func number(digits []byte) int {
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0
	}
	return n
}

// below returns those of all that descend from root and pass the test.
func below(all []process, root int, test func(process) bool) (found []process) {
	in := map[int]bool{root: true}
	for more := true; more; { // once more where a child stands before its parent
		more = false
		for _, p := range all {
			if in[p.parent] && !in[p.pid] {
				in[p.pid], more = true, true
			}
		}
	}
	for _, p := range all {
		if p.pid != root && in[p.pid] && test(p) {
			found = append(found, p)
		}
	}
	return found
}

func alive(p process) bool { return p.alive }
