// Package house_test holds the rules of this house: who may import whom, how large things
// may grow, what is documented. They are tests, so that nobody has to remember them.
//
// It reads the tree as text and syntax and runs nothing; what programs do is tested in
// integration.
package house_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// A rule looks at the whole tree and returns one line a breach.
type rule func(*tree) []string

var rules = map[string]rule{
	"imports of our own packages":    ownImports,
	"imports of modules":             moduleImports,
	"one package comment":            packageComments,
	"package names":                  packageNames,
	"exported names are documented":  exportedDocs,
	"programs are short":             programSizes,
	"files are short":                fileSizes,
	"functions are short":            functionSizes,
	"few parameters":                 parameterCounts,
	"error texts":                    errorTexts,
	"no init functions":              initFunctions,
	"no functional options":          functionalOptions,
	"nothing replaced in go.mod":     replacements,
	"only testneed skips":            skips,
	"no paths or hosts of a machine": machineTraces,
	"links lead somewhere":           deadLinks,
}

func TestHouse(t *testing.T) {
	tr, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range rules {
		t.Run(name, func(t *testing.T) {
			for _, breach := range slices.Sorted(slices.Values(check(tr))) {
				t.Error(breach)
			}
		})
	}
}

// A tree is the repository, without what lies there but is not part of it.
type tree struct {
	fset  *token.FileSet
	texts map[string][]byte // path to content, binary files left out
	files []*source         // Go files, by path
}

// A source is one Go file.
type source struct {
	path, dir string
	test      bool
	lines     int
	ast       *ast.File
}

// notOurs are folders that builds make, or that hold data in the form of code.
var notOurs = []string{".git", ".cache", "bin", "node_modules", "testdata"}

func load(fsys fs.FS) (*tree, error) {
	tr := &tree{fset: token.NewFileSet(), texts: map[string][]byte{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(notOurs, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular() || d.Name() == ".git": // a file in a work tree
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return tr.add(name, data)
	})
	return tr, err
}

func (tr *tree) add(name string, data []byte) error {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil
	}
	tr.texts[name] = data
	if path.Ext(name) != ".go" {
		return nil
	}
	file, err := parser.ParseFile(tr.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	tr.files = append(tr.files, &source{
		path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(data, []byte("\n")), ast: file,
	})
	return nil
}

// code returns the files that are no tests.
func (tr *tree) code() []*source {
	return slices.DeleteFunc(slices.Clone(tr.files), func(s *source) bool { return s.test })
}

// lines returns how many lines node spans.
func (tr *tree) lines(node ast.Node) int {
	return tr.fset.Position(node.End()).Line - tr.fset.Position(node.Pos()).Line + 1
}

// at returns where node stands, as file:line.
func (tr *tree) at(node ast.Node) string {
	pos := tr.fset.Position(node.Pos())
	pos.Column = 0
	return pos.String()
}
