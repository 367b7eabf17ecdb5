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
	r, g, b, a uint32     // times 256
	dots       [8][4]byte // eight pixels of it without anything below, where opaque
}

// opaque is the alpha of a shade that lets nothing through.
const opaque = 255 << 8

// shade returns what p is in row y. Eight rows and columns repeat a pattern that hides the
// steps between the 256 levels of a channel.
func (p paint) shade(y int) (s shade) {
	n := int64(len(p.tints) - 1)
	at := (int64(y)*pixel + pixel/2 - p.top) * n << 16 / max(p.bottom-p.top, 1)
	at = min(max(at, 0), n<<16)
	i := min(at>>16, max(n-1, 0))
	a, b := p.tints[i], p.tints[min(i+1, n)]
	t := uint32(at - i<<16)
	m := func(x, y uint8) uint32 { return uint32((uint64(x)*uint64(65536-t) + uint64(y)*uint64(t)) >> 8) }
	s.r, s.g, s.b, s.a = m(a.r, b.r), m(a.g, b.g), m(a.b, b.b), m(a.a, b.a)
	for x := range s.dots {
		d := dither(x, y)
		s.dots[x] = [4]byte{byte((s.r + d) >> 8), byte((s.g + d) >> 8), byte((s.b + d) >> 8), 255}
	}
	return s
}

// dither returns the threshold of a pixel, 0 to 252: Bayer's pattern, by weaving the bits of
// x^y and y.
func dither(x, y int) uint32 {
	a, b := uint32(x^y), uint32(y)
	return (a&1<<5 | b&1<<4 | a&2<<2 | b&2<<1 | a&4>>1 | b&4>>2) << 2
}
