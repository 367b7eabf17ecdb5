package fsroot

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// recover finishes what a process left that died: what was decided is tidied up, all else
// is undone. It may die itself, at any moment, and be called again.
func (s *state) recover() error {
	for _, name := range []string{doneFile, journalFile} {
		text, err := os.ReadFile(s.path(name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return noState(err)
		}
		if err := s.recoverFrom(name, text); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) recoverFrom(name string, text []byte) error {
	c, err := parseJournal(s, text)
	if err != nil {
		return s.setAside(name, &Error{Op: "recover", Path: ".", Kind: HalfDone, Err: err})
	}
	defer c.dirs.close()
	var l losses
	if name == doneFile {
		l = c.tidyAll()
	} else {
		c.enter()
		l = c.undo()
	}
	if len(l.texts) > 0 {
		e := &Error{Op: "recover", Path: ".", Kind: HalfDone, Lost: l.texts}
		if l.again {
			return e
		}
		return s.setAside(name, e)
	}
	if name == journalFile {
		if err := s.decide(); err != nil {
			return err
		}
	}
	s.dropCopies()
	if err := os.Remove(s.path(doneFile)); err != nil && !os.IsNotExist(err) {
		return noState(err)
	}
	return nil
}

// tidyAll is tidy where the directories may have changed since.
func (c *commit) tidyAll() (l losses) {
	for _, it := range c.items {
		x, err := c.dirs.at(it.at)
		if err == nil {
			err = it.removeTemps(x)
		}
		if KindOf(err) != NotExist {
			l.add(it.real(), err)
		}
	}
	return l
}

// enter opens the directories that were to be made, as far as they were.
func (c *commit) enter() {
	for _, x := range c.dirs.list {
		if x.parent == nil {
			continue
		}
		if x.parent.gone {
			x.gone = true
			continue
		}
		parent, err := c.dirs.at(x.parent)
		if err == nil {
			err = c.dirs.enter(x, parent)
		}
		x.gone = KindOf(err) == NotExist
		x.made = !x.gone // or there is something else; then what is in it cannot be undone
	}
}

// setAside keeps a journal that is of no use, for a person to look at, so that it does not
// stop every later call.
func (s *state) setAside(name string, e *Error) error {
	to := s.path("bad-" + strconv.FormatInt(time.Now().UnixNano(), 36))
	if err := os.Rename(s.path(name), to); err != nil {
		return noState(err)
	}
	e.Aside = to
	return e
}

func (s *state) dropCopies() {
	copies, _ := filepath.Glob(s.path("old-*"))
	for _, name := range copies {
		os.Remove(name)
	}
}
