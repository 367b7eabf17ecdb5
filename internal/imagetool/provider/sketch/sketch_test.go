package sketch_test

import (
	"context"
	"errors"
	"image"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/sketch"
)

// The same request gives the same bytes on every machine (B16). A new version of Go may
// compress in another way, and a change of how sketches look changes them, too: then look at
// some, and write down the new sums.
func TestGolden(t *testing.T) {
	for name, test := range goldens() {
		t.Run(name, func(t *testing.T) {
			if got := sum(generate(t, test.request).Images[0]); got != test.sum {
				t.Errorf("SHA-256 %s, want %s", got, test.sum)
			}
		})
	}
}

func TestSameBytes(t *testing.T) {
	r := ask("a lighthouse by the sea at dusk", 640, 480)
	want := sum(generate(t, r).Images[0])
	for _, procs := range []int{1, 2} {
		before := runtime.GOMAXPROCS(procs)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if got := sum(generate(t, r).Images[0]); got != want {
					t.Errorf("GOMAXPROCS %d: SHA-256 %s, want %s", procs, got, want)
				}
			})
		}
		wait.Wait()
		runtime.GOMAXPROCS(before)
	}
}

func TestVariants(t *testing.T) {
	seed := func(n int64) provider.Request {
		r := ask("hills", 320, 240)
		r.Seed = &n
		return r
	}
	seen := map[string]string{}
	add := func(name string, r provider.Request) {
		for _, p := range generate(t, r).Images {
			if other, ok := seen[sum(p)]; ok {
				t.Errorf("%s looks like %s", name, other)
			}
			seen[sum(p)] = name
		}
	}
	ten := ask("hills", 320, 240)
	ten.N = 10
	add("ten of one prompt", ten)
	add("seed 1", seed(1))
	add("seed -1", seed(-1))
	add("another prompt", ask("hills!", 320, 240))
	if got := len(seen); got != 13 {
		t.Errorf("%d pictures, want 13", got)
	}
}

func TestSizes(t *testing.T) {
	tests := map[string]struct{ asked, want provider.Size }{
		"none":      {provider.Size{}, provider.Size{Width: 1024, Height: 1024}},
		"smallest":  {provider.Size{Width: 16, Height: 16}, provider.Size{Width: 16, Height: 16}},
		"largest":   {provider.Size{Width: 3840, Height: 2160}, provider.Size{Width: 3840, Height: 2160}},
		"upright":   {provider.Size{Width: 2160, Height: 3840}, provider.Size{Width: 2160, Height: 3840}},
		"a line":    {provider.Size{Width: 3840, Height: 16}, provider.Size{Width: 3840, Height: 16}},
		"a pole":    {provider.Size{Width: 16, Height: 3840}, provider.Size{Width: 16, Height: 3840}},
		"odd":       {provider.Size{Width: 333, Height: 97}, provider.Size{Width: 333, Height: 97}},
		"too small": {provider.Size{Width: 1, Height: 300}, provider.Size{Width: 16, Height: 300}},
		"too large": {provider.Size{Width: 9000, Height: 9000}, provider.Size{Width: 3840, Height: 2160}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			res := generate(t, provider.Request{Prompt: "a sailing boat", Size: test.asked})
			decoded(t, res.Images[0])
			if diff := cmp.Diff(test.want, res.Images[0].Size); diff != "" {
				t.Error(diff)
			}
			clamped := test.asked != provider.Size{} && test.asked != test.want
			if got := warned(res, "size"); got != clamped {
				t.Errorf("warnings %q", res.Warnings)
			}
		})
	}
}

// Each family at the smallest sizes: lengths that round to nothing end no call.
func TestEveryFamily(t *testing.T) {
	for _, word := range strings.Fields("hill mountain sea forest wave tile circle desert city space flower cat snow rain night") {
		for _, size := range [][2]int{{16, 16}, {17, 300}, {300, 17}, {64, 48}, {200, 200}} {
			for _, background := range []string{"", "transparent"} {
				r := ask(word, size[0], size[1])
				r.Background = background
				decoded(t, generate(t, r).Images[0])
			}
		}
	}
}

func warned(res *provider.Result, about string) bool {
	for _, w := range res.Warnings {
		if strings.Contains(w, about) {
			return true
		}
	}
	return false
}

