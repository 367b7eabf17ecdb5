package command

import (
	"regexp"
	"slices"
	"strings"
)

// rough searches text for denies that is not parsed: every stretch between characters that
// separate commands is taken for one.
func (r *reading) rough(s string, p place) {
	p.search, p.again = true, true
	key := p.within + "\x00" + s
	if slices.Contains(r.searched, key) {
		return
	}
	r.searched = append(r.searched, key)
	for _, stretch := range stretches(s) {
		words := roughWords(stretch)
		if len(words) > maxWords {
			r.stop("a command has more than %d words", maxWords)
			return
		}
		r.call(words, p)
	}
}

// stretches returns what may be commands, each once. A backslash before a newline is read in both ways, and so is the
// file of a redirection, which may be quoted.
func stretches(s string) (list []string) {
	seen := map[string]bool{}
	for _, text := range []string{s, strings.ReplaceAll(s, "\\\n", "")} {
		text = numbered.ReplaceAllString(text, "$1$2")
		for _, redirection := range []*regexp.Regexp{redirects, redirectsQuoted} {
			for _, stretch := range strings.FieldsFunc(redirection.ReplaceAllString(text, " "), separates) {
				if !seen[stretch] {
					seen[stretch] = true
					list = append(list, stretch)
				}
			}
		}
	}
	return list
}

func separates(c rune) bool { return strings.ContainsRune(separators, c) }

const separators = "\n;&|(){}`"

// A redirection may stand before the name of a program. Bash takes `<&-` for all of it, whatever follows.
var (
	numbered        = regexp.MustCompile("(^|[\\s;&|(){}`])[0-9]+([<>])")
	redirects       = regexp.MustCompile("[<>]&[0-9]*-|" + redirectors + "[^\\s;&|(){}<>`]*")
	redirectsQuoted = regexp.MustCompile("[<>]&[0-9]*-|" + redirectors + `(?:"[^"]*"|'[^']*'|\\.|[^\s;&|(){}<>` + "`\"'\\\\])*")
)

const redirectors = `(?:[<>]&|<<<|<<-?|<>|>>|>\||[<>])[ \t]*`

// roughWords returns the words of a command without quotes, and without what stands before it.
func roughWords(stretch string) (words []text) {
	for _, f := range strings.Fields(unquote.Replace(stretch)) {
		name, _, assignment := strings.Cut(f, "=")
		if len(words) == 0 && (slices.Contains(reserved, f) || assignment && isName(name)) {
			continue
		}
		words = append(words, text{value: f, computed: strings.ContainsAny(f, "$*?[")})
	}
	return words
}

// unquote takes quotes away.
var unquote = strings.NewReplacer(`'`, "", `"`, "", `\`, "")

// reserved are words that stand before a command.
var reserved = []string{"!", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc"}
