package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script reads a text in a shell's language and returns how many statements it found.
//
// It goes statement by statement: a shell runs the lines before one that it cannot
// parse. What follows such a line is searched for denies roughly.
func (r *reading) script(s string, p place) (n int) {
	if !r.enter(&p) || !r.fits(s) {
		return 0
	}
	if what := unusual(s); what != "" {
		r.unclear(p, "there is %s in the command", what)
	}
	if what := continued(s); what != "" {
		r.unclear(p, "%s", what)
		r.rough(s, p.inside("text behind a backslash"))
	}
	p.source = s
	var bad error
	parser := syntax.NewParser(syntax.Variant(p.lang))
	for st, err := range parser.StmtsSeq(strings.NewReader(s)) {
		// No break: the parser panics if it is left at an error (mvdan.cc/sh v3.14.1).
		switch {
		case err != nil:
			bad = err
		case r.limit == "":
			n++
			r.statement(st, p)
		}
	}
	if bad != nil {
		r.unclear(p, "the command does not parse: %v", bad)
		switch {
		case p.lang != syntax.LangPOSIX: // what the simplest language lacks, bash reads better
			r.rough(s, p.inside("text that does not parse"))
		case strings.Contains(s, "&>"): // but not this: for others it ends a command
			r.script(strings.ReplaceAll(s, "&>", "& >"), p.searched())
		}
	}
	return n
}

// fits takes the bytes of s from what may be parsed.
func (r *reading) fits(s string) bool {
	r.bytes += len(s)
	switch {
	case len(s) > maxText:
		r.stop("a command of %d bytes is longer than %d", len(s), maxText)
	case r.bytes > maxRead:
		r.stop("commands inside of commands are longer than %d bytes together", maxRead)
	case strings.IndexByte(s, 0) >= 0:
		r.stop("there is a NUL byte in the command")
	case mostOpen(s) > maxOpen:
		r.stop("more than %d parentheses are open at once", maxOpen)
	}
	return r.limit == ""
}

// mostOpen returns how many parentheses are open at once, quoted ones among them. The parser goes one
// level deeper for each, which takes long.
func mostOpen(s string) (most int) {
	open := 0
	for _, c := range []byte(s) {
		switch c {
		case '(':
			open++
			most = max(most, open)
		case ')':
			open = max(open-1, 0)
		}
	}
	return most
}

func (r *reading) statements(list []*syntax.Stmt, p place) {
	for _, st := range list {
		r.statement(st, p)
	}
}

func (r *reading) statement(st *syntax.Stmt, p place) {
	if !r.enter(&p) {
		return
	}
	if st.Coprocess || st.Disown {
		r.bar(p)
	}
	if st.Coprocess {
		p = p.anywhere()
	}
	p = r.redirections(st.Redirs, p)
	switch c := st.Cmd.(type) {
	case nil:
		r.bare(p)
	case *syntax.CallExpr:
		r.simple(c, p)
	case *syntax.BinaryCmd:
		r.binary(c, p)
	case *syntax.Subshell:
		r.statements(c.Stmts, p)
	case *syntax.Block:
		r.statements(c.Stmts, p)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.statement(c.Stmt, p)
		}
	default:
		r.bar(p)
		r.within(c, p.searched())
	}
}

// bare reads a statement that is only redirections: it makes or empties files, and in zsh
// it runs a pager.
func (r *reading) bare(p place) {
	r.bar(p)
	if r.dialect == "zsh" {
		r.unclear(p, "a redirection without a command runs $READNULLCMD")
	}
}

// binary reads `a && b`, `a || b` and pipes. A long chain is not deep.
func (r *reading) binary(c *syntax.BinaryCmd, p place) {
	r.branch(c.X, p)
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		p = p.given(true, input{left: []*syntax.Stmt{c.X}, piped: true})
	}
	r.branch(c.Y, p)
}

func (r *reading) branch(st *syntax.Stmt, p place) {
	if c, chain := st.Cmd.(*syntax.BinaryCmd); chain && len(st.Redirs) == 0 && r.limit == "" {
		r.binary(c, p)
		return
	}
	r.statement(st, p)
}

// within reads what lies inside of a compound command, a declaration or an expansion. All that is
// found there is only searched.
func (r *reading) within(n syntax.Node, p place) {
	if !r.enter(&p) {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			r.statement(n, p)
			return false
		case *syntax.CmdSubst:
			r.statements(n.Stmts, p.inside("$( )"))
			return false
		case *syntax.ProcSubst:
			r.statements(n.Stmts, p.fedBy(n).inside(n.Op.String()+" )"))
			return false
		case *syntax.FuncDecl:
			r.statement(n.Body, p.anywhere())
			return false
		case *syntax.CoprocClause:
			r.coprocess(n, p)
			return false
		case *syntax.Assign:
			return r.assigns(n, p)
		case *syntax.DblQuoted:
			r.quotedAgain(n.Parts, false, p)
		case *syntax.Lit:
			r.literal(n.Value, p)
		default:
			r.computes(n, p)
		}
		return true
	})
}

