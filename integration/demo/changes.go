package main

import (
	"os"
	"path/filepath"
	"strings"
)

// changeShows let mcp-patch and mcp-files change a copy of a part of this project.
func changeShows(tree, dir string) ([]show, error) {
	root := filepath.Join(dir, "copy")
	if err := copyPart(tree, root, "go.mod", "README.md", "cmd"); err != nil {
		return nil, err
	}
	flags := []string{"--root", root, "--state-dir", filepath.Join(dir, "state")}
	return []show{
		{server: "mcp-patch", flags: flags, root: root, calls: patchSteps()},
		{server: "mcp-files", flags: append(flags, "--write"), root: root, calls: writeSteps()},
	}, nil
}

func copyPart(from, to string, names ...string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name)))
		} else {
			var data []byte
			if data, err = os.ReadFile(filepath.Join(from, name)); err == nil {
				err = os.WriteFile(filepath.Join(to, name), data, info.Mode())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func envelope(lines ...string) map[string]any {
	return map[string]any{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

// patched is what the first patch makes of a main function.
const patched = "func main() {\n\tos.Exit(toolkit.Main(patchtool.App()))\n}\n"

func patchSteps() []step {
	return []step{
		{
			title: "a patch of four files", tool: "apply_patch",
			args: envelope(
				"*** Update File: README.md", "@@", "-# toolhost", "+# A copy of toolhost",
				"*** Update File: cmd/mcp-patch/main.go", "*** Move to: cmd/patch/main.go", "@@",
				"-func main() { os.Exit(toolkit.Main(patchtool.App())) }",
				"+func main() {", "+\tos.Exit(toolkit.Main(patchtool.App()))", "+}",
				"*** Add File: docs/NEWS.md", "+It was patched.",
				"*** Delete File: go.mod",
			),
			want: []string{
				"completed\n", "Updated file: README.md", "Moved file: cmd/mcp-patch/main.go -> cmd/patch/main.go",
				"Created file: docs/NEWS.md (16 bytes)", "Deleted file: go.mod",
			},
			holds: map[string]string{
				"README.md": "# A copy of toolhost\n", "cmd/patch/main.go": patched,
				"docs/NEWS.md": "It was patched.\n", "cmd/mcp-patch/main.go": "", "go.mod": "",
			},
		},
		{
			title: "one whose second file does not fit: nothing is changed, and the model learns why", tool: "apply_patch", refused: true,
			args: envelope(
				"*** Add File: docs/MORE.md", "+This would be new.",
				"*** Update File: cmd/patch/main.go", "@@", " func main() {", "-    os.Exit(1)", "+    os.Exit(0)",
			),
			want:  []string{"context_not_found: cmd/patch/main.go: hunk 1 of 1", "expected: ", "found: ", "No files were changed."},
			holds: map[string]string{"docs/MORE.md": "", "cmd/patch/main.go": patched},
		},
		{
			title: "one that would leave the root", tool: "apply_patch", refused: true,
			args: envelope("*** Add File: ../outside.txt", "+x"),
			want: []string{"path_escape: "}, holds: map[string]string{"../outside.txt": ""},
		},
	}
}

func writeSteps() []step {
	return []step{
		{
			title: "a new file", tool: "Write",
			args: map[string]any{"file_path": "docs/TODO.md", "content": "one\ntwo\n"},
			want: []string{"Created docs/TODO.md: 8 bytes, 2 lines"}, holds: map[string]string{"docs/TODO.md": "one\ntwo\n"},
		},
		{
			title: "a change of it", tool: "Edit",
			args: map[string]any{"file_path": "docs/TODO.md", "old_string": "two", "new_string": "2"},
			want: []string{"Updated docs/TODO.md", "\n-two\n+2"}, holds: map[string]string{"docs/TODO.md": "one\n2\n"},
		},
		{
			title: "text that is nearly there", tool: "Edit", refused: true,
			args: map[string]any{"file_path": "cmd/patch/main.go", "old_string": "    os.Exit(", "new_string": ""},
			want: []string{"nothing was changed", "tabs"}, holds: map[string]string{"cmd/patch/main.go": patched},
		},
	}
}
