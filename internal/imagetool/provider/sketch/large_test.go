package sketch_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/sketch"
)

// Pictures larger than a sketch are made smaller, with their masks.
func TestEditOfLargePictures(t *testing.T) {
	large := image.NewGray(image.Rect(0, 0, 4096, 3072))
	for i := range large.Pix {
		large.Pix[i] = 77
	}
	free := image.NewNRGBA(large.Rect)
	for y := range 3072 {
		for x := range 4096 {
			if x < 2048 {
				free.SetNRGBA(x, y, color.NRGBA{A: 255})
			}
		}
	}
	m := pngOf(t, free)
	res := generate(t, provider.Request{Prompt: "a flower", Images: []provider.Picture{pngOf(t, large)}, Mask: &m})
	got := res.Images[0]
	if want := (provider.Size{Width: 3325, Height: 2493}); got.Size != want {
		t.Errorf("the picture has %s, want %s", got.Size, want)
	}
	warned := strings.Join(res.Warnings, "\n")
	if !strings.Contains(warned, "4096x3072 was made smaller, 3325x2493") || !strings.Contains(warned, "8294400 pixels") {
		t.Errorf("the warnings are %s", warned)
	}
	pix, painted := decoded(t, got), 0
	for y := 0; y < 2493; y += 7 {
		for x := 0; x < 3325; x += 7 {
			same := exact(pix.At(x, y)) == exact(color.NRGBA{77, 77, 77, 255})
			if x < 1662 && !same {
				t.Fatalf("%d,%d was painted, outside the mask", x, y)
			}
			if x > 1663 && !same {
				painted++
			}
		}
	}
	if painted == 0 {
		t.Error("nothing was painted")
	}
}

// Larger ones than are read are refused by their header, whatever they would hold.
func TestTooLargeInput(t *testing.T) {
	p := pngOf(t, image.NewGray(image.Rect(0, 0, 4097, 4096)))
	for name, r := range map[string]provider.Request{
		"edit":     {Images: []provider.Picture{p}},
		"generate": {Images: []provider.Picture{p}, Action: provider.Generate},
	} {
		t.Run(name, func(t *testing.T) {
			r.Prompt = "a flower"
			_, err := sketch.Provider{}.Generate(context.Background(), r, nil)
			var e *provider.Error
			if !errors.As(err, &e) || e.Code != provider.InvalidRequest || !strings.Contains(e.Message, "4097x4096 pixels: at most 16777216") {
				t.Errorf("got %v", err)
			}
		})
	}
}
