package sketch

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// A random is splitmix64: a sequence that is fixed by its start, in every version of Go.
type random struct{ state uint64 }

// newRandom starts the sequence of picture number index of r. What only changes how a picture
// is kept (size, format, background) is left out: a small one looks like the large one.
func newRandom(r provider.Request, index int) *random {
	h := sha256.New()
	for _, field := range []string{r.Prompt, r.Negative} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		h.Write([]byte(field))
	}
	var seed int64
	if r.Seed != nil {
		seed = *r.Seed
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(seed)))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(index)))
	return &random{binary.BigEndian.Uint64(h.Sum(nil))}
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return scramble(r.state)
}

// scramble spreads every bit of x over all of them.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// between returns a number from low to high, both included.
func (r *random) between(low, high int64) int64 {
	return low + int64(r.next()%uint64(high-low+1))
}

// chance is true in percent of a hundred cases.
func (r *random) chance(percent int) bool { return r.below(100) < percent }

// pick returns one of all.
func pick[T any](r *random, all []T) T { return all[r.below(len(all))] }

// A noise is a smooth random line, the same for the same seed.
type noise uint64

// at returns the height at x, which is in 1/256 of the distance of two hills: 0 to 65535.
func (n noise) at(x int64) int64 {
	cell, t := x>>8, x&255
	a, b := n.knot(cell), n.knot(cell+1)
	smooth := t * t * (3*256 - 2*t) >> 16 // 0 to 256
	return a + (b-a)*smooth>>8
}

// edged is at with straight lines between the knots: rocks, not dunes.
func (n noise) edged(x int64) int64 {
	cell, t := x>>8, x&255
	a, b := n.knot(cell), n.knot(cell+1)
	return a + (b-a)*t>>8
}

// peaked is edged with every other knot high and the rest low.
func (n noise) peaked(x int64) int64 {
	cell, t := x>>8, x&255
	knot := func(cell int64) int64 { return n.knot(cell)/2 + (cell&1)*32768 }
	a, b := knot(cell), knot(cell+1)
	return a + (b-a)*t>>8
}

func (n noise) knot(cell int64) int64 {
	return int64(scramble(uint64(n)+uint64(cell)*0x9e3779b97f4a7c15) >> 48)
}
