package integration_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A changeCall is a call that changes files below a folder, and what its answer says.
type changeCall struct {
	tool    string
	args    map[string]any // $ in them stands for the folder
	first   string         // all of the first line of the answer, as a regular expression
	isError bool
}

func patchCall(first string, isError bool, lines ...string) changeCall {
	patch := "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"
	return changeCall{"apply_patch", map[string]any{"patch": patch}, first, isError}
}

func editCall(first string, isError bool, before, after string) changeCall {
	return changeCall{"Edit", map[string]any{"file_path": "$/a.txt", "old_string": before, "new_string": after}, first, isError}
}

// A changing is a program that changes files, and what clients do with it.
type changing struct {
	program []string
	tools   string
	calls   []changeCall
	holds   map[string]string // what becomes of a folder whose a.txt holds "one", "two"
}

func changings() []changing {
	update := []string{"*** Update File: $/a.txt", "@@", " one", "-two", "+2", "*** Add File: $/new/b.txt", "+grüß dich"}
	return []changing{
		{[]string{"cmd/mcp-patch"}, "apply_patch", []changeCall{
			patchCall(`completed`, false, update...),
			patchCall(`context_not_found: \S+/a\.txt: hunk 1 of 1 .*`, true, update...),
			patchCall(`file_not_found: .*`, true, "*** Add File: $/not-made", "+x", "*** Delete File: $/none"),
			{"apply_patch", map[string]any{"operation": map[string]any{"type": "delete_file", "path": "$/old.txt"}}, `completed`, false},
		}, map[string]string{"a.txt": "one\n2\n", "new/b.txt": "grüß dich\n"}},
		{[]string{"cmd/mcp-files", "--write"}, "Edit Glob Grep List Read Stat Write", []changeCall{
			editCall(`Updated \S+/a\.txt: .* 1 replacement, .*`, false, "two", "2"),
			editCall(`\S+/a\.txt: old_string was not found, nothing was changed.*`, true, "two", "2"),
			{"Write", map[string]any{"path": "$/new/b.txt", "content": "grüß dich\n"}, `Created \S+/new/b\.txt: .*`, false},
		}, map[string]string{"a.txt": "one\n2\n", "new/b.txt": "grüß dich\n", "old.txt": "old\n"}},
	}
}

// Real clients list the tools that change files, call them, and get what is refused. They
// check results against the schemas that tools/list declared.
func TestClientsChange(t *testing.T) {
	t.Parallel()
	for _, ch := range changings() {
		t.Run(filepath.Base(ch.program[0]), func(t *testing.T) {
			root := t.TempDir()
			server := append([]string{binary(t, ch.program[0]), "--root", root, "--state-dir", t.TempDir()}, ch.program[1:]...)
			eachClient(t, server, func(t *testing.T, c client, at target) {
				folder := strings.NewReplacer("/", "_", " ", "_").Replace(t.Name())
				ch.play(t, c, at, root, folder)
			})
		})
	}
}

func (ch changing) play(t *testing.T, c client, at target, root, folder string) {
	t.Helper()
	plant(t, filepath.Join(root, folder), map[string]string{"a.txt": "one\ntwo\n", "old.txt": "old\n"})
	steps := []step{{Do: "list"}}
	for _, call := range ch.calls {
		args, _ := inFolder(call.args, folder).(map[string]any)
		steps = append(steps, step{Do: "call", Tool: call.tool, Args: args})
	}
	got := c.drive(t, scenario{target: at, Steps: steps})
	var names []string
	for _, tool := range got[0].Result.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if strings.Join(names, " ") != ch.tools {
		t.Errorf("tools %v, want %s", names, ch.tools)
	}
	for i, call := range ch.calls {
		text := got[i+1].text(t)
		first, _, _ := strings.Cut(text, "\n")
		if want := regexp.MustCompile("^" + call.first + "$"); got[i+1].Result.IsError != call.isError || !want.MatchString(first) {
			t.Errorf("%s %v: an error: %v, %q, want %v, %s", call.tool, call.args, got[i+1].Result.IsError, text, call.isError, want)
		}
	}
	looks(t, filepath.Join(root, folder), planted(t, ch.holds))
}

// inFolder puts the folder into all texts of a value.
func inFolder(v any, folder string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "$", folder)
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = inFolder(value, folder)
		}
		return out
	}
	return v
}
