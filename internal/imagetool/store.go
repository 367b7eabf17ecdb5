package imagetool

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

// A store is the directory that pictures are saved in, as DAY/ID.EXT or DAY/NAME-ID.EXT. It is
// made with the first picture. Nothing in it is ever overwritten, and nothing but pictures of
// such names is removed.
type store struct {
	dir  string
	keep limits
	mu   sync.Mutex // of removing
}

// Modes of what is saved: it is the user's alone.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

var (
	dayForm  = regexp.MustCompile(`^\d{8}$`)
	idForm   = regexp.MustCompile(`^[a-z2-7]{16}(-([2-9]|10))?$`)
	tempForm = regexp.MustCompile(`^` + regexp.QuoteMeta(fsroot.TempPrefix) + `[a-z2-7]{16}$`)
	nameForm = regexp.MustCompile(`^(?:.+-)?([a-z2-7]{16}(?:-(?:[2-9]|10))?)\.(png|jpg|webp|gif|svg)$`)
)

// leftAfter is when a file that has not got its name never will: its writer was killed.
const leftAfter = time.Hour

// newID returns a name that nobody can guess: who knows it may see the picture. 80 bits.
func newID() string { return strings.ToLower(rand.Text()[:16]) }

// pictureID is the name of picture i of a job, from 0.
func pictureID(job string, i int) string {
	if i == 0 {
		return job
	}
	return fmt.Sprintf("%s-%d", job, i+1)
}

// extension of the files of a format.
func extension(f provider.Format) string {
	if f == provider.JPEG {
		return "jpg"
	}
	return string(f)
}

var errNoDir = errors.New("there is no home directory, and --output-dir names no other")

// root opens the directory.
func (s *store) root() (*os.Root, error) {
	if s.dir == "" {
		return nil, errNoDir
	}
	d, err := fsroot.NewSet(s.dir).Roots()[0].OpenDir(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.OSRoot()
}

// save writes a picture and returns where it lies. Either all of it is there or nothing.
func (s *store) save(id, name string, at time.Time, p provider.Picture) (file string, err error) {
	if s.dir == "" {
		return "", errNoDir
	}
	if err := os.MkdirAll(s.dir, dirMode); err != nil {
		return "", fmt.Errorf("make the output directory: %w", err)
	}
	root, err := s.root()
	if err != nil {
		return "", fmt.Errorf("open the output directory: %w", err)
	}
	defer root.Close()
	day := at.UTC().Format("20060102")
	if err := root.Mkdir(day, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make a directory: %w", err)
	}
	base := id + "." + extension(p.Format)
	if name != "" {
		base = name + "-" + base
	}
	rel := path.Join(day, base)
	if err := writeNew(root, rel, p.Data); err != nil {
		return "", fmt.Errorf("save a picture: %w", err)
	}
	return filepath.Join(s.dir, filepath.FromSlash(rel)), nil
}

// writeNew writes a file that is not there yet. It gets its name when it is whole.
func writeNew(root *os.Root, rel string, data []byte) error {
	temp := path.Join(path.Dir(rel), fsroot.TempPrefix+newID())
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer root.Remove(temp)
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	err = root.Link(temp, rel)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without hard links; the id makes the name a new one.
	if _, there := root.Lstat(rel); there == nil {
		return fs.ErrExist
	}
	return root.Rename(temp, rel)
}

// A saved is one picture in the directory.
type saved struct {
	rel  string
	id   string // "" of one that is being written, or was left so
	size int64
	at   time.Time
}

// ours returns the id in the name of a file that was saved here, "" where it has none yet.
func ours(name string) (id string, ok bool) {
	if m := nameForm.FindStringSubmatch(name); m != nil {
		return m[1], true
	}
	return "", tempForm.MatchString(name)
}

// list returns the pictures, newest day first.
func (s *store) list(root *os.Root) (out []saved) {
	days, _ := fs.ReadDir(root.FS(), ".") // what cannot be read is not there
	slices.Reverse(days)
	for _, day := range days {
		if !day.IsDir() || !dayForm.MatchString(day.Name()) {
			continue
		}
		files, _ := fs.ReadDir(root.FS(), day.Name())
		for _, f := range files {
			id, ok := ours(f.Name())
			if !ok || !f.Type().IsRegular() {
				continue
			}
			if info, err := f.Info(); err == nil {
				out = append(out, saved{path.Join(day.Name(), f.Name()), id, info.Size(), info.ModTime()})
			}
		}
	}
	return out
}

// find returns the file of a picture and its bytes.
func (s *store) find(id string) (file string, data []byte, err error) {
	root, err := s.root()
	if err != nil {
		return "", nil, errNoPicture
	}
	defer root.Close()
	for _, one := range s.list(root) {
		if one.id == id {
			data, err := root.ReadFile(one.rel)
			return filepath.Join(s.dir, filepath.FromSlash(one.rel)), data, err
		}
	}
	return "", nil, errNoPicture
}

// holds reports whether an absolute path is that of a picture of ours.
func (s *store) holds(file string) bool {
	rel, err := filepath.Rel(s.dir, file)
	return err == nil && filepath.IsAbs(file) && nameForm.MatchString(filepath.Base(rel)) && dayForm.MatchString(filepath.Dir(rel))
}

// prune removes the oldest pictures until the limits hold, but none of those just made, and
// what writers left behind that were killed.
func (s *store) prune(job string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.root()
	if err != nil {
		return err
	}
	defer root.Close()
	for _, one := range s.excess(s.list(root), job) {
		if err = cmp.Or(err, root.Remove(one.rel)); err == nil {
			_ = root.Remove(path.Dir(one.rel)) // if that was the last of its day
		}
	}
	return err
}

// excess returns what is to be removed, newest first.
func (s *store) excess(all []saved, job string) (out []saved) {
	slices.SortStableFunc(all, func(a, b saved) int { return b.at.Compare(a.at) })
	var count int
	var bytes int64
	for _, one := range all {
		unnamed := one.id == ""
		if unnamed && time.Since(one.at) > leftAfter {
			out = append(out, one)
			continue
		}
		bytes += one.size
		if unnamed {
			continue
		}
		count++
		over := s.keep.count > 0 && count > s.keep.count || s.keep.bytes > 0 && bytes > s.keep.bytes
		if over && !strings.HasPrefix(one.id, job) {
			out = append(out, one)
		}
	}
	return out
}

// maxName is how long the name for a file may be, in bytes; an id and an ending follow.
const maxName = 80

// fileName makes a harmless base name of what a caller gave: no folder, no ending, nothing but
// letters, digits, - and _. An id follows it always, so that no name is reserved or taken.
func fileName(given string) string {
	name := given[strings.LastIndexAny(given, `/\`)+1:]
	if f, ok := formats[strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))]; ok && f != "" {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	name = strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}, name)
	for len(name) > maxName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return strings.Trim(name, "-")
}
