package search

import "slices"

// maxNames is how many unreadable entries are named.
const maxNames = 5

func (s *Skipped) unreadable(rel string) {
	s.Unreadable++
	i, found := slices.BinarySearch(s.Names, rel)
	if found || i == maxNames {
		return
	}
	s.Names = slices.Insert(s.Names, i, rel)
	s.Names = s.Names[:min(len(s.Names), maxNames)]
}

// other counts an entry that is neither file nor directory.
func (s *Skipped) other(k Kind) {
	if k == Link {
		s.Links++
	} else {
		s.Special++
	}
}

// Add adds the counts of another search.
func (s *Skipped) Add(o Skipped) {
	s.Ignored += o.Ignored
	s.Binary += o.Binary
	s.TooLarge += o.TooLarge
	s.Special += o.Special
	s.Denied += o.Denied
	s.Links += o.Links
	for _, n := range o.Names {
		s.unreadable(n)
	}
	s.Unreadable += o.Unreadable - len(o.Names)
}
