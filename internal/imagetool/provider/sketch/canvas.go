package sketch

import (
	"context"
	"image"
)

// A canvas is drawn on by one goroutine. Once ctx is over, nothing more is drawn.
type canvas struct {
	ctx           context.Context
	pix           *image.NRGBA
	width, height int64   // in 1/256 of a pixel
	unit          int64   // the smaller of the two
	sums          []int32 // of one row, see fill
	drawn         int     // shapes so far
}

func newCanvas(ctx context.Context, width, height int) *canvas {
	w, h := int64(width)*pixel, int64(height)*pixel
	return &canvas{ctx, image.NewNRGBA(image.Rect(0, 0, width, height)), w, h, min(w, h), make([]int32, width+2), 0}
}

// at returns a point by thousandths of width and height.
func (c *canvas) at(x, y int64) point { return point{c.width * x / 1000, c.height * y / 1000} }

// units returns a length by thousandths of the smaller side.
func (c *canvas) units(n int64) int64 { return c.unit * n / 1000 }

// all returns the whole canvas as a shape.
func (c *canvas) all() path { return box(point{}, point{c.width, c.height}) }

// span paints pixels x0 to x1 of row y, of which cover of 256 is inside the shape.
func (c *canvas) span(x0, x1, y int, cover uint32, s *shade) {
	row := c.pix.Pix[y*c.pix.Stride:]
	if s.a == opaque && cover == 256 {
		for x := x0; x < x1; x++ {
			copy(row[x*4:x*4+4], s.pixel[:])
		}
		return
	}
	a := s.a * cover >> 8
	if a == 0 {
		return
	}
	for x := x0; x < x1; x++ {
		blend(row[x*4:x*4+4:x*4+4], s, a)
	}
}

// blend lays s, of alpha a of 65280, over a pixel.
func blend(p []byte, s *shade, a uint32) {
	if p[3] == 255 {
		rest := opaque - a // the products stay below 1<<32
		p[0] = byte(((uint32(p[0])<<8*rest+s.r*a)/opaque + s.dither) >> 8)
		p[1] = byte(((uint32(p[1])<<8*rest+s.g*a)/opaque + s.dither) >> 8)
		p[2] = byte(((uint32(p[2])<<8*rest+s.b*a)/opaque + s.dither) >> 8)
		return
	}
	below := uint64(p[3]) << 8 * uint64(opaque-a) / opaque
	sum := uint64(a) + below
	over := func(dst byte, src uint32) byte {
		return byte((uint64(src)*uint64(a) + uint64(dst)<<8*below) / sum >> 8)
	}
	p[0], p[1], p[2] = over(p[0], s.r), over(p[1], s.g), over(p[2], s.b)
	p[3] = byte((sum + 128) >> 8)
}

// glow lightens a round place: t in its middle, fading to nothing at the radius.
func (c *canvas) glow(center point, radius int64, t tint) {
	c.drawn++
	cx, cy, r := center.x>>8, center.y>>8, max(radius>>8, 1)
	bounds := image.Rect(int(cx-r), int(cy-r), int(cx+r+1), int(cy+r+1)).Intersect(c.pix.Rect)
	rr := r * r
	for y := bounds.Min.Y; y < bounds.Max.Y && !c.stopped(y); y++ {
		s := solid(t).shade(y, c.drawn)
		dy := int64(y) - cy
		row := c.pix.Pix[y*c.pix.Stride:]
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			dx := int64(x) - cx
			near := rr - dx*dx - dy*dy
			if near <= 0 {
				continue
			}
			near = near << 12 / rr // 0 to 4096
			a := uint32(int64(s.a) * (near * near >> 12) >> 12)
			if a > 0 {
				blend(row[x*4:x*4+4:x*4+4], &s, a)
			}
		}
	}
}

// stopped reports whether to give up. It looks at the context in every 32nd row only.
func (c *canvas) stopped(y int) bool { return y&31 == 0 && c.ctx.Err() != nil }
