package fsroot

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// A journal is text, one line for each directory and item:
//
//	toolhost-journal 1 <ready>
//	root "<directory>"                                                 for a reader
//	dir "<path below the root>" <parent, if to be made> <id>
//	item <op> <dir> "<name>" "<temp>" "<copy>" <perm> <old> <fresh>
//	end <crc32 of the above>
//
// An id is device and inode, a stamp is an id, size and time. Numbers are decimal. A
// journal of another version is not understood, and not guessed at.

const journalHead = "toolhost-journal 1 "

// Files of a state.
const (
	journalFile = "journal"
	doneFile    = "done"
)

func (s *state) path(name string) string { return filepath.Join(s.dir, name) }

// writeJournal replaces the journal in one step.
func (c *commit) writeJournal() error {
	temp := c.state.path("journal.tmp")
	err := os.WriteFile(temp, c.journal(), 0o600)
	if err == nil {
		err = os.Rename(temp, c.state.path(journalFile))
	}
	if err != nil {
		os.Remove(temp)
		return noState(err)
	}
	return nil
}

// decide is the moment from which there is no way back.
func (s *state) decide() error {
	if err := os.Rename(s.path(journalFile), s.path(doneFile)); err != nil && !os.IsNotExist(err) {
		return noState(err)
	}
	return nil
}

// finish forgets a commit of which nothing is left.
func (s *state) finish(items []*item) {
	for _, it := range items {
		if it.copy != "" {
			os.Remove(s.path(it.copy))
		}
	}
	os.Remove(s.path(doneFile))
}

func (c *commit) journal() []byte {
	b := make([]byte, 0, 256+160*len(c.items))
	b = append(b, journalHead...)
	b = strconv.AppendBool(b, c.ready)
	b = append(b, "\nroot "...)
	b = strconv.AppendQuote(b, c.state.root.dir)
	for _, x := range c.dirs.list {
		b = append(b, "\ndir "...)
		b = strconv.AppendQuote(b, c.dirs.root.full(x.real))
		parent := int64(-1)
		if x.parent != nil {
			parent = int64(x.parent.index)
		}
		b = appendInts(b, parent)
		b = appendID(b, x.id)
	}
	for _, it := range c.items {
		b = append(b, "\nitem"...)
		b = appendInts(b, int64(it.op), int64(it.at.index))
		for _, name := range []string{it.name, it.temp, it.copy} {
			b = append(b, ' ')
			b = appendQuote(b, name)
		}
		b = appendInts(b, int64(it.perm))
		for _, s := range []stamp{it.old, it.fresh} {
			b = appendID(b, s.id)
			b = appendInts(b, s.size, s.time)
		}
	}
	b = append(b, '\n')
	return fmt.Appendf(b, "end %d\n", crc32.ChecksumIEEE(b))
}

// appendQuote is strconv.AppendQuote, which takes its time for every letter.
func appendQuote(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendInts(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	return b
}

func appendID(b []byte, id fileID) []byte {
	b = strconv.AppendUint(append(b, ' '), id.dev, 10)
	return strconv.AppendUint(append(b, ' '), id.ino, 10)
}

var errJournal = errors.New("the journal is damaged, or of another version")

// parseJournal reads what journal wrote.
func parseJournal(s *state, text []byte) (*commit, error) {
	body, end, ok := cutLast(text)
	if !ok || string(end) != fmt.Sprintf("end %d", crc32.ChecksumIEEE(body)) {
		return nil, errJournal
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	c := &commit{state: s, dirs: newDirs(s.root)}
	switch lines[0] {
	case journalHead + "true":
		c.ready = true
	case journalHead + "false":
	default:
		return nil, errJournal
	}
	for _, line := range lines[1:] {
		f := &fields{rest: line}
		switch f.word() {
		case "root":
			f.quoted()
		case "dir":
			f.dir(c)
		case "item":
			f.item(c)
		default:
			f.bad = true
		}
		if f.bad || f.rest != "" {
			return nil, errJournal
		}
	}
	return c, nil
}

// cutLast splits text before its last line.
func cutLast(text []byte) (body, last []byte, ok bool) {
	text, ok = bytes.CutSuffix(text, []byte("\n"))
	i := bytes.LastIndexByte(text, '\n')
	return text[:i+1], text[i+1:], ok && i >= 0
}

// fields takes a line apart. Bad is set by whatever cannot be true.
type fields struct {
	rest string
	bad  bool
}

func (f *fields) word() (w string) {
	w, f.rest, _ = strings.Cut(strings.TrimPrefix(f.rest, " "), " ")
	return w
}

func (f *fields) quoted() string {
	f.rest = strings.TrimPrefix(f.rest, " ")
	q, err := strconv.QuotedPrefix(f.rest)
	if err != nil {
		f.bad = true
		return ""
	}
	f.rest = strings.TrimPrefix(f.rest[len(q):], " ")
	s, _ := strconv.Unquote(q)
	return s
}

func (f *fields) int() int64 {
	n, err := strconv.ParseInt(f.word(), 10, 64)
	f.bad = f.bad || err != nil
	return n
}

func (f *fields) id() fileID {
	var id fileID
	var err, err2 error
	id.dev, err = strconv.ParseUint(f.word(), 10, 64)
	id.ino, err2 = strconv.ParseUint(f.word(), 10, 64)
	f.bad = f.bad || err != nil || err2 != nil
	return id
}

func (f *fields) stamp() stamp { return stamp{f.id(), f.int(), f.int()} }

// component is a quoted name that stays in its directory.
func (f *fields) component(prefix string) string {
	name := f.quoted()
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/`+string(filepath.Separator)) || !strings.HasPrefix(name, prefix) {
		f.bad = true
	}
	return name
}

func (f *fields) dir(c *commit) {
	x := &dir{real: f.quoted()}
	parent := f.int()
	x.id = f.id()
	if rel, err := clean("recover", x.real); err != nil || rel != x.real || parent >= int64(len(c.dirs.list)) {
		f.bad = true
		return
	}
	if parent >= 0 {
		x.parent, x.name = c.dirs.list[parent], path.Base(x.real)
		f.bad = f.bad || x.real != path.Join(x.parent.real, x.name) || x.name == "."
	}
	c.dirs.add(x)
}

func (f *fields) item(c *commit) {
	it := &item{op: op(f.int())}
	at := f.int()
	it.name = f.component("")
	it.temp = f.component(TempPrefix)
	if strings.HasPrefix(f.rest, `""`) {
		f.quoted()
	} else {
		it.copy = f.component("old-")
	}
	it.perm = fs.FileMode(f.int()).Perm()
	it.old, it.fresh = f.stamp(), f.stamp()
	if it.op > remove || at < 0 || at >= int64(len(c.dirs.list)) {
		f.bad = true
		return
	}
	it.at = c.dirs.list[at]
	c.items = append(c.items, it)
}
