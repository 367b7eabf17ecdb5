package imagetool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// The rules that hold for all models (research of the Images API, 2026).
const (
	maxPrompt   = 32_000 // characters
	maxImages   = 16
	maxPartials = 3
)

// A check makes a request of the arguments. What is wrong is an error, which names field,
// value and what is allowed; what can be mended is, with a warning.
type check struct {
	*settings
	in       imageIn
	images   int // that the call names
	mask     bool
	model    provider.Model
	req      provider.Request
	warnings []string
}

// all makes the request, but for its pictures.
func (k *check) all() error {
	k.fill()
	for _, rule := range []func() error{
		k.prompt, k.chooseModel, k.action, k.count, k.size, k.quality, k.format, k.frames, k.compression, k.partials, k.rest,
	} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

func (k *check) warn(format string, args ...any) {
	k.warnings = append(k.warnings, fmt.Sprintf(format, args...))
}

// bad is the refusal of a value.
func bad(field string, got any, want, example string) error {
	text := fmt.Sprint(got)
	if s, ok := got.(string); ok {
		text = fmt.Sprintf("%q", toolkit.Cut(s, 160))
	}
	return toolkit.Errorf(`%s: got %s, want %s, for example {%q: %s}. Nothing was sent`, field, toolkit.Inline(text), want, field, example)
}

// fill takes the operator's options for those that the call leaves out, or may not change.
func (k *check) fill() {
	for _, o := range []struct {
		name, field      string
		value            *string
		operators, usual string
	}{
		{"model", "model", &k.in.Model, k.settings.model, "the default"},
		{"size", "size", &k.in.Size, k.defaults.Size, "auto"},
		{"quality", "quality", &k.in.Quality, k.defaults.Quality, "auto"},
		{"background", "background", &k.in.Background, k.defaults.Background, "auto"},
		{"format", "output_format", &k.in.OutputFormat, k.defaults.OutputFormat, "png"},
		{"moderation", "moderation", &k.in.Moderation, k.defaults.Moderation, "auto"},
	} {
		given := *o.value
		switch locked := slices.Contains(k.locked, o.name); {
		case given == "":
			*o.value = o.operators
		case locked:
			*o.value = o.operators
			if !strings.EqualFold(given, o.operators) {
				used := o.usual
				if o.operators != "" {
					used = o.operators
				}
				k.warn("%s: the operator has fixed it: %s was used, not %s", o.field, used, shortly(given))
			}
		}
	}
}

// shortly quotes a value of the caller in a warning.
func shortly(text string) string { return toolkit.Inline(toolkit.Cut(text, 120)) }

func (k *check) prompt() error {
	const example = `"a red boat on a lake at dawn"`
	n := utf8.RuneCountInString(k.in.Prompt)
	switch {
	case strings.TrimSpace(k.in.Prompt) == "":
		return bad("prompt", k.in.Prompt, "words that say what to show", example)
	case n > maxPrompt:
		return bad("prompt", fmt.Sprintf("%d characters", n), fmt.Sprintf("at most %d", maxPrompt), example)
	}
	k.req.Prompt = k.in.Prompt
	return nil
}

// chooseModel takes the model that is named if it is allowed, else the nearest that is.
func (k *check) chooseModel() error {
	standard, given := k.rules.Model(k.settings.model).Name, k.in.Model
	k.req.Model = standard
	if given != "" && given != standard {
		if !isModel(given) {
			return bad("model", given, "the name of a model", fmt.Sprintf("%q", standard))
		}
		k.req.Model = k.allowed(given, standard)
	}
	k.model = k.rules.Model(k.req.Model)
	if n := utf8.RuneCountInString(k.in.Prompt); k.model.MaxPrompt > 0 && n > k.model.MaxPrompt {
		return bad("prompt", fmt.Sprintf("%d characters", n), fmt.Sprintf("at most %d with %s", k.model.MaxPrompt, k.req.Model), `"a red boat"`)
	}
	return nil
}

func (k *check) allowed(given, standard string) string {
	if slices.Contains(k.models, "*") || slices.Contains(k.models, given) {
		return given
	}
	used := standard
	if near := fsroot.Nearest(k.models, given); len(near) > 0 {
		used = near[0]
	}
	k.warn("model: %s is not among the allowed ones, which are %s; %s was used", shortly(given), list(append([]string{standard}, k.models...)), used)
	return used
}

func (k *check) action() error {
	k.req.Action = provider.Generate
	if k.images > 0 && k.in.Action != "generate" {
		k.req.Action = provider.Edit
	}
	most := maxImages
	if k.model.MaxImages > 0 {
		most = k.model.MaxImages
	}
	switch {
	case k.in.Action == "edit" && k.images == 0:
		return toolkit.Errorf(`action: got "edit" without images, want the pictures to edit, for example {"images": ["image://ID"]}; or "generate". Nothing was sent`)
	case k.images > most:
		return bad("images", k.images, fmt.Sprintf("at most %d", most), `["image://ID"]`)
	case k.mask && k.images == 0:
		return toolkit.Errorf(`mask: got one without images, want the picture that it is for, for example {"images": ["photo.png"], "mask": "mask.png"}. Nothing was sent`)
	case k.mask && k.in.Action == "generate":
		return toolkit.Errorf(`mask: got one with action "generate", want "edit" or "auto": a new picture has no part to keep. Nothing was sent`)
	}
	if k.images > 0 && k.in.Action == "generate" && !k.sketches() {
		k.req.Action = provider.Edit // the API's only way to use pictures
	}
	return nil
}

func (k *check) count() error {
	k.req.N = 1
	if k.in.N == nil {
		return nil
	}
	most := k.maxN
	if k.model.MaxN > 0 {
		most = min(most, k.model.MaxN)
	}
	if *k.in.N < 1 || *k.in.N > int64(most) {
		return bad("n", *k.in.N, fmt.Sprintf("1 to %d", most), "1")
	}
	k.req.N = int(*k.in.N)
	return nil
}

func (k *check) size() error {
	size, ok := parseSize(k.in.Size)
	if !ok {
		return bad("size", k.in.Size, "WIDTHxHEIGHT in pixels, or auto", `"1024x1024"`)
	}
	k.req.Size = size
	if size == (provider.Size{}) {
		return nil
	}
	if k.req.Size = nearest(k.model, k.maxPixels, size); k.req.Size != size {
		k.warn("size: %s cannot be made; the nearest that can, %s, was used", size, k.req.Size)
	}
	return nil
}

// standards are what the values of models of old are called now.
var standards = map[string]string{"standard": "medium", "hd": "high"}

var word = regexp.MustCompile(`^[a-z0-9_-]+$`)

func (k *check) quality() error {
	q, allowed := strings.ToLower(strings.TrimSpace(k.in.Quality)), k.model.Qualities
	if now := standards[q]; now != "" && !slices.Contains(allowed, q) && slices.Contains(allowed, now) {
		q = now
	}
	switch {
	case q == "":
	case allowed != nil && !slices.Contains(allowed, q):
		return bad("quality", k.in.Quality, list(allowed)+" with "+k.model.Name, fmt.Sprintf("%q", allowed[0]))
	case len(q) > 32 || !word.MatchString(q):
		return bad("quality", k.in.Quality, "low, medium or high, or what the model knows", `"medium"`)
	}
	k.req.Quality = q
	return nil
}

// formats are what output_format can be, and other names for them.
var formats = map[string]provider.Format{
	"png": provider.PNG, "jpeg": provider.JPEG, "jpg": provider.JPEG, "webp": provider.WebP, "gif": provider.GIF, "svg": provider.SVG,
}

func (k *check) format() error {
	const all = "png, jpeg, webp, gif or svg"
	name := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(k.in.OutputFormat)), "image/")
	f, ok := formats[name]
	if name != "" && !ok {
		return bad("output_format", k.in.OutputFormat, all, `"png"`)
	}
	if f != "" && k.model.Formats != nil && !slices.Contains(k.model.Formats, f) {
		var names []string
		for _, one := range k.model.Formats {
			names = append(names, string(one))
		}
		return bad("output_format", k.in.OutputFormat, list(names)+" with "+k.model.Name, `"png"`)
	}
	k.req.Format, k.req.Background = f, k.in.Background
	if k.in.Background == "transparent" {
		if err := k.transparent(); err != nil {
			return err
		}
	}
	if f == provider.SVG && k.req.N > 1 {
		return bad("n", k.req.N, "1 with output_format svg", "1")
	}
	if f == provider.GIF && k.mask {
		return toolkit.Errorf(`mask: got one with output_format "gif", want png, jpeg or webp. Nothing was sent`)
	}
	return nil
}

