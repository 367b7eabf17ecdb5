package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shell searches what a shell is told to run: the text behind -c, or its input.
func (r *reading) shell(name string, args []text, p place) {
	langs := variants(name)
	o := r.shellOptions(args, p)
	switch {
	case o.command && len(o.operands) > 0:
		r.handOver(o.operands[0], name+" -c", langs, p)
	case o.command:
	case o.input || len(o.operands) == 0:
		r.stdin(name, langs, p)
	case isInput(o.operands[0]):
		r.stdin(name, langs, p.joined())
	case o.operands[0].computed:
		r.unclear(p, "the script of %s is computed", name)
	}
}

// shellOptions is how a shell was called.
type shellOptions struct {
	command, input bool // -c, -s
	operands       []text
}

func (r *reading) shellOptions(args []text, p place) (o shellOptions) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.computed && !o.command:
			r.unclear(p, "an option of a shell is computed")
			o.operands = args[i:]
			return o
		case a.value == "--" || a.value == "-":
			o.operands = args[i+1:]
			return o
		case slices.Contains([]string{"--rcfile", "--init-file", "--command"}, a.value):
			o.command = o.command || a.value == "--command"
			i++
		case strings.HasPrefix(a.value, "--"):
		case len(a.value) > 1 && (a.value[0] == '-' || a.value[0] == '+'):
			o.command = o.command || a.value[0] == '-' && strings.Contains(a.value, "c")
			o.input = o.input || strings.Contains(a.value, "s")
			i += strings.Count(a.value, "o") + strings.Count(a.value, "O")
		default:
			o.operands = args[i:]
			return o
		}
	}
	return o
}

// variants returns the languages in which a shell's text is read.
func variants(name string) (list []syntax.LangVariant) {
	for _, l := range languages(name) {
		list = append(list, l.variant)
	}
	return list
}

// handOver reads a text as commands of another shell.
func (r *reading) handOver(t text, what string, langs []syntax.LangVariant, p place) {
	if t.computed {
		r.unclear(p, "%s runs a computed text", what)
	}
	p = p.inside(what)
	for _, lang := range langs {
		p.lang = lang
		r.script(t.value, p)
		p.again = true
	}
}
