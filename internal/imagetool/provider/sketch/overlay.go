package sketch

import "image"

// overlay is what an edit without a mask lays over the picture: a thin frame, and a round
// sketch of what was asked for.
func (j *job) overlay(c *canvas, r *random) (draw []func(), ink tint) {
	side := max(int(c.units(300)/pixel), minEdge)
	badge := newCanvas(c.ctx, side, side)
	s, layers := newScene(badge, r, j.words, false)
	margin := c.units(12)
	radius := int64(side) * pixel / 2
	center := point{c.width - margin*3 - radius, c.height - margin*3 - radius}
	for _, l := range layers {
		draw = append(draw, func() {
			l(s)
			c.stamp(badge.pix, center.plus(-radius, -radius), circle(center, radius-pixel/2))
		})
	}
	last := func() {
		var ring path
		ring.circle(center, radius)
		ring.hole(center, radius-c.units(9), radius-c.units(9), 0)
		c.fill(ring, solid(white.fade(240)))
		c.fill(c.frame(margin, c.units(4)), solid(white.fade(200)))
	}
	return append(draw, last), s.ink()
}

// frame is a line along the edges.
func (c *canvas) frame(margin, wide int64) path {
	wide = max(wide, pixel)
	in := margin + wide
	return path{
		{{margin, margin}, {c.width - margin, margin}, {c.width - margin, c.height - margin}, {margin, c.height - margin}},
		{{in, in}, {in, c.height - in}, {c.width - in, c.height - in}, {c.width - in, in}},
	}
}

// prints shows pictures small, in a row along the upper edge, each with a white border.
func (c *canvas) prints(all []*raster) {
	n := int64(len(all))
	if n == 0 {
		return
	}
	gap := c.units(30)
	side := min(c.units(170), (c.width-gap)/n-gap)
	if side < 8*pixel {
		return
	}
	for i, p := range all {
		at := point{gap + int64(i)*(side+gap), gap}
		to := at.plus(side, side)
		c.fill(box(at.plus(side/24, side/24), to.plus(side/24, side/24)), solid(black.fade(60)))
		c.fill(box(at, to), solid(white))
		border := side / 16
		inner := image.Pt(int(side-2*border)/pixel, int(side-2*border)/pixel)
		small := p.cover(inner)
		c.stamp(small.pix, at.plus(border, border), box(at.plus(border, border), to.plus(-border, -border)))
	}
}

// stamp lays a picture over the canvas, its corner at a point, as far as it is within a shape.
func (c *canvas) stamp(src *image.NRGBA, at point, shape path) {
	corner := image.Pt(int(at.x>>8), int(at.y>>8))
	cut := newCanvas(c.ctx, src.Rect.Dx(), src.Rect.Dy())
	for _, outline := range shape {
		for i := range outline {
			outline[i] = outline[i].plus(-int64(corner.X)*pixel, -int64(corner.Y)*pixel)
		}
	}
	cut.fill(shape, solid(white))
	r := src.Rect.Add(corner).Intersect(c.pix.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			p := src.Pix[src.PixOffset(x-corner.X, y-corner.Y):]
			cover := cut.pix.Pix[cut.pix.PixOffset(x-corner.X, y-corner.Y)+3]
			over(c.pix.Pix[c.pix.PixOffset(x, y):], p, uint32(cover))
		}
	}
}

// over lays pixel src, covered by cover of 255, over dst.
func over(dst, src []byte, cover uint32) {
	a := uint32(src[3]) << 8 * cover / 255
	if a == 0 {
		return
	}
	s := shade{r: uint32(src[0]) << 8, g: uint32(src[1]) << 8, b: uint32(src[2]) << 8, dither: 128}
	blend(dst[:4:4], &s, a)
}
