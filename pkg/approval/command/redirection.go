package command

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirections reads the redirections of a statement and returns the place of what is
// inside of it.
func (r *reading) redirections(list []*syntax.Redirect, p place) place {
	if len(list) > maxWords {
		r.stop("a command has more than %d redirections", maxWords)
		return p
	}
	p.writes = slices.Clip(p.writes) // others have them, too
	for _, d := range list {
		if d.N != nil && strings.Trim(d.N.Value, "0123456789") != "" { // {name}>file
			r.bar(p)
			r.sets(strings.Trim(d.N.Value, "{}"), p)
		}
		p = r.redirection(d, p)
		if d.N != nil && len(d.N.Value) > 1 && oneDigit(r.dialect) {
			r.unclear(p, "shells differ in whether %s before a redirection is a word", d.N.Value)
			p = p.joined()
		}
	}
	return p
}

// oneDigit reports whether a shell may take no more than one digit for the descriptor of a redirection, as dash does.
func oneDigit(dialect string) bool {
	return languages(dialect)[0].variant == syntax.LangPOSIX
}

func (r *reading) redirection(d *syntax.Redirect, p place) place {
	first := reads(d)
	switch d.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return p.given(first, input{texts: []text{r.heredoc(d, p)}})
	case syntax.WordHdoc:
		w := r.text(d.Word, p)
		if w.computed {
			r.bar(p)
		}
		return p.given(first, input{texts: []text{w}})
	case syntax.RdrIn:
		return r.input(r.text(d.Word, p), first, p.given(first, input{left: writers(d.Word)}))
	case syntax.RdrInOut:
		w := r.text(d.Word, p)
		return r.output(w, r.input(w, first, p))
	case syntax.DplIn, syntax.DplOut:
		return r.duplicate(d.Op, r.text(d.Word, p), first, p)
	}
	return r.output(r.text(d.Word, p), p)
}

// reads reports whether a redirection is of descriptor 0.
func reads(d *syntax.Redirect) bool {
	if d.N != nil {
		return strings.Trim(d.N.Value, "0") == ""
	}
	return d.Op != syntax.DplOut
}

// writers returns what is inside of the <( ) of a word.
func writers(w *syntax.Word) (list []*syntax.Stmt) {
	for _, part := range w.Parts {
		if s, ok := part.(*syntax.ProcSubst); ok {
			list = append(list, s.Stmts...)
		}
	}
	return list
}

// heredoc returns the body of a here-document. Where it ends is beyond doubt only if the delimiter is
// plain, and no line of an unquoted one is continued.
func (r *reading) heredoc(d *syntax.Redirect, p place) text {
	quoted, sure := delimiter(d.Word)
	if !sure {
		r.unclear(p, "shells differ in where a here-document with such a delimiter ends")
	}
	if d.Hdoc == nil {
		return text{}
	}
	var b builder
	for i, part := range d.Hdoc.Parts {
		if i > 0 && !quoted && part.Pos().After(d.Hdoc.Parts[i-1].End()) { // what is between was taken out
			r.unclear(p, "shells differ in where a here-document with a continued line ends")
		}
		lit, ok := part.(*syntax.Lit)
		switch {
		case !ok:
			b.compute()
			r.within(part, p.searched())
		case quoted:
			b.WriteString(lit.Value)
		default:
			b.unescape(lit.Value, "$`\\")
		}
	}
	r.quotedAgain(d.Hdoc.Parts, true, p)
	t := text{value: b.String(), computed: b.computed}
	if t.computed {
		r.bar(p)
	}
	if d.Op == syntax.DashHdoc {
		t.value = strings.ReplaceAll("\n"+t.value, "\n\t", "\n")
	}
	return t
}

// delimiter reports whether any of it is quoted, and whether every shell sees the same one in it.
func delimiter(w *syntax.Word) (quoted, sure bool) {
	if w == nil || len(w.Parts) != 1 {
		return true, false
	}
	switch part := w.Parts[0].(type) {
	case *syntax.Lit:
		return strings.IndexByte(part.Value, '\\') >= 0, isName(part.Value)
	case *syntax.SglQuoted:
		return true, !part.Dollar && isName(part.Value)
	case *syntax.DblQuoted:
		if len(part.Parts) != 1 || part.Dollar {
			return true, false
		}
		lit, ok := part.Parts[0].(*syntax.Lit)
		return true, ok && isName(lit.Value)
	}
	return true, false
}

// isName reports whether s is what shells take for the name of a variable.
func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// input is `<file`: free, except from devices, among which bash finds the network.
func (r *reading) input(file text, first bool, p place) place {
	name := r.resolve(file)
	switch {
	case name == "/dev/null":
		if first { // a duplicate may bring it back
			p.in, p.kept = input{}, p.kept.with(p.in)
		}
		return p
	case file.computed, under(name, "/dev"), under(name, "/proc"):
		r.bar(p)
		return p.given(first, input{piped: true})
	}
	return p
}

// closes is a word of which bash takes only the beginning for the descriptor.
var closes = regexp.MustCompile(`^[0-9]*-.`)

// duplicate is `<&` and `>&` with a descriptor, which is free, or with a file.
func (r *reading) duplicate(op syntax.RedirOperator, to text, first bool, p place) place {
	switch {
	case to.value == "-" && !to.computed:
		return p
	case closes.MatchString(to.value):
		r.unclear(p, "bash reads a word behind %s-", op)
		r.rough(p.source, p.inside("text behind "+op.String()+"-"))
	case !to.computed && strings.Trim(strings.TrimSuffix(to.value, "-"), "0123456789") == "" && to.value != "":
		if first {
			return p.joined()
		}
		return p
	case op == syntax.DplOut:
		return r.output(to, p)
	}
	r.bar(p)
	return p.joined().given(first, input{piped: true})
}

func (r *reading) output(file text, p place) place {
	name := ""
	if !file.computed && !slices.Contains(strings.Split(file.value, "/"), "..") { // which may stand behind a link
		name = r.resolve(file)
	}
	if name != "/dev/null" {
		p.writes = append(p.writes, name)
	}
	return p
}

// resolve returns the absolute path of a file that a redirection names, without following links; ""
// where the working directory is not known.
func (r *reading) resolve(file text) string {
	switch {
	case path.IsAbs(file.value):
		return path.Clean(file.value)
	case r.moved || !path.IsAbs(r.in.Dir) || file.value == "":
		return ""
	}
	return path.Join(r.in.Dir, file.value)
}

// under reports whether a clean path is dir, or lies in it.
func under(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }
