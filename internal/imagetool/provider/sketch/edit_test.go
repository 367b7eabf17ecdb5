package sketch_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/sketch"
)

// noisy returns pictures of every kind that PNG holds, filled with random pixels.
func noisy(r *rand.Rand, width, height int) map[string]image.Image {
	area := image.Rect(0, 0, width, height)
	gray, gray16 := image.NewGray(area), image.NewGray16(area)
	rgb, rgb16 := image.NewRGBA(area), image.NewRGBA64(area)
	alpha, alpha16 := image.NewNRGBA(area), image.NewNRGBA64(area)
	some, clear := make(color.Palette, 200), make(color.Palette, 9)
	for i := range some {
		some[i] = color.NRGBA{uint8(r.Int()), uint8(r.Int()), uint8(r.Int()), 255}
	}
	for i := range clear {
		clear[i] = color.NRGBA{uint8(r.Int()), uint8(r.Int()), uint8(r.Int()), uint8(r.Int())}
	}
	paletted, few := image.NewPaletted(area, some), image.NewPaletted(area, clear)
	for _, pix := range [][]byte{gray.Pix, gray16.Pix, rgb.Pix, rgb16.Pix, alpha.Pix, alpha16.Pix} {
		for i := range pix {
			pix[i] = byte(r.Int())
		}
	}
	for i := range paletted.Pix {
		paletted.Pix[i], few.Pix[i] = byte(r.IntN(len(some))), byte(r.IntN(len(clear)))
	}
	for i := 3; i < len(rgb.Pix); i += 4 {
		rgb.Pix[i] = 255
	}
	for i := 6; i < len(rgb16.Pix); i += 8 {
		rgb16.Pix[i], rgb16.Pix[i+1] = 255, 255
	}
	return map[string]image.Image{
		"gray": gray, "gray, 16 bits": gray16, "colour": rgb, "colour, 16 bits": rgb16, "alpha": alpha,
		"alpha, 16 bits": alpha16, "palette": paletted, "palette with alpha": few,
	}
}

// mask returns a PNG that is transparent within random rectangles, and half so elsewhere.
func mask(t *testing.T, r *rand.Rand, width, height int) (provider.Picture, *image.NRGBA) {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = byte(1 + r.IntN(255))
	}
	for range 1 + r.IntN(3) {
		x, y := r.IntN(width), r.IntN(height)
		area := image.Rect(x, y, x+1+r.IntN(width), y+1+r.IntN(height)).Intersect(m.Rect)
		for y := area.Min.Y; y < area.Max.Y; y++ {
			for x := area.Min.X; x < area.Max.X; x++ {
				m.Pix[m.PixOffset(x, y)+3] = 0
			}
		}
	}
	return pngOf(t, m), m
}

// Pixels that the mask does not free stay as they are (B16), whatever kind of picture it is.
func TestEditKeepsWhatIsMasked(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		width, height := 1+r.IntN(150), 1+r.IntN(150)
		free, m := mask(t, r, width, height)
		kept := func(x, y int) bool { return m.NRGBAAt(x, y).A != 0 }
		for name, base := range noisy(r, width, height) {
			t.Run(name, func(t *testing.T) {
				req := provider.Request{Prompt: "a flower", Images: []provider.Picture{pngOf(t, base)}, Mask: &free}
				p := generate(t, req).Images[0]
				got := decoded(t, p)
				same(t, base, got, kept)
				if painted := !equal(base, got); !painted {
					t.Error("nothing was painted")
				}
				req.Format = provider.WebP
				if is8(base) {
					same(t, got, decoded(t, generate(t, req).Images[0]), nil)
				}
			})
		}
	}
}

func is8(m image.Image) bool {
	switch m.(type) {
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		return false
	}
	return true
}

func equal(a, b image.Image) bool {
	r := a.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if exact(a.At(x, y)) != exact(b.At(x, y)) {
				return false
			}
		}
	}
	return true
}

// The other formats that can be edited, each compared with what its decoder says.
func TestEditOfFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	source := noisy(r, 90, 70)
	var j, g bytes.Buffer
	if err := jpeg.Encode(&j, source["colour"], nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&g, source["palette"], nil); err != nil {
		t.Fatal(err)
	}
	req := ask("waves", 90, 70)
	req.Format = provider.WebP
	inputs := map[string]provider.Picture{
		"jpeg": {Data: j.Bytes(), Format: provider.JPEG},
		"gif":  {Data: g.Bytes(), Format: provider.GIF},
		"webp": generate(t, req).Images[0],
	}
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			want, _, err := image.Decode(bytes.NewReader(in.Data))
			if err != nil {
				t.Fatal(err)
			}
			free, m := mask(t, r, 90, 70)
			edit := provider.Request{Prompt: "a cat", Images: []provider.Picture{in}, Mask: &free}
			same(t, want, decoded(t, generate(t, edit).Images[0]), func(x, y int) bool { return m.NRGBAAt(x, y).A != 0 })
		})
	}
}

