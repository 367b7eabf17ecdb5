package command

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A truth is the answer to whether a pattern matches.
type truth uint8

const (
	no    truth = iota
	maybe       // it depends on a word that is computed
	yes
)

// match holds one call against all rules, records the deny and ask rules that match, and returns
// the ids of the allow rules that do.
func (r *reading) match(words []text, p place) (allowed []string) {
	var rules []string
	var denied, asked []Match
	open := ""
	for i := range r.rules {
		rule := &r.rules[i]
		if !concerns(rule, words[0]) {
			continue
		}
		if !r.test(len(words)) {
			return nil
		}
		switch t := holds(rule, words, p); {
		case t == yes && rule.Effect == Allow:
			allowed, rules = append(allowed, rule.ID), append(rules, rule.ID)
		case t == yes && rule.Effect == Ask:
			asked, rules = append(asked, Match{Rule: rule.ID, Command: line(words)}), append(rules, rule.ID)
		case t == yes:
			denied, rules = append(denied, Match{Rule: rule.ID, Command: line(words)}), append(rules, rule.ID)
		case t == maybe && (open == "" || rule.ID < open):
			open = rule.ID
		}
	}
	r.denied, r.asked = union(r.denied, inOrder(denied)), union(r.asked, inOrder(asked))
	if open != "" {
		r.unclear(p.searched(), "whether rule %s applies depends on a computed word: %s", open, line(words))
	}
	slices.Sort(allowed)
	slices.Sort(rules)
	r.note(words, p, rules)
	return allowed
}

// concerns reports whether a rule is about a program.
func concerns(rule *Rule, program text) bool {
	switch {
	case len(rule.Pattern.Argv) == 0:
		return false
	case rule.Effect == Allow:
		return slices.Contains(rule.Pattern.Argv[0], program.value)
	}
	b := base(program)
	return slices.ContainsFunc(rule.Pattern.Argv[0], func(n string) bool { return base(text{value: n}) == b })
}

// test counts the words that one rule is held against.
func (r *reading) test(words int) bool {
	if r.tests += words; r.tests > maxTests {
		r.stop("the commands have too many words for so many rules")
	}
	return r.limit == ""
}

// inOrder sorts the matches of one call by their rules.
func inOrder(list []Match) []Match {
	slices.SortFunc(list, func(a, b Match) int { return strings.Compare(a.Rule, b.Rule) })
	return list
}

// holds holds a call against a rule.
func holds(rule *Rule, words []text, p place) truth {
	switch {
	case rule.Effect != Allow:
		return applies(rule.Pattern, words)
	case allows(rule.Pattern, words, p):
		return yes
	}
	return no
}

// applies holds a call of a rule's program against the pattern of a deny or ask rule, generously.
func applies(pt Pattern, words []text) truth {
	args := words[1:]
	if pt.Exact {
		return exactly(pt.Argv[1:], args)
	}
	operands, options := split(pt.Argv[1:])
	t := leads(base(words[0]), operands, args)
	for _, group := range append(options, pt.FlagsAll...) {
		t = min(t, givesOne(group, words))
	}
	if spares(pt, args) {
		return no
	}
	return t
}

// spares reports whether one of FlagsNone is among the options beyond doubt: not behind --, not what may be the value of the option
// before it, and not taken back.
func spares(pt Pattern, args []text) bool {
	for i, w := range args {
		switch {
		case w.value == "--", mayBeOption(w):
			return false
		case w.computed || !slices.Contains(pt.FlagsNone, w.value):
		case i > 0 && mayTakeValue(pt, args[i-1].value):
		case !slices.ContainsFunc(args[i:], func(later text) bool { return takesBack(w.value, later.value) }):
			return true
		}
	}
	return false
}

// takesBack reports whether a later word says the opposite of an option.
func takesBack(option, later string) bool {
	return "--"+strings.TrimPrefix(later, "--no-") == option || strings.HasPrefix(later, option+"=")
}

