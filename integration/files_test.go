package integration_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testneed"
)

// fileTree plants files below a new root, with a secret beside it, and returns the root.
func fileTree(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range map[string]string{
		"secret.txt":       "secret\n",
		"root/.gitignore":  "out/\n",
		"root/README.md":   "# Hello\n",
		"root/src/a.go":    "package a\n\nfunc Hello() {}\n",
		"root/src/b.go":    "package a\n",
		"root/out/gen.go":  "package out\n\nfunc Hello() {}\n",
		"root/src/[id].ts": "export {}\n",
	} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(top, "root")
}

// The clients check structured results against the schemas that tools/list declared, so a
// good answer here is also one that fits.
func TestClientsFiles(t *testing.T) {
	root := fileTree(t)
	server := []string{binary(t, "cmd/mcp-files"), "--root", root}
	tests := []struct {
		tool       string
		args       map[string]any
		isError    bool
		want, none []string // parts of the text, and what must not be there
	}{
		{"Read", map[string]any{"file_path": "src/a.go"}, false, []string{"1\tpackage a", "3\tfunc Hello() {}"}, nil},
		{"Read", map[string]any{"file_path": "src/[id].ts"}, false, []string{"export {}"}, nil},
		{"Read", map[string]any{"file_path": "src/none.go"}, true, []string{"src/none.go"}, []string{root}},
		{"Read", map[string]any{"file_path": "../secret.txt"}, true, nil, []string{"1\tsecret"}},
		{"Grep", map[string]any{"pattern": "func Hello", "output_mode": "content"}, false, []string{"src/a.go:3:func Hello() {}"}, []string{"out/gen.go:"}},
		{"Grep", map[string]any{"pattern": "Hello"}, false, []string{"README.md", "src/a.go"}, []string{"out/gen.go"}},
		{"Grep", map[string]any{"pattern": "(unclosed"}, true, []string{"literal"}, nil},
		{"Glob", map[string]any{"pattern": "**/*.go"}, false, []string{"src/a.go", "src/b.go"}, []string{"out/gen.go"}},
	}
	steps := []step{{Do: "list"}}
	for _, tc := range tests {
		steps = append(steps, step{Do: "call", Tool: tc.tool, Args: tc.args})
	}
	eachClient(t, server, func(t *testing.T, c client, at target) {
		got := c.drive(t, scenario{target: at, Steps: steps})
		var names []string
		for _, tool := range got[0].Result.Tools {
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		if want := "Glob Grep List Read Stat"; strings.Join(names, " ") != want {
			t.Errorf("tools %v, want %s", names, want)
		}
		for i, tc := range tests {
			text := got[i+1].text(t)
			if got[i+1].Result.IsError != tc.isError {
				t.Errorf("%s %v: %+v, want an error: %v", tc.tool, tc.args, got[i+1].Result, tc.isError)
			}
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s %v: %q, want %q in it", tc.tool, tc.args, text, want)
				}
			}
			for _, none := range tc.none {
				if strings.Contains(text, none) {
					t.Errorf("%s %v: %q, which must not hold %q", tc.tool, tc.args, text, none)
				}
			}
		}
	})
}

// files.md 4d, case 40: a thousand calls at once where only 128 descriptors may be open.
// They queue; none is refused, and calls that ask the same get the same.
func TestThousandCallsWithFewDescriptors(t *testing.T) {
	root := fileTree(t)
	for i := range 40 {
		dir := filepath.Join(root, "many", fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 20 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", j)), []byte("hit\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	calls := []struct{ tool, args string }{
		{"Read", `{"file_path":"src/a.go"}`},
		{"Grep", `{"pattern":"hit","head_limit":5}`},
		{"Grep", `{"pattern":"nothing has this"}`},
		{"Glob", `{"pattern":"**/*.txt"}`},
		{"List", `{"depth":2}`},
		{"Stat", `{"path":"src/a.go"}`},
	}
	eachEra(t, func(t *testing.T, e era) {
		s := start(t, e, testneed.Tool(t, "sh"), "-c", `ulimit -n 128; exec "$0" "$@"`, binary(t, "cmd/mcp-files"), "--root", root)
		var lines []string
		for i := range 1000 {
			c := calls[i%len(calls)]
			lines = append(lines, e.call(i, c.tool, c.args))
		}
		go io.WriteString(s.in, strings.Join(lines, "\n")+"\n")
		first := map[int]string{}
		for range lines {
			m := s.next()
			id, err := strconv.Atoi(string(m.ID))
			if err != nil || m.Result == nil || m.Result.IsError {
				t.Fatalf("answer %+v", m)
			}
			which := id % len(calls)
			if before, ok := first[which]; ok && before != m.text() {
				t.Errorf("%v: %q, and then %q", calls[which], before, m.text())
			}
			first[which] = m.text()
		}
	})
}
