package sketch

import "image"

// label is drawn into every picture that has room: nobody shall take it for more.
const label = "offline sketch"

// Below these, in pixels, text could not be read.
const (
	smallestCaption = 11
	smallestLabel   = 9
	narrowest       = 96 // canvas
	lowest          = 48 // canvas
)

// caption writes the prompt at the lower edge, and the label into the upper corner. On a clear
// canvas it puts something dark behind them, as large as they are.
func (c *canvas) caption(prompt string, ink tint, clear bool) error {
	if c.width < narrowest*pixel || c.height < lowest*pixel {
		return nil
	}
	if err := c.sign(ink, nil); err != nil {
		return err
	}
	size := max(c.unit/27, smallestCaption*pixel)
	f, err := newFace(size)
	if err != nil {
		return err
	}
	margin := max(c.unit/24, 6*pixel)
	limit := int(min(3, (c.height/2-margin)/(size*13/10)))
	lines := f.wrap(printable(prompt), min(c.width-2*margin, size*32), limit)
	if len(lines) == 0 {
		return nil
	}
	high := size * 13 / 10
	top := c.height - margin - high*int64(len(lines))
	if clear {
		wide := int64(0)
		for _, line := range lines {
			wide = max(wide, f.wide(line))
		}
		plate := rounded(point{margin / 2, top - margin/2}, point{margin*3/2 + wide, c.height - margin/2}, size/2)
		c.fill(plate, solid(ink.fade(190)))
	} else {
		scrim := paint{[]tint{ink.fade(0), ink.fade(105), ink.fade(190)}, top - size*3, c.height}
		c.fill(box(point{0, top - size*3}, point{c.width, c.height}), scrim)
	}
	for i, line := range lines {
		c.fill(f.set(line, point{margin, top + high*int64(i) + size}), solid(white.fade(240)))
	}
	return nil
}

// sign draws the label into the upper right corner; if only a part of the canvas will be
// seen, to the lowest place in it that holds the label, or nowhere.
func (c *canvas) sign(ink tint, seen *image.Alpha) error {
	size := max(c.unit/58, smallestLabel*pixel)
	f, err := newFace(size)
	if err != nil {
		return err
	}
	wide, high := f.wide(label)+size*12/10, size*17/10
	from := point{c.width - size*12/10 - wide, size * 12 / 10}
	if seen != nil {
		at, ok := room(seen, int(wide/pixel)+2, int(high/pixel)+2)
		if !ok {
			return nil
		}
		from = point{int64(at.X+1) * pixel, int64(at.Y+1) * pixel}
	}
	c.fill(rounded(from, from.plus(wide, high), size), solid(ink.fade(120)))
	c.fill(f.set(label, from.plus(size*6/10, size*12/10)), solid(white.fade(225)))
	return nil
}

// room returns the corner of the lowest rectangle of a size in which nothing of m is 0. It
// keeps, for each column, how far up it is free.
func room(m *image.Alpha, width, height int) (at image.Point, found bool) {
	up := make([]int, m.Rect.Dx())
	for y := range m.Rect.Dy() {
		wide := 0
		for x := range up {
			up[x]++
			if m.Pix[y*m.Stride+x] == 0 {
				up[x] = 0
			}
			wide++
			if up[x] < height {
				wide = 0
			}
			if wide >= width {
				at, found = image.Pt(x-width+1, y-height+1), true
			}
		}
	}
	return at, found
}