func TestFormats(t *testing.T) {
	half := 50
	tests := map[string]struct {
		format      provider.Format
		background  string
		compression *int
		want        provider.Format
		warnings    []string // a part of each after the first
		clear       bool
	}{
		"nothing said":       {want: provider.PNG},
		"png":                {format: provider.PNG, background: "opaque", want: provider.PNG},
		"clear png":          {format: provider.PNG, background: "transparent", want: provider.PNG, clear: true},
		"compressed png":     {format: provider.PNG, compression: &half, want: provider.PNG, warnings: []string{"output_compression"}},
		"jpeg":               {format: provider.JPEG, compression: &half, want: provider.JPEG},
		"clear jpeg":         {format: provider.JPEG, background: "transparent", want: provider.JPEG, warnings: []string{"transparency"}},
		"webp":               {format: provider.WebP, background: "auto", want: provider.WebP},
		"clear webp":         {format: provider.WebP, background: "transparent", want: provider.WebP, clear: true},
		"compressed webp":    {format: provider.WebP, compression: &half, want: provider.WebP, warnings: []string{"output_compression"}},
		"gif is not drawn":   {format: provider.GIF, want: provider.PNG, warnings: []string{"gif"}},
		"svg is not, either": {format: provider.SVG, want: provider.PNG, warnings: []string{"svg"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := ask("a flower", 320, 320)
			r.Format, r.Background, r.Compression = test.format, test.background, test.compression
			res := generate(t, r)
			if got := res.Images[0].Format; got != test.want {
				t.Errorf("format %s, want %s", got, test.want)
			}
			if got := transparent(decoded(t, res.Images[0])) > 320*320/10; got != test.clear {
				t.Errorf("transparent: %v, want %v", got, test.clear)
			}
			if got := res.Background == "transparent"; got != test.clear {
				t.Errorf("background %q", res.Background)
			}
			if len(res.Warnings) != 1+len(test.warnings) || !warned(res, "offline sketch") {
				t.Fatalf("warnings %q", res.Warnings)
			}
			for i, part := range test.warnings {
				if !strings.Contains(res.Warnings[i+1], part) {
					t.Errorf("warning %q does not speak of %s", res.Warnings[i+1], part)
				}
			}
		})
	}
}

func TestCompression(t *testing.T) {
	last := 1 << 30
	for _, compression := range []int{100, 80, 40, 0} {
		r := ask("the city at night", 512, 512)
		r.Format, r.Compression = provider.JPEG, &compression
		p := generate(t, r).Images[0]
		decoded(t, p)
		if len(p.Data) >= last {
			t.Errorf("compression %d takes %d bytes, a higher one took %d", compression, len(p.Data), last)
		}
		last = len(p.Data)
	}
}

// WebP without loss shows what PNG shows.
func TestWebPIsExact(t *testing.T) {
	for _, background := range []string{"opaque", "transparent"} {
		r := ask("snow in the forest", 333, 257)
		r.Background = background
		want := decoded(t, generate(t, r).Images[0])
		r.Format = provider.WebP
		same(t, want, decoded(t, generate(t, r).Images[0]), nil)
	}
}

func TestWarnings(t *testing.T) {
	r := ask("a cat", 64, 64)
	r.Model, r.N, r.Partials, r.Quality, r.Fidelity = "gpt-image-2", 11, 4, "high", "low"
	res := generate(t, r)
	for _, about := range []string{"offline sketch", "gpt-image-2", "n 11", "partial_images 4", "quality high", "input_fidelity low"} {
		if !warned(res, about) {
			t.Errorf("no warning about %s in %q", about, res.Warnings)
		}
	}
	if res.Model != sketch.Name || len(res.Images) != 10 {
		t.Errorf("model %s, %d pictures", res.Model, len(res.Images))
	}
}

