package sketch

import (
	"cmp"
	"slices"
)

// An edge is one line of an outline, from its upper to its lower end. down is 1 where the
// outline runs down, else -1.
type edge struct {
	from, to point
	down     int32
}

// fill paints the inside of p. Every pixel is covered as much as its area is inside, in
// 1/131072: no samples, no rounding that depends on the machine.
//
// Row by row, each edge adds to sums, at the pixel where it is, how much of the row lies to
// its right; added up from the left, the sums are the coverage.
func (c *canvas) fill(p path, ink paint) {
	c.drawn++
	edges := c.edges(p)
	if len(edges) == 0 {
		return
	}
	var active []edge
	var next int
	for y := max(int(edges[0].from.y>>8), 0); y < c.pix.Rect.Dy(); y++ {
		if c.stopped(y) || len(active) == 0 && next == len(edges) {
			return
		}
		top, bottom := int64(y)*pixel, int64(y+1)*pixel
		for ; next < len(edges) && edges[next].from.y < bottom; next++ {
			active = append(active, edges[next])
		}
		first, last := len(c.sums), 0
		for _, e := range active {
			low, high := c.add(e, top, bottom)
			first, last = min(first, low), max(last, high)
		}
		active = slices.DeleteFunc(active, func(e edge) bool { return e.to.y <= bottom })
		if first < len(c.sums) {
			s := ink.shade(y, c.drawn)
			c.sweep(first, last, y, &s)
		}
	}
}

// edges returns the lines of p that cross the canvas, from the top down.
func (c *canvas) edges(p path) (edges []edge) {
	for _, outline := range p {
		for i, to := range outline {
			from := outline[(i+len(outline)-1)%len(outline)]
			e := edge{from, to, 1}
			if from.y > to.y {
				e = edge{to, from, -1}
			}
			if e.from.y < e.to.y && e.to.y > 0 && e.from.y < c.height {
				edges = append(edges, e)
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.from.y, b.from.y) })
	return edges
}

// add puts the part of e between two heights, which are a row, into sums, and returns the
// first and the last pixel it touched. What lies beside the canvas counts at its border.
func (c *canvas) add(e edge, top, bottom int64) (first, last int) {
	top, bottom = max(top, e.from.y), min(bottom, e.to.y)
	if top >= bottom {
		return len(c.sums), 0
	}
	a, b := min(max(e.x(top), 0), c.width), min(max(e.x(bottom), 0), c.width)
	if a > b {
		a, b = b, a
	}
	high := bottom - top
	var done int64
	first = int(a >> 8)
	for i := first; ; i++ {
		left := int64(i) << 8
		end := min(b, left+pixel)
		part := high
		if end < b {
			part = high * (end - a) / (b - a)
		}
		d := int32(part-done) * e.down
		start := max(a, left)
		right := int32(start - left + end - left) // twice the mean distance from the left
		c.sums[i] += d * (2*pixel - right)
		c.sums[min(i+1, len(c.sums)-1)] += d * right
		done = part
		if end == b {
			return first, min(i+1, len(c.sums)-1)
		}
	}
}

// x returns where e is at height y.
func (e *edge) x(y int64) int64 {
	return e.from.x + (e.to.x-e.from.x)*(y-e.from.y)/(e.to.y-e.from.y)
}

// sweep paints row y from the sums and clears them. Neighbours of equal coverage are painted
// at once.
func (c *canvas) sweep(first, last, y int, s *shade) {
	var sum int32
	width := c.pix.Rect.Dx()
	for x := first; x <= last; {
		sum += c.sums[x]
		c.sums[x] = 0
		end := x + 1
		for end <= last && c.sums[end] == 0 {
			end++
		}
		if cover := uint32(min(max(sum, -sum), 1<<17)) >> 9; cover > 0 {
			c.span(min(x, width), min(end, width), y, cover, s)
		}
		x = end
	}
}