// assigns notes a variable that is set for all that follows. It is false if nothing is left to read inside.
func (r *reading) assigns(a *syntax.Assign, p place) bool {
	if a.Index != nil {
		r.arithmetic(a.Index, p)
	}
	switch {
	case a.Name != nil && !a.Naked:
		value := r.text(a.Value, p)
		value.computed = value.computed || a.Append || a.Array != nil
		r.holds(a.Name.Value, value, p)
		r.changes(a.Name.Value, p)
		r.assignedValue(value, p)
		return a.Array != nil || a.Index != nil
	case a.Value != nil: // of a declaration, such as "PATH=x" in quotes
		w := r.text(a.Value, p)
		r.declares(w, p)
		r.assignedValue(w, p)
		return false
	}
	return true
}

// literal looks at text that the parser keeps as it stands, such as the pattern of an extended glob, and at quoted
// text in arithmetic: shells expand what is in it.
func (r *reading) literal(s string, p place) {
	if strings.Contains(s, "$(") || strings.Contains(strings.ReplaceAll(s, "\\`", ""), "`") {
		r.unclear(p, "a pattern or a subscript runs a command")
		r.rough(s, p.inside("a pattern or a subscript"))
	}
}

// computes notes expansions that run text which is not in the command: in bash, ksh and zsh the value of a
// variable in arithmetic may hold a subscript, and that a command substitution.
func (r *reading) computes(n syntax.Node, p place) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		r.arithmetic(n.X, p)
	case *syntax.ArithmCmd:
		r.arithmetic(n.X, p)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			r.arithmetic(x, p)
		}
	case *syntax.CStyleLoop:
		r.arithmetic(n.Init, p)
		r.arithmetic(n.Cond, p)
		r.arithmetic(n.Post, p)
	case *syntax.BinaryTest:
		if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
			r.operand(n.X, p)
			r.operand(n.Y, p)
		}
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			r.operand(n.X, p)
		}
	case *syntax.ParamExp:
		r.parameter(n, p)
	case *syntax.WordIter:
		r.sets(n.Name.Value, p)
		for _, w := range n.Items {
			r.assignedValue(r.text(w, p), p)
		}
	case *syntax.DeclClause:
		r.attributes(n, p)
	}
}

func (r *reading) attributes(c *syntax.DeclClause, p place) {
	if c.Variant.Value == "nameref" {
		r.attribute(c.Variant.Value, text{value: "-n"}, p)
	}
	for _, a := range c.Args {
		if a.Naked && a.Value != nil {
			r.attribute(c.Variant.Value, r.text(a.Value, p), p)
		}
	}
}

func (r *reading) coprocess(c *syntax.CoprocClause, p place) {
	if c.Name != nil {
		r.sets(r.text(c.Name, p).value, p)
	}
	r.statement(c.Stmt, p.anywhere())
}

func (r *reading) operand(x syntax.TestExpr, p place) {
	if w, ok := x.(*syntax.Word); ok {
		r.arithmetic(w, p)
	}
}

// arithmetic notes an expression that is more than numbers.
func (r *reading) arithmetic(x syntax.ArithmExpr, p place) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			r.subscripts(n, p)
			if strings.Trim(n.Lit(), "0123456789@*") != "" || n.Lit() == "" {
				r.unclear(p, "arithmetic evaluates the values of variables")
			}
			return false
		case *syntax.FlagsArithm:
			r.unclear(p, "arithmetic evaluates the values of variables")
			return false
		}
		return true
	})
}

// subscripts searches the quoted text of a word in arithmetic.
func (r *reading) subscripts(w *syntax.Word, p place) {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.SglQuoted:
			r.literal(part.Value, p)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					r.literal(strings.ReplaceAll(lit.Value, `\`, ""), p)
				}
			}
		}
	}
}

func (r *reading) parameter(e *syntax.ParamExp, p place) {
	r.arithmetic(e.Index, p)
	if e.Slice != nil {
		r.arithmetic(e.Slice.Offset, p)
		r.arithmetic(e.Slice.Length, p)
	}
	if e.Excl && e.Names == 0 && !isAll(e.Index) {
		r.unclear(p, "an expansion takes the value of a variable for a name")
	}
	if e.Flags != nil || e.Exp != nil && e.Exp.Op == syntax.OtherParamOps {
		r.unclear(p, "an expansion evaluates the value of a variable")
	}
	if e.Exp != nil && e.Param != nil && (e.Exp.Op == syntax.AssignUnset || e.Exp.Op == syntax.AssignUnsetOrNull) {
		r.sets(e.Param.Value, p)
	}
}

// isAll reports whether a subscript is @ or *.
func isAll(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}
