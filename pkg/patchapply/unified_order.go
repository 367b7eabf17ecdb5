package patchapply

// freeNames brings the files of one diff, which all speak of what was before, into an order
// in which each name is free when it is taken: removals first. Where a name is changed or
// made twice it is no such diff, and its order stays.
func freeNames(sections []Section) {
	moves := map[string]int{} // names that become free, by the section that moves them
	before, after := map[string]bool{}, map[string]bool{}
	for i, s := range sections {
		if s.MoveTo != "" {
			moves[s.Path] = i
		}
		if s.Kind != Add && !claim(before, s.Path) || s.Kind != Delete && !claim(after, s.newName()) {
			return
		}
		if s.Kind == Delete && after[s.Path] {
			return
		}
	}
	o := order{sections: sections, moves: moves, placed: make([]bool, len(sections))}
	for i, s := range sections {
		if s.Kind == Delete {
			o.place(i)
		}
	}
	for i := range sections {
		o.place(i)
	}
	copy(sections, o.sorted)
}

// claim adds a name, and reports whether it is new.
func claim(names map[string]bool, name string) bool {
	known := names[name]
	names[name] = true
	return !known
}

// newName returns the name after the change.
func (s *Section) newName() string {
	if s.MoveTo != "" {
		return s.MoveTo
	}
	return s.Path
}

// An order is sections that are being sorted.
type order struct {
	sections, sorted []Section
	moves            map[string]int
	placed           []bool
}

// place appends section i, and before it those that must move away for it.
func (o *order) place(i int) {
	var chain []int
	for ok := true; ok && !o.placed[i]; {
		o.placed[i] = true
		chain = append(chain, i)
		if s := &o.sections[i]; s.Kind == Add || s.MoveTo != "" {
			i, ok = o.moved(s.newName(), i)
		} else {
			ok = false
		}
	}
	for j := len(chain) - 1; j >= 0; j-- {
		o.sorted = append(o.sorted, o.sections[chain[j]])
	}
}

func (o *order) moved(name string, i int) (int, bool) {
	if next, ok := o.moves[name]; ok {
		return next, true
	}
	return i, false
}
