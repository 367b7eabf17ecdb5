package fsroot

// Load is [Tx.Load] for those who do not wait for the right to change: what it returns may
// be the half of a commit. A step whose Was is its snapshot finds that out.
func (r *Root) Load(rel string) (content []byte, was *Snapshot, err error) {
	return (&Tx{root: r}).Load(rel)
}

// LoadLink is [Tx.LoadLink] in the same way.
func (r *Root) LoadLink(rel string) (target string, was *Snapshot, err error) {
	return (&Tx{root: r}).LoadLink(rel)
}

// ID is comparable, and equal for all names of a file, hard links included. It is nil of
// [Root.LoadLink].
func (s *Snapshot) ID() any {
	if s.real == "" {
		return nil
	}
	return s.file.id
}

// A Reader is [Root.Load] for many files. Until Close it keeps directories open that it has
// read from, and takes a later file of the same directory from there: if the directory has
// been moved meanwhile, what is read is what the path held when the Reader first came by.
// That is found out like every other change. It is used from one goroutine.
type Reader struct {
	root *Root
	dirs map[string]*dir // by path; only such as have no links in theirs
}

// Reader returns a reader of files below r. Nothing is opened before the first file.
func (r *Root) Reader() *Reader { return &Reader{root: r, dirs: map[string]*dir{}} }

// Load is [Root.Load].
func (d *Reader) Load(rel string) (content []byte, was *Snapshot, err error) {
	rel, err = clean("read", rel)
	if err != nil {
		return nil, nil, err
	}
	if content, info := d.loadBare(rel); info != nil {
		return content, newSnapshot(rel, nil, info, content), nil
	}
	return d.root.Load(rel)
}
