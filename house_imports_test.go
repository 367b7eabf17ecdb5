package house_test

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/toolhost/toolhost/"

// engines may use these two of ours, or nothing.
var engine = []string{"pkg/fsroot", "pkg/textfile"}

// imports says which packages of ours a package may import, tests aside. A package that
// is not here fails: new ones are entered with thought.
var imports = map[string][]string{
	"cmd/mcp-files": {"internal/filetool", "pkg/toolkit"},
	"cmd/mcp-image": {"internal/imagetool", "pkg/toolkit"},
	"cmd/mcp-patch": {"internal/patchtool", "pkg/toolkit"},
	"cmd/mcp-shell": {"internal/shelltool", "pkg/toolkit"},

	"internal/filetool":  toolPackage("internal/filetool/search", "internal/filetool/edit"),
	"internal/imagetool": toolPackage("internal/imagetool/provider", "internal/imagetool/provider/openai", "internal/imagetool/provider/sketch"),
	"internal/patchtool": toolPackage("pkg/patchapply", "pkg/linediff"),
	"internal/shelltool": toolPackage("pkg/container", "pkg/container/capture"),

	"internal/engineapi":                       {},
	"internal/filetool/edit":                   append([]string{"pkg/linediff"}, engine...),
	"internal/filetool/search":                 append([]string{"internal/filetool/search/gitignore"}, engine...),
	"internal/imagetool/provider":              {},
	"internal/imagetool/provider/openai":       {"internal/imagetool/provider"},
	"internal/imagetool/provider/openaitest":   {},
	"internal/imagetool/provider/providertest": {"internal/imagetool/provider"},
	"internal/imagetool/provider/sketch":       {"internal/imagetool/provider"},
	"internal/testengine":                      {"internal/engineapi", "internal/testneed"},
	"internal/testleak":                        {},
	"internal/testneed":                        {},

	"internal/filetool/search/gitignore": {},

	"pkg/approval":               {"pkg/approval/command"},
	"pkg/approval/command":       {},
	"pkg/approval/seal":          {},
	"pkg/container":              append([]string{"pkg/container/agents", "pkg/container/capture", "pkg/container/protocol"}, engine...),
	"pkg/container/agent":        {"pkg/container/capture", "pkg/container/protocol"},
	"pkg/container/agents":       {},
	"pkg/container/agents/build": {},
	"pkg/container/backendtest":  {"pkg/container"},
	"pkg/container/capture":      {},
	"pkg/container/protocol":     {},
	"pkg/fsroot":                 {},
	"pkg/linediff":               {},
	"pkg/patchapply":             engine,
	"pkg/patchapply/storagetest": {"pkg/patchapply"},
	"pkg/responses":              {},
	"pkg/textfile":               {},
	"pkg/toolkit":                {"pkg/approval", "pkg/approval/command", "pkg/approval/seal", "pkg/toolkit/streamable", "pkg/toolkit/wire"},
	"pkg/toolkit/streamable":     {"pkg/toolkit/wire"},
	"pkg/toolkit/wire":           {},

	// Programs and tests that stand outside the floors.
	"integration/bench":       {"integration/load", "internal/engineapi", "internal/imagetool/provider", "internal/imagetool/provider/sketch"},
	"integration/conformance": {"pkg/toolkit/streamable"},
	"integration/demo":        {"internal/engineapi"},
	"integration/docgen":      {"internal/filetool", "internal/imagetool", "internal/patchtool", "internal/shelltool", "pkg/toolkit"},
	"integration/fixture":     {"pkg/approval", "pkg/toolkit"},
	"integration/load":        {},
	"integration/minimal":     {},
}

func toolPackage(engines ...string) []string {
	return append(engines, "pkg/toolkit", "pkg/approval", "pkg/fsroot", "pkg/textfile")
}

var toolPackages = []string{"internal/filetool", "internal/imagetool", "internal/patchtool", "internal/shelltool"}

