package imagetool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// Limits of the Images API, and one of ours.
const (
	maxInput  = 50_000_000  // bytes of a picture
	maxInputs = 200_000_000 // bytes of all
	maxMask   = 4 << 20     // bytes, which it must be below
	maxTrial  = 50_000_000  // pixels of a picture, which is decoded
)

// trials lets one picture be decoded at a time: the largest take 400 MB.
var trials = make(chan struct{}, 1)

// A loader reads the pictures that a call names, and notes which files it read.
type loader struct {
	*toolset
	ctx   context.Context // of the call, during its plan
	call  *toolkit.Call
	paths []approval.Path
	bytes int
}

// images loads what the call names as images.
func (l *loader) images(refs []string) (out []provider.Picture, err error) {
	for i, ref := range refs {
		p, err := l.load("images", ref, maxInput)
		if err != nil {
			return nil, err
		}
		if f := p.Format; f != provider.PNG && f != provider.JPEG && f != provider.WebP {
			return nil, toolkit.Errorf("images: number %d is %s by its bytes, want PNG, JPEG or WebP. Nothing was sent", i+1, f)
		}
		if l.bytes += len(p.Data); l.bytes > maxInputs {
			return nil, toolkit.Errorf("images: got more than %d bytes together, want less: name fewer or smaller ones. Nothing was sent", maxInputs)
		}
		if err := l.try(i, p); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// try decodes an image: one that is cut off or broken would be paid for. Sketches cost nothing,
// and decode by themselves.
func (l *loader) try(i int, p provider.Picture) error {
	if l.sketches() {
		return nil
	}
	if p.Size.Width*p.Size.Height > maxTrial {
		return toolkit.Errorf("images: number %d has %s, want at most %d pixels. Nothing was sent", i+1, p.Size, maxTrial)
	}
	select {
	case trials <- struct{}{}:
		defer func() { <-trials }()
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	if err := p.Check(); err != nil {
		return toolkit.Because(err, "images: number %d cannot be decoded (%v), want a whole picture. Nothing was sent", i+1, err)
	}
	return nil
}

// mask loads a mask and sees whether it fits the first image.
func (l *loader) mask(ref string, first provider.Picture) (*provider.Picture, error) {
	p, err := l.load("mask", ref, maxMask-1)
	if err != nil {
		return nil, err
	}
	wrong := func(got, want string) error {
		return toolkit.Errorf(`mask: got %s, want %s. Nothing was sent`, got, want)
	}
	switch {
	case p.Format != provider.PNG:
		return nil, wrong(string(p.Format)+" by its bytes", "a PNG")
	case p.Size != first.Size:
		return nil, wrong(p.Size.String(), "the size of the first image, "+first.Size.String())
	case p.Size.Width*p.Size.Height > maxTrial:
		return nil, wrong(p.Size.String(), fmt.Sprintf("at most %d pixels", maxTrial))
	}
	m, err := png.Decode(bytes.NewReader(p.Data))
	if err != nil {
		return nil, toolkit.Because(err, "mask: the PNG cannot be decoded: send a whole one. Nothing was sent")
	}
	if !hasHole(m) {
		return nil, wrong("one without a fully transparent pixel", "a PNG with alpha 0 where may be painted")
	}
	return &p, nil
}

// hasHole reports whether some pixel has alpha 0.
func hasHole(m image.Image) bool {
	if n, ok := m.(*image.NRGBA); ok {
		for i := 3; i < len(n.Pix); i += 4 {
			if n.Pix[i] == 0 {
				return true
			}
		}
		return false
	}
	if o, ok := m.(interface{ Opaque() bool }); ok && o.Opaque() {
		return false
	}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			if _, _, _, a := m.At(x, y).RGBA(); a == 0 {
				return true
			}
		}
	}
	return false
}

// load reads one picture of most bytes at most, and says what it is by its bytes.
func (l *loader) load(field, ref string, most int) (p provider.Picture, err error) {
	data, err := l.read(field, ref, most)
	if err != nil {
		return p, err
	}
	if len(data) > most {
		return p, toolkit.Errorf("%s: got more than %d bytes, want at most that: make it smaller. Nothing was sent", field, most)
	}
	if p, err = provider.Identify(data); err != nil {
		return p, toolkit.Because(err, "%s: %s holds no picture that is known (%v), want PNG, JPEG or WebP. Nothing was sent", field, named(ref), err)
	}
	return p, nil
}

// named is a reference as an error shows it: not the whole of a data: URL.
func named(ref string) string {
	if strings.HasPrefix(strings.ToLower(ref), "data:") {
		return "the data: URL"
	}
	return shortly(ref)
}

// read returns the bytes of a reference, at most one more than most.
func (l *loader) read(field, ref string, most int) ([]byte, error) {
	ref = strings.TrimSpace(ref)
	switch {
	case ref == "":
		return nil, toolkit.Errorf("%s: got an empty text, want a path, image://ID or a data: URL. Nothing was sent", field)
	case isBareBase64(ref):
		return nil, toolkit.Errorf("%s: got base64 alone, want it as a data: URL, with data:image/png;base64, before it. Nothing was sent", field)
	}
	scheme, _, _ := strings.Cut(strings.ToLower(ref[:min(len(ref), 8)]), ":")
	switch scheme {
	case "data":
		if len(ref) > most*2 {
			return make([]byte, most+1), nil
		}
		_, data, err := provider.DataURL(ref)
		if err != nil {
			return nil, toolkit.Because(err, "%s: the data: URL cannot be read: %v; want data:image/png;base64,... Nothing was sent", field, err)
		}
		return data, nil
	case "http", "https":
		return nil, toolkit.Errorf("%s: got the address %s, and this server fetches none: save the picture below a root and give its path, or give a data: URL. Nothing was sent", field, shortly(ref))
	case "image":
		id := strings.TrimPrefix(ref[len("image:"):], "//")
		p, err := l.stored(id)
		if err != nil {
			return nil, toolkit.Because(err, "%s: there is no picture %s here: results name those that there are. Nothing was sent", field, shortly(ref))
		}
		return p.data, nil
	}
	f, err := l.open(field, ref)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, toolkit.Because(err, "%s: %s cannot be read: the system reports an error. Nothing was sent", field, shortly(ref))
	}
	return data, nil
}

