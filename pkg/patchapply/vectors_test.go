package patchapply_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

// A vector is one example of testdata/apply_patch.json.
type vector struct {
	Name      string
	Before    map[string]vectorFile
	Patch     string
	Operation *patchapply.Operation
	Expected  struct {
		Files map[string]vectorFile
		Error patchapply.Class
	}
}

// A vectorFile is a file of a vector: a text, or an object with more.
type vectorFile struct {
	Text, B64, Mode, Symlink *string
}

func (f *vectorFile) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &f.Text)
	}
	type plain vectorFile
	return json.Unmarshal(b, (*plain)(f))
}

func (f *vectorFile) content(t *testing.T) string {
	t.Helper()
	if f.B64 == nil {
		return *f.Text
	}
	b, err := base64.StdEncoding.DecodeString(*f.B64)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ofStorage are vectors about links, roots and directories, which a storage decides.
var ofStorage = []string{
	"env-delete-directory", "env-update-directory", "env-path-dotdot-escape", "env-path-absolute-outside",
	"env-path-absolute-inside", "env-path-file-as-dir", "env-symlink-inside", "env-symlink-outside", "env-delete-symlink",
}

func TestVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/apply_patch.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Vectors []vector }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all.Vectors {
		if slices.Contains(ofStorage, v.Name) {
			continue
		}
		t.Run(v.Name, func(t *testing.T) { v.run(t) })
	}
}

func (v *vector) run(t *testing.T) {
	before := contents(t, v.Before)
	var p *patchapply.Patch
	var err error
	if v.Operation != nil {
		p, err = patchapply.ParseOperations([]patchapply.Operation{*v.Operation})
	} else {
		p, err = patchapply.Parse([]byte(v.Patch))
	}
	after := before
	if err == nil {
		after, err = applyTo(before, p)
	}
	if v.Expected.Error != "" || err != nil {
		if got := patchapply.ClassOf(err); got != v.Expected.Error || got == "" {
			t.Fatalf("class = %q, want %q: %v", got, v.Expected.Error, err)
		}
		return
	}
	if diff := cmp.Diff(contents(t, v.Expected.Files), after); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

func contents(t *testing.T, files map[string]vectorFile) map[string]string {
	t.Helper()
	m := map[string]string{}
	for name, f := range files {
		m[name] = f.content(t)
	}
	return m
}

// applyTo applies a patch to files in a map.
func applyTo(files map[string]string, p *patchapply.Patch) (map[string]string, error) {
	m := maps.Clone(files)
	for i := range p.Sections {
		if err := applySection(m, &p.Sections[i]); err != nil {
			return files, err
		}
	}
	return m, nil
}

func applySection(m map[string]string, s *patchapply.Section) error {
	name, to := path.Clean(s.Path), path.Clean(s.MoveTo)
	before, exists := m[name]
	switch {
	case s.Kind == patchapply.Add && exists:
		return &patchapply.Error{Class: patchapply.AlreadyExists, Path: s.Path}
	case s.Kind == patchapply.Add:
		m[name] = string(s.Content)
		return nil
	case !exists:
		return &patchapply.Error{Class: patchapply.FileNotFound, Path: s.Path, Err: fs.ErrNotExist}
	case s.Kind == patchapply.Delete:
		if rest, _, err := s.Apply([]byte(before)); err != nil || len(s.Hunks) > 0 && len(rest) > 0 {
			return fmt.Errorf("%s is not what the diff deletes: %q left, %w", name, rest, err)
		}
		delete(m, name)
		return nil
	}
	after, _, err := s.Apply([]byte(before))
	if err != nil {
		return err
	}
	if s.MoveTo == "" || to == name {
		m[name] = string(after)
		return nil
	}
	if _, taken := m[to]; taken {
		return &patchapply.Error{Class: patchapply.AlreadyExists, Path: s.MoveTo}
	}
	delete(m, name)
	m[to] = string(after)
	return nil
}

// wantError fails unless err is an Error of a class that keeps what its text promises.
func wantError(t *testing.T, err error, class patchapply.Class, parts ...string) {
	t.Helper()
	var e *patchapply.Error
	if !errors.As(err, &e) || e.Class != class {
		t.Fatalf("error %v, want class %s", err, class)
	}
	if n := len(e.Visible()); n > 2048 {
		t.Errorf("%d bytes, want at most 2048", n)
	}
	if !strings.HasSuffix(e.Text, "No files were changed.") {
		t.Errorf("text does not say that no files were changed: %q", e.Text)
	}
	for _, part := range parts {
		if !strings.Contains(e.Text, part) {
			t.Errorf("text lacks %q:\n%s", part, e.Text)
		}
	}
}
