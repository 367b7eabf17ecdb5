package patchapply_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/patchapply"
)

// A bigChange is a file of 5 MiB with 200 changes.
type bigChange struct {
	before, after string
	patch         string // the changes as an envelope
	loose         string // the same with other indentation
}

func newBigChange() bigChange {
	const hunks, gap = 200, 450
	var before, after, patch, loose strings.Builder
	patch.WriteString("*** Begin Patch\n*** Update File: big\n")
	loose.WriteString("*** Begin Patch\n*** Update File: big\n")
	line := func(i int) string {
		return fmt.Sprintf("\tline %07d of a file that is %s", i, strings.Repeat("long ", i%9))
	}
	for i := range hunks * gap {
		before.WriteString(line(i) + "  \n")
		if i%gap == gap/2 {
			after.WriteString("\tchanged\n")
			for _, b := range []*strings.Builder{&patch, &loose} {
				cut := map[bool]string{true: "  ", false: ""}[b == &patch]
				text := func(i int) string {
					return strings.TrimLeft(line(i), map[bool]string{true: "", false: "\t"}[b == &patch]) + cut
				}
				fmt.Fprintf(b, "@@\n %s\n %s\n %s\n-%s\n+\tchanged\n %s\n %s\n %s\n",
					text(i-3), text(i-2), text(i-1), text(i), text(i+1), text(i+2), text(i+3))
			}
		} else {
			after.WriteString(line(i) + "  \n")
		}
	}
	return bigChange{before.String(), after.String(), patch.String() + "*** End Patch\n", loose.String() + "*** End Patch\n"}
}

func apply(b testing.TB, patch, before string) (string, error) {
	b.Helper()
	p, err := patchapply.Parse([]byte(patch))
	if err != nil {
		b.Fatal(err)
	}
	after, _, err := p.Sections[0].Apply([]byte(before))
	return string(after), err
}

// BenchmarkBigFile reports the time for 200 hunks in 5 MiB, as a part of what git apply
// takes for the same change.
func BenchmarkBigFile(b *testing.B) {
	big := newBigChange()
	git := gitTime(b, big)
	for _, c := range []struct{ name, patch string }{{"exact", big.patch}, {"trim", big.loose}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(big.before)))
			for b.Loop() {
				if _, err := apply(b, c.patch, big.before); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(git), "of-git")
		})
	}
}

// gitTime returns the best time of a git apply of the change as a unified diff.
func gitTime(b *testing.B, big bigChange) time.Duration {
	b.Helper()
	git, dir := testneed.Tool(b, "git"), b.TempDir()
	for name, text := range map[string]string{"a/big": big.before, "b/big": big.after, "big": big.before} {
		writeTree(b, dir, map[string]string{name: text})
	}
	cmd := exec.Command(git, "diff", "--no-index", "--no-prefix", "a", "b")
	cmd.Dir = dir
	diff, err := cmd.Output()
	if len(diff) == 0 {
		b.Fatal(err)
	}
	writeTree(b, dir, map[string]string{"diff": string(diff)})
	best := time.Hour
	for range 9 {
		writeTree(b, dir, map[string]string{"big": big.before})
		cmd := exec.Command(git, "--git-dir="+filepath.Join(dir, "none"), "apply", "--whitespace=nowarn", "diff")
		cmd.Dir = dir
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	return best
}

// BenchmarkEqualLines reports how much longer a hunk of 400 lines that fits nowhere takes in
// 100,000 equal lines than in as many different ones.
func BenchmarkEqualLines(b *testing.B) {
	var different strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&different, "line %08d\n", i)
	}
	equal := strings.Repeat("line 00000000\n", 100_000)
	hunk := func(last string) string {
		return "*** Begin Patch\n*** Update File: f\n@@\n" + strings.Repeat(" line 00000000\n", 399) + last + "*** End Patch\n"
	}
	fail := func(b *testing.B, patch, before string) time.Duration {
		start := time.Now()
		if _, err := apply(b, patch, before); err == nil {
			b.Fatal("applied")
		}
		return time.Since(start)
	}
	const tail = "other\n"
	for _, c := range []struct{ name, last, before string }{
		{"absent", "-another\n+x\n", equal},
		{"elsewhere", "-other\n+x\n", equal + "b\n" + tail},
		{"runs", " line 00000000\n-line 00000000\n+x\n", strings.Repeat(strings.Repeat("line 00000000\n", 400)+"b\n", 250)},
		{"everywhere", "-b\n+x\n", strings.Repeat(strings.Repeat("line 00000000\n", 398)+"b\n", 250)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var same, other time.Duration
			for b.Loop() {
				same += fail(b, hunk(c.last), c.before)
				other += fail(b, hunk(c.last), different.String()+tail)
			}
			b.ReportMetric(float64(same)/float64(other), "of-different")
		})
	}
}
