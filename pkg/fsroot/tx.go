package fsroot

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
)

// MaxLoad is how large a file may be that [Tx.Load] reads.
const MaxLoad = 64 << 20

// A Tx is the sole right to change what is below a root, among all who ask by [Begin] with
// the same state directory. It is used from one goroutine.
type Tx struct {
	root  *Root
	state *state // nil after End
}

// A Step changes one name.
//
// A file is written through links that stay below the root; a new file gets the
// directories that it lacks. Permission bits, owner, extended attributes and ACLs are
// kept; setuid, setgid and file capabilities are lost, as by any write. A reader finds all
// of the old content or all of the new, except where the file has several hard links, its
// owner or attributes could not be kept or its directory may not be written: such a file
// is written in place.
type Step struct {
	Rel     string      // below the root
	Content []byte      // must not change before Commit returns
	Remove  bool        // removes the name, of a link the link itself; else writes
	Perm    fs.FileMode // of a new file, less the umask; exactly, of one that is there or has Like; 0: as it is, of Like, or 0666
	Was     *Snapshot   // what must still be there; nil: nothing may be there, not even a dangling link
	Like    *Snapshot   // a new file gets mode, owner and attributes of this one, which it replaces elsewhere; may be nil
}

// A Snapshot says what a name held when it was loaded. It is of use in this process only.
type Snapshot struct {
	real string
	file stamp
	mode fs.FileMode
	seed maphash.Seed
	sum  uint64
	link *linkStamp // of the name itself, where that is a link
}

// A linkStamp is by which a link is known again.
type linkStamp struct {
	id     fileID
	target string
}

// A stamp is by which a file is known again, short of reading it.
type stamp struct {
	id   fileID
	size int64
	time int64 // of the last write, in Unix nanoseconds
}

// A fileID is the same for all names of a file, in all processes.
type fileID struct{ dev, ino uint64 }

// Real returns the path below the root, links resolved: where the content lies. It is ""
// of [Tx.LoadLink].
func (s *Snapshot) Real() string { return s.real }

// Perm returns the permission bits of the file.
func (s *Snapshot) Perm() fs.FileMode { return s.mode.Perm() }

// IsLink reports whether the name itself is a symbolic link.
func (s *Snapshot) IsLink() bool { return s.link != nil }

// Begin waits until this caller is the only one who may change what is below r, or until
// ctx ends, and undoes what a commit left half done whose process died. That includes
// callers in this process and others. End must be called.
//
// The state directory stateDir is made if it is missing; all who write must use the same.
// "" stands for toolhost in $XDG_STATE_HOME, else ~/.local/state/toolhost, or what the
// system has for that.
//
// Besides errors of ctx and of the system there are the kinds RootMissing, NoState and
// HalfDone: what died could not be undone everywhere. That is told once, if a repetition
// would not help.
func Begin(ctx context.Context, stateDir string, r *Root) (*Tx, error) {
	s, err := acquire(ctx, stateDir, r)
	if err != nil {
		return nil, err
	}
	if err := s.recover(); err != nil {
		s.release()
		return nil, err
	}
	return &Tx{r, s}, nil
}

// End gives the right back. It may be called again.
func (t *Tx) End() error {
	if t.state == nil {
		return nil
	}
	err := t.state.release()
	t.state = nil
	return err
}

// Load reads the regular file rel, through links that stay below the root. Content and
// snapshot belong together: a file that is written meanwhile is read again, and in the end
// refused as Changed. One that is larger than MaxLoad is refused as TooLarge.
func (t *Tx) Load(rel string) (content []byte, was *Snapshot, err error) {
	rel, err = clean("read", rel)
	if err != nil {
		return nil, nil, err
	}
	for range maxTries {
		content, was, err = t.root.load(rel)
		if KindOf(err) != Changed {
			break
		}
	}
	return content, was, err
}

func (r *Root) load(rel string) ([]byte, *Snapshot, error) {
	if content, info := r.loadBare(rel); info != nil {
		return content, newSnapshot(rel, nil, info, content), nil
	}
	f, err := r.Open(rel)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	content, err := readWhole(f.File, f.Info, rel)
	if err != nil {
		return nil, nil, err
	}
	was := newSnapshot(f.Real, f.File, f.Info, content)
	if f.Real != rel {
		was.link, err = r.loadLink(rel)
	}
	return content, was, err
}

