package integration_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plant writes files below dir, and makes the directories that they need. A content of
// "-> x" stands for a link to x.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, isLink := strings.CutPrefix(content, "-> "); err == nil && isLink {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// picture returns all that is below dir: mode and content by path.
func picture(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content []byte
		switch {
		case info.Mode().IsRegular():
			content, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(path)
			content = []byte(target)
		}
		all[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%v %s", info.Mode(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// looks wants what is below dir to be as it was.
func looks(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, picture(t, dir)); diff != "" {
		t.Errorf("below %s (-want +got):\n%.3000s", dir, diff)
	}
}

// settled wants a state directory to hold nothing but locks: no journal of a change that is
// still to be undone.
func settled(t testing.TB, state string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(state, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if filepath.Base(name) != "lock" {
			t.Errorf("left in the state directory: %s", name)
		}
	}
}
