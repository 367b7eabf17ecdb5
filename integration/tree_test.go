package integration_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plant writes files below dir, and makes the directories that they need, with the modes
// that the umask leaves. A content of "-> x" stands for a link to x.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if target, isLink := strings.CutPrefix(content, "-> "); err == nil && isLink {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o666)
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
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
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
			content, err = os.ReadFile(name)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(name)
			content = []byte(target)
		}
		all[strings.TrimPrefix(name, dir)] = fmt.Sprintf("%v %s", info.Mode(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// newModes returns the modes that new files and directories get.
func newModes(t testing.TB) (file, dir fs.FileMode) {
	t.Helper()
	top := t.TempDir()
	plant(t, top, map[string]string{"dir/file": ""})
	for name, mode := range map[string]*fs.FileMode{"dir": &dir, "dir/file": &file} {
		info, err := os.Stat(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		*mode = info.Mode()
	}
	return file, dir
}

// planted is the picture of a directory that holds files, and the directories that they need.
func planted(t testing.TB, files map[string]string) map[string]string {
	t.Helper()
	file, dir := newModes(t)
	all := map[string]string{"": fmt.Sprintf("%v ", dir)}
	for name, content := range files {
		all["/"+name] = fmt.Sprintf("%v %s", file, content)
		for up := path.Dir(name); up != "."; up = path.Dir(up) {
			all["/"+up] = fmt.Sprintf("%v ", dir)
		}
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
