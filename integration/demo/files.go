package main

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
