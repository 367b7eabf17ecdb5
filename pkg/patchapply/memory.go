package patchapply

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// A Memory is a [Storage] of files in memory, for tests and for those who keep files
// elsewhere. Paths are below a root without a name; absolute ones are outside. It has no
// directories of its own: one exists as long as something is in it.
type Memory struct {
	sole  chan struct{} // holds one value while nobody has a Tx
	mu    sync.Mutex
	files memoryMap
}

type memoryMap map[string]memoryFile

// A memoryFile is a file, or a link. Files are never changed, only replaced.
type memoryFile struct {
	content []byte
	perm    fs.FileMode
	target  string // of a link: a clean path, or one that starts with ../
	version *byte  // another for each write
}

// NewMemory returns a storage with files of mode 0644.
func NewMemory(files map[string]string) *Memory {
	m := &Memory{sole: make(chan struct{}, 1), files: memoryMap{}}
	m.sole <- struct{}{}
	for p, content := range files {
		m.Write(p, []byte(content), 0o644)
	}
	return m
}

// Write puts a file, or another content, at a clean path.
func (m *Memory) Write(p string, content []byte, perm fs.FileMode) {
	m.put(p, memoryFile{content: bytes.Clone(content), perm: perm.Perm(), version: new(byte)})
}

// Link puts a symbolic link at a clean path. The target is relative to its directory.
func (m *Memory) Link(p, target string) {
	m.put(p, memoryFile{target: path.Join(path.Dir(p), target), version: new(byte)})
}

func (m *Memory) put(p string, f memoryFile) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[p] = f
}

// Remove removes the file or link at a clean path.
func (m *Memory) Remove(p string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, p)
}

// Read returns the file at a clean path, links in the last component followed.
func (m *Memory) Read(p string) (content []byte, perm fs.FileMode, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	real, err := m.files.follow(p)
	if err != nil {
		return nil, 0, false
	}
	f := m.files[real]
	return bytes.Clone(f.content), f.perm, true
}

// Target returns where the link at a clean path leads, as a clean path; ok is false where
// there is no link.
func (m *Memory) Target(p string) (target string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	target = m.files[p].target
	return target, target != ""
}

// Paths returns the paths of all files and links, in order.
func (m *Memory) Paths() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.files))
}

// maxMemoryLinks is how many links a path may go through.
const maxMemoryLinks = 40

// follow returns where the links that start at p end.
func (files memoryMap) follow(p string) (string, error) {
	for range maxMemoryLinks {
		f, ok := files[p]
		switch {
		case !ok && files.isDir(p):
			return "", refusal(IsDirectory, "%s is a directory", quotePath(p))
		case !ok:
			return "", refusal(FileNotFound, "%s does not exist", quotePath(p))
		case f.target == "":
			return p, nil
		case f.target == ".." || strings.HasPrefix(f.target, "../"):
			return "", refusal(PathEscape, "%s leads outside the root", quotePath(p))
		}
		p = f.target
	}
	return "", refusal(InvalidPath, "%s goes through too many links", quotePath(p))
}

func (files memoryMap) isDir(p string) bool {
	for other := range files {
		if strings.HasPrefix(other, p+"/") {
			return true
		}
	}
	return false
}

// View returns a reader of the files.
func (m *Memory) View(context.Context) View { return memoryView{m} }