// frames are of a GIF.
func (k *check) frames() error {
	switch c := k.in.FrameCount; {
	case c == nil:
	case *c < 2 || *c > 16:
		return bad("frame_count", *c, "2 to 16", "9")
	case k.req.Format != provider.GIF:
		k.warn("frame_count: it is of gif only, and was left out")
	default:
		k.req.Frames = int(*c)
	}
	return nil
}

func (k *check) transparent() error {
	switch k.req.Format {
	case "":
		k.req.Format = provider.PNG
	case provider.JPEG:
		return toolkit.Errorf(`background, output_format: got "transparent" with %q, want png or webp for a transparent background, for example {"background": "transparent", "output_format": "png"}. Nothing was sent`, k.in.OutputFormat)
	}
	if !k.model.Transparent {
		k.warn("background: %s makes no transparent pictures; it was left to the model", k.model.Name)
		k.req.Background = ""
	}
	return nil
}

func (k *check) compression() error {
	c := k.in.OutputCompression
	switch {
	case c == nil:
	case *c < 0 || *c > 100:
		return bad("output_compression", *c, "0 to 100", "80")
	case k.req.Format != provider.JPEG && k.req.Format != provider.WebP:
		k.warn("output_compression: it is of jpeg and webp only, and was left out")
	default:
		n := int(*c)
		k.req.Compression = &n
	}
	return nil
}

