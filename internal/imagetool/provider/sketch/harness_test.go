package sketch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"golang.org/x/image/webp"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/sketch"
)

func ask(prompt string, width, height int) provider.Request {
	return provider.Request{Prompt: prompt, Size: provider.Size{Width: width, Height: height}}
}

func generate(t testing.TB, r provider.Request) *provider.Result {
	t.Helper()
	res, err := sketch.Provider{}.Generate(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// decoded reads a picture by a decoder that is not the sketch's own encoder.
func decoded(t testing.TB, p provider.Picture) image.Image {
	t.Helper()
	var m image.Image
	var err error
	switch p.Format {
	case provider.PNG:
		m, err = png.Decode(bytes.NewReader(p.Data))
	case provider.JPEG:
		m, err = jpeg.Decode(bytes.NewReader(p.Data))
	case provider.WebP:
		m, err = webp.Decode(bytes.NewReader(p.Data))
	default:
		t.Fatalf("format %q", p.Format)
	}
	if err != nil {
		t.Fatalf("decode %s: %v", p.Format, err)
	}
	if b := m.Bounds(); b.Dx() != p.Size.Width || b.Dy() != p.Size.Height {
		t.Errorf("the picture is %v, said to be %v", b, p.Size)
	}
	return m
}

func sum(p provider.Picture) string {
	s := sha256.Sum256(p.Data)
	return hex.EncodeToString(s[:])
}

// transparent returns how many pixels let all through.
func transparent(m image.Image) (n int) {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if _, _, _, a := m.At(x, y).RGBA(); a == 0 {
				n++
			}
		}
	}
	return n
}

func pngOf(t testing.TB, m image.Image) provider.Picture {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return provider.Picture{Data: b.Bytes(), Format: provider.PNG, Size: provider.Size{Width: m.Bounds().Dx(), Height: m.Bounds().Dy()}}
}

// exact returns a colour with 16 bits a channel, not multiplied by alpha.
func exact(c color.Color) color.NRGBA64 {
	switch c := c.(type) {
	case color.NRGBA:
		return color.NRGBA64{R: uint16(c.R) * 257, G: uint16(c.G) * 257, B: uint16(c.B) * 257, A: uint16(c.A) * 257}
	case color.NYCbCrA:
		r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
		return exact(color.NRGBA{R: r, G: g, B: b, A: c.A})
	case color.YCbCr:
		r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
		return exact(color.NRGBA{R: r, G: g, B: b, A: 255})
	}
	return color.NRGBA64Model.Convert(c).(color.NRGBA64)
}
