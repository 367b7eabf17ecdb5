package imagetool

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

var sizeForm = regexp.MustCompile(`^([1-9]\d{0,5})\s*[x×*]\s*([1-9]\d{0,5})$`)

// minEdge is the shortest edge of what a known model makes, in pixels: the sketch draws none
// shorter, and those of OpenAI are multiples of it.
const minEdge = 16

// parseSize reads WIDTHxHEIGHT in any case; auto and nothing are the zero size.
func parseSize(text string) (s provider.Size, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" || text == "auto" {
		return s, true
	}
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return s, false
	}
	s.Width, _ = strconv.Atoi(m[1]) // six digits
	s.Height, _ = strconv.Atoi(m[2])
	return s, true
}

// nearest returns the size that a model can make, of maxPixels at most, which is most like s:
// in the list of the model the one of the most similar shape, else s itself, brought within
// the bounds.
func nearest(m provider.Model, maxPixels int, s provider.Size) provider.Size {
	if len(m.Sizes) > 0 {
		return fromList(m.Sizes, maxPixels, s)
	}
	long, short := float64(max(s.Width, s.Height)), float64(min(s.Width, s.Height))
	if ratio := float64(m.MaxRatio); ratio > 0 && long > ratio*short {
		middle := math.Sqrt(long * short) // as many pixels as before
		long, short = middle*math.Sqrt(ratio), middle/math.Sqrt(ratio)
	}
	scale := math.Min(1, math.Sqrt(float64(maxPixels)/(long*short)))
	if m.MaxEdge != (provider.Size{}) {
		scale = min(scale, float64(m.MaxEdge.Width)/long, float64(m.MaxEdge.Height)/short)
	}
	round := math.Round
	if scale < 1 { // up would be beyond the bound again
		round = math.Floor
	}
	step := float64(max(m.Multiple, 1))
	least := 1.0
	if m.Known {
		least = minEdge
	}
	fit := func(edge float64) int { return int(max(least, step*max(1, round(edge*scale/step)))) }
	l, sh := fit(long), fit(short)
	if m.MaxRatio > 0 && l > m.MaxRatio*sh {
		l = m.MaxRatio * sh
	}
	if s.Width >= s.Height {
		return provider.Size{Width: l, Height: sh}
	}
	return provider.Size{Width: sh, Height: l}
}

func fromList(sizes []provider.Size, maxPixels int, s provider.Size) (best provider.Size) {
	least := math.Inf(1)
	shape := func(s provider.Size) float64 { return math.Log(float64(s.Width) / float64(s.Height)) }
	area := func(s provider.Size) float64 { return math.Log(float64(s.Width) * float64(s.Height)) }
	for _, one := range sizes {
		if one.Width*one.Height > maxPixels {
			continue
		}
		far := 100*math.Abs(shape(one)-shape(s)) + math.Abs(area(one)-area(s))
		if far < least {
			least, best = far, one
		}
	}
	return best // auto, where even the smallest is too large
}