// mayTakeValue reports whether the value of an option may be the next word. Those that a pattern names have none.
func mayTakeValue(pt Pattern, option string) bool {
	if !isOption(option) || strings.Contains(option, "=") {
		return false
	}
	named := slices.Concat(slices.Concat(pt.FlagsAll...), pt.FlagsNone, slices.Concat(pt.Argv...))
	if slices.Contains(named, option) {
		return false
	}
	return strings.HasPrefix(option, "--") ||
		strings.ContainsFunc(option[1:], func(c rune) bool { return !slices.Contains(named, "-"+string(c)) })
}

// exactly compares all words.
func exactly(argv [][]string, args []text) truth {
	t := yes
	for i, w := range args {
		switch {
		case w.computed:
			t = maybe
		case t == maybe: // it may stand anywhere
		case i >= len(argv) || !slices.Contains(argv[i], w.value):
			return no
		}
	}
	if t == yes && len(args) < len(argv) {
		return no
	}
	return t
}

// split parts the words of a pattern into those that come in order and those that are
// options, which may be anywhere.
func split(argv [][]string) (operands, options [][]string) {
	for _, group := range argv {
		if slices.ContainsFunc(group, func(s string) bool { return !strings.HasPrefix(s, "-") }) {
			operands = append(operands, group)
		} else {
			options = append(options, group)
		}
	}
	return operands, options
}

// leads reports whether operands come first in args, options of the program and their values left out.
// Which options have a value is known for git only: of other programs, a word behind an option may be one.
func leads(program string, operands [][]string, args []text) truth {
	value, ended := false, false
	for i := 0; i < len(args) && len(operands) > 0; i++ {
		w := args[i]
		switch {
		case w.computed:
			return maybe
		case slices.Contains(operands[0], w.value):
			operands, value = operands[1:], false
		case !ended && w.value == "--":
			ended, value = true, false
		case !ended && isOption(w.value):
			value = !strings.Contains(w.value, "=")
			if program == "git" {
				if value = false; gitTakesValue(w.value) {
					i++
				}
			}
		case value:
			value = false
		default:
			return no
		}
	}
	if len(operands) > 0 {
		return no
	}
	return yes
}

// givesOne reports whether one of a group of options is given, in any spelling.
func givesOne(group []string, words []text) truth {
	t := no
	for _, w := range words[1:] {
		switch {
		case w.computed:
			t = maybe
		case w.value == "--":
			return t
		case mayBeAny(group, words[0], w.value):
			return yes
		}
	}
	return t
}

// allows holds a call of a rule's program against the pattern of an allow rule, narrowly.
func allows(pt Pattern, words []text, p place) bool {
	if p.search || len(words) < len(pt.Argv) || pt.Exact && len(words) > len(pt.Argv) {
		return false
	}
	for i, w := range words {
		if w.computed || i < len(pt.Argv) && !slices.Contains(pt.Argv[i], w.value) {
			return false
		}
	}
	if !pt.Exact && runsOthers(words) {
		return false
	}
	args := words[1:]
	for _, group := range pt.FlagsAll {
		if !slices.ContainsFunc(args, func(w text) bool { return isAny(group, w.value) }) {
			return false
		}
	}
	if slices.ContainsFunc(args, func(w text) bool { return mayBeAny(pt.FlagsNone, words[0], w.value) }) {
		return false
	}
	return permits(pt, p)
}

// permits reports whether an allow rule lets the variables be set and the files be written.
func permits(pt Pattern, p place) bool {
	for _, name := range p.env {
		if !slices.Contains(free, name) && (choosesPrograms(name) || !slices.Contains(pt.Env, name)) {
			return false
		}
	}
	for _, file := range p.writes {
		if !slices.ContainsFunc(pt.Write, func(glob string) bool { return writable(glob, file) }) {
			return false
		}
	}
	return true
}

// writable reports whether a glob permits a file. Bash takes the network for files below /dev.
func writable(glob, file string) bool {
	if file == "" || under(file, "/dev/tcp") || under(file, "/dev/udp") {
		return false
	}
	ok, err := doublestar.Match(glob, file)
	return ok && err == nil
}
