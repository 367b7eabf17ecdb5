package fsroot

// Portable returns s with the kernel's confinement off, as on systems without it.
func Portable(s *Set) *Set {
	p := &Set{}
	for _, r := range s.roots {
		twin := *r
		twin.portable = true
		p.roots = append(p.roots, &twin)
	}
	return p
}

// A Naming is a system's rules for names.
type Naming struct{ n naming }

// The namings under test.
var (
	Linux   = Naming{naming{}}
	Mac     = Naming{naming{fold: true}}
	Windows = Naming{naming{windows: true, fold: true}}
)

// Map maps a client's absolute path below root, or says why not.
func (n Naming) Map(root, path string) (rel, refused string) {
	path, err := plain(n.n, path)
	if err != nil {
		return "", err.(*Error).Reason
	}
	if !n.n.isAbs(path) {
		return "", "relative"
	}
	rel, ok := n.n.below(root, path)
	if !ok {
		return "", "outside"
	}
	return rel, n.n.invalid(rel)
}

// Spelling is how the open directory of s's first root spells name.
func Spelling(s *Set, name string) (string, error) {
	dir, err := s.roots[0].openBase()
	if err != nil {
		return "", err
	}
	defer dir.Close()
	info, err := dir.Lstat(name)
	if err != nil {
		return "", err
	}
	return spelling(dir, name, info), nil
}

// ParseJournal reports whether text is taken for a journal of root.
func ParseJournal(root *Root, text string) bool {
	_, err := parseJournal(&state{root: root}, []byte(text))
	return err == nil
}

// CommitAfter is [Tx.Commit] with something that happens when all is checked and nothing is
// touched yet.
func CommitAfter(t *Tx, steps []Step, happens func()) error {
	c := &commit{state: t.state, dirs: newDirs(t.root)}
	defer c.dirs.close()
	if err := c.check(steps); err != nil {
		return err
	}
	happens()
	return c.run()
}
