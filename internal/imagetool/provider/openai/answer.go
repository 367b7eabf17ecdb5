package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// What an answer may hold, in bytes: of a picture what it has as a PNG without compression,
// with four bytes a pixel, and slack for what is written beside it.
const (
	minAnswer    = 64 << 20    // servers do not always heed the size, nor compress
	usualPixels  = 3840 * 2160 // of a picture without a size: the largest that known models make
	bytesAPixel  = 4
	pictureSlack = 1 << 20
)

// room returns how many bytes the answer to q may hold.
func (q *query) room() int {
	pixels := usualPixels
	if q.Size != (provider.Size{}) {
		pixels = q.Size.Width * q.Size.Height
	}
	return max(minAnswer, q.N*(pixels*bytesAPixel+pictureSlack))
}

// An answer is an Images API answer, as far as servers agree on it.
type answer struct {
	facts
	Created loose           `json:"created"`
	Data    []item          `json:"data"`
	Error   json.RawMessage `json:"error"`
}

// facts are what answers and events say about a picture.
type facts struct {
	Background loose           `json:"background"`
	Quality    loose           `json:"quality"`
	Usage      json.RawMessage `json:"usage"`
}

type item struct {
	B64     encoded `json:"b64_json"`
	URL     loose   `json:"url"`
	Revised loose   `json:"revised_prompt"`
}

// read takes the pictures out of an answer: events, JSON or the bare bytes.
func (p *Provider) read(ctx context.Context, res *http.Response, q *query, report func(provider.Event)) (*provider.Result, *failure) {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media == "text/event-stream" {
		return p.readEvents(ctx, res.Body, q, report)
	}
	if strings.HasPrefix(media, "image/") {
		body, err := readAll(res, int64(q.room()))
		if err != nil {
			return nil, unread(ctx, err, q)
		}
		return p.collect(ctx, q, []item{{B64: encoded{data: body}}}, report)
	}
	body := &sieve{limit: q.room()}
	if err := body.readFrom(res.Body); err != nil {
		return nil, unread(ctx, err, q)
	}
	var a answer
	if err := json.Unmarshal(body.rest, &a); err != nil {
		return nil, noImage(fmt.Sprintf("the answer (%s, %d bytes) is not that of an Images API", media, body.held()), err)
	}
	body.fill(a.Data)
	if len(a.Data) == 0 && len(a.Error) > 0 && string(a.Error) != "null" {
		return nil, streamFailure(body.rest)
	}
	result, fail := p.collect(ctx, q, a.Data, report)
	if fail != nil {
		return nil, fail
	}
	state(result, a.facts, a.Created)
	return result, nil
}

// unread is the failure of an answer that was not read to its end.
func unread(ctx context.Context, err error, q *query) *failure {
	switch {
	case ctx.Err() != nil:
		return ended(ctx, true)
	case errors.Is(err, errTooLong):
		return noImage(fmt.Sprintf("the answer has more than the %d MiB that what was asked for may take", q.room()>>20), nil)
	}
	return unanswered(ctx, err, true)
}

// collect decodes and checks the pictures, fetching those that came as an address. One bad
// picture among good ones is a warning.
func (p *Provider) collect(ctx context.Context, q *query, items []item, report func(provider.Event)) (*provider.Result, *failure) {
	result := &provider.Result{}
	var bad error
	room := q.room()
	for i, it := range items {
		picture, err := p.picture(ctx, it, room, func() {
			report(provider.Event{Phase: provider.Downloading, Text: fmt.Sprintf("picture %d of %d", i+1, len(items))})
		})
		if ctx.Err() != nil {
			return nil, ended(ctx, true)
		}
		if err != nil {
			bad = fmt.Errorf("picture %d of %d: %w", i+1, len(items), err)
			result.Warnings = append(result.Warnings, bad.Error())
			continue
		}
		room -= len(picture.Data)
		result.Images = append(result.Images, picture)
		if result.RevisedPrompt == "" {
			result.RevisedPrompt = string(it.Revised)
		}
	}
	switch {
	case len(result.Images) > 0:
		return result, nil
	case bad != nil:
		return nil, noImage(bad.Error(), bad)
	}
	return nil, noImage("the answer has no picture", nil)
}

