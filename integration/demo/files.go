package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// filesShow lets mcp-files find its way in the tree of this project.
func filesShow(tree string) show {
	return show{
		server: "mcp-files",
		flags:  []string{"--root", tree},
		calls: []step{
			{
				title: "which programs are there?", tool: "Glob",
				args: map[string]any{"pattern": "cmd/*/main.go"},
				want: []string{"cmd/mcp-files/main.go"},
			},
			{
				title: "where is the main function of each?", tool: "Grep",
				args: map[string]any{"pattern": `^func main\(\)`, "output_mode": "content", "path": "cmd"},
				want: []string{"cmd/mcp-files/main.go:", "func main()"},
			},
			{
				title: "how often is a word used, file by file?", tool: "Grep",
				args: map[string]any{"pattern": "approval", "output_mode": "count", "type": "go", "head_limit": 5},
				want: []string{".go:"},
			},
			{
				title: "read it", tool: "Read",
				args: map[string]any{"file_path": "cmd/mcp-files/main.go"},
				want: []string{"1\t// Command mcp-files", "toolkit.Main(filetool.App())"},
			},
			{
				title: "read the end of it, with the number in a string", tool: "Read",
				args: map[string]any{"path": "cmd/mcp-files/main.go", "offset": "-1"},
				want: []string{"\tfunc main()"},
			},
			{
				title: "what is in the tree?", tool: "List",
				args: map[string]any{"depth": 1},
				want: []string{"pkg/", "README.md"},
			},
			{
				title: "what is known of a file?", tool: "Stat",
				args: map[string]any{"path": "go.mod"},
				want: []string{"go.mod", "utf-8"},
			},
			{
				title: "a file that is nearly called that", tool: "Read", refused: true,
				args: map[string]any{"file_path": "REDME.md"},
				want: []string{"README.md"},
			},
			{
				title: "a file outside the root", tool: "Read", refused: true,
				args: map[string]any{"file_path": "/etc/passwd"},
			},
			{
				title: "a pattern that cannot be", tool: "Grep", refused: true,
				args: map[string]any{"pattern": "func main("},
				want: []string{"literal"},
			},
		},
	}
}

// awkwardShow lets mcp-files loose on a tree that is made to mislead it.
func awkwardShow(dir string) (show, error) {
	files := map[string]string{
		".gitignore":       "build/\n*.log\n!keep.log\n",
		"build/out.txt":    "needle\n",
		"debug.log":        "needle\n",
		"keep.log":         "needle\n",
		"app/[id]/page.ts": "export const needle = 1\r\n",
		"latin1.txt":       "stra\xdfe\n",
		"picture.bin":      "\x00\x01needle",
	}
	for i := range 250 {
		files[fmt.Sprintf("many/%03d.txt", i)] = "hay\n"
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return show{}, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return show{}, err
		}
	}
	return show{
		server: "mcp-files",
		flags:  []string{"--root", dir},
		calls: []step{
			{
				title: "what git ignores is left out, and counted", tool: "Grep",
				args: map[string]any{"pattern": "needle"},
				want: []string{"app/[id]/page.ts\nkeep.log\n", "ignored", "binary"},
			},
			{
				title: "unless it is asked for", tool: "Grep",
				args: map[string]any{"pattern": "needle", "include_ignored": true},
				want: []string{"build/out.txt", "debug.log"},
			},
			{
				title: "brackets in a name are no pattern where such a file exists", tool: "Glob",
				args: map[string]any{"pattern": "app/[id]/page.ts"},
				want: []string{"app/[id]/page.ts"},
			},
			{
				title: "a page of many", tool: "Glob",
				args: map[string]any{"pattern": "many/*", "head_limit": 200},
				want: []string{"many/199.txt", "[files 1-200 of 250; offset=200 for more]"},
			},
			{
				title: "the page that it names", tool: "Glob",
				args: map[string]any{"pattern": "many/*", "head_limit": 200, "offset": 200},
				want: []string{"many/200.txt", "many/249.txt"},
			},
			{
				title: "text that is not UTF-8 can be read", tool: "Read",
				args: map[string]any{"file_path": "latin1.txt"},
				want: []string{"1\tstraße"},
			},
		},
	}, nil
}
