package command

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Check returns what cannot be meant in r, and how to mend it: a pattern that can match nothing, or an
// allow that allows everything.
func (r Rule) Check() error {
	if r.Effect > Allow {
		return fmt.Errorf("effect %d is unknown: want deny, ask or allow", r.Effect)
	}
	return errors.Join(r.checkArgv(), r.checkFlags(), r.checkLoosening(), r.checkRunner())
}

func (r Rule) checkArgv() error {
	if len(r.Pattern.Argv) == 0 {
		return errors.New("argv is empty: write at least the program's name, such as argv: [ls]")
	}
	for i, group := range r.Pattern.Argv {
		if len(group) == 0 {
			return fmt.Errorf("argv: word %d has no alternatives: write at least one, or leave the word out", i+1)
		}
		for _, w := range group {
			if err := checkWord(i, w); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkWord(i int, w string) error {
	switch {
	case w == "":
		return fmt.Errorf("argv: word %d is empty: write a word, or leave it out", i+1)
	case strings.ContainsAny(w, "*?"):
		return fmt.Errorf("argv: %q: words are compared as they stand, globs are not known here: list the alternatives, such as [[status, diff]]", w)
	case strings.ContainsAny(w, "\x00\n"):
		return fmt.Errorf("argv: %q holds a newline or a NUL byte, which no word of a command can match: leave it out", w)
	case i == 0 && strings.ContainsAny(w, " \t"):
		return fmt.Errorf("argv: %q is one word: write each word by itself, such as [%s]", w, strings.Join(strings.Fields(w), ", "))
	case i == 0 && strings.HasPrefix(w, "-"):
		return fmt.Errorf("argv: %q is no program: the first word is its name, options go into flags_all", w)
	case i == 0 && path.Base(w) == "/":
		return fmt.Errorf("argv: %q is no program", w)
	}
	return nil
}

func (r Rule) checkFlags() error {
	for i, group := range r.Pattern.FlagsAll {
		if len(group) == 0 {
			return fmt.Errorf("flags_all: group %d is empty: write the spellings of an option, such as [-r, --recursive]", i+1)
		}
		if !slices.ContainsFunc(group, func(f string) bool { return !slices.Contains(r.Pattern.FlagsNone, f) }) {
			return fmt.Errorf("flags_all and flags_none both name %s: nothing can match, take it out of one", strings.Join(group, ", "))
		}
		if err := checkOptions("flags_all", group); err != nil {
			return err
		}
	}
	return checkOptions("flags_none", r.Pattern.FlagsNone)
}

func checkOptions(key string, options []string) error {
	for _, o := range options {
		switch {
		case len(o) < 2 || o[0] != '-' && o[0] != '+' || o == "--":
			return fmt.Errorf("%s: %q is no option: it begins with - or --; other words go into argv", key, o)
		case strings.ContainsAny(o, "= \t\n"):
			return fmt.Errorf("%s: %q: write the option without its value, such as %q", key, o, o[:strings.IndexAny(o, "= \t\n")])
		}
	}
	return nil
}

// checkLoosening looks at what only an allow can have.
func (r Rule) checkLoosening() error {
	pt := r.Pattern
	if r.Effect != Allow && (len(pt.Env) > 0 || len(pt.Write) > 0) {
		return errors.New("env and write say what an allow lets pass; a deny or ask holds whatever is set or written: leave them out")
	}
	for _, name := range pt.Env {
		switch {
		case !isName(name):
			return fmt.Errorf("env: %q is no name of a variable: write it without $ and value, such as FOO", name)
		case choosesPrograms(name):
			return fmt.Errorf("env: with %s set a program's name may stand for anything, so no rule can allow it: leave it out", name)
		}
	}
	for _, glob := range pt.Write {
		if err := checkGlob(glob); err != nil {
			return err
		}
	}
	return nil
}

func checkGlob(glob string) error {
	switch {
	case !doublestar.ValidatePattern(glob):
		return fmt.Errorf("write: %q is no glob: see to its brackets, braces and backslashes", glob)
	case !strings.HasPrefix(glob, "/") && glob != "**" && !strings.HasPrefix(glob, "**/"):
		return fmt.Errorf("write: %q is compared with absolute paths: begin it with / or **/, such as \"/data/%s\"", glob, strings.TrimPrefix(glob, "./"))
	case slices.Contains(strings.Split(glob, "/"), ".."):
		return fmt.Errorf("write: %q: paths are cleaned before they are compared, and hold no \"..\": write the path that is meant", glob)
	}
	return nil
}

// checkRunner refuses an allow of a program that runs whatever its words say, unless it names all of them.
func (r Rule) checkRunner() error {
	pt := r.Pattern
	if r.Effect != Allow || len(pt.Argv) == 0 {
		return nil
	}
	for _, name := range pt.Argv[0] {
		b := base(text{value: name})
		switch {
		case !runner(b):
		case !pt.Exact:
			return fmt.Errorf("argv: %s runs whatever its words say, so an allow of it allows everything: name all of its words and set exact: true%s", name, unwrapped(b))
		case isAmong(shells, b) && !script(pt.Argv[1:]), isAmong(interpreters, b) && len(pt.Argv) < 2:
			return fmt.Errorf("argv: %s without a script runs what it reads from its input: name the script, such as [%s, ./build.sh]", name, name)
		}
	}
	return nil
}

// script reports whether the words of a shell hold something to run, whichever are chosen.
func script(argv [][]string) bool {
	for _, group := range argv {
		if slices.ContainsFunc(group, func(w string) bool { return w == "-" || w == "-s" || w == "/dev/stdin" }) {
			return false
		}
	}
	return slices.ContainsFunc(argv, func(group []string) bool {
		return !slices.ContainsFunc(group, func(w string) bool { return strings.HasPrefix(w, "-") || strings.HasPrefix(w, "+") })
	})
}

// unwrapped says of some wrappers that they need no rule.
func unwrapped(name string) string {
	if _, ok := passages[name]; ok {
		return "; an allow of the program inside passes through it without a rule"
	}
	return ""
}
