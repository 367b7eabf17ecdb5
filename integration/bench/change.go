package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A change is files with lines of which some are replaced.
type change struct {
	files []changedFile
}

// A changedFile is known by its number of lines, every gap-th of which changes.
type changedFile struct {
	path          string
	hunks, gap    int
	before, after []byte
}

// bigFile is a file of 5 MiB with 200 hunks.
func bigFile() change { return change{[]changedFile{newChangedFile("big.txt", 200, 830)}} }

// manyFiles are 1,000 files of 2 KiB in 20 directories, with a hunk each.
func manyFiles() (c change) {
	for i := range 1000 {
		c.files = append(c.files, newChangedFile(fmt.Sprintf("d%02d/file%03d.txt", i%20, i), 1, 64))
	}
	return c
}

func newChangedFile(path string, hunks, gap int) changedFile {
	f := changedFile{path: path, hunks: hunks, gap: gap}
	for i := range hunks * gap {
		f.before = fmt.Appendln(f.before, line(i))
		if i%gap == gap/2 {
			f.after = fmt.Appendln(f.after, "\tchanged", i)
			continue
		}
		f.after = fmt.Appendln(f.after, line(i))
	}
	return f
}

// line is line i of a file. Lines are as long as those of source code on average: 32 bytes.
func line(i int) string {
	return fmt.Sprintf("\tline %06d %s.", i, strings.Repeat("long ", i%8))
}

// hunk writes hunk i, the same in both kinds of patch below its head.
func (f changedFile) hunk(b *strings.Builder, i int) {
	at := i*f.gap + f.gap/2
	for n := at - 3; n <= at+3; n++ {
		if n == at {
			fmt.Fprintf(b, "-%s\n+\tchanged %d\n", line(n), n)
		} else {
			fmt.Fprintf(b, " %s\n", line(n))
		}
	}
}

// envelope is the change as a patch for models, of the files below dir.
func (c change) envelope(dir string) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	for _, f := range c.files {
		fmt.Fprintf(&b, "*** Update File: %s/%s\n", dir, f.path)
		for i := range f.hunks {
			b.WriteString("@@\n")
			f.hunk(&b, i)
		}
	}
	return b.String() + "*** End Patch\n"
}

// unified is the change as git would print it.
func (c change) unified() string {
	var b strings.Builder
	for _, f := range c.files {
		fmt.Fprintf(&b, "diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n", f.path, f.path, f.path, f.path)
		for i := range f.hunks {
			first := i*f.gap + f.gap/2 - 3 + 1
			fmt.Fprintf(&b, "@@ -%d,7 +%d,7 @@\n", first, first)
			f.hunk(&b, i)
		}
	}
	return b.String()
}

// write makes the files as they are before the change.
func (c change) write(dir string) error {
	for _, f := range c.files {
		name := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.before, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// reset makes sure that the change was made, and takes it back.
func (c change) reset(dir string) error {
	for _, f := range c.files {
		name := filepath.Join(dir, filepath.FromSlash(f.path))
		if is, err := os.ReadFile(name); err != nil || !bytes.Equal(is, f.after) {
			return fmt.Errorf("%s was not changed as it should be: %w", f.path, err)
		}
	}
	return c.write(dir)
}
