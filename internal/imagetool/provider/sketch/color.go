package sketch

// A tint is a colour, not multiplied by its alpha.
type tint struct{ r, g, b, a uint8 }

// hex returns an opaque tint from 0xrrggbb.
func hex(v uint32) tint { return tint{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

var (
	white = hex(0xffffff)
	black = hex(0x000000)
)

// fade returns t with another alpha.
func (t tint) fade(alpha uint8) tint {
	t.a = alpha
	return t
}

// mix returns what lies between a and b: a at 0, b at 256.
func mix(a, b tint, at int64) tint {
	at = min(max(at, 0), 256)
	m := func(x, y uint8) uint8 { return uint8((int64(x)*(256-at) + int64(y)*at) >> 8) }
	return tint{m(a.r, b.r), m(a.g, b.g), m(a.b, b.b), m(a.a, b.a)}
}

// A paint is what a shape is filled with: tints in equal distances from height top to height
// bottom, beyond which the first and the last one go on.
type paint struct {
	tints       []tint
	top, bottom int64
}

func solid(t tint) paint { return paint{tints: []tint{t}, bottom: 1} }

func (c *canvas) gradient(tints ...tint) paint { return paint{tints, 0, c.height} }

// A shade is a paint in one row of pixels.
type shade struct {
	r, g, b, a uint32  // times 256
	dither     uint32  // of the row
	pixel      [4]byte // where the shade is opaque and alone
}

// opaque is the alpha of a shade that lets nothing through.
const opaque = 255 << 8

// shade returns what p is in row y of the picture's shape number layer.
func (p paint) shade(y, layer int) (s shade) {
	n := int64(len(p.tints) - 1)
	at := (int64(y)*pixel + pixel/2 - p.top) * n << 16 / max(p.bottom-p.top, 1)
	at = min(max(at, 0), n<<16)
	i := min(at>>16, max(n-1, 0))
	a, b := p.tints[i], p.tints[min(i+1, n)]
	t := uint64(at - i<<16)
	m := func(x, y uint8) uint32 { return uint32((uint64(x)*(65536-t) + uint64(y)*t) >> 8) }
	s = shade{m(a.r, b.r), m(a.g, b.g), m(a.b, b.b), m(a.a, b.a), dither(y ^ layer), [4]byte{}}
	s.pixel = [4]byte{byte((s.r + s.dither) >> 8), byte((s.g + s.dither) >> 8), byte((s.b + s.dither) >> 8), 255}
	return s
}

// dither returns what to add before rounding down: 0 to 224, well mixed over eight rows. It
// hides the steps between the 256 levels of a channel. That it is the same along a row is
// hardly seen, and makes files half as large as a pattern in both directions does. Shapes one
// over the other must not add up to stripes: each mixes the rows in its own order.
func dither(i int) uint32 {
	b := uint32(i)
	return (b&1<<2 | b&2 | b&4>>2) << 5
}
