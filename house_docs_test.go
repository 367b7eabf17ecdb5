package house_test

import (
	"fmt"
	"go/ast"
	"slices"
)

// wellKnown are methods that need no words: everybody knows their contract.
var wellKnown = []string{"Error", "Unwrap", "String"}

// exportedDocs wants a comment at every exported name of the public packages. In a group
// of constants or variables one above the group is enough.
func exportedDocs(tr *tree) (breaches []string) {
	for _, s := range tr.code() {
		if !under(s.dir, "pkg") || s.ast.Name.Name == "main" {
			continue
		}
		for _, d := range s.ast.Decls {
			for _, name := range undocumented(d) {
				breaches = append(breaches, fmt.Sprintf("%s: %s has no comment", tr.at(name), name.Name))
			}
		}
	}
	return breaches
}

func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && !isHidden(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		return undocumentedSpecs(d)
	}
	return nil
}

// isHidden reports whether f is a method that readers of the package do not see, or know.
func isHidden(f *ast.FuncDecl) bool {
	r := receiver(f)
	return r != "" && (!ast.IsExported(r) || slices.Contains(wellKnown, f.Name.Name))
}

func undocumentedSpecs(d *ast.GenDecl) (names []*ast.Ident) {
	for _, spec := range d.Specs {
		var found []*ast.Ident
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Doc == nil {
				found = []*ast.Ident{spec.Name}
			}
		case *ast.ValueSpec:
			if spec.Doc == nil && spec.Comment == nil {
				found = spec.Names
			}
		}
		if d.Doc == nil {
			names = append(names, found...)
		}
	}
	return slices.DeleteFunc(names, func(n *ast.Ident) bool { return !n.IsExported() })
}

// receiver returns the name of the type f is a method of, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	e := f.Recv.List[0].Type
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
