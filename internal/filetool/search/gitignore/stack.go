package gitignore

import "strings"

// A Stack is the lists in force in one directory, the nearest first. Stacks are values:
// pushing returns a new one that shares its tail with the old. The zero Stack ignores
// nothing.
//
// Paths are slash-separated and relative to one top directory that all pushes and
// questions share; a base is "" or ends in a slash.
type Stack struct {
	dot    *node // .ignore files; they decide before all of git's
	git    *node // .gitignore files of one repository, its info/exclude
	global *node // what comes after all others
}

type node struct {
	list *List
	base int // bytes of the path of the list's directory
	next *node
}

// Git returns s with a list of git's on top: of a .gitignore in directory base, or, pushed
// before those, of info/exclude.
func (s Stack) Git(base string, l *List) Stack {
	s.git = s.git.push(base, l)
	return s
}

// Dot returns s with the list of an .ignore file in directory base on top.
func (s Stack) Dot(base string, l *List) Stack {
	s.dot = s.dot.push(base, l)
	return s
}

// Global returns s with a list that comes after all others and holds in all repositories:
// git's core.excludesFile.
func (s Stack) Global(l *List) Stack {
	s.global = s.global.push("", l)
	return s
}

// Repository returns s for a directory that is the top of a repository of its own: the
// rules of the repository around it end there.
func (s Stack) Repository() Stack {
	s.git = nil
	return s
}

// Ignored reports whether the entry at path is ignored, given that the directories above
// it are not.
func (s Stack) Ignored(path string, isDir bool) bool {
	if s == (Stack{}) {
		return false
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for _, n := range [...]*node{s.dot, s.git, s.global} {
		if v := n.match(path, name, isDir); v != Undecided {
			return v == Ignored
		}
	}
	return false
}

func (n *node) push(base string, l *List) *node {
	if l == nil {
		return n
	}
	return &node{list: l, base: len(base), next: n}
}

func (n *node) match(path, name string, isDir bool) Verdict {
	for ; n != nil; n = n.next {
		if v := n.list.match(path[n.base:], name, isDir); v != Undecided {
			return v
		}
	}
	return Undecided
}
