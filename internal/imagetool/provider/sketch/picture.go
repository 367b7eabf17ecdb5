package sketch

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// Limits of inputs, in pixels. A small file can claim more than the memory holds, and one with
// 16 bits a channel takes eight bytes a pixel, twice while it is read.
const (
	maxInput = 1 << 24     // 4096 times 4096: what is read
	maxEdit  = 3840 * 2160 // what is edited; larger ones are made smaller
	maxPrint = 1 << 20     // what is kept of those that are shown small
)

// A raster is a decoded picture, with exactly the colours of its file: pix holds 8 bits a
// channel, not multiplied by alpha; deep is used instead where the file has 16.
type raster struct {
	pix  *image.NRGBA
	deep *image.NRGBA64
}

// decode reads the first frame, until ctx is over. How a JPEG shall be turned (Exif) is not
// looked at.
func decode(ctx context.Context, p provider.Picture) (*raster, error) {
	d, known := decoders[p.Format]
	if !known {
		return nil, fmt.Errorf("%q cannot be read; png, jpeg, webp and gif can", p.Format)
	}
	c, err := d.config(bytes.NewReader(p.Data))
	if err != nil {
		return nil, fmt.Errorf("read the %s header: %w", p.Format, err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxInput/c.Height {
		return nil, fmt.Errorf("%dx%d pixels: at most %d are read", c.Width, c.Height, maxInput)
	}
	m, err := d.image(stoppingReader{ctx, bytes.NewReader(p.Data)})
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", p.Format, err)
	}
	return newRaster(m, image.Pt(c.Width, c.Height)), nil
}

// decoders are by what the bytes are.
var decoders = map[provider.Format]struct {
	config func(io.Reader) (image.Config, error)
	image  func(io.Reader) (image.Image, error)
}{
	provider.PNG:  {png.DecodeConfig, png.Decode},
	provider.JPEG: {jpeg.DecodeConfig, jpeg.Decode},
	provider.GIF:  {gif.DecodeConfig, gif.Decode},
	provider.WebP: {webp.DecodeConfig, webp.Decode},
}

// A stoppingReader ends when ctx is over, and a decoder with it.
type stoppingReader struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppingReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// newRaster brings m onto a canvas of some size, which is larger than m only for a GIF whose
// first frame does not fill it.
func newRaster(m image.Image, size image.Point) *raster {
	r := image.Rectangle{Max: size}
	from := m.Bounds()
	at := image.Point{}
	if _, ok := m.(*image.Paletted); ok {
		at = from.Min
	}
	switch m := m.(type) {
	case *image.NRGBA64:
		if from == r { // the decoder's own, which nothing else holds
			return &raster{deep: m}
		}
	case *image.NRGBA:
		if from == r {
			return &raster{pix: m}
		}
	}
	switch m := m.(type) {
	case *image.Gray16, *image.RGBA64, *image.NRGBA64: // RGBA64 comes from opaque files only
		deep := image.NewNRGBA64(r)
		each(from, func(x, y int) {
			deep.SetNRGBA64(x-from.Min.X, y-from.Min.Y, color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64))
		})
		return &raster{deep: deep}
	case *image.NRGBA:
		pix := image.NewNRGBA(r)
		for y := range min(from.Dy(), size.Y) {
			copy(pix.Pix[y*pix.Stride:(y+1)*pix.Stride], m.Pix[m.PixOffset(from.Min.X, from.Min.Y+y):])
		}
		return &raster{pix: pix}
	case *image.Paletted:
		return &raster{pix: unpaletted(m, r, at)}
	case *image.NYCbCrA:
		pix := image.NewNRGBA(r)
		each(from, func(x, y int) {
			c := m.NYCbCrAAt(x, y)
			red, green, blue := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
			pix.SetNRGBA(x-from.Min.X, y-from.Min.Y, color.NRGBA{R: red, G: green, B: blue, A: c.A})
		})
		return &raster{pix: pix}
	}
	flat := image.NewRGBA(r) // what is left is opaque: multiplied by alpha or not is the same
	draw.Draw(flat, r, m, from.Min, draw.Src)
	return &raster{pix: &image.NRGBA{Pix: flat.Pix, Stride: flat.Stride, Rect: r}}
}

