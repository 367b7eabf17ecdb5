package storagetest

import (
	"testing"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

func testClean(t *testing.T, f Fixture) {
	f.Write("dir/a", "x", 0o644)
	v := f.Storage.View(t.Context())
	want, err := v.Clean("dir/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []string{"./dir/a", "dir//a", "dir/./a", "dir/none/../a"} {
		if got, err := v.Clean(same); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", same, got, err, want)
		}
	}
	for path, class := range map[string]patchapply.Class{
		"":              patchapply.InvalidPath,
		".":             patchapply.InvalidPath,
		"dir/..":        patchapply.InvalidPath,
		"dir/new/":      patchapply.InvalidPath,
		"a\x00b":        patchapply.InvalidPath,
		"..":            patchapply.PathEscape,
		"../x":          patchapply.PathEscape,
		"dir/../../x":   patchapply.PathEscape,
		"/no/such/root": patchapply.PathEscape,
	} {
		_, err := v.Clean(path)
		wantClass(t, "clean "+path, err, class)
	}
}

func testLoad(t *testing.T, f Fixture) {
	f.Write("dir/run", "abc", 0o755)
	f.Write("empty", "", 0o600)
	v := f.Storage.View(t.Context())
	run := load(t, v, "dir/run")
	if string(run.Content) != "abc" || run.Perm != 0o755 || run.Real != "dir/run" || run.IsLink {
		t.Errorf("dir/run: %+v", run)
	}
	if empty := load(t, v, "empty"); len(empty.Content) != 0 || empty.Perm != 0o600 {
		t.Errorf("empty: %+v", empty)
	}
	for _, path := range []string{"none", "dir/none", "none/none"} {
		if got, err := v.Load(path, 10); got != nil || err != nil {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	if _, err := v.Load("dir/run", 3); err != nil {
		t.Errorf("just within the limit: %v", err)
	}
	_, err := v.Load("dir/run", 2)
	wantClass(t, "above the limit", err, patchapply.TooLarge)
	_, err = v.Load("dir", 10)
	wantClass(t, "a directory", err, patchapply.IsDirectory)
	_, err = v.Load("empty/x", 10)
	wantClass(t, "below a file", err, patchapply.InvalidPath)
}

func testSimilar(t *testing.T, f Fixture) {
	f.Write("src/main.rs", "x", 0o644)
	near := f.Storage.View(t.Context()).Similar("src/mian.rs")
	if len(near) != 1 || near[0] != "src/main.rs" {
		t.Errorf("got %q", near)
	}
}

func testLinks(t *testing.T, f Fixture) {
	if f.Link == nil {
		return
	}
	f.Write("dir/real", "x", 0o644)
	f.Link("link", "dir/real")
	f.Link("dir/second", "../link")
	tx := begin(t, f)
	for _, path := range []string{"link", "dir/second"} {
		l := load(t, tx, path)
		if !l.IsLink || l.Real != "dir/real" || string(l.Content) != "x" || l.Broken != nil {
			t.Errorf("%s: %+v", path, l)
		}
	}
	err := tx.Commit([]patchapply.Change{
		{Path: "link", Before: load(t, tx, "link"), Remove: true},
		{Path: "dir/real", Before: load(t, tx, "dir/real"), After: []byte("y")},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantTree(t, f, map[string]string{"dir/real": "0644 y", "dir/second": "-> ../link"})
}

func testBrokenLinks(t *testing.T, f Fixture) {
	if f.Link == nil {
		return
	}
	f.Write("dir/x", "x", 0o644)
	tx := begin(t, f)
	var remove []patchapply.Change
	for _, l := range []struct {
		name, target string
		class        patchapply.Class
	}{
		{"outside", "../outside.txt", patchapply.PathEscape},
		{"dangling", "none", patchapply.FileNotFound},
		{"directory", "dir", patchapply.IsDirectory},
	} {
		f.Link(l.name, l.target)
		got := load(t, tx, l.name)
		if !got.IsLink || got.Content != nil {
			t.Errorf("%s: %+v", l.name, got)
		}
		wantClass(t, l.name, got.Broken, l.class)
		remove = append(remove, patchapply.Change{Path: l.name, Before: got, Remove: true})
	}
	if err := tx.Commit(remove); err != nil {
		t.Fatal(err)
	}
	wantTree(t, f, map[string]string{"dir/x": "0644 x"})
}
