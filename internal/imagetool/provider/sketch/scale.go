package sketch

import (
	"image"
	"sort"
)

// within returns the largest size of the same ratio that has at most so many pixels.
func within(size image.Point, pixels int) image.Point {
	if size.X*size.Y <= pixels {
		return size
	}
	height := func(w int) int { return max(w*size.Y/size.X, 1) }
	w := max(sort.Search(size.X, func(w int) bool { return (w+1)*height(w+1) > pixels }), 1)
	return image.Pt(w, min(height(w), pixels/w))
}

// cover returns the picture scaled until it covers a size, with what stands out cut off on
// both sides evenly; 8 bits a channel.
func (r *raster) cover(size image.Point) *raster {
	src := r.shallow()
	part := shown(src.Rect.Max, size)
	dst := image.NewNRGBA(image.Rectangle{Max: size})
	each(dst.Rect, func(x, y int) {
		a := source(part, size, image.Pt(x, y))
		b := source(part, size, image.Pt(x+1, y+1))
		if b.X-a.X <= 256 || b.Y-a.Y <= 256 {
			mid := image.Pt((a.X+b.X)/2-128, (a.Y+b.Y)/2-128)
			between(dst.Pix[dst.PixOffset(x, y):], src, mid)
			return
		}
		area := image.Rect(a.X>>8, a.Y>>8, b.X>>8, b.Y>>8)
		average(dst.Pix[dst.PixOffset(x, y):], src, area)
	})
	return &raster{pix: dst}
}

// coverMask is cover for a mask: the nearest pixel decides, so that nothing is half free.
func coverMask(src *image.Alpha, size image.Point) *image.Alpha {
	part := shown(src.Rect.Max, size)
	dst := image.NewAlpha(image.Rectangle{Max: size})
	each(dst.Rect, func(x, y int) {
		a, b := source(part, size, image.Pt(x, y)), source(part, size, image.Pt(x+1, y+1))
		dst.Pix[dst.PixOffset(x, y)] = src.Pix[src.PixOffset((a.X+b.X)>>9, (a.Y+b.Y)>>9)]
	})
	return dst
}

// shown returns the middle part of a picture that has the ratio of another size.
func shown(from, to image.Point) image.Rectangle {
	w, h := int64(from.X), int64(from.Y)
	if w*int64(to.Y) > h*int64(to.X) {
		w = max(h*int64(to.X)/int64(to.Y), 1)
	} else {
		h = max(w*int64(to.Y)/int64(to.X), 1)
	}
	at := image.Pt((from.X-int(w))/2, (from.Y-int(h))/2)
	return image.Rectangle{at, at.Add(image.Pt(int(w), int(h)))}
}

// source returns where a corner of a pixel of the result lies in the part, in 1/256 of a pixel.
func source(part image.Rectangle, size, p image.Point) image.Point {
	return image.Pt(
		part.Min.X<<8+int(int64(p.X)*int64(part.Dx())<<8/int64(size.X)),
		part.Min.Y<<8+int(int64(p.Y)*int64(part.Dy())<<8/int64(size.Y)),
	)
}

// average sets a pixel to the mean of an area, weighted by alpha.
func average(dst []byte, src *image.NRGBA, area image.Rectangle) {
	var sum [3]uint64
	var alpha, n uint64
	each(area, func(x, y int) {
		p := src.Pix[src.PixOffset(x, y):]
		for i := range sum {
			sum[i] += uint64(p[i]) * uint64(p[3])
		}
		alpha += uint64(p[3])
		n++
	})
	if alpha == 0 {
		return
	}
	for i, v := range sum {
		dst[i] = byte((v + alpha/2) / alpha)
	}
	dst[3] = byte((alpha + n/2) / n)
}

// between sets a pixel to what lies at a place between four others, in 1/256.
func between(dst []byte, src *image.NRGBA, at image.Point) {
	var sum [3]uint64
	var alpha uint64
	for i := range 4 {
		x, y := at.X>>8+i&1, at.Y>>8+i>>1
		fx, fy := uint64(at.X&255), uint64(at.Y&255)
		if i&1 == 0 {
			fx = 256 - fx
		}
		if i>>1 == 0 {
			fy = 256 - fy
		}
		x, y = min(max(x, 0), src.Rect.Max.X-1), min(max(y, 0), src.Rect.Max.Y-1)
		p := src.Pix[src.PixOffset(x, y):]
		weight := fx * fy * uint64(p[3])
		alpha += weight
		for k := range sum {
			sum[k] += uint64(p[k]) * weight
		}
	}
	if alpha == 0 {
		return
	}
	for i, v := range sum {
		dst[i] = byte((v + alpha/2) / alpha)
	}
	dst[3] = byte((alpha + 1<<15) >> 16)
}
