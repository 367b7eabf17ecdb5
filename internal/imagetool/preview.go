package imagetool

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	_ "image/gif" // a GIF is shown by its first picture
	"image/jpeg"
	"image/png"
	"runtime"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	_ "golang.org/x/image/webp" // to decode it
)

// The longest edges of a preview, each tried if the one before it is too many bytes.
var previewEdges = []int{previewEdge, 768, 512, 256}

const (
	previewEdge    = 1024
	previewQuality = 80
)

// collectFrom is of how many pixels what was decoded to check a picture is worth collecting
// before it is decoded once more.
const collectFrom = 4 << 20

var errTooLarge = errors.New("no preview is small enough")

// preview returns a small copy of a picture that takes at most room bytes as base64: a JPEG, or
// where there is transparency a PNG, if that is small enough.
func preview(p provider.Picture, room int) (small provider.Picture, err error) {
	if p.Size.Width*p.Size.Height > collectFrom {
		runtime.GC()
	}
	m, _, err := image.Decode(bytes.NewReader(p.Data))
	if err != nil {
		return small, fmt.Errorf("decode for a preview: %w", err)
	}
	for _, edge := range previewEdges {
		s := shrink(m, edge)
		m = s // the next is made from this one; the large one can go
		for _, encode := range encoders(s) {
			if small, err = encode(s); err != nil || onWire(small.Data) <= room {
				return small, err
			}
		}
	}
	return small, errTooLarge
}

func encoders(m *image.RGBA) []func(*image.RGBA) (provider.Picture, error) {
	if m.Opaque() {
		return []func(*image.RGBA) (provider.Picture, error){asJPEG}
	}
	return []func(*image.RGBA) (provider.Picture, error){asPNG, asJPEG}
}

// asJPEG lays the picture on white.
func asJPEG(m *image.RGBA) (provider.Picture, error) {
	flat := image.NewRGBA(m.Bounds())
	draw.Draw(flat, flat.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), m, m.Bounds().Min, draw.Over)
	var b bytes.Buffer
	err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: previewQuality})
	return provider.Picture{Data: b.Bytes(), Format: provider.JPEG, Size: sizeOf(m)}, err
}

func asPNG(m *image.RGBA) (provider.Picture, error) {
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return provider.Picture{Data: b.Bytes(), Format: provider.PNG, Size: sizeOf(m)}, err
}

func sizeOf(m image.Image) provider.Size {
	return provider.Size{Width: m.Bounds().Dx(), Height: m.Bounds().Dy()}
}

// shrink returns a copy whose longer edge is edge at most. Each pixel is the mean of those that
// it stands for. It holds no second copy of the large picture, but for the rows of one pixel.
func shrink(m image.Image, edge int) *image.RGBA {
	from := m.Bounds()
	w, h := fitted(from.Dx(), from.Dy(), edge)
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	band := image.NewRGBA(image.Rect(0, 0, from.Dx(), (from.Dy()+h-1)/h+1))
	for y := range h {
		top, bottom := y*from.Dy()/h, max((y+1)*from.Dy()/h, y*from.Dy()/h+1)
		rows := band.SubImage(image.Rect(0, 0, from.Dx(), bottom-top)).(*image.RGBA)
		draw.Draw(rows, rows.Bounds(), m, from.Min.Add(image.Pt(0, top)), draw.Src)
		for x := range w {
			left, right := x*from.Dx()/w, max((x+1)*from.Dx()/w, x*from.Dx()/w+1)
			mean(out.Pix[y*out.Stride+4*x:], rows, left, right)
		}
	}
	return out
}

func fitted(w, h, edge int) (int, int) {
	long := max(w, h)
	if long <= edge {
		return w, h
	}
	return max(1, (w*edge+long/2)/long), max(1, (h*edge+long/2)/long)
}

// mean writes the mean of the columns from left to right, premultiplied as they are, to to.
func mean(to []uint8, rows *image.RGBA, left, right int) {
	var sum [4]uint32
	for y := range rows.Rect.Dy() {
		for i, v := range rows.Pix[y*rows.Stride+4*left : y*rows.Stride+4*right] {
			sum[i&3] += uint32(v)
		}
	}
	n := uint32(rows.Rect.Dy() * (right - left))
	for i := range sum {
		to[i] = uint8((sum[i] + n/2) / n)
	}
}
