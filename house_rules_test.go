package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Limits. Exceptions are listed by name, each with its reason.
const (
	maxProgram    = 30
	maxFile       = 400
	maxFunction   = 60
	maxParameters = 5
)

// long are files and functions that may be longer, and why.
var long = map[string]string{}

// crowded are functions with more parameters, and why.
var crowded = map[string]string{}

func packageComments(tr *tree) (breaches []string) {
	sources, comments := map[string]int{}, map[string][]string{}
	for _, s := range tr.documented() {
		sources[s.dir]++
		if s.ast.Doc != nil {
			comments[s.dir] = append(comments[s.dir], s.path)
		}
	}
	for dir := range sources {
		if n := len(comments[dir]); n != 1 {
			breaches = append(breaches, fmt.Sprintf("%s: %d package comments, want 1 %v", dir, n, comments[dir]))
		}
	}
	return breaches
}

// documented returns the files in which a package comment can stand: tests only where
// there is nothing else.
func (tr *tree) documented() []*source {
	files := tr.code()
	dirs := map[string]bool{}
	for _, s := range files {
		dirs[s.dir] = true
	}
	for _, s := range tr.files {
		if !dirs[s.dir] {
			files = append(files, s)
		}
	}
	return files
}

// Names that say nothing about what is inside.
var emptyNames = []string{"base", "common", "helper", "helpers", "lib", "misc", "types", "util", "utils"}

func packageNames(tr *tree) (breaches []string) {
	for _, s := range tr.files {
		if name := strings.TrimSuffix(s.ast.Name.Name, "_test"); slices.Contains(emptyNames, name) {
			breaches = append(breaches, fmt.Sprintf("%s: package %s is not named for what it is", s.path, name))
		}
	}
	return breaches
}

func programSizes(tr *tree) (breaches []string) {
	for _, s := range tr.code() {
		if under(s.dir, "cmd") && s.lines > maxProgram {
			breaches = append(breaches, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, maxProgram))
		}
	}
	return breaches
}

func fileSizes(tr *tree) (breaches []string) {
	for _, s := range tr.code() {
		if s.lines > maxFile && long[s.path] == "" {
			breaches = append(breaches, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, maxFile))
		}
	}
	return breaches
}

func functionSizes(tr *tree) (breaches []string) {
	tr.eachFunction(func(s *source, f *ast.FuncDecl) {
		if n := tr.lines(f); n > maxFunction && long[functionName(s, f)] == "" {
			breaches = append(breaches, fmt.Sprintf("%s: %s has %d lines, at most %d", tr.at(f), functionName(s, f), n, maxFunction))
		}
	})
	return breaches
}

func parameterCounts(tr *tree) (breaches []string) {
	tr.eachFunction(func(s *source, f *ast.FuncDecl) {
		if n := f.Type.Params.NumFields(); n > maxParameters && crowded[functionName(s, f)] == "" {
			breaches = append(breaches, fmt.Sprintf("%s: %s has %d parameters, at most %d", tr.at(f), functionName(s, f), n, maxParameters))
		}
	})
	return breaches
}

func initFunctions(tr *tree) (breaches []string) {
	tr.eachFunction(func(_ *source, f *ast.FuncDecl) {
		if f.Name.Name == "init" && f.Recv == nil {
			breaches = append(breaches, tr.at(f)+": init runs before anybody asked")
		}
	})
	return breaches
}

// functionalOptions finds them by how they are spelled everywhere: WithX returning
// something called Option, or such a thing as a variadic parameter.
func functionalOptions(tr *tree) (breaches []string) {
	tr.eachFunction(func(_ *source, f *ast.FuncDecl) {
		var types []ast.Expr
		for _, p := range f.Type.Params.List {
			if v, ok := p.Type.(*ast.Ellipsis); ok {
				types = append(types, v.Elt)
			}
		}
		if strings.HasPrefix(f.Name.Name, "With") && f.Type.Results != nil {
			for _, r := range f.Type.Results.List {
				types = append(types, r.Type)
			}
		}
		if slices.ContainsFunc(types, isOption) {
			breaches = append(breaches, tr.at(f)+": options are a struct here, see New(Options)")
		}
	})
	return breaches
}

func isOption(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.HasSuffix(e.Name, "Option")
	case *ast.SelectorExpr:
		return isOption(e.Sel)
	case *ast.FuncType:
		return true
	}
	return false
}

func (tr *tree) eachFunction(do func(*source, *ast.FuncDecl)) {
	for _, s := range tr.code() {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				do(s, f)
			}
		}
	}
}

// functionName returns how exceptions name f: folder, receiver type, name.
func functionName(s *source, f *ast.FuncDecl) string {
	if r := receiver(f); r != "" {
		return s.dir + "." + r + "." + f.Name.Name
	}
	return s.dir + "." + f.Name.Name
}

// errorTexts looks at every string in code, since any may end in an error.
func errorTexts(tr *tree) (breaches []string) {
	for _, s := range tr.code() {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(strings.ToLower(lit.Value), "failed to") {
				breaches = append(breaches, fmt.Sprintf("%s: an error names the operation and the object, not %s", tr.at(n), lit.Value))
			}
			return true
		})
	}
	return breaches
}

var replaceLine = regexp.MustCompile(`(?m)^\s*replace\b|=>`)

func replacements(tr *tree) (breaches []string) {
	for _, name := range []string{"go.mod", "tools.mod"} {
		if m := replaceLine.Find(tr.texts[name]); m != nil {
			breaches = append(breaches, fmt.Sprintf("%s: %q: a replaced module is not what others get", name, m))
		}
	}
	return breaches
}

func skips(tr *tree) (breaches []string) {
	for _, s := range tr.files {
		if s.dir == "internal/testneed" || !slices.Contains(importsOf(s), "testing") {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if isSkip(n) {
				breaches = append(breaches, tr.at(n)+": say what the test needs by internal/testneed")
			}
			return true
		})
	}
	return breaches
}

func isSkip(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
		return false
	}
	on, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains([]string{"b", "f", "t", "tb"}, on.Name)
}

// What only one machine has: its folders, and where it gets packages from.
var traces = regexp.MustCompile(`/(?:root/go|work|tmp/bash)[/_]\w|"resolved"\s*:|registry\.(?:npmjs|yarnpkg)|(?:proxy|sum)\.golang\.org|(?:deb|security)\.debian\.org`)

func machineTraces(tr *tree) (breaches []string) {
	for name, text := range tr.texts {
		if m := traces.Find(text); m != nil {
			breaches = append(breaches, fmt.Sprintf("%s: %q belongs to one machine", name, m))
		}
	}
	return breaches
}

var link = regexp.MustCompile(`\]\(([^)#:\s]+)[^):]*\)`)

// deadLinks wants every relative link of a document to lead to a file of the tree.
func deadLinks(tr *tree) (breaches []string) {
	for name, text := range tr.texts {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			if to := path.Join(path.Dir(name), string(m[1])); !tr.has(to) {
				breaches = append(breaches, fmt.Sprintf("%s: the link to %s leads nowhere", name, to))
			}
		}
	}
	return breaches
}

// has reports whether the tree has a file or folder of that name.
func (tr *tree) has(name string) bool {
	for file := range tr.texts {
		if file == name || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}
