package openaitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // to know them
	_ "image/jpeg" // to know them
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A problem is an error as the API words it.
type problem struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   string `json:"param"`
	Code    string `json:"code"`
}

func refuse(w http.ResponseWriter, status int, p problem) {
	p.Type = "invalid_request_error"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]problem{"error": p})
}

// values are the fields that the API knows and what they may be; nil: any text.
var values = map[string][]string{
	"prompt": nil, "model": nil, "n": nil, "size": nil, "output_compression": nil, "partial_images": nil, "frame_count": nil, "user": nil, "safety_identifier": nil,
	"quality":        {"auto", "low", "medium", "high", "xhigh", "max"},
	"background":     {"auto", "opaque", "transparent"},
	"output_format":  {"png", "jpeg", "webp", "gif"},
	"moderation":     {"auto", "low"},
	"input_fidelity": {"high", "low"},
	"complexity":     {"low", "medium", "high"},
	"stream":         {"true", "false"},
}

// numbers are the bounds of those that are numbers.
var numbers = map[string][2]int{"n": {1, 10}, "output_compression": {0, 100}, "partial_images": {0, 3}, "frame_count": {2, 16}}

// text returns a field as written; "" where it is absent.
func (r Request) text(name string) string {
	switch v := r.Fields[name].(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// number returns a field that passed the rules; otherwise where it is absent.
func (r Request) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(r.text(name)); err == nil {
		return n
	}
	return otherwise
}

// check returns what the API would object to.
func check(r Request) *problem {
	for name := range r.Fields {
		allowed, known := values[name]
		if !known || name == "moderation" && r.edits() || name == "input_fidelity" && !r.edits() {
			return &problem{Message: "Unknown parameter: '" + name + "'.", Param: name, Code: "unknown_parameter"}
		}
		if allowed != nil && !slices.Contains(allowed, r.text(name)) {
			return invalidValue(name, r.text(name), "Supported values are: "+strings.Join(allowed, ", "))
		}
	}
	for name, bounds := range numbers {
		n, err := strconv.Atoi(r.text(name))
		if r.text(name) != "" && (err != nil || n < bounds[0] || n > bounds[1]) {
			return invalidValue(name, r.text(name), fmt.Sprintf("It wants an integer from %d to %d", bounds[0], bounds[1]))
		}
	}
	return checkTogether(r)
}

func checkTogether(r Request) *problem {
	format := r.text("output_format")
	switch n := utf8.RuneCountInString(r.text("prompt")); {
	case n == 0:
		return &problem{Message: "Missing required parameter: 'prompt'.", Param: "prompt", Code: "missing_required_parameter"}
	case n > 32000:
		return invalidValue("prompt", "...", "It is longer than 32000 characters")
	case r.text("model") == "":
		return &problem{Message: "Missing required parameter: 'model'.", Param: "model", Code: "missing_required_parameter"}
	case r.text("background") == "transparent" && format == "jpeg":
		return invalidValue("background", "transparent", "It wants png or webp")
	case r.text("output_compression") != "" && format != "jpeg" && format != "webp":
		return invalidValue("output_compression", r.text("output_compression"), "It wants jpeg or webp")
	case r.text("partial_images") != "" && r.text("stream") != "true":
		return invalidValue("partial_images", r.text("partial_images"), "It wants stream")
	}
	if width, height := r.size(); width == 0 || width%16 != 0 || height%16 != 0 || max(width, height) > 3840 ||
		max(width, height) > 3*min(width, height) || width*height > 3840*2160 {
		return invalidValue("size", r.text("size"), "Width and height are divisible by 16, at most 3840x2160 and 3 to 1")
	}
	if r.edits() {
		return checkFiles(r.Files)
	}
	return nil
}

func invalidValue(name, value, wanted string) *problem {
	return &problem{Message: fmt.Sprintf("Invalid value: '%s'. %s.", value, wanted), Param: name, Code: "invalid_value"}
}

// size returns what size says, 1024x1024 for none and zeros for nonsense.
func (r Request) size() (width, height int) {
	text := r.text("size")
	if text == "" || text == "auto" {
		return 1024, 1024
	}
	w, h, _ := strings.Cut(text, "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if errW != nil || errH != nil || width <= 0 || height <= 0 || width > math.MaxInt16 || height > math.MaxInt16 {
		return 0, 0
	}
	return width, height
}

// checkFiles wants pictures that are what their names and types say, and a mask that fits.
func checkFiles(files []File) *problem {
	var first, mask image.Config
	images := 0
	for _, f := range files {
		c, format, err := image.DecodeConfig(bytes.NewReader(f.Data))
		if err != nil || f.Type != "image/"+format || !strings.HasSuffix(f.Name, "."+format) {
			return &problem{Message: fmt.Sprintf("Invalid file '%s': unsupported mimetype ('%s').", f.Field, f.Type), Param: f.Field, Code: "unsupported_file_mimetype"}
		}
		switch f.Field {
		case "image", "image[]":
			images++
			if images == 1 {
				first = c
			}
		case "mask":
			mask = c
			if format != "png" || len(f.Data) >= 4<<20 {
				return &problem{Message: "Invalid mask: it wants a PNG below 4 MB.", Param: "mask", Code: "invalid_image"}
			}
		default:
			return &problem{Message: "Unknown parameter: '" + f.Field + "'.", Param: f.Field, Code: "unknown_parameter"}
		}
	}
	switch {
	case images == 0 || images > 16:
		return &problem{Message: "Invalid number of images.", Param: "image", Code: "invalid_value"}
	case mask.Width != 0 && (mask.Width != first.Width || mask.Height != first.Height):
		return &problem{Message: "Invalid mask: its size differs from the image.", Param: "mask", Code: "invalid_image"}
	}
	return nil
}