func newSnapshot(real string, f openFile, info fs.FileInfo, content []byte) *Snapshot {
	s := &Snapshot{real: real, file: stampOf(f, info), mode: info.Mode(), seed: maphash.MakeSeed()}
	s.sum = maphash.Bytes(s.seed, content)
	return s
}

// LoadLink describes the symbolic link rel itself, wherever it leads, for a Step that
// removes it. What is no link is refused as Changed.
func (t *Tx) LoadLink(rel string) (target string, was *Snapshot, err error) {
	rel, err = clean("read", rel)
	if err != nil {
		return "", nil, err
	}
	link, err := t.root.loadLink(rel)
	if err == nil && link == nil {
		err = &Error{Op: "read", Path: rel, Kind: Changed, Err: errors.New("not a link")}
	}
	if err != nil {
		return "", nil, err
	}
	return link.target, &Snapshot{link: link, mode: fs.ModeSymlink}, nil
}

// loadLink returns nil if rel is no link.
func (r *Root) loadLink(rel string) (link *linkStamp, err error) {
	err = r.walkTo("read", rel, asItIs, func(n node) (err error) {
		link, err = linkAt(n.dir, n.name, n.info)
		return err
	})
	return link, err
}

func linkAt(dir *os.Root, name string, info fs.FileInfo) (*linkStamp, error) {
	if info.Mode()&fs.ModeSymlink == 0 {
		return nil, nil
	}
	target, err := dir.Readlink(name)
	if err != nil {
		return nil, errorAt("read", name, changedOr(dir, name, info, err))
	}
	return &linkStamp{idAt(dir, name, info), target}, nil
}

// same reports whether the open file f has the content that the snapshot was taken of.
func (s *Snapshot) same(f openFile, buffer []byte) (bool, error) {
	var sum maphash.Hash
	sum.SetSeed(s.seed)
	for size := int64(0); size <= s.file.size; {
		n, err := f.Read(buffer)
		sum.Write(buffer[:n])
		size += int64(n)
		if err == io.EOF || (err == nil && size == s.file.size && n < len(buffer)) { // it asked for more
			return size == s.file.size && sum.Sum64() == s.sum, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// readWhole reads the open file f and makes sure that it did not change meanwhile.
func readWhole(f openFile, info fs.FileInfo, rel string) ([]byte, error) {
	if info.Size() > MaxLoad {
		return nil, &Error{Op: "read", Path: rel, Kind: TooLarge}
	}
	content := make([]byte, 0, max(info.Size()+1, 512))
	for {
		n, err := f.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if err == io.EOF || (err == nil && n > 0 && int64(len(content)) == info.Size()) { // it asked for more
			break
		}
		if err != nil {
			return nil, errorAt("read", rel, err)
		}
		if len(content) > MaxLoad {
			return nil, &Error{Op: "read", Path: rel, Kind: TooLarge}
		}
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
	}
	is, err := f.Stat()
	if err != nil || is.Size() != info.Size() || !is.ModTime().Equal(info.ModTime()) {
		return nil, &Error{Op: "read", Path: rel, Kind: Changed, Err: err}
	}
	return content, nil
}

func stampOf(f openFile, info fs.FileInfo) stamp {
	id, _ := idOf(f, info)
	return stamp{id, info.Size(), info.ModTime().UnixNano()}
}

// stampAt is stampOf for a name that is not opened.
func stampAt(dir *os.Root, name string, info fs.FileInfo) stamp {
	return stamp{idAt(dir, name, info), info.Size(), info.ModTime().UnixNano()}
}

// Commit makes all steps or none. No two steps may be about one name.
//
// Before anything is touched, every step is checked: where the file is not what Was says
// the kind of the error is Stale, and where something is that should not be it is Exists.
// If a later part fails, all is put back as it was; the error is about the step that
// failed, and its field Lost lists what could not be put back. If the process dies, the
// next Begin puts it back.
//
// Nothing is synced to disk: a commit is all or none for processes that die, not for
// machines that lose power.
func (t *Tx) Commit(steps []Step) error {
	if t.state == nil {
		return errors.New("commit: the transaction has ended")
	}
	if err := t.state.recover(); err != nil {
		return err
	}
	c := &commit{state: t.state, dirs: newDirs(t.root)}
	defer c.dirs.close()
	if err := c.check(steps); err != nil || len(c.items) == 0 {
		return err
	}
	return c.run()
}

// full returns the path that rel has below the operator's root, by which journals go.
func (r *Root) full(rel string) string {
	_, rel = r.Origin(rel)
	return path.Clean(rel)
}