// modules says where a module may be imported. "tests" stands for all tests. A module
// that is not here fails: CONTRIBUTING.md says what a new dependency needs.
var modules = map[string][]string{
	"github.com/HugoSmits86/nativewebp": {"internal/imagetool"},
	"github.com/bmatcuk/doublestar/v4":  {"pkg", "internal"},
	"github.com/containerd/errdefs":     {"pkg/container"},
	"github.com/docker":                 {"pkg/container"},
	"github.com/distribution/reference": {"pkg/container"},
	"github.com/google/go-cmp":          {"tests"},
	"github.com/google/jsonschema-go":   {"pkg/approval"},
	"github.com/mattn/go-isatty":        {"pkg/toolkit"},
	"github.com/modelcontextprotocol":   append([]string{"pkg/toolkit", "integration"}, toolPackages...),
	"github.com/openai/openai-go":       {"internal/imagetool/provider/openai"},
	"github.com/pelletier/go-toml/v2":   {"tests"},
	"github.com/rogpeppe/go-internal":   {"tests"},
	"github.com/rs/zerolog":             {"pkg/toolkit"},
	"github.com/urfave/cli/v2":          append([]string{"pkg/toolkit", "integration"}, toolPackages...),
	"go.yaml.in/yaml/v3":                {"pkg/approval", "tests"},
	"golang.org/x/image":                {"internal/imagetool"},
	"golang.org/x/sync":                 {"pkg/toolkit/streamable"},
	"golang.org/x/sys":                  {"pkg", "internal", "tests"},
	"golang.org/x/text":                 {"pkg/approval", "pkg/fsroot", "pkg/textfile", "internal/filetool/search"},
	"mvdan.cc/sh/v3":                    {"pkg/approval/command"},
}

// ownImports holds the table, and of tests that pkg stays below internal and tool
// packages know nothing of each other.
func ownImports(tr *tree) (breaches []string) {
	for _, s := range tr.files {
		allowed, listed := imports[s.dir]
		if !listed && !s.test {
			breaches = append(breaches, fmt.Sprintf("%s: package %s is not in the import table", s.path, s.dir))
		}
		for _, to := range ownImportsOf(s) {
			switch {
			case s.test && testMayImport(s.dir, to):
			case !s.test && (!listed || slices.Contains(allowed, to)):
			default:
				breaches = append(breaches, fmt.Sprintf("%s: %s may not import %s", s.path, s.dir, to))
			}
		}
	}
	return breaches
}

// testPackages are for tests wherever they are.
var testPackages = []string{"internal/engineapi", "internal/testengine", "internal/testleak", "internal/testneed"}

func testMayImport(from, to string) bool {
	switch {
	case slices.Contains(testPackages, to):
		return true
	case under(from, "pkg"):
		return under(to, "pkg")
	case slices.Contains(toolPackages, from):
		return to == from || !slices.Contains(toolPackages, to)
	}
	return true
}

func ownImportsOf(s *source) (dirs []string) {
	for _, imp := range importsOf(s) {
		if dir, ours := strings.CutPrefix(imp, module); ours {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func moduleImports(tr *tree) (breaches []string) {
	for _, s := range tr.files {
		for _, imp := range importsOf(s) {
			host, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(host, ".") || strings.HasPrefix(imp, module) {
				continue
			}
			if why := moduleBreach(s, imp); why != "" {
				breaches = append(breaches, fmt.Sprintf("%s: %s %s", s.path, imp, why))
			}
		}
	}
	return breaches
}

func moduleBreach(s *source, imp string) string {
	for mod, places := range modules {
		if !under(imp, mod) {
			continue
		}
		for _, place := range places {
			if under(s.dir, place) || place == "tests" && s.test {
				return ""
			}
		}
		return "may be imported only in " + strings.Join(places, ", ")
	}
	return "is not in the table of modules"
}

func importsOf(s *source) (paths []string) {
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, path.Clean(p))
		}
	}
	return paths
}

// under reports whether p is dir, or lies in it.
func under(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
