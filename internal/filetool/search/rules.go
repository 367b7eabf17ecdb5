package search

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/internal/filetool/search/gitignore"
)

// maxRules is how much of an ignore file is read. Rules behind that do not count.
const maxRules = 16 << 20

// maxClimb is how many directories above the start are looked at.
const maxClimb = 64

// rulesIn returns the rules in force in the directory at base, "" or ending in a slash,
// given those of the directory above. It reads what names says there is.
func rulesIn(f *folder, base string, up gitignore.Stack, has markers) gitignore.Stack {
	s := up
	if has.repository {
		s = s.Repository().Git(base, excludes(f))
	}
	if has.gitignore {
		s = s.Git(base, parse(f, ".gitignore"))
	}
	if has.dotignore {
		s = s.Dot(base, parse(f, ".ignore"))
	}
	return s
}

// markers are the entries of a directory that bear on what is ignored.
type markers struct {
	repository bool // .git: a directory, or a file in worktrees and submodules
	gitignore  bool
	dotignore  bool
}

func (m *markers) see(e dirent) {
	switch e.name {
	case ".git":
		m.repository = m.repository || e.kind == Dir || e.kind == File
	case ".gitignore":
		m.gitignore = e.kind == File
	case ".ignore":
		m.dotignore = e.kind == File
	}
}

// look finds the markers of a directory that is not listed.
func look(f *folder) markers {
	var m markers
	for _, name := range []string{".git", ".gitignore", ".ignore"} {
		if i, err := f.stat(name); err == nil {
			m.see(dirent{name, i.kind})
		}
	}
	return m
}

// parse reads the rules of an ignore file; like git it follows no link to one.
func parse(f *folder, name string) *gitignore.List {
	file, _, err := f.open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxRules+1))
	if err != nil {
		return nil
	}
	if len(data) > maxRules { // half a rule would hide what none says
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	return gitignore.Parse(data)
}

// excludes reads .git/info/exclude. A .git that is a file has none: it names a directory
// that may lie anywhere.
func excludes(f *folder) *gitignore.List {
	for i, name := range []string{".git", "info"} {
		sub, err := f.child(name)
		if i > 0 {
			f.close()
		}
		if err != nil {
			return nil
		}
		f = sub
	}
	defer f.close()
	return parse(f, "exclude")
}

// A level is a directory above the start.
type level struct {
	folder *folder
	name   string // of the directory below it on the way to the start
	has    markers
}

// above returns the rules that directories above the start lay down, and the path of the
// start below the highest of them, "" or ending in a slash. All paths of the walk begin
// with it, so that every rule sees the path it expects.
//
// Where the start is itself ignored, or lies in something that is, whoever named it
// wanted it searched: then no rule from above counts.
func above(f *folder, s Start) (rules gitignore.Stack, prefix string) {
	levels := climb(f, s)
	defer func() {
		for _, l := range levels {
			l.folder.close()
		}
	}()
	for i := len(levels) - 1; i >= 0; i-- {
		l := levels[i]
		rules = rulesIn(l.folder, prefix, rules, l.has)
		if rules.Ignored(prefix+l.name, true) {
			rules = gitignore.Stack{}
		}
		prefix += l.name + "/"
	}
	return rules, prefix
}

// climb opens the directories above the start up to the top of its repository, or up to
// s.Top where there is none.
func climb(f *folder, s Start) []level {
	var levels []level
	if s.Path == "" || look(f).repository {
		return nil
	}
	below := 0 // levels at or below s.Top
	for path := s.Path; len(levels) < maxClimb; {
		up := filepath.Dir(path)
		if up == path {
			break
		}
		dir, err := f.parent(path)
		if err != nil {
			break
		}
		levels = append(levels, level{dir, filepath.Base(path), look(dir)})
		if levels[len(levels)-1].has.repository {
			return levels
		}
		if contains(s.Top, up) {
			below = len(levels)
		}
		f, path = dir, up
	}
	for _, l := range levels[below:] {
		l.folder.close()
	}
	return levels[:below]
}

// contains reports whether path is dir or lies below it; nothing lies in "".
func contains(dir, path string) bool {
	if dir == "" {
		return false
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}
