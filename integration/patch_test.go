package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lineChange is a call that changes one line of a file, "old 007" to "new 007".
type lineChange func(line int) (tool, args string)

func patchLine(line int) (tool, args string) {
	patch := fmt.Sprintf("*** Begin Patch\n*** Update File: a.txt\n@@\n-old %03d\n+new %03d\n*** End Patch\n", line, line)
	return "apply_patch", fmt.Sprintf(`{"patch":%s}`, marshal(patch))
}

func editLine(line int) (tool, args string) {
	return "Edit", fmt.Sprintf(`{"file_path":"a.txt","old_string":"old %03d","new_string":"new %03d"}`, line, line)
}

// Changes of different places in one file, from two processes at once, all land.
func TestParallelChanges(t *testing.T) {
	const each = 50
	type process struct {
		program string
		flags   []string
		change  lineChange
	}
	patch := process{"cmd/mcp-patch", nil, patchLine}
	edit := process{"cmd/mcp-files", []string{"--write"}, editLine}
	for name, processes := range map[string][2]process{
		"patches":           {patch, patch},
		"patches and edits": {patch, edit},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			root := filepath.Join(top, "root")
			file := filepath.Join(root, "a.txt")
			before, after := numbered("old", 2*each), numbered("new", 2*each)
			if err := os.Mkdir(root, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(before), 0o640); err != nil {
				t.Fatal(err)
			}
			var servers []*server
			for _, p := range processes {
				flags := append([]string{"--root", root, "--state-dir", filepath.Join(top, "state")}, p.flags...)
				servers = append(servers, start(t, modern, binary(t, p.program), flags...))
			}
			for i := range each { // all calls are under way before the first answer is read
				for j, p := range processes {
					tool, args := p.change(each*j + i)
					servers[j].send(modern.call(i, tool, args))
				}
			}
			for _, s := range servers {
				for range each {
					if m := s.next(); m.Result == nil || m.Result.IsError {
						t.Errorf("%s: %+v %s", m.ID, m.Error, m.text())
					}
				}
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != after {
				t.Errorf("lost: %d of %d lines", strings.Count(string(got), "old"), 2*each)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode: %v, %v", info, err)
			}
			if names, err := os.ReadDir(root); err != nil || len(names) != 1 {
				t.Errorf("the root holds %v, %v", names, err)
			}
		})
	}
}

func numbered(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %03d\n", word, i)
	}
	return b.String()
}