func unpaletted(m *image.Paletted, r image.Rectangle, at image.Point) *image.NRGBA {
	pix := image.NewNRGBA(r)
	colors := make([]color.NRGBA, 256)
	for i, c := range m.Palette {
		colors[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	from := m.Rect
	each(from, func(x, y int) {
		pix.SetNRGBA(x-from.Min.X+at.X, y-from.Min.Y+at.Y, colors[m.ColorIndexAt(x, y)])
	})
	return pix
}

func each(r image.Rectangle, do func(x, y int)) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			do(x, y)
		}
	}
}

func (r *raster) size() image.Point {
	if r.deep != nil {
		return r.deep.Rect.Max
	}
	return r.pix.Rect.Max
}

func (r *raster) opaque() bool {
	if r.deep != nil {
		return r.deep.Opaque()
	}
	return r.pix.Opaque()
}

// image returns the picture for an encoder.
func (r *raster) image() image.Image {
	if r.deep != nil {
		return r.deep
	}
	return r.pix
}

// shallow returns the picture with 8 bits a channel.
func (r *raster) shallow() *image.NRGBA {
	if r.deep == nil {
		return r.pix
	}
	pix := image.NewNRGBA(r.deep.Rect)
	for i := range pix.Pix {
		pix.Pix[i] = r.deep.Pix[2*i]
	}
	return pix
}

// empty returns where alpha is 0, as 255.
func (r *raster) empty() *image.Alpha {
	m := image.NewAlpha(image.Rectangle{Max: r.size()})
	for i := range m.Pix {
		if r.deep != nil && r.deep.Pix[8*i+6]|r.deep.Pix[8*i+7] == 0 || r.deep == nil && r.pix.Pix[4*i+3] == 0 {
			m.Pix[i] = 255
		}
	}
	return m
}

// hidden reports whether something of m is 0.
func hidden(m *image.Alpha) (found bool) {
	each(m.Rect, func(x, y int) { found = found || m.Pix[m.PixOffset(x, y)] == 0 })
	return found
}

// extent returns the smallest rectangle round what is not 0 in m.
func extent(m *image.Alpha) (r image.Rectangle) {
	each(m.Rect, func(x, y int) {
		if m.Pix[m.PixOffset(x, y)] != 0 {
			r = r.Union(image.Rect(x, y, x+1, y+1))
		}
	})
	return r
}

// painted returns a copy with src laid over it at a point, where free is not 0.
func (r *raster) painted(src *image.NRGBA, at image.Point, free *image.Alpha) *raster {
	var deep *image.NRGBA64
	var pix *image.NRGBA
	if r.deep != nil {
		deep = &image.NRGBA64{Pix: bytes.Clone(r.deep.Pix), Stride: r.deep.Stride, Rect: r.deep.Rect}
	} else {
		pix = &image.NRGBA{Pix: bytes.Clone(r.pix.Pix), Stride: r.pix.Stride, Rect: r.pix.Rect}
	}
	each(src.Rect, func(x, y int) {
		to := image.Pt(x, y).Add(at)
		s := src.Pix[src.PixOffset(x, y):]
		switch {
		case free != nil && free.Pix[free.PixOffset(to.X, to.Y)] == 0 || s[3] == 0:
		case deep != nil:
			over16(deep.Pix[deep.PixOffset(to.X, to.Y):], s)
		default:
			over(pix.Pix[pix.PixOffset(to.X, to.Y):], s, 255)
		}
	})
	return &raster{pix, deep}
}

// over16 lays an 8-bit pixel over one of 16 bits.
func over16(dst, src []byte) {
	const full = 65535
	a := uint64(src[3]) * 257
	below := (uint64(dst[6])<<8 | uint64(dst[7])) * (full - a) / full
	sum := a + below
	for i := range 3 {
		v := (uint64(src[i])*257*a + (uint64(dst[2*i])<<8|uint64(dst[2*i+1]))*below) / sum
		dst[2*i], dst[2*i+1] = byte(v>>8), byte(v)
	}
	dst[6], dst[7] = byte(sum>>8), byte(sum)
}
