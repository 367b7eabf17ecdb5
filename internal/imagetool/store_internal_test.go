package imagetool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// A file that is there stays as it is, and nothing half written is left beside it.
func TestNothingIsOverwritten(t *testing.T) {
	s := &store{dir: filepath.Join(t.TempDir(), "out")}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const id = "aaaaaaaaaaaaaaaa"
	file, err := s.save(id, "boat", at, provider.Picture{Data: []byte("first"), Format: provider.PNG})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.save(id, "boat", at, provider.Picture{Data: []byte("second"), Format: provider.PNG}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want that it exists", err)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
	if data, err := os.ReadFile(file); string(data) != "first" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

// The directory itself is the user's alone, too.
func TestOutputDirectoryIsPrivate(t *testing.T) {
	s := &store{dir: filepath.Join(t.TempDir(), "a", "out")}
	if _, err := s.save("aaaaaaaaaaaaaaaa", "", time.Now(), provider.Picture{Data: []byte("x"), Format: provider.PNG}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.dir); err != nil || info.Mode().Perm() != dirMode {
		t.Errorf("it has %v, %v", info.Mode(), err)
	}
}

// Without a home there is no usual place: not the working directory, which may be /.
func TestNoHome(t *testing.T) {
	for _, name := range []string{"XDG_DATA_HOME", "HOME", "USERPROFILE", "home"} {
		t.Setenv(name, "")
	}
	for _, dir := range []string{"", "relative"} {
		t.Setenv("XDG_DATA_HOME", dir)
		t.Setenv("HOME", dir)
		if got := dataDir(); got != "" {
			t.Errorf("with %q pictures go to %s", dir, got)
		}
	}
	s := &store{}
	if _, err := s.save("aaaaaaaaaaaaaaaa", "", time.Now(), provider.Picture{Data: []byte("x"), Format: provider.PNG}); !errors.Is(err, errNoDir) {
		t.Errorf("got %v", err)
	}
}

// What a killed writer left is removed after an hour, and counts until then; what others put
// there stays, whatever its age.
func TestLeftBehind(t *testing.T) {
	const first, second = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"
	for name, c := range map[string]struct {
		keep limits
		age  time.Duration
		left []string // beside the newest picture
	}{
		"old, and all is kept":   {limits{}, 2 * time.Hour, []string{first + ".png", "other"}},
		"old":                    {limits{bytes: 100}, 2 * time.Hour, []string{first + ".png", "other"}},
		"of now":                 {limits{bytes: 150}, 0, []string{temp, first + ".png", "other"}},
		"of now, and room is up": {limits{bytes: 100}, 0, []string{temp, "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &store{dir: filepath.Join(t.TempDir(), "out"), keep: c.keep}
			now := time.Now()
			old, err := s.save(first, "", now, provider.Picture{Data: make([]byte, 50), Format: provider.PNG})
			if err != nil {
				t.Fatal(err)
			}
			day := filepath.Dir(old)
			at := now.Add(-time.Minute)
			err = errors.Join(os.Chtimes(old, at, at),
				os.WriteFile(filepath.Join(day, temp), make([]byte, 50), 0o600), os.Chtimes(filepath.Join(day, temp), now.Add(-c.age), now.Add(-c.age)),
				os.WriteFile(filepath.Join(day, "other"), nil, 0o600), os.Chtimes(filepath.Join(day, "other"), at.AddDate(-1, 0, 0), at.AddDate(-1, 0, 0)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.save(second, "", now, provider.Picture{Data: make([]byte, 50), Format: provider.PNG}); err != nil {
				t.Fatal(err)
			}
			if err := s.prune(second); err != nil {
				t.Fatal(err)
			}
			var left []string
			entries, err := os.ReadDir(day)
			for _, e := range entries {
				if e.Name() != second+".png" {
					left = append(left, e.Name())
				}
			}
			if diff := cmp.Diff(c.left, left); diff != "" || err != nil || len(entries) != len(left)+1 {
				t.Errorf("-want +got\n%s, %v", diff, err)
			}
		})
	}
}

const temp = ".toolhost-tmp-cccccccccccccccc"
