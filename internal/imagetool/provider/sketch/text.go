package sketch

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// A face sets text in the Go font. Its outlines come scaled in whole numbers and are filled
// like every other path: the rasteriser of x/image/vector counts in floats when a picture is
// large. A face serves one goroutine.
type face struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
	size   int64
}

func newFace(size int64) (*face, error) {
	f, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("read the font: %w", err)
	}
	return &face{font: f, size: size}, nil
}

// ppem is the size in the font package's 1/64 of a pixel.
func (f *face) ppem() fixed.Int26_6 { return fixed.Int26_6(f.size / 4) }

// glyph returns the outline of r with the pen at 0,0, and how far the pen moves.
func (f *face) glyph(r rune) (path, int64) {
	index, err := f.font.GlyphIndex(&f.buffer, r)
	if err != nil || index == 0 {
		return f.stranger(r)
	}
	wide, err := f.font.GlyphAdvance(&f.buffer, index, f.ppem(), font.HintingNone)
	if err != nil {
		return f.stranger(r)
	}
	segments, err := f.font.LoadGlyph(&f.buffer, index, f.ppem(), nil)
	if err != nil {
		return f.stranger(r)
	}
	return outline(segments), int64(wide) * 4
}

func outline(segments sfnt.Segments) (p path) {
	at := func(q fixed.Point26_6) point { return point{int64(q.X) * 4, int64(q.Y) * 4} }
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			p.move(at(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			p.line(at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			p.quad(at(s.Args[0]), at(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			p.cube(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
		}
	}
	return p
}

// stranger stands for a character that the font lacks: a small mirrored pattern, always the
// same for the same character.
func (f *face) stranger(r rune) (p path, wide int64) {
	bits := scramble(uint64(r))
	dot := f.size * 13 / 100
	for y := range int64(5) {
		for x := range int64(3) {
			if bits>>(y*3+x)&1 == 0 && (x != 2 || y != 2) {
				continue
			}
			for _, column := range []int64{x, 4 - x} {
				at := point{f.size*7/100 + column*dot, -(y + 1) * dot}
				p = append(p, rounded(at, at.plus(dot*95/100, dot*95/100), dot/4)...)
				if column == 2 {
					break
				}
			}
		}
	}
	return p, f.size * 8 / 10
}

// wide returns the length of a line of text.
func (f *face) wide(text string) (sum int64) {
	for _, r := range text {
		_, w := f.glyph(r)
		sum += w
	}
	return sum
}

// set returns the outlines of a line of text that starts at a point on its base line.
func (f *face) set(text string, at point) (all path) {
	for _, r := range text {
		p, w := f.glyph(r)
		for _, outline := range p {
			for i := range outline {
				outline[i] = outline[i].plus(at.x, at.y)
			}
		}
		all = append(all, p...)
		at.x += w
	}
	return all
}

// longestCaption is how many characters of a prompt are looked at: more than any caption holds.
const longestCaption = 600

// printable returns the start of a prompt on one line, without what has no shape: controls,
// marks that join or turn, accents that stand alone.
func printable(prompt string) string {
	var b strings.Builder
	n := 0
	for _, r := range prompt {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.In(r, unicode.C, unicode.M):
			continue
		default:
			b.WriteRune(r)
		}
		if n++; n == longestCaption {
			break
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// wrap breaks text into at most limit lines of some width. What is left over is cut, with an
// ellipsis. A word that is wider than a line is broken where the line ends.
func (f *face) wrap(text string, wide int64, limit int) (lines []string) {
	rest := []rune(text)
	for len(rest) > 0 && len(lines) < limit {
		n := f.fitting(rest, wide)
		line := strings.TrimSpace(string(rest[:n]))
		rest = []rune(strings.TrimSpace(string(rest[n:])))
		if len(rest) > 0 && len(lines) == limit-1 {
			line = f.cut(line, wide)
		}
		lines = append(lines, line)
	}
	return lines
}

// fitting returns how many characters go on one line: at least one, up to a space if there is
// one.
func (f *face) fitting(text []rune, wide int64) int {
	var sum int64
	space := 0
	for i, r := range text {
		if r == ' ' {
			space = i
		}
		_, w := f.glyph(r)
		if sum += w; sum > wide && i > 0 {
			if space > 0 {
				return space
			}
			return i
		}
	}
	return len(text)
}

// cut shortens a line until it ends in an ellipsis within the width.
func (f *face) cut(line string, wide int64) string {
	text := []rune(line)
	for len(text) > 1 && f.wide(string(text)+"…") > wide {
		text = text[:len(text)-1]
	}
	return strings.TrimRight(string(text), " ,.;:") + "…"
}
