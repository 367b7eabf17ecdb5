package imagetool

import (
	"encoding/json"

	"github.com/toolhost/toolhost/pkg/toolkit"
)

// What some arguments can be, whatever the model.
var (
	actions     = []string{"auto", "generate", "edit"}
	backgrounds = []string{"auto", "opaque", "transparent"}
	moderations = []string{"auto", "low"}
	fidelities  = []string{"high", "low"}
	complexity  = []string{"low", "medium", "high"}
	returns     = []string{"auto", "preview", "full", "none"}
)

// params are the arguments. Those that the Responses API's tool of the same name has are called
// as there: gateways send them as they are.
var params = []toolkit.Param{
	{Name: "prompt", Type: toolkit.String, Verbatim: true, Description: "What to show, up to 32000 characters; needed unless job_id is given.", Example: `"a red boat on a lake at dawn"`},
	{Name: "action", Type: toolkit.String, Enum: actions, Description: "edit changes images, generate makes a new picture; auto is edit where there are images."},
	{Name: "images", Type: toolkit.Array, Description: "Pictures to edit or to use, PNG, JPEG or WebP: paths, image://ID of earlier ones, or data: URLs.", Example: `["image://ID"]`},
	{Name: "mask", Type: toolkit.String, Aliases: []string{"input_image_mask_url", "mask_image"}, Description: "PNG of the size of the first image; where it is transparent may be painted.", Example: `"mask.png"`},
	{Name: "n", Type: toolkit.Integer, Description: "How many pictures.", Example: "1"},
	{Name: "size", Type: toolkit.String, Description: "WIDTHxHEIGHT in pixels, such as 1024x1024, 1536x1024 or 1024x1536; or auto.", Example: `"1536x1024"`},
	{Name: "quality", Type: toolkit.String, Description: "auto, low, medium or high; some models know xhigh and max.", Example: `"medium"`},
	{Name: "background", Type: toolkit.String, Enum: backgrounds, Description: "transparent needs png or webp."},
	{Name: "output_format", Type: toolkit.String, Aliases: []string{"format"}, Description: "png, jpeg or webp; some models know gif and svg.", Example: `"png"`},
	{Name: "output_compression", Type: toolkit.Integer, Description: "0 to 100, of jpeg and webp.", Example: "80"},
	{Name: "frame_count", Type: toolkit.Integer, Description: "Frames of a gif, 2 to 16.", Example: "9"},
	{Name: "moderation", Type: toolkit.String, Enum: moderations, Description: "How strict the provider's filter is."},
	{Name: "partial_images", Type: toolkit.Integer, Description: "Pictures on the way, 0 to 3.", Example: "1"},
	{Name: "input_fidelity", Type: toolkit.String, Enum: fidelities, Description: "How closely an edit keeps to the images."},
	{Name: "complexity", Type: toolkit.String, Enum: complexity, Description: "How much detail, where the model knows it."},
	{Name: "seed", Type: toolkit.Integer, Description: "The same seed gives a similar picture, where the server knows seeds.", Example: "7"},
	{Name: "negative_prompt", Type: toolkit.String, Description: "What to leave out, where the server knows that.", Example: `"text"`},
	{Name: "model", Type: toolkit.String, Description: "Another model, if the operator allows it.", Example: `"gpt-image-2"`},
	{Name: "file_name", Type: toolkit.String, Description: "Name of the saved file, without a folder.", Example: `"boat"`},
	{Name: "return", Type: toolkit.String, Enum: returns, Description: "What to show: full, a preview of 1024 pixels, or none; auto is full if it fits."},
	{Name: "job_id", Type: toolkit.String, Description: "Collect the picture of an earlier call, which named this; nothing else is needed.", Example: `"abcdefghijklmnop"`},

	{Name: "input_images", Type: toolkit.Any, Hidden: true, Aliases: []string{"input_image", "image", "image_url", "image_urls"}, Description: "As images, in the forms that other tools have."},
	{Name: "input_image_mask", Type: toolkit.Any, Hidden: true, Description: "As mask; a string, or an object with image_url."},
	{Name: "user", Type: toolkit.String, Hidden: true, Aliases: []string{"safety_identifier"}, Description: "For the provider's abuse monitoring."},
	{Name: "type", Type: toolkit.Any, Hidden: true, Description: "Of the tool, as some gateways repeat it."},
}

