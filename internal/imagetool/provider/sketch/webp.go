package sketch

import (
	"context"
	"encoding/binary"
	"image"
)

// maxWebP is the longest edge that the format can hold, in pixels.
const maxWebP = 16384

// encodeWebP writes lossless WebP (RFC 9649): green subtracted, predicted by tiles, repeats
// found, one set of prefix codes. The encoder in reach, nativewebp 0.9.3, wrote files that no
// decoder takes: its prefix codes can grow too long.
func encodeWebP(ctx context.Context, m *image.NRGBA) ([]byte, error) {
	width, height := m.Rect.Dx(), m.Rect.Dy()
	b := &bitWriter{out: make([]byte, 20)}
	b.write(0x2f, 8)
	b.write(uint64(width-1), 14)
	b.write(uint64(height-1), 14)
	alpha := uint64(1)
	if m.Opaque() {
		alpha = 0
	}
	b.write(alpha, 1)
	b.write(0, 3) // version

	p := subtractGreen(m)
	b.write(1, 1)
	b.write(2, 2) // green was subtracted
	modes, err := predict(ctx, p, width, height)
	if err != nil {
		return nil, err
	}
	b.write(1, 1)
	b.write(0, 2) // predicted
	b.write(tileBits-2, 3)
	b.write(0, 1) // no colour cache
	if err := b.pixels(ctx, modes, (width+tile-1)/tile); err != nil {
		return nil, err
	}
	b.write(0, 1) // no more transforms
	b.write(0, 1) // no colour cache
	b.write(0, 1) // the same codes everywhere
	if err := b.pixels(ctx, p, width); err != nil {
		return nil, err
	}
	return container(b.finish()), nil
}

// container fills in the 20 bytes before the data, and makes its length even.
func container(data []byte) []byte {
	size := len(data) - 20
	if size%2 != 0 {
		data = append(data, 0)
	}
	copy(data, "RIFF")
	binary.LittleEndian.PutUint32(data[4:], uint32(len(data)-8))
	copy(data[8:], "WEBPVP8L")
	binary.LittleEndian.PutUint32(data[16:], uint32(size))
	return data
}

// subtractGreen returns the pixels as ARGB, with green taken from red and blue.
func subtractGreen(m *image.NRGBA) []uint32 {
	p := make([]uint32, m.Rect.Dx()*m.Rect.Dy())
	for i := range p {
		c := m.Pix[4*i : 4*i+4 : 4*i+4]
		p[i] = uint32(c[3])<<24 | uint32(c[0]-c[1])<<16 | uint32(c[1])<<8 | uint32(c[2]-c[1])
	}
	return p
}

// Predictions are chosen for squares of this many pixels.
const (
	tileBits = 5
	tile     = 1 << tileBits
)

// The predictions in use, by their numbers in the format.
const (
	byLeft  = 1
	byTop   = 2
	byPlane = 12 // left and top without the one between
)

// predict replaces each pixel by its difference from what its neighbours let expect, and
// returns which of them were asked in each tile.
func predict(ctx context.Context, p []uint32, width, height int) (modes []uint32, err error) {
	for top := 0; top < height; top += tile {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for left := 0; left < width; left += tile {
			area := image.Rect(left, top, min(left+tile, width), min(top+tile, height))
			modes = append(modes, 255<<24|bestMode(p, width, area)<<8)
		}
	}
	columns := (width + tile - 1) / tile
	for i := len(p) - 1; i >= 0; i-- { // backwards: those before are still whole
		x, y := i%width, i/width
		mode := modes[y>>tileBits*columns+x>>tileBits] >> 8 & 15
		p[i] = minus(p[i], expected(p, width, x, y, mode))
	}
	return modes, nil
}

// bestMode returns the prediction that leaves the smallest differences.
func bestMode(p []uint32, width int, area image.Rectangle) (best uint32) {
	least := -1
	for _, mode := range []uint32{byTop, byLeft, byPlane} {
		sum := 0
		for y := area.Min.Y; y < area.Max.Y; y++ {
			for x := area.Min.X; x < area.Max.X; x++ {
				d := minus(p[y*width+x], expected(p, width, x, y, mode))
				for ; d != 0; d >>= 8 {
					v := int(int8(d))
					sum += max(v, -v)
				}
			}
		}
		if least < 0 || sum < least {
			best, least = mode, sum
		}
	}
	return best
}

// expected returns the prediction. In the first row that is the pixel on the left, in the
// first column the one above, for the first pixel black.
func expected(p []uint32, width, x, y int, mode uint32) uint32 {
	i := y*width + x
	switch {
	case i == 0:
		return 255 << 24
	case y == 0:
		return p[i-1]
	case x == 0 || mode == byTop:
		return p[i-width]
	case mode == byLeft:
		return p[i-1]
	}
	left, top, corner := p[i-1], p[i-width], p[i-width-1]
	if left == corner {
		return top
	}
	if top == corner {
		return left
	}
	var sum uint32
	for shift := 0; shift < 32; shift += 8 {
		v := int(left>>shift&255) + int(top>>shift&255) - int(corner>>shift&255)
		sum |= uint32(min(max(v, 0), 255)) << shift
	}
	return sum
}

// minus subtracts each of four bytes for itself: bits set beside them catch what is borrowed.
func minus(a, b uint32) uint32 {
	const odd, even = 0xff00ff00, 0x00ff00ff
	return (even+a&odd-b&odd)&odd | (odd+a&even-b&even)&even
}
