package imagetool_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
	"github.com/toolhost/toolhost/internal/imagetool/provider/sketch"
)

// holed is a PNG mask of a size; with a hole unless it is whole.
func holed(t *testing.T, w, h int, whole bool) string {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	if !whole {
		m.SetNRGBA(w/2, h/2, color.NRGBA{})
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func dataURL(w, h int, format string) string {
	return "data:image/x;base64," + base64.StdEncoding.EncodeToString(openaitest.Picture(w, h, format, 0))
}

// broken is a PNG after a change, as a data: URL.
func broken(w, h int, change func([]byte) []byte) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(change(openaitest.Picture(w, h, "png", 0)))
}

// claim writes another size into the header of a PNG.
func claim(b []byte, w, h uint32) []byte {
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// V1 to V11: what is refused, each with the field, what came and what is allowed; and nothing
// is sent.
func TestRefused(t *testing.T) {
	f := newFake(t)
	h := newHarness(t, options{provider: f, flags: []string{"base-url=https://images.example.com/v1", "allow-models=*", "max-n=8"}})
	must(t, os.WriteFile(filepath.Join(h.root, "notes.png"), []byte("hello"), 0o644))
	big, err := os.Create(filepath.Join(h.root, "big.png"))
	must(t, err)
	must(t, big.Truncate(50_000_001))
	must(t, big.Close())
	photo := dataURL(64, 48, "png")
	tests := map[string]struct {
		args args
		want []string
	}{
		"V1 transparent jpeg":       {args{"background": "transparent", "output_format": "jpg"}, []string{"background", "transparent", "output_format", "jpg", "png or webp"}},
		"V2 compression":            {args{"output_format": "jpeg", "output_compression": 101}, []string{"output_compression: got 101, want 0 to 100"}},
		"V3 n 0":                    {args{"n": 0}, []string{"n: got 0, want 1 to 8"}},
		"V3 n above the operator's": {args{"n": 9}, []string{"n: got 9, want 1 to 8"}},
		"V3 n 1.5":                  {args{"n": 1.5}, []string{"n: got 1.5, want an integer"}},
		"V4 no prompt":              {args{"prompt": ""}, []string{"prompt: got", "want words"}},
		"V4 blanks":                 {args{"prompt": " \n\t "}, []string{"prompt: got", "want words"}},
		"V4 long":                   {args{"prompt": strings.Repeat("é", 32001)}, []string{"prompt: got", "32001 characters", "at most 32000"}},
		"V5 words":                  {args{"size": "large"}, []string{`size: got "large", want WIDTHxHEIGHT`}},
		"V5 zero":                   {args{"size": "0x0"}, []string{`size: got "0x0"`}},
		"V6 xhigh on 1.5":           {args{"model": "gpt-image-1.5", "quality": "xhigh"}, []string{`quality: got "xhigh", want auto, low, medium or high with gpt-image-1.5`}},
		"V6 no word":                {args{"model": "other", "quality": "a b"}, []string{"quality: got"}},
		"V7 17 images":              {args{"images": slices.Repeat([]string{photo}, 17)}, []string{"images: got 17, want at most 16"}},
		"V7 50 MB and one":          {args{"images": []string{"big.png"}}, []string{"images: got more than 50000000 bytes"}},
		"V7 text called png":        {args{"images": []string{"notes.png"}}, []string{"images: notes.png holds no picture", "PNG, JPEG or WebP"}},
		"V7 gif":                    {args{"images": []string{dataURL(8, 8, "gif")}}, []string{"images: number 1 is gif by its bytes"}},
		"an empty reference":        {args{"images": []string{""}}, []string{"images: got an empty text, want a path, image://ID or a data: URL"}},
		"base64 alone":              {args{"images": []string{strings.TrimPrefix(photo, "data:image/x;base64,")}}, []string{"images: got base64 alone", "data:image/png;base64,"}},
		"V7 svg":                    {args{"images": []string{"data:,<svg/>"}}, []string{"images: number 1 is svg"}},
		"V8 jpeg mask":              {args{"images": photo, "mask": dataURL(64, 48, "jpeg")}, []string{"mask: got jpeg", "want a PNG"}},
		"V8 another size":           {args{"images": photo, "mask": holed(t, 48, 64, false)}, []string{"mask: got 48x64, want the size of the first image, 64x48"}},
		"V8 no hole":                {args{"images": photo, "mask": holed(t, 64, 48, true)}, []string{"mask: got one without a fully transparent pixel"}},
		"V8 no alpha":               {args{"images": photo, "mask": dataURL(64, 48, "png")}, []string{"mask: got one without a fully transparent pixel"}},
		"V8 4 MB":                   {args{"images": photo, "mask": "data:;base64," + strings.Repeat("AAAA", (4<<20)/3+1)}, []string{"mask: got more than 4194303 bytes"}},
		"V8 no images":              {args{"mask": holed(t, 64, 48, false)}, []string{"mask: got one without images"}},
		"V8 gif":                    {args{"images": photo, "mask": holed(t, 64, 48, false), "output_format": "gif"}, []string{"mask", "gif", "png, jpeg or webp"}},
		"V10 partials":              {args{"partial_images": 4}, []string{"partial_images: got 4, want 0 to 3"}},
		"V11 one frame":             {args{"output_format": "gif", "frame_count": 1}, []string{"frame_count: got 1, want 2 to 16"}},
		"V11 many frames":           {args{"output_format": "gif", "frame_count": 17}, []string{"frame_count: got 17, want 2 to 16"}},
		"V11 svg":                   {args{"output_format": "svg", "n": 2}, []string{"n: got 2, want 1 with output_format svg"}},
		"format":                    {args{"output_format": "bmp"}, []string{`output_format: got "bmp", want png, jpeg, webp, gif or svg`}},
		"format of the model":       {args{"model": "gpt-image-1", "output_format": "svg"}, []string{"output_format: got", "png, jpeg or webp with gpt-image-1"}},
		"model":                     {args{"model": "a model"}, []string{`model: got "a model"`}},
		"action":                    {args{"action": "edit"}, []string{"action", "edit", "images"}},
		"file_id":                   {args{"images": photo, "input_image_mask": map[string]any{"file_id": "file-1"}}, []string{"input_image_mask", "file-1", "image://ID"}},
		"https":                     {args{"images": []string{"https://example.com/a.png"}}, []string{"https://example.com/a.png", "fetches none", "data: URL"}},
		"outside the root":          {args{"images": []string{"/etc/passwd"}}, []string{"/etc/passwd"}},
		"unknown id":                {args{"images": []string{"image://aaaaaaaaaaaaaaaa"}}, []string{"no picture image://aaaaaaaaaaaaaaaa"}},
		"a cut image":               {args{"images": []string{photo, broken(64, 48, func(b []byte) []byte { return b[:len(b)-30] })}}, []string{"images: number 2 cannot be decoded", "want a whole picture"}},
		"a corrupt image":           {args{"images": broken(64, 48, func(b []byte) []byte { b[len(b)-30] ^= 1; return b })}, []string{"images: number 1 cannot be decoded"}},
		"too many pixels":           {args{"images": broken(64, 48, func(b []byte) []byte { return claim(b, 10_000, 5001) })}, []string{"images: number 1 has 10000x5001, want at most 50000000 pixels"}},
		"broken data URL":           {args{"images": []string{"data:image/png;base64,%%%"}}, []string{"data: URL"}},
		"job_id":                    {args{"job_id": "../../x"}, []string{"job_id: got"}},
		"unknown job":               {args{"job_id": "aaaaaaaaaaaaaaaa"}, []string{"no job aaaaaaaaaaaaaaaa"}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if _, given := c.args["prompt"]; !given {
				c.args["prompt"] = "a house"
			}
			res := h.call(t, c.args)
			text := textOf(t, res)
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("%q is missing in %s", w, text)
				}
			}
			if !res.IsError || len(text) > 2000 {
				t.Errorf("error %v, %d bytes: %.300s", res.IsError, len(text), text)
			}
		})
	}
	if n := len(f.requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// What is sent, and what is said of what was changed.
func TestAccepted(t *testing.T) {
	eighty := 80
	base := provider.Request{Prompt: "a house", Model: "gpt-image-2", Action: provider.Generate, N: 1, Partials: 1}
	with := func(change func(*provider.Request)) provider.Request {
		r := base
		change(&r)
		return r
	}
	photo := dataURL(64, 48, "png")
	tests := map[string]struct {
		flags   []string
		args    args
		want    provider.Request
		warning string // "": none
	}{
		"a prompt":       {want: base},
		"a prompt null":  {args: args{"prompt": "null"}, want: with(func(r *provider.Request) { r.Prompt = "null" })},
		"nulls":          {args: args{"size": nil, "n": "", "quality": "null", "images": nil, "mask": nil, "user": nil, "input_image_mask": nil}, want: base},
		"V1 transparent": {args: args{"background": "transparent"}, want: with(func(r *provider.Request) { r.Background, r.Format = "transparent", provider.PNG })},
		"V2 png":         {args: args{"output_compression": 80}, want: base, warning: "output_compression"},
		"V2 jpeg":        {args: args{"output_compression": "80", "output_format": "jpg"}, want: with(func(r *provider.Request) { r.Format, r.Compression = provider.JPEG, &eighty })},
		"V3 string":      {args: args{"n": "3"}, want: with(func(r *provider.Request) { r.N = 3 })},
		"V4 32000":       {args: args{"prompt": strings.Repeat("é", 32000)}, want: with(func(r *provider.Request) { r.Prompt = strings.Repeat("é", 32000) })},
		"V5 blanks":      {args: args{"size": " 1024X1024 "}, want: with(func(r *provider.Request) { r.Size = provider.Size{Width: 1024, Height: 1024} })},
		"V5 auto":        {args: args{"size": "auto"}, want: base},
		"V5 multiple":    {args: args{"size": "1000x1000"}, want: with(func(r *provider.Request) { r.Size = provider.Size{Width: 1008, Height: 1008} }), warning: "1000x1000 cannot be made; the nearest that can, 1008x1008"},
		"V5 too wide":    {args: args{"size": "4096x2160"}, want: with(func(r *provider.Request) { r.Size = provider.Size{Width: 3840, Height: 2016} }), warning: "size"},
		"V5 ratio":       {args: args{"size": "16x1600"}, want: with(func(r *provider.Request) { r.Size = provider.Size{Width: 96, Height: 272} }), warning: "size"},
		"V5 list":        {flags: []string{"model=gpt-image-1.5"}, args: args{"size": "512x512"}, want: with(func(r *provider.Request) { r.Model, r.Size = "gpt-image-1.5", provider.Size{Width: 1024, Height: 1024} }), warning: "size"},
		"V5 unknown model": {flags: []string{"model=other"}, args: args{"size": "513x512"}, want: with(func(r *provider.Request) {
			r.Model, r.Size, r.Partials = "other", provider.Size{Width: 513, Height: 512}, 0
		})},
		"V5 pixels":             {flags: []string{"max-pixels=1048576"}, args: args{"size": "2048x2048"}, want: with(func(r *provider.Request) { r.Size = provider.Size{Width: 1024, Height: 1024} }), warning: "size"},
		"V5 pixels of a list":   {flags: []string{"model=gpt-image-1.5", "max-pixels=1048576"}, args: args{"size": "1536x1024"}, want: with(func(r *provider.Request) { r.Model, r.Size = "gpt-image-1.5", provider.Size{Width: 1024, Height: 1024} }), warning: "size"},
		"V6 xhigh on 2.5":       {flags: []string{"model=gpt-image-2.5-flare"}, args: args{"quality": "xhigh"}, want: with(func(r *provider.Request) { r.Model, r.Quality = "gpt-image-2.5-flare", "xhigh" })},
		"V6 unknown model":      {flags: []string{"model=other"}, args: args{"quality": "Ultra"}, want: with(func(r *provider.Request) { r.Model, r.Quality, r.Partials = "other", "ultra", 0 })},
		"standard":              {args: args{"quality": "standard"}, want: with(func(r *provider.Request) { r.Quality = "medium" })},
		"hd":                    {args: args{"quality": "hd"}, want: with(func(r *provider.Request) { r.Quality = "high" })},
		"V9 fidelity":           {args: args{"images": photo, "input_fidelity": "high"}, want: with(func(r *provider.Request) { r.Action = provider.Edit }), warning: "input_fidelity"},
		"V9 fidelity of 1-mini": {flags: []string{"model=gpt-image-1-mini"}, args: args{"images": photo, "input_fidelity": "high"}, want: with(func(r *provider.Request) { r.Model, r.Action, r.Fidelity = "gpt-image-1-mini", provider.Edit, "low" }), warning: "input_fidelity"},
		"V9 moderation":         {args: args{"images": photo, "moderation": "low"}, want: with(func(r *provider.Request) { r.Action = provider.Edit }), warning: "moderation"},
		"V10 none":              {args: args{"partial_images": 0}, want: with(func(r *provider.Request) { r.Partials = 0 })},
		"V10 gif":               {args: args{"partial_images": 2, "output_format": "gif"}, want: with(func(r *provider.Request) { r.Partials, r.Format = 0, provider.GIF }), warning: "partial_images"},
		"V11 frames":            {args: args{"output_format": "gif", "frame_count": 16}, want: with(func(r *provider.Request) { r.Partials, r.Format, r.Frames = 0, provider.GIF, 16 })},
		"V11 frames of no gif":  {args: args{"frame_count": 4}, want: base, warning: "frame_count: it is of gif only"},
		"V10 svg":               {args: args{"output_format": "svg"}, want: with(func(r *provider.Request) { r.Partials, r.Format = 0, provider.SVG })},
		"another model":         {args: args{"model": "gpt-image-9"}, want: base, warning: "model: gpt-image-9 is not among the allowed ones"},
		"an allowed model":      {flags: []string{"allow-models=gpt-image-1.5,gpt-image-2.5"}, args: args{"model": "gpt-image-1.5"}, want: with(func(r *provider.Request) { r.Model = "gpt-image-1.5" })},
		"nearly an allowed one": {flags: []string{"allow-models=gpt-image-1.5"}, args: args{"model": "gpt-image-1-5"}, want: with(func(r *provider.Request) { r.Model = "gpt-image-1.5" }), warning: "gpt-image-1.5 was used"},
		"the operator's": {flags: []string{"size=1536x1024", "quality=low", "format=webp", "background=opaque", "moderation=low"}, want: with(func(r *provider.Request) {
			r.Size, r.Quality, r.Format, r.Background, r.Moderation = provider.Size{Width: 1536, Height: 1024}, "low", provider.WebP, "opaque", "low"
		})},
		"other than operator's": {flags: []string{"quality=low"}, args: args{"quality": "high"}, want: with(func(r *provider.Request) { r.Quality = "high" })},
		"locked":                {flags: []string{"quality=low", "lock=quality,size"}, args: args{"quality": "high", "size": "1536x1024"}, want: with(func(r *provider.Request) { r.Quality = "low" }), warning: "quality: the operator has fixed it: low was used, not high"},
		"locked and the same":   {flags: []string{"quality=low", "lock=quality"}, args: args{"quality": "LOW"}, want: with(func(r *provider.Request) { r.Quality = "low" })},
		"locked model":          {flags: []string{"model=gpt-image-2", "allow-models=*", "lock=model"}, args: args{"model": "gpt-image-1.5"}, want: base, warning: "model: the operator has fixed it: gpt-image-2 was used, not gpt-image-1.5"},
		"locked, the others": {flags: []string{"format=webp", "background=opaque", "lock=format,background", "lock=moderation"}, args: args{"output_format": "png", "background": "transparent", "moderation": "low"}, want: with(func(r *provider.Request) {
			r.Format, r.Background = provider.WebP, "opaque"
		}), warning: "moderation: the operator has fixed it: auto was used, not low"},
		"the 13 keys": {args: args{"action": "generate", "background": "opaque", "input_fidelity": nil, "input_image_mask": map[string]any{}, "model": "gpt-image-2", "moderation": "auto", "output_compression": 80.0, "output_format": "jpeg", "partial_images": 2, "quality": "auto", "size": "auto", "user": "u-1"}, want: with(func(r *provider.Request) {
			r.Background, r.Moderation, r.Compression, r.Format, r.Partials, r.Quality, r.User = "opaque", "auto", &eighty, provider.JPEG, 2, "auto", "u-1"
		})},
		"seed where none is": {args: args{"seed": 7, "negative_prompt": "text"}, want: base, warning: "seed, negative_prompt"},
		"an unknown key":     {args: args{"style": "vivid"}, want: base, warning: "unknown argument style"},
		"mask in an object":  {args: args{"input_image": map[string]any{"image_url": map[string]any{"url": photo}}, "input_image_mask": map[string]any{"image_url": holed(t, 64, 48, false)}}, want: with(func(r *provider.Request) { r.Action = provider.Edit })},
		"mask as a string":   {args: args{"image": []any{photo}, "input_image_mask": holed(t, 64, 48, false)}, want: with(func(r *provider.Request) { r.Action = provider.Edit })},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			h := newHarness(t, options{provider: f, flags: append(c.flags, "base-url=https://images.example.com/v1")})
			a := args{"prompt": "a house"}
			for k, v := range c.args {
				a[k] = v
			}
			res := h.call(t, a)
			text := textOf(t, res)
			if res.IsError {
				t.Fatal(text)
			}
			got := f.requests()[0]
			if edit := got.Action == provider.Edit; edit != (len(got.Images) > 0) || strings.HasPrefix(name, "mask") != (got.Mask != nil) {
				t.Errorf("%s with %d images, mask %v", got.Action, len(got.Images), got.Mask != nil)
			}
			got.Images, got.Mask = nil, nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if c.warning != "" && !strings.Contains(text, "[warning: ") || !strings.Contains(text, c.warning) || c.warning == "" && strings.Contains(text, "[warning") {
				t.Errorf("want a warning of %q in\n%s", c.warning, text)
			}
		})
	}
}