// isBareBase64 reports whether ref begins as PNG, JPEG and WebP do in base64, and is no path.
func isBareBase64(ref string) bool {
	const longName = 100 // bytes
	for _, start := range []string{"iVBORw0KGgo", "/9j/", "UklGR"} {
		if strings.HasPrefix(ref, start) {
			return len(ref) > longName
		}
	}
	return false
}

// open opens a file below a root, or one that was saved here.
func (l *loader) open(field, ref string) (*fsroot.File, error) {
	if place, err := fsroot.NewSet(l.dir).Resolve(ref); err == nil && l.store.holds(ref) {
		return place.Root.Open(place.Rel)
	}
	set, err := l.roots(field)
	if err != nil {
		return nil, err
	}
	place, err := set.Resolve(ref)
	if place.Root != nil {
		l.reads(place.Root, place.Rel) // also where it is not there: the policy judges before that is told
	}
	if err != nil {
		return nil, absent{err}
	}
	f, err := place.Root.Open(place.Rel)
	if err != nil {
		return nil, absent{err}
	}
	if f.Real != place.Rel {
		l.reads(place.Root, f.Real)
	}
	return f, nil
}

// reads notes a path for the policy.
func (l *loader) reads(root *fsroot.Root, rel string) {
	dir, below := root.Named(rel)
	l.paths = append(l.paths, approval.Path{Access: approval.Read, Root: dir, Rel: below})
}

// An absent is why a file could not be opened.
type absent struct{ error }

// Unwrap returns the cause.
func (e absent) Unwrap() error { return e.error }

// Under leaves out the names of similar files where a policy may hide some.
func (e absent) Under(g approval.Grant) error {
	var of *fsroot.Error
	if g.Unfiltered() || !errors.As(e.error, &of) || of.Kind != fsroot.NotExist {
		return e.error
	}
	return of.Naming(func(string) bool { return false })
}

// roots are the operator's, which the client's own only narrow.
func (l *loader) roots(field string) (*fsroot.Set, error) {
	set, err := l.operator.NarrowedBy(l.ctx, l.call.ClientRoots)
	if err != nil {
		return nil, err
	}
	if set.Empty() {
		return nil, toolkit.Errorf("%s: no directory is served, so paths mean nothing: the operator adds one with --root DIR (or MCP_IMAGE_ROOT in the environment), or the client declares roots; image://ID and data: URLs need none. Nothing was sent", field)
	}
	return set, nil
}

var errNoPicture = errors.New("no such picture")
