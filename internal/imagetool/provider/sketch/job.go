package sketch

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// A job is a request after all is decided that does not depend on the picture's number.
type job struct {
	provider.Request
	words    []string
	count    int
	size     image.Point
	clear    bool            // without a background
	base     *raster         // what is edited, in the size of the result; else nil
	free     *image.Alpha    // 255 where may be painted; nil: everywhere
	area     image.Rectangle // of the drawing in the result
	prints   []*raster       // inputs to show small
	format   provider.Format
	warnings []string
}

func newJob(ctx context.Context, r provider.Request) (*job, error) {
	j := &job{Request: r, words: wordsOf(r.Prompt, r.Negative), clear: r.Background == "transparent"}
	j.warn("offline sketch: drawn by a program from the words of the prompt, not by an AI model")
	if r.Model != "" && r.Model != Name {
		j.warn("model %q is not there offline; %s was used", r.Model, Name)
	}
	j.count = j.limit("n", max(r.N, 1), maxPictures)
	j.Partials = j.limit("partial_images", max(r.Partials, 0), maxPartials)
	j.ignored()
	if err := j.load(ctx); err != nil {
		return nil, err
	}
	j.decideFormat()
	return j, nil
}

func (j *job) warn(format string, args ...any) {
	j.warnings = append(j.warnings, fmt.Sprintf(format, args...))
}

func (j *job) limit(name string, asked, most int) int {
	if asked > most {
		j.warn("%s %d is more than %d; %d was used", name, asked, most, most)
	}
	return min(asked, most)
}

// ignored names the fields that mean nothing to a sketch.
func (j *job) ignored() {
	var names []string
	for _, f := range []struct{ name, value string }{
		{"quality", j.Quality}, {"input_fidelity", j.Fidelity}, {"complexity", j.Complexity},
	} {
		if f.value != "" && f.value != "auto" {
			names = append(names, f.name+" "+f.value)
		}
	}
	if names != nil {
		j.warn("a sketch knows no %s", strings.Join(names, ", "))
	}
}

// background returns what stands behind the things, "" for an edit.
func (j *job) background() string {
	switch {
	case j.base != nil:
		return ""
	case j.clear && j.format != provider.JPEG:
		return "transparent"
	}
	return "opaque"
}

// load decodes the pictures, and decides what is edited, where, and how large the result is.
func (j *job) load(ctx context.Context) error {
	if j.Action == "" && len(j.Images) > 0 {
		j.Action = provider.Edit
	}
	edit := j.Action == provider.Edit
	switch {
	case edit && len(j.Images) == 0:
		return invalid("images", "an edit needs a picture")
	case !edit && j.Mask != nil:
		return invalid("mask", "a mask needs a picture to edit")
	}
	var all []*raster
	for i, p := range j.Images {
		pix, err := decode(ctx, p)
		if err != nil {
			return invalid("images", "picture %d: %w", i+1, err)
		}
		if small := within(pix.size(), maxPrint); small != pix.size() && (i > 0 || !edit) {
			pix = pix.cover(small)
		}
		all = append(all, pix)
	}
	if !edit {
		j.prints = all
		j.size = j.fit(j.Size)
		j.area = image.Rectangle{Max: j.size}
		return nil
	}
	j.base, j.prints = all[0], all[1:]
	return j.prepare(ctx)
}

// prepare brings base and mask to the size of the result.
func (j *job) prepare(ctx context.Context) error {
	from := j.base.size()
	if j.Mask != nil {
		m, err := decode(ctx, *j.Mask)
		if err != nil {
			return invalid("mask", "the mask: %w", err)
		}
		if m.size() != from {
			return invalid("mask", "the mask is %v, the picture %v (width, height): they must be equal", m.size(), from)
		}
		j.free = m.empty()
	}
	switch j.size = within(from, maxEdit); {
	case j.Size != (provider.Size{}):
		j.size = j.fit(j.Size)
	case j.size != from:
		j.warn("the picture of %dx%d was made smaller, %dx%d: a sketch edits at most %d pixels", from.X, from.Y, j.size.X, j.size.Y, maxEdit)
	}
	if j.size != from {
		j.base = j.base.cover(j.size)
		if j.free != nil {
			j.free = coverMask(j.free, j.size)
		}
	}
	j.area = image.Rectangle{Max: j.size}
	if j.free != nil {
		if j.area = extent(j.free); j.area.Empty() {
			return invalid("mask", "the mask is nowhere transparent: alpha 0 marks what to paint")
		}
	}
	return nil
}

