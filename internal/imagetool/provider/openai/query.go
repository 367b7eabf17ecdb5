package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// A query is a request in the terms of one server. Its fields are the optional ones, so that
// one can be left out by its name.
type query struct {
	provider.Request // as asked
	edit             bool
	prompt           string         // as sent
	fields           map[string]any // string, int, int64 or bool
	warnings         []string
}

// newQuery leaves out, with a warning, what this server or model does not have.
func (p *Provider) newQuery(r provider.Request) (*query, error) {
	q := &query{Request: r, prompt: r.Prompt, fields: map[string]any{}}
	q.edit = r.Action == provider.Edit || r.Action == "" && len(r.Images) > 0
	if q.Model == "" {
		q.Model = p.model
	}
	q.N = max(q.N, 1)
	if q.edit && len(q.Images) == 0 {
		return nil, invalid("image", "an edit needs a picture")
	}
	if q.Model == "" && p.profile.needsModel {
		return nil, invalid("model", "an "+p.profile.name+" server needs a model: the name of the deployment")
	}
	q.output()
	q.input(p.Model(q.Model))
	q.partials(p.Model(q.Model))
	q.foreign(p.profile)
	q.fit(p.profile)
	return q, nil
}

func invalid(param, message string) *provider.Error {
	return &provider.Error{Code: provider.InvalidRequest, Param: param, Message: message}
}

// set notes a field, unless the value says nothing.
func (q *query) set(name string, value any) {
	if value != "" && value != 0 {
		q.fields[name] = value
	}
}

func (q *query) warn(format string, args ...any) {
	q.warnings = append(q.warnings, fmt.Sprintf(format, args...))
}

// output sets what the picture is to be.
func (q *query) output() {
	if q.N > 1 {
		q.set("n", q.N)
	}
	if q.Size != (provider.Size{}) { // some servers take auto for a size: LocalAI makes 512x512 of it
		q.set("size", q.Size.String())
	}
	q.set("quality", q.Quality)
	q.set("background", q.Background)
	q.set("output_format", string(q.Format))
	q.set("complexity", q.Complexity)
	q.set("frame_count", q.Frames)
	q.set("user", q.User)
	switch {
	case q.Compression == nil:
	case q.Format == provider.JPEG || q.Format == provider.WebP:
		q.fields["output_compression"] = *q.Compression
	default:
		q.warn("output_compression is for jpeg and webp; it was left out")
	}
}

// input sets what belongs to one of the two actions.
func (q *query) input(m provider.Model) {
	switch {
	case q.Moderation == "":
	case q.edit:
		q.warn("moderation is not for edits; it was left out")
	default:
		q.set("moderation", q.Moderation)
	}
	switch {
	case q.Fidelity == "":
	case !q.edit:
		q.warn("input_fidelity is for edits; it was left out")
	case m.Known && !slices.Contains(m.Fidelities, q.Fidelity):
		q.warn("%s does not take input_fidelity %s; it was left out", m.Name, q.Fidelity)
	default:
		q.set("input_fidelity", q.Fidelity)
	}
}

// partials asks for pictures on the way, which come by a stream.
func (q *query) partials(m provider.Model) {
	if q.Partials <= 0 {
		return
	}
	switch {
	case q.Format == provider.GIF || q.Format == provider.SVG:
		q.warn("%s has no partial pictures; partial_images was left out", q.Format)
	case q.N > 1:
		q.warn("partial pictures come with one picture only, not with %d; partial_images was left out", q.N)
	case !m.Partials:
		q.warn("there are no partial pictures from %s here; partial_images was left out", cmp.Or(m.Name, "this model"))
	default:
		q.set("partial_images", q.Partials)
		q.fields["stream"] = true
	}
}

// foreign sets what the Images API does not have, in the server's own way.
func (q *query) foreign(p profile) {
	seed, negative := q.Seed, q.Negative
	switch p.inPrompt {
	case "bar":
		if negative != "" {
			q.prompt, negative = q.prompt+"|"+negative, ""
		}
	case "sdcpp":
		q.prompt += sdcppArguments(seed, negative)
		seed, negative = nil, ""
	}
	if seed != nil {
		q.fields["seed"] = *seed
	}
	q.set("negative_prompt", negative)
}

// sdcppArguments returns what stable-diffusion.cpp's server takes out of a prompt again.
func sdcppArguments(seed *int64, negative string) string {
	arguments := map[string]any{}
	if seed != nil {
		arguments["seed"] = *seed
	}
	if negative != "" {
		arguments["negative_prompt"] = negative
	}
	if len(arguments) == 0 {
		return ""
	}
	text, _ := json.Marshal(arguments) // a number and a string
	return " <sd_cpp_extra_args>" + string(text) + "</sd_cpp_extra_args>"
}

// fit brings the fields into the form of one kind of server.
func (q *query) fit(p profile) {
	if user, ok := q.fields["user"]; ok && p.user != "" {
		delete(q.fields, "user")
		q.fields[p.user] = user
	}
	for name := range q.fields {
		if name == "stream" || p.can(name) {
			continue
		}
		delete(q.fields, name)
		q.warn("%s servers do not take %s; it was left out", p.name, name)
	}
	slices.Sort(q.warnings)
	if _, ok := q.fields["size"]; ok && p.sides {
		delete(q.fields, "size")
		q.fields["width"], q.fields["height"] = q.Size.Width, q.Size.Height
	}
	switch {
	case p.responseFormat != "auto":
		q.set("response_format", p.responseFormat)
	case !refusesResponseFormat(q.Model):
		q.set("response_format", "b64_json")
	}
}

// streams reports whether an event stream is asked for.
func (q *query) streams() bool { return q.fields["stream"] == true }

// path and body return what to POST, relative to the base URL.
func (q *query) path() string {
	if q.edit {
		return "images/edits"
	}
	return "images/generations"
}

func (q *query) body() any {
	if !q.edit {
		params := openai.ImageGenerateParams{Prompt: q.prompt, Model: q.Model}
		params.SetExtraFields(q.fields)
		return params
	}
	params := openai.ImageEditParams{Prompt: q.prompt, Model: q.Model}
	for i, p := range q.Images {
		params.Image.OfFileArray = append(params.Image.OfFileArray, file(fmt.Sprintf("image-%d", i+1), p))
	}
	if len(q.Images) == 1 { // some servers know the field image only, not image[]
		params.Image.OfFile, params.Image.OfFileArray = params.Image.OfFileArray[0], nil
	}
	if q.Mask != nil {
		params.Mask = file("mask", *q.Mask)
	}
	texts := map[string]any{} // the library leaves out what is no string
	for name, value := range q.fields {
		texts[name] = fmt.Sprint(value)
	}
	params.SetExtraFields(texts)
	return params
}

// file gives a picture name and type: servers refuse a part without them.
func file(name string, p provider.Picture) io.Reader {
	return openai.File(bytes.NewReader(p.Data), name+"."+string(p.Format), p.Format.MIME())
}

// options returns what differs between requests.
func (q *query) options() []option.RequestOption {
	if !q.streams() {
		return nil
	}
	// The library asks for JSON, and servers that heed it send no events.
	return []option.RequestOption{option.WithHeader("Accept", "text/event-stream, application/json;q=0.9")}
}