// partials: one where it is known that the model makes some, so that a picture that breaks off
// leaves something. A sketch never does, and would be drawn twice.
func (k *check) partials() error {
	p := k.in.PartialImages
	switch {
	case p != nil && (*p < 0 || *p > maxPartials):
		return bad("partial_images", *p, fmt.Sprintf("0 to %d", maxPartials), "1")
	case p != nil:
		k.req.Partials = int(*p)
	case k.model.Known && k.model.Partials && !k.sketches():
		k.req.Partials = 1
	}
	if still := k.req.Format != provider.GIF && k.req.Format != provider.SVG; k.req.Partials > 0 && !(still && k.model.Partials) {
		k.req.Partials = 0
		if p != nil {
			k.warn("partial_images: there are none of this model and format; it was left out")
		}
	}
	return nil
}

// rest are the options that are left out, with a warning, where they mean nothing.
func (k *check) rest() error {
	k.req.Moderation, k.req.Complexity, k.req.User = k.in.Moderation, k.in.Complexity, k.in.User
	if k.req.Action == provider.Edit && k.req.Moderation != "" {
		k.req.Moderation = ""
		if k.in.Moderation != k.defaults.Moderation {
			k.warn("moderation: it is of new pictures only, and was left out")
		}
	}
	k.fidelity()
	k.req.Seed, k.req.Negative = k.in.Seed, k.in.NegativePrompt
	if !k.model.ForeignOwned && (k.in.Seed != nil || k.in.NegativePrompt != "") {
		k.req.Seed, k.req.Negative = nil, ""
		k.warn("seed, negative_prompt: this server knows neither; they were left out")
	}
	return nil
}

func (k *check) fidelity() {
	f := k.in.InputFidelity
	switch allowed := k.model.Fidelities; {
	case f == "":
	case k.req.Action != provider.Edit:
		k.warn("input_fidelity: it is of edits only, and was left out")
	case len(allowed) == 0:
		k.warn("input_fidelity: %s takes none; it was left out", k.model.Name)
	case !slices.Contains(allowed, f):
		k.req.Fidelity = allowed[0]
		k.warn("input_fidelity: %s takes %s only, which was used", k.model.Name, list(allowed))
	default:
		k.req.Fidelity = f
	}
}