// A sketch has partial pictures where they are asked for, and is not drawn twice for nobody.
func TestPartialsOfSketch(t *testing.T) {
	for given, want := range map[any]int{nil: 0, 2: 2} {
		d := &drawing{}
		h := newHarness(t, options{provider: d})
		h.call(t, args{"prompt": "a house", "size": "64x64", "partial_images": given})
		if d.seen.Partials != want {
			t.Errorf("partial_images %v: %d were asked for, want %d", given, d.seen.Partials, want)
		}
	}
}

// A drawing is the sketch, and the last request for one.
type drawing struct {
	sketch.Provider
	seen provider.Request
}

func (d *drawing) Generate(ctx context.Context, r provider.Request, report func(provider.Event)) (*provider.Result, error) {
	d.seen = r
	return d.Provider.Generate(ctx, r, report)
}

// Inputs come from files below the root, from earlier pictures and from where they were saved.
func TestInputs(t *testing.T) {
	f := newFake(t)
	h := newHarness(t, options{provider: f})
	data := openaitest.Picture(32, 32, "jpeg", 1)
	must(t, os.WriteFile(filepath.Join(h.root, "photo.png"), data, 0o644)) // its name lies
	must(t, os.Symlink("/etc/hostname", filepath.Join(h.root, "link.png")))
	h.call(t, args{"prompt": "a house"})
	var id, file string
	for rel := range h.saved(t) {
		must(t, os.WriteFile(filepath.Join(h.out, filepath.Dir(rel), "own.png"), data, 0o600)) // nobody made it here
		file = filepath.Join(h.out, filepath.FromSlash(rel))
		id = strings.TrimSuffix(filepath.Base(rel), ".png")
	}
	for name, c := range map[string]struct {
		ref, want string // "": refused
	}{
		"a path":                 {"photo.png", "jpeg 32x32"},
		"an absolute path":       {filepath.Join(h.root, "photo.png"), "jpeg 32x32"},
		"an earlier picture":     {"image://" + id, "png 64x48"},
		"where it was saved":     {file, "png 64x48"},
		"a link out of the root": {"link.png", ""},
		"beside the pictures":    {filepath.Join(h.out, "..", "R", "..", "x.png"), ""},
		"the output directory":   {h.out, ""},
		"not made here":          {filepath.Join(filepath.Dir(file), "own.png"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			res := h.call(t, args{"prompt": name, "images": []string{c.ref}})
			if res.IsError != (c.want == "") {
				t.Fatal(textOf(t, res))
			}
			if c.want != "" {
				all := f.requests()
				p := all[len(all)-1].Images[0]
				if got := fmt.Sprint(p.Format, " ", p.Size); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}