// fit returns the nearest size that can be drawn.
func (j *job) fit(s provider.Size) image.Point {
	if s == (provider.Size{}) {
		return image.Pt(1024, 1024)
	}
	long, short := maxEdge.Width, maxEdge.Height
	if s.Height > s.Width {
		long, short = short, long
	}
	got := image.Pt(min(max(s.Width, minEdge), long), min(max(s.Height, minEdge), short))
	if got != image.Pt(s.Width, s.Height) {
		j.warn("size %v is not drawn; %dx%d was used", s, got.X, got.Y)
	}
	return got
}

// decideFormat needs the size of the result.
func (j *job) decideFormat() {
	j.format = j.Format
	if j.format == "" {
		j.format = provider.PNG
	}
	if !slices.Contains(Provider{}.Model("").Formats, j.format) {
		j.warn("output_format %s is not drawn; png was used", j.format)
		j.format = provider.PNG
	}
	if j.format == provider.WebP && max(j.size.X, j.size.Y) > maxWebP {
		j.warn("a WebP picture has at most %d pixels an edge; png was used", maxWebP)
		j.format = provider.PNG
	}
	if j.Compression != nil && j.format != provider.JPEG {
		j.warn("output_compression was ignored: %s is kept without loss", j.format)
	}
	if j.format == provider.JPEG && (j.clear || j.base != nil && !j.base.opaque()) {
		j.warn("jpeg knows no transparency; it became white")
	}
	if j.base != nil && j.base.deep != nil && j.format != provider.PNG {
		j.warn("the picture's 16 bits a channel became 8, as %s has them; png keeps them", j.format)
	}
}

// draw makes picture number i, and reports how it grows if it is the first.
func (j *job) draw(ctx context.Context, i int, report func(provider.Event)) (provider.Picture, error) {
	c := newCanvas(ctx, j.area.Dx(), j.area.Dy())
	layers, ink := j.layers(c, newRandom(j.Request, i))
	var partials int
	if i == 0 {
		partials = min(j.Partials, len(layers)-1)
	}
	for k, l := range layers {
		l()
		if err := ctx.Err(); err != nil {
			return provider.Picture{}, err
		}
		if n := sent(k+1, partials, len(layers)); n > sent(k, partials, len(layers)) {
			p, err := j.finish(c)
			if err != nil {
				return p, err
			}
			report(provider.Event{Phase: provider.PartialImage, Partial: &p, Index: n - 1, Text: fmt.Sprintf("partial picture %d of %d", n, partials)})
		}
	}
	c.prints(j.prints)
	if err := j.write(c, ink); err != nil {
		return provider.Picture{}, err
	}
	return j.finish(c)
}

// write sets caption and label; only the label where a mask leaves no whole rectangle.
func (j *job) write(c *canvas, ink tint) error {
	if j.free != nil {
		part := j.free.SubImage(j.area).(*image.Alpha)
		if hidden(part) {
			return c.sign(ink, part)
		}
	}
	return c.caption(j.Prompt, ink, j.clear || j.overlaid())
}

// sent returns how many partial pictures are out when done of all layers are drawn. They are
// spread evenly, and the last one is not yet the whole.
func sent(done, partials, all int) int { return min(done*(partials+1)/all, partials) }

// overlaid reports whether the drawing is laid over a picture that stays visible.
func (j *job) overlaid() bool { return j.base != nil && j.free == nil }

// layers returns what to draw, and the colour for what is behind the caption.
func (j *job) layers(c *canvas, r *random) (draw []func(), ink tint) {
	if j.overlaid() {
		return j.overlay(c, r)
	}
	s, layers := newScene(c, r, j.words, j.clear)
	for _, l := range layers {
		draw = append(draw, func() { l(s) })
	}
	return draw, s.ink()
}

// finish puts what is drawn into its place, and encodes it.
func (j *job) finish(c *canvas) (provider.Picture, error) {
	pix := &raster{pix: c.pix}
	if j.base != nil {
		pix = j.base.painted(c.pix, j.area.Min, j.free)
	}
	data, err := encode(c.ctx, pix, j.format, j.Compression)
	if err != nil {
		return provider.Picture{}, fmt.Errorf("encode the sketch as %s: %w", j.format, err)
	}
	return provider.Picture{Data: data, Format: j.format, Size: provider.Size{Width: j.size.X, Height: j.size.Y}}, nil
}
