package linediff

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

// Bounds on the search for the smallest difference, for each part of the texts.
const (
	maxCost  = 256     // lines that differ
	maxSteps = 4 << 20 // lines compared
	maxDepth = 24      // anchors within anchors
)

// A change says that lines a0 to a1 of the old text became lines b0 to b1 of the new.
type change struct{ a0, a1, b0, b1 int }

// A differ compares lines by number: equal lines have equal ones.
type differ struct {
	a, b    []int32
	changes []change
}

func compare(a, b [][]byte) []change {
	// Most texts differ in few places: what they begin and end with need not be numbered.
	p := change{0, len(a), 0, len(b)}
	for p.a0 < p.a1 && p.b0 < p.b1 && bytes.Equal(a[p.a0], b[p.b0]) {
		p.a0++
		p.b0++
	}
	for p.a0 < p.a1 && p.b0 < p.b1 && bytes.Equal(a[p.a1-1], b[p.b1-1]) {
		p.a1--
		p.b1--
	}
	d := &differ{}
	if p.a0 == p.a1 || p.b0 == p.b1 {
		d.add(p)
		return d.changes
	}
	ids := make(map[string]int32)
	d.a, d.b = number(ids, a, p.a0, p.a1), number(ids, b, p.b0, p.b1)
	d.part(p, 0)
	return d.changes
}

// number returns the numbers of lines from to to, at their places.
func number(ids map[string]int32, lines [][]byte, from, to int) []int32 {
	out := make([]int32, len(lines))
	for i := from; i < to; i++ {
		id, ok := ids[string(lines[i])]
		if !ok {
			id = int32(len(ids))
			ids[string(lines[i])] = id
		}
		out[i] = id
	}
	return out
}

// part compares a part of the texts; the parts come in order.
func (d *differ) part(p change, depth int) {
	p = d.trim(p)
	if p.a0 == p.a1 || p.b0 == p.b1 {
		d.add(p)
		return
	}
	if script, ok := d.shortest(p); ok {
		for _, c := range script {
			d.add(c)
		}
		return
	}
	var anchors [][2]int
	if depth < maxDepth {
		anchors = d.anchors(p)
	}
	if len(anchors) == 0 {
		d.add(p)
		return
	}
	for _, at := range anchors {
		d.part(change{p.a0, at[0], p.b0, at[1]}, depth+1)
		p.a0, p.b0 = at[0], at[1]
	}
	d.part(p, depth+1)
}

// trim leaves out what both sides of p start and end with.
func (d *differ) trim(p change) change {
	for p.a0 < p.a1 && p.b0 < p.b1 && d.a[p.a0] == d.b[p.b0] {
		p.a0++
		p.b0++
	}
	for p.a0 < p.a1 && p.b0 < p.b1 && d.a[p.a1-1] == d.b[p.b1-1] {
		p.a1--
		p.b1--
	}
	return p
}

// add appends a change, and joins it with the one before where they touch.
func (d *differ) add(c change) {
	if c.a0 == c.a1 && c.b0 == c.b1 {
		return
	}
	if n := len(d.changes); n > 0 && d.changes[n-1].a1 == c.a0 && d.changes[n-1].b1 == c.b0 {
		d.changes[n-1].a1, d.changes[n-1].b1 = c.a1, c.b1
		return
	}
	d.changes = append(d.changes, c)
}

// shortest finds a smallest script for p by Myers' greedy algorithm ("An O(ND) Difference
// Algorithm and Its Variations", 1986), or gives up at the bounds.
func (d *differ) shortest(p change) ([]change, bool) {
	a, b := d.a[p.a0:p.a1], d.b[p.b0:p.b1]
	limit := min(maxCost, len(a)+len(b))
	far := make([]int, 2*limit+3) // by diagonal: how far into a the best path reaches
	off := limit + 1
	var trace [][]int // by cost: far as it was before, diagonals -cost to cost
	for cost, steps := 0, 0; cost <= limit && steps <= maxSteps; cost++ {
		trace = append(trace, slices.Clone(far[off-cost:off+cost+1]))
		for k := -cost; k <= cost; k += 2 {
			x, from := step(trace[cost], cost, k)
			if from < k {
				x++
			}
			for start := x; ; x++ {
				if x >= len(a) || x-k >= len(b) || a[x] != b[x-k] {
					steps += x - start
					break
				}
			}
			far[off+k] = x
			if x == len(a) && x-k == len(b) {
				return retrace(p, trace, k), true
			}
		}
	}
	return nil, false
}

// step returns where the best path that reaches diagonal k by its last difference had it:
// on the diagonal above, where a line of b was put in, or on the one below, where a line of
// a was taken out.
func step(far []int, cost, k int) (x, from int) {
	switch {
	case cost == 0:
		return 0, 0
	case k == -cost || k != cost && far[cost+k-1] < far[cost+k+1]:
		return far[cost+k+1], k + 1
	}
	return far[cost+k-1], k - 1
}

// retrace goes back from the ends of both sides, on diagonal k, and returns the changes on
// the way, the first one first.
func retrace(p change, trace [][]int, k int) (script []change) {
	for cost := len(trace) - 1; cost > 0; cost-- {
		x, from := step(trace[cost], cost, k)
		c := change{p.a0 + x, p.a0 + x, p.b0 + x - from, p.b0 + x - from}
		if from > k {
			c.b1++
		} else {
			c.a1++
		}
		script = append(script, c)
		k = from
	}
	slices.Reverse(script)
	return script
}

// anchors returns pairs of equal lines, one of each side of p, that both sides have exactly
// once, in an order that both share: the longest such row.
func (d *differ) anchors(p change) [][2]int {
	once := map[int32][2]int{} // how often in a, and where
	for i := p.a0; i < p.a1; i++ {
		e := once[d.a[i]]
		once[d.a[i]] = [2]int{e[0] + 1, i}
	}
	inB := map[int32]int{}
	for j := p.b0; j < p.b1; j++ {
		inB[d.b[j]]++
	}
	var pairs [][2]int
	for j := p.b0; j < p.b1; j++ {
		if e := once[d.b[j]]; e[0] == 1 && inB[d.b[j]] == 1 {
			pairs = append(pairs, [2]int{e[1], j})
		}
	}
	return rising(pairs)
}

// rising returns the longest row of pairs, which are in order of their second numbers, that
// is in order of their first numbers too.
func rising(pairs [][2]int) [][2]int {
	var ends []int // by length of row: the pair that ends it, the smallest there is
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(ends), func(n int) bool { return cmp.Compare(pairs[ends[n]][0], p[0]) >= 0 })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	row := make([][2]int, 0, len(ends))
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		row = append(row, pairs[i])
	}
	slices.Reverse(row)
	return row
}
