package patchapply

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFind compares the searches with one that looks everywhere. It is internal because the
// linear search begins only where lines repeat a great deal.
func TestFind(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		file := randomLines(r, r.IntN(60))
		lines := randomLines(r, 1+r.IntN(5))
		f := &fileText{data: bytes.Join(append(slices.Clone(file), nil), []byte("\n"))}
		f.split(false, &scratch{})
		x := newLineIndex(PassExact, f, lines, make([]uint64, f.count()))
		from := r.IntN(len(file) + 1)
		want := everywhere(file, lines, from)
		hashes, _ := x.rarest(lines)
		if got := x.find(lines, from, len(file)+1); !slices.Equal(got, want) {
			t.Fatalf("seed %d: find %v, want %v", seed, got, want)
		}
		if got := x.findLinear(lines, hashes, from, len(file)+1, nil); !slices.Equal(got, want) {
			t.Fatalf("seed %d: linear %v, want %v", seed, got, want)
		}
	}
}

func randomLines(r *rand.Rand, n int) [][]byte {
	lines := make([][]byte, n)
	for i := range lines {
		lines[i] = []byte{"aaaab"[r.IntN(5)]}
	}
	return lines
}

func everywhere(file, lines [][]byte, from int) (found []int) {
	for i := from; i+len(lines) <= len(file); i++ {
		if slices.EqualFunc(file[i:i+len(lines)], lines, bytes.Equal) {
			found = append(found, i)
		}
	}
	return found
}