// A GIF's first frame may be smaller than the picture.
func TestEditOfSmallFrame(t *testing.T) {
	frame := image.NewPaletted(image.Rect(10, 20, 30, 50), color.Palette{color.White, color.Black})
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0}, Config: image.Config{Width: 64, Height: 80}}); err != nil {
		t.Fatal(err)
	}
	free := image.NewNRGBA(image.Rect(0, 0, 64, 80))
	for i := 3; i < len(free.Pix)-4; i += 4 {
		free.Pix[i] = 255 // all but the last one
	}
	m := pngOf(t, free)
	p := generate(t, provider.Request{Prompt: "x", Images: []provider.Picture{{Data: b.Bytes(), Format: provider.GIF}}, Mask: &m}).Images[0]
	got := decoded(t, p)
	for at, want := range map[image.Point]color.NRGBA{{10, 20}: {255, 255, 255, 255}, {29, 49}: {255, 255, 255, 255}, {9, 20}: {}, {30, 49}: {}} {
		if c := color.NRGBAModel.Convert(got.At(at.X, at.Y)); c != want {
			t.Errorf("pixel %v is %v, want %v", at, c, want)
		}
	}
}

func TestEditWithoutMask(t *testing.T) {
	base := generate(t, ask("a flower", 400, 300)).Images[0]
	r := provider.Request{Prompt: "make it night", Images: []provider.Picture{base, base, base}, Partials: 3}
	partials := 0
	res, err := sketch.Provider{}.Generate(context.Background(), r, func(e provider.Event) {
		if e.Partial != nil {
			partials++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if partials != 3 {
		t.Errorf("%d partial pictures, want 3", partials)
	}
	want, got := decoded(t, base), decoded(t, res.Images[0])
	changed := 0
	for y := range 300 {
		for x := range 400 {
			if exact(want.At(x, y)) != exact(got.At(x, y)) {
				changed++
			}
		}
	}
	if changed < 400*300/20 || changed > 400*300/2 {
		t.Errorf("%d of %d pixels changed: the picture should stay, and what is laid over it be seen", changed, 400*300)
	}
}

func TestEditToAnotherSize(t *testing.T) {
	base := generate(t, ask("hills", 200, 100)).Images[0]
	free, _ := mask(t, rand.New(rand.NewPCG(5, 5)), 200, 100)
	for _, size := range []provider.Size{{Width: 100, Height: 100}, {Width: 400, Height: 200}, {Width: 16, Height: 400}} {
		for _, m := range []*provider.Picture{nil, &free} {
			res := generate(t, provider.Request{Prompt: "sea", Images: []provider.Picture{base}, Mask: m, Size: size})
			decoded(t, res.Images[0])
			if res.Images[0].Size != size {
				t.Errorf("size %v, want %v", res.Images[0].Size, size)
			}
		}
	}
}

// A picture made anew shows the pictures it was given.
func TestPrints(t *testing.T) {
	base := generate(t, ask("tiles", 64, 64)).Images[0]
	r := ask("hills", 400, 300)
	plain := sum(generate(t, r).Images[0])
	r.Action = provider.Generate
	for range 16 {
		r.Images = append(r.Images, base)
	}
	if sum(generate(t, r).Images[0]) == plain {
		t.Error("the pictures are not shown")
	}
}

func TestEditErrors(t *testing.T) {
	base := generate(t, ask("hills", 40, 30)).Images[0]
	other := generate(t, ask("hills", 30, 40)).Images[0]
	cut := base
	cut.Data = cut.Data[:len(cut.Data)/2]
	bomb := pngOf(t, image.NewGray(image.Rect(0, 0, 1, 1)))
	copy(bomb.Data[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 times 65536; the checksum is wrong, too
	tests := map[string]struct {
		request provider.Request
		param   string
	}{
		"edit of nothing":     {provider.Request{Action: provider.Edit}, "images"},
		"mask without":        {provider.Request{Mask: &base}, "mask"},
		"mask on new picture": {provider.Request{Action: provider.Generate, Images: []provider.Picture{base}, Mask: &base}, "mask"},
		"mask of other size":  {provider.Request{Images: []provider.Picture{base}, Mask: &other}, "mask"},
		"mask of no hole":     {provider.Request{Images: []provider.Picture{base}, Mask: &base}, "mask"},
		"half a mask":         {provider.Request{Images: []provider.Picture{base}, Mask: &cut}, "mask"},
		"half a picture":      {provider.Request{Images: []provider.Picture{cut}}, "images"},
		"no picture":          {provider.Request{Images: []provider.Picture{{Data: []byte("<svg/>"), Format: provider.SVG}}}, "images"},
		"huge":                {provider.Request{Images: []provider.Picture{bomb}}, "images"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := sketch.Provider{}.Generate(context.Background(), test.request, nil)
			var e *provider.Error
			if !errors.As(err, &e) || e.Code != provider.InvalidRequest || e.Param != test.param || e.MayHaveRun {
				t.Errorf("error %#v, want %s of %s", err, provider.InvalidRequest, test.param)
			}
		})
	}
}
