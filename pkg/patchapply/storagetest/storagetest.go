// Package storagetest is what every [patchapply.Storage] must do, as tests.
//
//	func TestMyStorage(t *testing.T) {
//		storagetest.Run(t, func(t *testing.T) storagetest.Fixture { ... })
//	}
package storagetest

import (
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

// A Fixture is an empty storage, and another way to its files. Paths are clean.
type Fixture struct {
	Storage patchapply.Storage
	Write   func(path, content string, perm fs.FileMode) // makes directories as well
	Remove  func(path string)
	// Tree returns all that is there: "0644 content" of a file, "-> target" of a link.
	Tree func() map[string]string
	// Link makes a symbolic link; nil where the storage has none.
	Link func(path, target string)
	// Break makes a commit fail that changes path, after it has begun, until mend is
	// called; nil where that cannot be arranged.
	Break func(path string) (mend func())
}

// Run runs all tests, each on a new storage.
func Run(t *testing.T, fixture func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, Fixture){
		"clean":                        testClean,
		"load":                         testLoad,
		"similar":                      testSimilar,
		"commit":                       testCommit,
		"stale":                        testStale,
		"an error changes nothing":     testAllOrNothing,
		"a failing write":              testBroken,
		"sole right":                   testSole,
		"what a view loads can commit": testView,
		"links":                        testLinks,
		"broken links":                 testBrokenLinks,
	} {
		t.Run(name, func(t *testing.T) { test(t, fixture(t)) })
	}
}

// begin returns a transaction that ends with the test.
func begin(t *testing.T, f Fixture) patchapply.Tx {
	t.Helper()
	tx, err := f.Storage.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tx.End)
	return tx
}

// load loads what must be there.
func load(t *testing.T, v patchapply.View, path string) *patchapply.File {
	t.Helper()
	f, err := v.Load(path, 1<<20)
	if err != nil || f == nil {
		t.Fatalf("load %s: %v, %v", path, f, err)
	}
	return f
}

func wantClass(t *testing.T, what string, err error, want patchapply.Class) {
	t.Helper()
	if got := patchapply.ClassOf(err); got != want || err == nil {
		t.Errorf("%s: got %q (%v), want %q", what, got, err, want)
	}
}

func wantTree(t *testing.T, f Fixture, want map[string]string) {
	t.Helper()
	got := f.Tree()
	if maps.Equal(got, want) {
		return
	}
	for _, p := range slices.Sorted(maps.Keys(got)) {
		t.Errorf("have %s: %q", p, got[p])
	}
	for _, p := range slices.Sorted(maps.Keys(want)) {
		t.Errorf("want %s: %q", p, want[p])
	}
}
