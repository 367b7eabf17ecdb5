package providertest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// mask leaves the middle of a small picture to be painted.
func mask(t testing.TB) *provider.Picture {
	m := image.NewNRGBA(image.Rect(0, 0, small.Width, small.Height))
	for y := range small.Height {
		for x := range small.Width {
			if x < small.Width/4 || x >= small.Width*3/4 || y < small.Height/4 || y >= small.Height*3/4 {
				m.SetNRGBA(x, y, color.NRGBA{A: 255})
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return &provider.Picture{Data: b.Bytes(), Format: provider.PNG, Size: small}
}
