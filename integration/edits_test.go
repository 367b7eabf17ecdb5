package integration_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// files.md P10: 50 edits of one file from each of two programs, all at once, all land. Each
// of them fits; that another came first is no reason to refuse one.
func TestEditsOfTwoProcessesLand(t *testing.T) {
	const each = 50
	root, state := t.TempDir(), t.TempDir()
	file := filepath.Join(root, "f.txt")
	var old, want strings.Builder
	for i := range 2 * each {
		fmt.Fprintf(&old, "place %03d\n", i)
		fmt.Fprintf(&want, "PLACE %03d\n\n", i)
	}
	if err := os.WriteFile(file, []byte(old.String()), 0o640); err != nil {
		t.Fatal(err)
	}
	var servers []*server
	for range 2 {
		servers = append(servers, start(t, modern, binary(t, "cmd/mcp-files"), "--write", "--root", root, "--state-dir", state))
	}
	for n, s := range servers {
		var lines strings.Builder
		for i := range each {
			at := n + 2*i
			args := fmt.Sprintf(`{"file_path":"f.txt","old_string":"place %03d","new_string":"PLACE %03d\n"}`, at, at)
			lines.WriteString(modern.call(at, "Edit", args) + "\n")
		}
		go io.WriteString(s.in, lines.String())
	}
	for _, s := range servers {
		for range each {
			m := s.next()
			if _, err := strconv.Atoi(string(m.ID)); err != nil || m.Result == nil || m.Result.IsError {
				t.Errorf("answer %+v: %s", m, m.text())
			}
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("the file holds\n%s", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 1 {
		t.Errorf("the root holds %v, %v", left, err)
	}
}
