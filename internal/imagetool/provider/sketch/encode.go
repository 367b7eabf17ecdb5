package sketch

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// usualQuality is that of a JPEG where no compression is asked for.
const usualQuality = 90

// encode writes a picture. It stops when ctx is over.
func encode(ctx context.Context, r *raster, f provider.Format, compression *int) ([]byte, error) {
	var b bytes.Buffer
	w := stoppingWriter{ctx, &b}
	var err error
	switch f {
	case provider.JPEG:
		quality := usualQuality
		if compression != nil {
			quality = min(max(*compression, 1), 100)
		}
		err = jpeg.Encode(w, flatten(r.shallow()), &jpeg.Options{Quality: quality})
	case provider.WebP:
		return encodeWebP(ctx, r.shallow())
	default:
		err = png.Encode(w, r.image())
	}
	return b.Bytes(), err
}

// A stoppingWriter refuses to write after ctx is over, which ends an encoder.
type stoppingWriter struct {
	ctx context.Context
	w   io.Writer
}

func (s stoppingWriter) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}

// flatten lays a picture on white, in the type that the JPEG encoder is quick with.
func flatten(m *image.NRGBA) *image.RGBA {
	if m.Opaque() {
		return &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	}
	flat := image.NewRGBA(m.Rect)
	for i := 0; i < len(flat.Pix); i += 4 {
		p := flat.Pix[i : i+4 : i+4]
		copy(p, []byte{255, 255, 255, 255})
		over(p, m.Pix[i:i+4], 255)
	}
	return flat
}