type imageIn struct {
	Prompt            string          `json:"prompt"`
	Action            string          `json:"action"`
	Images            []string        `json:"images"`
	Mask              string          `json:"mask"`
	N                 *int64          `json:"n"`
	Size              string          `json:"size"`
	Quality           string          `json:"quality"`
	Background        string          `json:"background"`
	OutputFormat      string          `json:"output_format"`
	OutputCompression *int64          `json:"output_compression"`
	FrameCount        *int64          `json:"frame_count"`
	Moderation        string          `json:"moderation"`
	PartialImages     *int64          `json:"partial_images"`
	InputFidelity     string          `json:"input_fidelity"`
	Complexity        string          `json:"complexity"`
	Seed              *int64          `json:"seed"`
	NegativePrompt    string          `json:"negative_prompt"`
	Model             string          `json:"model"`
	FileName          string          `json:"file_name"`
	Return            string          `json:"return"`
	JobID             string          `json:"job_id"`
	InputImages       json.RawMessage `json:"input_images"`
	InputImageMask    json.RawMessage `json:"input_image_mask"`
	User              string          `json:"user"`
}

// references returns what the call names as images and mask, in whichever form.
func (in *imageIn) references() (images []string, mask string, err error) {
	more, err := references("input_images", in.InputImages)
	if err != nil {
		return nil, "", err
	}
	masks, err := references("input_image_mask", in.InputImageMask)
	if err != nil {
		return nil, "", err
	}
	if in.Mask != "" {
		masks = append([]string{in.Mask}, masks...)
	}
	switch {
	case len(masks) > 1 && masks[0] != masks[1] || len(masks) > 2:
		return nil, "", toolkit.Errorf(`mask: got %d, want one, for example {"mask": "mask.png"}`, len(masks))
	case len(masks) > 0:
		mask = masks[0]
	}
	return append(in.Images[:len(in.Images):len(in.Images)], more...), mask, nil
}

// references reads a string, an object with image_url or url, or an array of such.
func references(field string, raw json.RawMessage) (out []string, err error) {
	var (
		text   string
		many   []json.RawMessage
		object struct {
			FileID string          `json:"file_id"`
			URL    json.RawMessage `json:"image_url"` // a string, or an object with url
			Plain  string          `json:"url"`
		}
	)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case json.Unmarshal(raw, &text) == nil:
		if text == "" || text == "null" {
			return nil, nil
		}
		return []string{text}, nil
	case json.Unmarshal(raw, &many) == nil:
		for _, one := range many {
			refs, err := references(field, one)
			if err != nil {
				return nil, err
			}
			out = append(out, refs...)
		}
		return out, nil
	case json.Unmarshal(raw, &object) != nil:
	case object.Plain != "":
		return []string{object.Plain}, nil
	case len(object.URL) > 0 && string(object.URL) != "null" && string(object.URL) != `""`:
		return references(field, object.URL)
	case object.FileID != "":
		return nil, toolkit.Errorf(`%s: got the file_id %s, which names a file at a provider that this server cannot read: give a path, image://ID or a data: URL as image_url`, field, toolkit.Inline(toolkit.Cut(object.FileID, 160)))
	default:
		return nil, nil // an object with nothing in it
	}
	return nil, toolkit.Errorf(`%s: got %s, want a path, image://ID or a data: URL, for example {%q: "image://ID"}`, field, toolkit.Inline(toolkit.Cut(string(raw), 160)), field)
}
