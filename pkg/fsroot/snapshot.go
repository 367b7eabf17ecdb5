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
