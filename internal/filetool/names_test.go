package filetool_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestNoCanonicalNames: whatever the tools are called, no text sends a model to a name
// that it does not have.
func TestNoCanonicalNames(t *testing.T) {
	files := map[string]string{
		"a.txt": "hit", "long": strings.Repeat("x", 3000), "sub/deep/b": "", "bin": "\x00", "link": "-> a.txt",
	}
	for i := range 110 {
		files["many/"+strings.Repeat("i", i+1)] = ""
	}
	d := newWriter(t, files, "--names", "snake", "--tool-prefix", "x_")
	canonical := regexp.MustCompile(`\b(Read|Glob|Grep|List|Stat|Write|Edit)\b`)
	said := map[string]string{"instructions": d.client.InitializeResult().Instructions}
	for _, c := range []struct {
		name, tool string
		args       args
	}{
		{"a directory", "x_read_file", args{"path": "many"}},
		{"a long line", "x_read_file", args{"path": "long"}},
		{"past the end", "x_read_file", args{"path": "a.txt", "offset": 9}},
		{"binary", "x_read_file", args{"path": "bin"}},
		{"missing", "x_read_file", args{"path": "b.txt"}},
		{"a file where a directory is wanted", "x_glob", args{"pattern": "*", "path": "a.txt"}},
		{"a directory where a file is wanted", "x_glob", args{"pattern": "sub/deep"}},
		{"links", "x_glob", args{"pattern": "li*"}},
		{"a file where a directory is listed", "x_list_dir", args{"path": "a.txt"}},
		{"nothing", "x_grep", args{"pattern": "nothing"}},
		{"a bad expression", "x_grep", args{"pattern": "("}},
		{"over a directory", "x_write_file", args{"path": "sub", "content": ""}},
		{"another hash", "x_write_file", args{"path": "a.txt", "content": "", "expected_sha": strings.Repeat("0", 16)}},
		{"no edit", "x_edit_file", args{"path": "a.txt"}},
		{"an edit that does not fit", "x_edit_file", args{"path": "a.txt", "old_string": "Hit", "new_string": ""}},
		{"an edit of binary", "x_edit_file", args{"path": "bin", "old_string": "x", "new_string": ""}},
	} {
		said[c.name], _ = d.call(t, c.tool, c.args)
	}
	list, err := d.client.ListTools(t.Context(), nil)
	must(t, err)
	for _, tool := range list.Tools {
		said["description of "+tool.Name] = tool.Description
		if schema, ok := tool.OutputSchema.(map[string]any); ok {
			for name, p := range schema["properties"].(map[string]any) {
				said[tool.Name+", "+name], _ = p.(map[string]any)["description"].(string)
			}
		}
	}
	for what, text := range said {
		if name := canonical.FindString(text); name != "" {
			t.Errorf("%s names %s: %s", what, name, text)
		}
	}
}
