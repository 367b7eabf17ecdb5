package sketch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Nothing here may count in floats: two machines may round them differently. What is imported
// and does so is banned by name.
func TestWholeNumbersOnly(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		read++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil && fractional(n) {
				t.Errorf("%s: counts in fractions", fset.Position(n.Pos()))
			}
			return true
		})
	}
	if read < 10 {
		t.Errorf("%d files read, want the whole package", read)
	}
}

var (
	floatTypes = []string{"float32", "float64", "complex64", "complex128"}
	floatPaths = []string{
		"math", "math/big", "math/cmplx", "math/rand", "math/rand/v2",
		"golang.org/x/image/draw", "golang.org/x/image/font/opentype", "golang.org/x/image/math/f32", "golang.org/x/image/math/f64", "golang.org/x/image/vector",
	}
)

func fractional(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		return slices.Contains(floatTypes, n.Name)
	case *ast.BasicLit:
		return n.Kind == token.FLOAT || n.Kind == token.IMAG
	case *ast.ImportSpec:
		p, err := strconv.Unquote(n.Path.Value)
		return err != nil || slices.Contains(floatPaths, path.Clean(p))
	}
	return false
}

// The test above finds what it is for.
func TestFractional(t *testing.T) {
	for _, src := range []string{"import \"math\"", "var x = 1.5", "var x float32", "import _ \"golang.org/x/image/vector\"", "func f() complex128 { return 0 }"} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		ast.Inspect(file, func(n ast.Node) bool {
			found = found || n != nil && fractional(n)
			return true
		})
		if !found {
			t.Errorf("%s passes", src)
		}
	}
}
