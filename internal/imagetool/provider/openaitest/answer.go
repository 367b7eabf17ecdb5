package openaitest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
)

// created is when every picture was made: answers to one request are the same bytes.
const created = 1790000000

// webp is what asking for WebP gets, whatever the size: nothing here encodes it. 16x16.
const webp = "UklGRkoAAABXRUJQVlA4ID4AAADwAQCdASoQABAAAsBMJbACdAEPDBLyyoAA/vfIRRogOEEKL55JR8BZmRKG/iiWAGd+Gb/dpwb/Yte33uAAAA=="

// answer gives the right answer.
func answer(w http.ResponseWriter, r Request) {
	if p := check(r); p != nil {
		refuse(w, http.StatusBadRequest, *p)
		return
	}
	if r.text("stream") == "true" {
		stream(w, r)
		return
	}
	body := r.facts()
	data := []map[string]string{}
	for i := range r.number("n", 1) {
		data = append(data, map[string]string{"b64_json": r.picture(i)})
	}
	body["created"], body["data"] = created, data
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(body)
}

// stream sends the partial pictures, each a step further, and the finished one.
func stream(w http.ResponseWriter, r Request) {
	kind := "image_generation"
	if r.edits() {
		kind = "image_edit"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(name string, more map[string]any) {
		event := r.facts()
		for k, v := range more {
			event[k] = v
		}
		event["type"], event["created_at"] = kind+"."+name, created
		text, _ := json.Marshal(event) // texts and numbers
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], text)
		http.NewResponseController(w).Flush()
	}
	for i := range r.number("partial_images", 0) {
		send("partial_image", map[string]any{"partial_image_index": i, "b64_json": r.picture(i + 1)})
	}
	send("completed", map[string]any{"b64_json": r.picture(0)})
}

// facts are what answers and events have in common.
func (r Request) facts() map[string]any {
	width, height := r.size()
	or := func(s, otherwise string) string {
		if s == "" || s == "auto" {
			return otherwise
		}
		return s
	}
	return map[string]any{
		"background": or(r.text("background"), "opaque"), "output_format": or(r.text("output_format"), "png"),
		"quality": or(r.text("quality"), "medium"), "size": fmt.Sprintf("%dx%d", width, height),
		"usage": map[string]any{
			"input_tokens": 10, "input_tokens_details": map[string]int{"text_tokens": 8, "image_tokens": 2},
			"output_tokens": 90, "total_tokens": 100,
		},
	}
}

// picture returns a gradient as base64; another variant has another tint.
func (r Request) picture(variant int) string {
	if r.text("output_format") == "webp" {
		return webp
	}
	width, height := r.size()
	return base64.StdEncoding.EncodeToString(Picture(width, height, r.text("output_format"), variant))
}

// Picture returns a gradient in a format, PNG when empty: png, jpeg or gif.
func Picture(width, height int, format string, variant int) []byte {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), uint8(40 * variant), 255})
		}
	}
	var b bytes.Buffer
	var err error
	switch format {
	case "jpeg":
		err = jpeg.Encode(&b, m, nil)
	case "gif":
		err = gif.Encode(&b, m, nil)
	default:
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m)
	}
	if err != nil { // a buffer takes everything
		panic(err)
	}
	return b.Bytes()
}
