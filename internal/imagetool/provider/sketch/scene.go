package sketch

import (
	"strings"
	"unicode"
)

// A scene is one picture while it is drawn.
type scene struct {
	*canvas
	*random
	palette
	clear bool   // nothing behind the things: the background stays transparent
	mood  string // key of palettes
	sun   point
	spot  point // where somebody can stand
}

// A layer draws one thing over those before it. Partial pictures are taken between layers.
type layer func(*scene)

// A family is a kind of picture.
type family struct {
	words  string   // that call for it, between spaces; those in the plural, too
	moods  []string // when the words name none
	layers []layer
}

var anyLight = []string{"day", "dusk", "dawn", "day", "night"}

// families are in the order in which words decide; the first free ones are also drawn when no
// word decides.
var families = []family{
	{"hill balloon meadow field valley farm countryside landscape garden park spring green sheep cow horse", anyLight, []layer{sky, disc, clouds, hills(0), hills(1), hills(2), hills(3), meadow, birds, balloon}},
	{"mountain alp peak summit rock cliff volcano dragon castle", anyLight, []layer{sky, disc, clouds, peaks(0), peaks(1), peaks(2), peaks(3), firs, birds}},
	{"sea ocean beach wave water lake coast island harbor harbour ship boat sail fish whale river surf", anyLight, []layer{sky, disc, clouds, coast, water, glitter, swell(0), swell(1), swell(2), birds}},
	{"forest tree wood jungle fir pine fox bear deer wolf owl", []string{"day", "dawn", "dusk", "autumn"}, []layer{sky, disc, grove(0), grove(1), grove(2), grove(3)}},
	{"wave music sound flow pattern wallpaper banner", []string{"day", "dusk", "dawn", "night", "autumn"}, []layer{ground, ribbons(0), ribbons(1), ribbons(2), ribbons(3), ribbons(4)}},
	{"tile mosaic geometric logo icon abstract bauhaus shape", []string{"day", "dusk", "dawn", "autumn", "desert"}, []layer{ground, tiles(0), tiles(1), tiles(2)}},
	{"circle ball bubble dream idea", []string{"day", "dusk", "dawn", "night"}, []layer{ground, orbs(0), orbs(1), orbs(2)}},
	{"desert dune sand camel cactus egypt pyramid", []string{"desert"}, []layer{sky, disc, dunes(0), dunes(1), dunes(2), dunes(3), cacti, birds, balloon}},
	{"city town street skyline building house tower office car train robot computer machine cyberpunk", []string{"dusk", "night", "night", "dawn"}, []layer{sky, disc, clouds, blocks(0), blocks(1), blocks(2)}},
	{"space planet galaxy universe star rocket astronaut alien cosmos nebula comet", []string{"night"}, []layer{deep, nebula, comet, planet}},
	{"flower rose tulip blossom bloom bouquet plant daisy sunflower bee butterfly", []string{"day", "dawn", "day", "dusk"}, []layer{ground, bokeh, blossoms(0), blossoms(1), blossoms(2)}},
	{"cat kitten kitty pet animal", []string{"dusk", "night", "dusk"}, []layer{sky, moon, stars, hills(2), hills(3), cat}},
}

// freeFamilies are those that suit every prompt.
const freeFamilies = 7

// moodWords are the words that choose a palette.
var moodWords = []struct{ words, mood string }{
	{"night midnight dark moon moonlight star starry", "night"},
	{"sunset dusk evening twilight", "dusk"},
	{"sunrise dawn morning", "dawn"},
	{"snow winter ice snowy frozen christmas arctic", "winter"},
	{"autumn fall october leaves", "autumn"},
	{"rain rainy storm fog foggy mist misty grey gray cloudy", "rain"},
	{"desert dune sahara", "desert"},
	{"day sunny noon summer spring bright", "day"},
}

// newScene plans a picture: what it shows, in which light.
func newScene(c *canvas, r *random, words []string, clear bool) (*scene, []layer) {
	f, known := familyOf(words)
	if other := r.below(freeFamilies); !known {
		f = families[other]
	}
	mood := pick(r, f.moods)
	for _, m := range moodWords {
		if hasAny(words, m.words) && f.moods[0] != "desert" {
			mood = m.mood
			break
		}
	}
	s := &scene{canvas: c, random: r, palette: paletteOf(r, mood), clear: clear, mood: mood}
	s.dye(words)
	s.sun = c.at(r.between(200, 800), r.between(170, 300))
	if mood == "dusk" || mood == "dawn" {
		s.sun.y += c.height / 8 // low
	}
	s.spot = c.at(500, 800)
	layers := f.layers
	if mood == "winter" {
		layers = append(layers[:len(layers):len(layers)], snow)
	}
	return s, layers
}

// ink is the dark behind the caption.
func (s *scene) ink() tint { return mix(s.near, black, 120) }

// colorWords paint the small things: flowers, sails, windows, balloons.
var colorWords = []struct {
	words string
	tint  uint32
}{
	{"red crimson scarlet", 0xd83a3f},
	{"orange", 0xf08a3c},
	{"yellow golden gold", 0xf5c542},
	{"green emerald", 0x4fa86b},
	{"blue azure", 0x3f7fd0},
	{"turquoise teal cyan", 0x35b3b0},
	{"purple violet lilac", 0x8a5cc2},
	{"pink magenta", 0xee7fa8},
	{"white", 0xfaf6ee},
	{"black", 0x24242c},
	{"brown", 0x8a5a3c},
}

// dye takes the colours that words name into the palette.
func (p *palette) dye(words []string) {
	for _, word := range words {
		for _, c := range colorWords {
			if hasAny([]string{word}, c.words) {
				p.warm, p.fresh = hex(c.tint), mix(p.fresh, hex(c.tint), 110)
				return
			}
		}
	}
}

// familyOf returns the family that the earliest word calls for.
func familyOf(words []string) (family, bool) {
	for _, word := range words {
		for _, f := range families {
			if hasAny([]string{word}, f.words) {
				return f, true
			}
		}
	}
	return family{}, false
}

// wordsOf returns the words of a prompt in small letters, without those of negative.
func wordsOf(prompt, negative string) (words []string) {
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	unwanted := strings.FieldsFunc(strings.ToLower(negative), notLetter)
	for _, word := range strings.FieldsFunc(strings.ToLower(prompt), notLetter) {
		if !hasAny(unwanted, word) {
			words = append(words, word)
		}
	}
	return words
}

// hasAny reports whether one of words, or its singular, is in list.
func hasAny(words []string, list string) bool {
	for _, word := range words {
		for listed := range strings.FieldsSeq(list) {
			if word == listed || word == listed+"s" || word == listed+"es" {
				return true
			}
		}
	}
	return false
}
