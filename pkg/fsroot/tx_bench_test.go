package fsroot_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// memory returns an empty directory in memory where there is one.
func memory(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "fsroot")
	if err != nil {
		return b.TempDir()
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

const benchFiles = 1000

func benchName(i int) string { return fmt.Sprintf("d%d/file%d.txt", i%20, i) }

var benchContent = []byte(fmt.Sprintf("%0200d\n", 1))

// BenchmarkPlain is create and rename without any promise, to compare with.
func BenchmarkPlain(b *testing.B) {
	for _, kind := range []string{"create", "update"} {
		b.Run(kind, func(b *testing.B) {
			dir := memory(b)
			for i := range 20 {
				os.Mkdir(fmt.Sprintf("%s/d%d", dir, i), 0o755)
			}
			for b.Loop() {
				b.StopTimer()
				if kind == "create" {
					for i := range benchFiles {
						os.Remove(dir + "/" + benchName(i))
					}
				}
				b.StartTimer()
				for i := range benchFiles {
					name := dir + "/" + benchName(i)
					os.WriteFile(name+".tmp", benchContent, 0o644)
					os.Rename(name+".tmp", name)
				}
			}
		})
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, kind := range []string{"create", "update"} {
		b.Run(kind, func(b *testing.B) {
			dir := memory(b)
			root := fsroot.NewSet(dir).Roots()[0]
			for i := range 20 {
				os.Mkdir(fmt.Sprintf("%s/d%d", dir, i), 0o755)
			}
			for i := range benchFiles {
				os.WriteFile(dir+"/"+benchName(i), benchContent, 0o644)
			}
			state := memory(b)
			for b.Loop() {
				b.StopTimer()
				tx, err := fsroot.Begin(context.Background(), state, root)
				must(b, err)
				steps := make([]fsroot.Step, benchFiles)
				for i := range steps {
					steps[i] = fsroot.Step{Rel: benchName(i), Content: benchContent}
					if kind == "create" {
						os.Remove(dir + "/" + benchName(i))
					} else {
						steps[i].Was = load(b, tx, benchName(i))
					}
				}
				b.StartTimer()
				must(b, tx.Commit(steps))
				b.StopTimer()
				must(b, tx.End())
				b.StartTimer()
			}
		})
	}
}

// BenchmarkEdit is one small change, lock and all.
func BenchmarkEdit(b *testing.B) {
	dir, state := memory(b), memory(b)
	root := fsroot.NewSet(dir).Roots()[0]
	must(b, os.WriteFile(dir+"/file", benchContent, 0o644))
	for b.Loop() {
		tx, err := fsroot.Begin(context.Background(), state, root)
		must(b, err)
		must(b, tx.Commit([]fsroot.Step{{Rel: "file", Was: load(b, tx, "file"), Content: benchContent}}))
		must(b, tx.End())
	}
}
