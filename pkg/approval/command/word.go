package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A text is a word, a here-document or a string, as a program would get it.
type text struct {
	value    string // with `$_` in place of each part that is computed
	computed bool   // the shell makes it when the line runs, maybe into several words or none
}

// computedPart stands in a value for what is computed: it is computed again where the text is
// read as commands.
const computedPart = "$_"

// computedText is a text of which nothing is known.
var computedText = text{value: computedPart, computed: true}

// shown returns the text for a person.
func (t text) shown() string {
	if t.computed {
		return "…"
	}
	return t.value
}

func shown(words []text) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.shown()
	}
	return list
}

// line returns words in one line for a person, at most 200 bytes.
func line(words []text) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		s := w.shown()
		if s == "" || strings.ContainsAny(s, " \t\n'\"\\$`;&|<>()") {
			s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		b.WriteString(s)
		if b.Len() > 200 {
			return strings.ToValidUTF8(b.String()[:197], "") + "…"
		}
	}
	return b.String()
}

// joined returns the words as one text, as `eval` and ssh join them.
func joined(words []text) (t text) {
	values := make([]string, len(words))
	for i, w := range words {
		values[i] = w.value
		t.computed = t.computed || w.computed
	}
	t.value = strings.Join(values, " ")
	return t
}

// text returns what a word stands for, and reads the commands inside of it. Static are literals, single quotes, and double
// quotes of literals; all else is computed, also what a shell may or may not expand: globs, braces, tildes.
func (r *reading) text(w *syntax.Word, p place) text {
	if w == nil {
		return text{}
	}
	var b builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if len(w.Parts) == 1 && (part.Value == "[" || part.Value == "[[") { // the command
				return text{value: part.Value}
			}
			b.literal(part.Value, i == 0, r.dialect)
			r.literal(part.Value, p.searched())
			if r.dialect == "zsh" && strings.IndexByte(part.Value, '(') >= 0 {
				r.unclear(p, "a glob of zsh may run a command")
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				if strings.IndexByte(part.Value, '\\') >= 0 {
					b.compute()
					continue
				}
				b.computed = true // where it is not known, it is a $ and a string
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			r.quoted(&b, part, p)
		default:
			b.compute()
			r.within(part, p.searched())
		}
	}
	if b.brace && (b.comma || b.dots) {
		b.computed = true
	}
	return text{value: b.String(), computed: b.computed}
}

func (r *reading) quoted(b *builder, q *syntax.DblQuoted, p place) {
	if q.Dollar { // the message of a catalogue
		b.computed = true
	}
	for _, part := range q.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.unescape(lit.Value, "$`\"\\")
			continue
		}
		b.compute()
		r.within(part, p.searched())
	}
	r.quotedAgain(q.Parts, false, p)
}

// quotedAgain looks for quotes in the ${ } of a text that is quoted already. For the parser they quote there. Most
// shells keep single ones as they stand, in here-documents some keep double ones, too, so that other commands begin and
// end behind them.
func (r *reading) quotedAgain(parts []syntax.WordPart, document bool, p place) {
	for _, part := range parts {
		if e, ok := part.(*syntax.ParamExp); ok && holdsQuotes(e, document) {
			r.unclear(p, "shells differ in what quotes inside of quotes mean")
			r.rough(p.source, p.inside("quotes inside of quotes"))
		}
	}
}

func holdsQuotes(e *syntax.ParamExp, double bool) (found bool) {
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst: // there they begin anew
			return false
		case *syntax.SglQuoted:
			found = true
		case *syntax.DblQuoted:
			found = found || double
			for _, part := range n.Parts {
				lit, ok := part.(*syntax.Lit)
				found = found || ok && strings.IndexByte(lit.Value, '\'') >= 0
			}
		}
		return !found
	})
	return found
}

// A builder makes the value of a word from its parts.
type builder struct {
	strings.Builder
	computed           bool
	brace, comma, dots bool // the characters of a brace expansion were there, unquoted
}

func (b *builder) compute() {
	b.computed = true
	b.WriteString(computedPart)
}

// literal adds unquoted text.
func (b *builder) literal(s string, first bool, dialect string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			i++
			if i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case '*', '?', '[', '`':
			b.computed = true
		case '$': // before what is no name; parsers differ in what is one
			b.computed = true
		case '~':
			b.computed = b.computed || first && i == 0 || i > 0 && (s[i-1] == '=' || s[i-1] == ':')
		case '=':
			b.computed = b.computed || first && i == 0 && dialect == "zsh" // the path of a program
		case '{':
			b.brace = true
		case ',':
			b.comma = b.brace
		case '.':
			b.dots = b.dots || b.brace && i > 0 && s[i-1] == '.'
		}
		b.WriteByte(c)
	}
}

// unescape adds text in which a backslash quotes only some characters, and takes a newline away.
func (b *builder) unescape(s, quotes string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\n' || strings.IndexByte(quotes, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
}
