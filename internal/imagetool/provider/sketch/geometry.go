package sketch

// Lengths are in 1/256 of a pixel and int64, so that products never overflow, not on 32 bits
// either. Angles are in 1/65536 of a turn.
const (
	pixel = 256
	turn  = 65536
)

// A point is a place on the canvas; y grows downwards.
type point struct{ x, y int64 }

func (p point) plus(dx, dy int64) point { return point{p.x + dx, p.y + dy} }

// around returns the point at an angle and a distance from p.
func (p point) around(angle, distance int64) point {
	return p.plus(cosine(angle)*distance>>16, sine(angle)*distance>>16)
}

// sine returns 65536 times the sine of an angle, at most 20 off: the seventh power of the
// series in whole numbers.
func sine(angle int64) int64 {
	a := angle & (turn - 1)
	switch {
	case a >= turn/2:
		return -sine(a - turn/2)
	case a > turn/4:
		a = turn/2 - a
	}
	z := a * 4 // 65536 is a right angle
	zz := z * z >> 16
	sum := int64(5223) - zz*307>>16 // coefficients times 65536
	sum = 42334 - zz*sum>>16
	sum = 102944 - zz*sum>>16
	return min(z*sum>>16, 65536)
}

func cosine(angle int64) int64 { return sine(angle + turn/4) }

// root returns the whole part of the square root of x.
func root(x int64) int64 {
	if x < 1 {
		return 0
	}
	r := x
	for next := (r + 1) / 2; next < r; next = (r + x/r) / 2 {
		r = next
	}
	return r
}

// A path is a set of closed outlines. What is inside is found by winding.
type path [][]point

func (p *path) move(to point) { *p = append(*p, []point{to}) }

func (p *path) line(to ...point) {
	last := len(*p) - 1
	(*p)[last] = append((*p)[last], to...)
}

// end returns where the pen is.
func (p path) end() point {
	last := p[len(p)-1]
	return last[len(last)-1]
}

// quad draws a parabola from the pen by a to b.
func (p *path) quad(a, b point) {
	from := p.end()
	n := steps(from, a, b)
	for i := int64(1); i <= n; i++ {
		t, s := i, n-i
		p.line(point{
			(from.x*s*s + 2*a.x*s*t + b.x*t*t) / (n * n),
			(from.y*s*s + 2*a.y*s*t + b.y*t*t) / (n * n),
		})
	}
}

// cube draws a Bézier curve of the third degree from the pen by a and b to c.
func (p *path) cube(a, b, c point) {
	from := p.end()
	n := steps(from, a, b, c)
	for i := int64(1); i <= n; i++ {
		t, s := i, n-i
		u, v, w, z := s*s*s, 3*s*s*t, 3*s*t*t, t*t*t
		p.line(point{
			(from.x*u + a.x*v + b.x*w + c.x*z) / (n * n * n),
			(from.y*u + a.y*v + b.y*w + c.y*z) / (n * n * n),
		})
	}
}

// steps returns into how many lines a curve falls apart so that nobody sees them: 2 to 64.
func steps(points ...point) int64 {
	var length int64
	for i, p := range points[1:] {
		length += max(p.x-points[i].x, points[i].x-p.x) + max(p.y-points[i].y, points[i].y-p.y)
	}
	return min(max(2, root(length/pixel)*2), 64)
}

// ellipse adds one, turned by tilt.
func (p *path) ellipse(center point, rx, ry, tilt int64) {
	n := min(max(12, root(max(rx, ry)/pixel)*8), 400)
	cos, sin := cosine(tilt), sine(tilt)
	outline := make([]point, n)
	for i := range n {
		x, y := cosine(i*turn/n)*rx>>16, sine(i*turn/n)*ry>>16
		outline[i] = center.plus((x*cos-y*sin)>>16, (x*sin+y*cos)>>16)
	}
	*p = append(*p, outline)
}

func (p *path) circle(center point, radius int64) { p.ellipse(center, radius, radius, 0) }

func circle(center point, radius int64) (p path) {
	p.circle(center, radius)
	return p
}

// hole adds a circle in which the outline before it is not filled.
func (p *path) hole(center point, rx, ry, tilt int64) {
	p.ellipse(center, rx, ry, tilt)
	outline := (*p)[len(*p)-1]
	for i, j := 0, len(outline)-1; i < j; i, j = i+1, j-1 {
		outline[i], outline[j] = outline[j], outline[i]
	}
}

func (p *path) box(from, to point) {
	*p = append(*p, []point{from, {to.x, from.y}, to, {from.x, to.y}})
}

func box(from, to point) (p path) {
	p.box(from, to)
	return p
}

// rounded is a box with round corners.
func rounded(from, to point, r int64) (p path) {
	r = min(r, (to.x-from.x)/2, (to.y-from.y)/2)
	p.move(point{from.x + r, from.y})
	p.line(point{to.x - r, from.y})
	p.quad(point{to.x, from.y}, point{to.x, from.y + r})
	p.line(point{to.x, to.y - r})
	p.quad(to, point{to.x - r, to.y})
	p.line(point{from.x + r, to.y})
	p.quad(point{from.x, to.y}, point{from.x, to.y - r})
	p.line(point{from.x, from.y + r})
	p.quad(from, point{from.x + r, from.y})
	return p
}

// stroke returns the outline of a line of some width through points, thinner at its end by
// taper out of 256.
func stroke(points []point, width, taper int64) (p path) {
	n := int64(len(points))
	var left, right []point
	for i := range n {
		a, b := points[max(i-1, 0)], points[min(i+1, n-1)]
		dx, dy := b.x-a.x, b.y-a.y
		length := max(root(dx*dx+dy*dy), 1)
		half := width * (256*n - taper*i) / (512 * n)
		left = append(left, points[i].plus(-dy*half/length, dx*half/length))
		right = append(right, points[i].plus(dy*half/length, -dx*half/length))
	}
	p.move(left[0])
	p.line(left[1:]...)
	for i := n - 1; i >= 0; i-- {
		p.line(right[i])
	}
	return p
}
