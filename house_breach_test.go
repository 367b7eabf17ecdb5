package house_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// planted breaks every rule at least once: the rule must find it, or it proves nothing.
// A file of one line stands for the rest of the package where the rule does not care.
var planted = []struct {
	name, rule string
	path, text string
	want       string // part of the only breach; "" where there must be none
}{
	{"dead link", "links lead somewhere", "docs/a.md", "see [b](b.md), [top](../docs/a.md#x), [web](https://example.org/)", "link to docs/b.md leads nowhere"},
	{"unlisted package", "imports of our own packages", "pkg/shiny/a.go", "package shiny", "not in the import table"},
	{
		"pkg stands below internal", "imports of our own packages", "pkg/toolkit/a.go",
		`package toolkit; import _ "github.com/toolhost/toolhost/internal/filetool"`, "may not import internal/filetool",
	},
	{
		"tool packages apart", "imports of our own packages", "internal/filetool/a.go",
		`package filetool; import _ "github.com/toolhost/toolhost/internal/shelltool"`, "may not import internal/shelltool",
	},
	{
		"tool packages apart in tests", "imports of our own packages", "internal/filetool/a_test.go",
		`package filetool; import _ "github.com/toolhost/toolhost/internal/shelltool"`, "may not import internal/shelltool",
	},
	{
		"pkg below internal in tests", "imports of our own packages", "pkg/toolkit/a_test.go",
		`package toolkit; import _ "github.com/toolhost/toolhost/internal/filetool"`, "may not import internal/filetool",
	},
	{
		"tests take testneed", "imports of our own packages", "pkg/toolkit/a_test.go",
		`package toolkit; import _ "github.com/toolhost/toolhost/internal/testneed"`, "",
	},
	{
		"program and its tool package", "imports of our own packages", "cmd/mcp-files/main.go",
		`package main; import _ "github.com/toolhost/toolhost/internal/filetool"`, "",
	},
	{
		"engine without SDK", "imports of modules", "pkg/patchapply/a.go",
		`package patchapply; import _ "github.com/modelcontextprotocol/go-sdk/mcp"`, "may be imported only in",
	},
	{
		"tool package with SDK", "imports of modules", "internal/filetool/a.go",
		`package filetool; import _ "github.com/modelcontextprotocol/go-sdk/mcp"`, "",
	},
	{
		"unknown module", "imports of modules", "pkg/toolkit/a.go",
		`package toolkit; import _ "example.org/shiny"`, "not in the table of modules",
	},
	{
		"test module in code", "imports of modules", "pkg/toolkit/a.go",
		`package toolkit; import _ "github.com/google/go-cmp/cmp"`, "may be imported only in tests",
	},
	{"no package comment", "one package comment", "pkg/toolkit/a.go", "package toolkit", "0 package comments"},
	{"comment in a test only", "one package comment", "integration/a_test.go", "// Package a is.\npackage a", ""},
	{"empty name", "package names", "pkg/util/a.go", "package util", "not named for what it is"},
	{
		"undocumented function", "exported names are documented", "pkg/toolkit/a.go",
		"package toolkit\nfunc Add() {}", "Add has no comment",
	},
	{
		"undocumented method", "exported names are documented", "pkg/toolkit/a.go",
		"package toolkit\n// T is.\ntype T[A any] struct{}\nfunc (t *T[A]) Add() {}", "Add has no comment",
	},
	{
		"undocumented constant", "exported names are documented", "pkg/toolkit/a.go",
		"package toolkit\nconst (\n// A is.\nA = 1\nB = 2\n)", "B has no comment",
	},
	{
		"documented group", "exported names are documented", "pkg/toolkit/a.go",
		"package toolkit\n// Sizes.\nconst (\nA = 1\nB = 2\n)\ntype t int\nfunc (t) Add() {}", "",
	},
	{"long program", "programs are short", "cmd/mcp-files/main.go", "package main" + strings.Repeat("\n", 31), "31 lines"},
	{"long file", "files are short", "pkg/toolkit/a.go", "package toolkit" + strings.Repeat("\n", 401), "401 lines"},
	{"long test", "files are short", "pkg/toolkit/a_test.go", "package toolkit" + strings.Repeat("\n", 401), ""},
	{
		"long function", "functions are short", "pkg/toolkit/a.go",
		"package toolkit\nfunc add() {" + strings.Repeat("\n", 60) + "}", "pkg/toolkit.add has 61 lines",
	},
	{
		"many parameters", "few parameters", "pkg/toolkit/a.go",
		"package toolkit\nfunc (t *T) add(a, b, c, d, e, f int) {}", "pkg/toolkit.T.add has 6 parameters",
	},
	{
		"error text", "error texts", "pkg/toolkit/a.go",
		"package toolkit\nconst text = `Failed to open`", "names the operation",
	},
	{"init", "no init functions", "pkg/toolkit/a.go", "package toolkit\nfunc init() {}", "init runs before"},
	{
		"option parameter", "no functional options", "pkg/toolkit/a.go",
		"package toolkit\nfunc New(opts ...Option) {}", "options are a struct",
	},
	{
		"option constructor", "no functional options", "pkg/toolkit/a.go",
		"package toolkit\nfunc WithSize(n int) func(*T) { return nil }", "options are a struct",
	},
	{"replace", "nothing replaced in go.mod", "go.mod", "module m\nreplace a => b\n", "go.mod:"},
	{"replace block", "nothing replaced in go.mod", "go.mod", "module m\nreplace (\n\ta => b\n)\n", "go.mod:"},
	{
		"skip", "only testneed skips", "pkg/toolkit/a_test.go",
		"package toolkit\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Skip() }", "internal/testneed",
	},
	{"module cache", "no paths or hosts of a machine", "README.md", "see /root/" + "go/pkg", "belongs to one machine"},
	{"registry", "no paths or hosts of a machine", "a/package-lock.json", `"resolved"` + `: "x"`, "belongs to one machine"},
	{"binary file", "no paths or hosts of a machine", "a.gz", "\x00/root/" + "go/pkg", ""},
}

func TestRulesFindBreaches(t *testing.T) {
	for _, tc := range planted {
		t.Run(tc.name, func(t *testing.T) {
			tr, err := load(fstest.MapFS{tc.path: {Data: []byte(tc.text)}})
			if err != nil {
				t.Fatal(err)
			}
			got := rules[tc.rule](tr)
			switch {
			case tc.want == "" && len(got) > 0:
				t.Errorf("found %q where nothing is wrong", got)
			case tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)):
				t.Errorf("found %q, want one with %q", got, tc.want)
			}
		})
	}
}

func TestEveryRuleIsProved(t *testing.T) {
	proved := map[string]bool{}
	for _, tc := range planted {
		proved[tc.rule] = proved[tc.rule] || tc.want != ""
	}
	for name := range rules {
		if !proved[name] {
			t.Errorf("nothing planted breaks the rule %q", name)
		}
	}
}