// Begin waits for the sole right to change the files.
func (m *Memory) Begin(ctx context.Context) (Tx, error) {
	select {
	case <-m.sole:
		return &memoryTx{memoryView: memoryView{m}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type memoryView struct{ m *Memory }

// Clean brings p to the form of the map's keys.
func (memoryView) Clean(p string) (string, error) {
	if path.IsAbs(p) {
		return "", refusal(PathEscape, "%s is outside the root; use a path relative to it", quotePath(p))
	}
	return cleanRelative(p)
}

// cleanRelative is [path.Clean] for what is to be a file below a root.
func cleanRelative(p string) (string, error) {
	c := path.Clean(p)
	switch {
	case p == "":
		return "", refusal(InvalidPath, "a path is missing")
	case strings.ContainsRune(p, 0):
		return "", refusal(InvalidPath, "%s holds a NUL byte", quotePath(p))
	case c == ".." || strings.HasPrefix(c, "../"):
		return "", refusal(PathEscape, "%s is outside the root; use a path below it", quotePath(p))
	case c == ".":
		return "", refusal(InvalidPath, "%s is the root itself; name a file below it", quotePath(p))
	case strings.HasSuffix(p, "/"):
		return "", refusal(InvalidPath, "%s ends in a slash, and so names a directory; name a file", quotePath(p))
	}
	return c, nil
}

// Load returns what p holds.
func (v memoryView) Load(p string, limit int64) (*File, error) {
	v.m.mu.Lock()
	defer v.m.mu.Unlock()
	return v.m.files.load(p, limit)
}

func (files memoryMap) load(p string, limit int64) (*File, error) {
	f, ok := files[p]
	if !ok {
		return nil, files.vacant(p)
	}
	out := &File{Real: p, Token: f.version, IsLink: f.target != "", Perm: f.perm}
	if out.IsLink {
		real, err := files.follow(p)
		if err != nil {
			out.Broken = err
			return out, nil
		}
		f = files[real]
		out.Real, out.Perm = real, f.perm
	}
	if int64(len(f.content)) > limit {
		return nil, refusal(TooLarge, "%s has %d bytes", quotePath(p), len(f.content))
	}
	out.Content = f.content
	return out, nil
}

// vacant returns nil if a file could be made at p.
func (files memoryMap) vacant(p string) error {
	if files.isDir(p) {
		return refusal(IsDirectory, "%s is a directory", quotePath(p))
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, ok := files[dir]; ok {
			return refusal(InvalidPath, "%s is a file, so nothing can be below it", quotePath(dir))
		}
	}
	return nil
}

// Similar returns the paths that are nearest to p.
func (v memoryView) Similar(p string) []string {
	return fsroot.Nearest(v.m.Paths(), p)
}

type memoryTx struct {
	memoryView
	ended bool
}

// Commit changes a copy of the files and puts it in their place.
func (tx *memoryTx) Commit(changes []Change) error {
	if tx.ended {
		return refusal(IOError, "the transaction has ended")
	}
	tx.m.mu.Lock()
	defer tx.m.mu.Unlock()
	made, err := tx.m.files.with(changes)
	if err == nil {
		tx.m.files = made
	}
	return err
}

func (files memoryMap) with(changes []Change) (memoryMap, error) {
	for _, c := range changes {
		if err := files.check(c); err != nil {
			return nil, err
		}
	}
	made := maps.Clone(files)
	for _, c := range changes {
		if err := made.make(c); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// check finds out whether what c changes is as it was loaded.
func (files memoryMap) check(c Change) error {
	f, ok := files[c.Path]
	if c.Before == nil || ok && f.version == c.Before.Token {
		return nil
	}
	return refusal(StaleFile, "%s was changed since it was read.%s", quotePath(c.Path), unchanged)
}

func (files memoryMap) make(c Change) error {
	if c.Remove {
		delete(files, c.Path)
		return nil
	}
	f := memoryFile{content: bytes.Clone(c.After), perm: 0o644, version: new(byte)}
	p := c.Path
	if c.Before == nil {
		if err := files.vacant(p); err != nil {
			return err
		}
		if _, ok := files[p]; ok {
			return refusal(StaleFile, "%s was made meanwhile.%s", quotePath(p), unchanged)
		}
	} else {
		real, err := files.follow(p)
		if err != nil {
			return err
		}
		p, f.perm = real, files[real].perm
	}
	if c.Perm != 0 {
		f.perm = c.Perm
	}
	files[p] = f
	return nil
}

// End lets the next one change the files.
func (tx *memoryTx) End() {
	if !tx.ended {
		tx.ended = true
		tx.m.sole <- struct{}{}
	}
}