func TestPartials(t *testing.T) {
	for partials := range 4 {
		r := ask("mountains", 200, 160)
		r.N, r.Partials = 2, partials
		var got []int
		seen := map[string]bool{}
		res, err := sketch.Provider{}.Generate(context.Background(), r, func(e provider.Event) {
			if e.Phase != provider.PartialImage {
				return
			}
			got = append(got, e.Index)
			decoded(t, *e.Partial)
			seen[sum(*e.Partial)] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []int{0, 1, 2}[:partials]
		if diff := cmp.Diff(want, append([]int{}, got...)); diff != "" {
			t.Errorf("indexes: %s", diff)
		}
		seen[sum(res.Images[0])] = true
		if len(seen) != partials+1 {
			t.Errorf("%d partials: %d different pictures, want each to show more", partials, len(seen))
		}
		r.Partials = 0
		if diff := cmp.Diff(sum(generate(t, r).Images[0]), sum(res.Images[0])); diff != "" {
			t.Errorf("partial pictures change the last one: %s", diff)
		}
	}
}

// A word that shall be left out chooses nothing.
func TestNegative(t *testing.T) {
	r := ask("a cat or a planet", 160, 160)
	with := sum(generate(t, r).Images[0])
	r.Negative = "cats"
	if sum(generate(t, r).Images[0]) == with {
		t.Error("the negative prompt changes nothing")
	}
}

// A countdown is a context that is over once it was asked so often. Unlike a clock it counts
// the same on a busy machine.
type countdown struct {
	context.Context
	left, late int
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	c.late++
	return context.Canceled
}

// A large picture asks every few milliseconds whether to go on, so that it ends well
// within a second.
func TestCancel(t *testing.T) {
	const often = 1 << 30
	for _, format := range []provider.Format{provider.PNG, provider.JPEG, provider.WebP} {
		t.Run(string(format), func(t *testing.T) {
			r := ask("the city at night", 3840, 2160)
			r.Format = format
			whole := &countdown{Context: context.Background(), left: often}
			if _, err := (sketch.Provider{}).Generate(whole, r, nil); err != nil {
				t.Fatal(err)
			}
			asked := often - whole.left
			if asked < 300 {
				t.Errorf("asked %d times whether to go on, want hundreds", asked)
			}
			for _, part := range []int{0, asked / 3, asked - 10} { // before, while drawing, while encoding
				ctx := &countdown{Context: context.Background(), left: part}
				_, err := sketch.Provider{}.Generate(ctx, r, nil)
				var e *provider.Error
				if !errors.As(err, &e) || e.Code != provider.Cancelled || !errors.Is(err, context.Canceled) || e.MayHaveRun {
					t.Fatalf("error %v", err)
				}
				if ctx.late > 20 {
					t.Errorf("asked %d times more after the end", ctx.late)
				}
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), -1)
	defer cancel()
	_, err := sketch.Provider{}.Generate(ctx, ask("hills", 64, 64), nil)
	var e *provider.Error
	if !errors.As(err, &e) || e.Code != provider.TimedOut {
		t.Errorf("error %v, want %s", err, provider.TimedOut)
	}
}

func TestModel(t *testing.T) {
	for _, name := range []string{"", "sketch", "gpt-image-2"} {
		m := sketch.Provider{}.Model(name)
		if m.Name != "sketch" || !m.Known || !m.Partials || !m.Transparent || m.MaxN != 10 {
			t.Errorf("model %q: %+v", name, m)
		}
	}
	if got := (sketch.Provider{}).Name(); got != "sketch" {
		t.Errorf("name %q", got)
	}
}

// Prompts that nobody can set: they are cut, replaced by patterns, or left out, never refused.
var oddPrompts = map[string]string{
	"empty":       "",
	"spaces":      " \t\r\n ",
	"controls":    "\x00\x07a\x1b[31mcat\u009f\u2028",
	"long":        strings.Repeat("the very long way home ", 1400),
	"one word":    strings.Repeat("w", 32000),
	"Chinese":     strings.Repeat("山水之间有一只猫", 40),
	"Arabic":      "\u202eقطة تنظر إلى القمر\u202c \u200f",
	"emoji":       "🐱👩‍👩‍👧‍👦🏳️‍🌈 moon",
	"not UTF-8":   "\xff\xfe cat \xc3\x28",
	"accents":     "e\u0301\u0301\u0301\u0301 Z\u0351\u036b\u0343algo",
	"ink, format": "%s %d %!v(MISSING)",
}

func TestOddPrompts(t *testing.T) {
	for name, prompt := range oddPrompts {
		t.Run(name, func(t *testing.T) {
			for _, size := range [][2]int{{96, 48}, {256, 256}, {1000, 200}} {
				decoded(t, generate(t, ask(prompt, size[0], size[1])).Images[0])
			}
		})
	}
}

func FuzzPrompt(f *testing.F) {
	for _, prompt := range oddPrompts {
		f.Add(prompt, int64(1), uint8(200), uint8(100))
	}
	f.Fuzz(func(t *testing.T, prompt string, seed int64, width, height uint8) {
		if len(prompt) > 4*32000 || utf8.RuneCountInString(prompt) > 32000 {
			return
		}
		r := ask(prompt, int(width), int(height))
		r.Seed = &seed
		if r.Size.Width == 0 || r.Size.Height == 0 {
			r.Size = provider.Size{Width: 16, Height: 16}
		}
		p := generate(t, r).Images[0]
		if m := decoded(t, p); transparent(m) > 0 {
			t.Errorf("%d pixels were not painted", transparent(m))
		}
		if again := generate(t, r).Images[0]; sum(again) != sum(p) {
			t.Error("the second picture is another one")
		}
	})
}

// same compares two pictures where keep says so, or everywhere.
func same(t testing.TB, want, got image.Image, keep func(x, y int) bool) {
	t.Helper()
	b, at := want.Bounds(), got.Bounds().Min.Sub(want.Bounds().Min)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if keep != nil && !keep(x, y) {
				continue
			}
			if w, g := exact(want.At(x, y)), exact(got.At(x+at.X, y+at.Y)); w != g {
				t.Fatalf("pixel %d,%d is %v, want %v", x, y, g, w)
			}
		}
	}
}
