package sketch

import (
	"context"
	"image"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// Draw draws the first picture of a request, and does not encode it.
func Draw(r provider.Request) (image.Image, error) {
	ctx := context.Background()
	j, err := newJob(ctx, r)
	if err != nil {
		return nil, err
	}
	c := newCanvas(ctx, j.area.Dx(), j.area.Dy())
	layers, ink := j.layers(c, newRandom(j.Request, 0))
	for _, l := range layers {
		l()
	}
	return c.pix, j.write(c, ink)
}