// picture returns one item's picture, checked.
func (p *Provider) picture(ctx context.Context, it item, room int, fetching func()) (provider.Picture, error) {
	data, err := it.B64.data, it.B64.err
	switch address := string(it.URL); {
	case data != nil || err != nil:
	case strings.HasPrefix(address, "data:"):
		_, data, err = provider.DataURL(address)
	case address != "":
		fetching()
		data, err = p.fetcher.fetch(ctx, address, min(room, maxFetch))
	default:
		err = errors.New("it is empty")
	}
	if err != nil {
		return provider.Picture{}, err
	}
	picture, err := provider.Identify(data)
	if err != nil {
		return provider.Picture{}, err
	}
	return picture, picture.Check()
}

// state copies what the server says about the pictures.
func state(r *provider.Result, f facts, created loose) {
	r.Background, r.Quality = string(f.Background), string(f.Quality)
	if seconds, err := strconv.ParseFloat(string(created), 64); err == nil && seconds > 0 && seconds < 1<<40 {
		r.Created = time.Unix(int64(seconds), 0).UTC()
	}
	var usage struct {
		Input   float64 `json:"input_tokens"`
		Details struct {
			Text  float64 `json:"text_tokens"`
			Image float64 `json:"image_tokens"`
		} `json:"input_tokens_details"`
		Output float64 `json:"output_tokens"`
		Total  float64 `json:"total_tokens"`
	}
	if json.Unmarshal(f.Usage, &usage) != nil {
		return
	}
	if usage.Details.Text == 0 && usage.Details.Image == 0 {
		usage.Details.Text = usage.Input
	}
	r.Usage = provider.Usage{
		InputText: int64(usage.Details.Text), InputImage: int64(usage.Details.Image),
		Output: int64(usage.Output), Total: int64(usage.Total),
	}
}

// finish says what was asked for and not given.
func (p *Provider) finish(q *query, r *provider.Result) *provider.Result {
	r.Model = q.Model
	r.Warnings = append(q.warnings, r.Warnings...)
	if len(r.Images) != q.N {
		r.Warnings = append(r.Warnings, fmt.Sprintf("asked for %d pictures, got %d", q.N, len(r.Images)))
	}
	for _, picture := range r.Images {
		if q.Format != "" && picture.Format != q.Format {
			r.Warnings = append(r.Warnings, fmt.Sprintf("asked for %s, got %s", q.Format, picture.Format))
		}
		if q.Size != (provider.Size{}) && picture.Size != q.Size {
			r.Warnings = append(r.Warnings, fmt.Sprintf("asked for %s, got %s", q.Size, picture.Size))
		}
	}
	for i, w := range r.Warnings {
		r.Warnings[i] = p.secrets.line(w)
	}
	slices.Sort(r.Warnings)
	r.Warnings = slices.Compact(r.Warnings) // ten pictures of the wrong size are one matter
	r.RevisedPrompt = p.secrets.prompt(r.RevisedPrompt)
	r.Quality, r.Background = p.secrets.line(r.Quality), p.secrets.line(r.Background)
	return r
}

// noImage is the failure of an answer without a picture: it may have cost money.
func noImage(message string, cause error) *failure {
	return &failure{Error: &provider.Error{Code: provider.NoImage, Message: message, Err: cause, MayHaveRun: true}}
}

var errTooLong = errors.New("it is too long")

// readAll reads a body of at most limit bytes.
func readAll(res *http.Response, limit int64) ([]byte, error) {
	if res.ContentLength > limit {
		return nil, errTooLong
	}
	var b bytes.Buffer
	if res.ContentLength > 0 {
		b.Grow(int(res.ContentLength) + bytes.MinRead) // else it would be copied as it grows
	}
	n, err := b.ReadFrom(io.LimitReader(res.Body, limit+1))
	if err == nil && n > limit {
		err = errTooLong
	}
	return b.Bytes(), err
}
